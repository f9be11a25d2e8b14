//! `Call`, `Typed`, `Authorized` and `Journal`: the way of a message to an effect. The gate knows how far its last message has
//! come: each stage is made only by the one before, once.

use linegate::action::{Denial, Target, Wrong};
use linegate_host::{CallFacts, HeldGate, Stage};
use pyo3::prelude::*;

use crate::event::{Message, refused};
use crate::{import, loads};

/// Where the arguments don't fit: what is wrong, the way there, the member's name.
type Unfit = (usize, Vec<String>, Option<String>);
/// What can be wrong, in the order of `linegate._fit`.
const WRONG: [Wrong; 4] = [Wrong::Missing, Wrong::Unknown, Wrong::Type, Wrong::Value];

/// A request or notification on its way to an effect, until its gate judges the next line.
#[pyclass(frozen, module = "linegate._linegate")]
pub(crate) struct Call {
    /// The message that asks for it.
    #[pyo3(get)]
    message: Py<Message>,
    /// The tool that a `tools/call` asks for.
    #[pyo3(get)]
    tool: Option<Py<PyAny>>,
    /// The revision of MCP that it is of, where that is known.
    #[pyo3(get)]
    revision: Option<&'static str>,
    /// By which its line is recognised again: 32 hex digits, keyed.
    #[pyo3(get)]
    fingerprint: String,
    // As JSON text, and the member that is none of them.
    arguments: Vec<u8>,
    aside: Option<&'static str>,
}

impl Call {
    pub(crate) fn new(message: Bound<'_, Message>, facts: CallFacts) -> PyResult<Self> {
        let tool = facts.tool.map(|tool| loads(message.py(), &tool)).transpose()?;
        let CallFacts { revision, fingerprint, arguments, aside, .. } = facts;
        Ok(Self { message: message.unbind(), tool, revision, fingerprint, arguments, aside })
    }

    fn advance(&self, py: Python<'_>, from: Stage, to: Stage) -> PyResult<()> {
        self.message.get().step(py, |gate, ticket| gate.advance(ticket, from, to))
    }
}

#[pymethods]
impl Call {
    /// The arguments as a `model`: a dataclass, a pydantic model, or whatever takes the value and raises where it doesn't fit.
    /// Refused with 501 where the call asks for another tool or method than the one named, with 502 where they don't fit.
    /// Arguments that aren't there are an empty object.
    #[pyo3(signature = (model, *, tool = None, method = None))]
    fn arguments(
        slf: Bound<'_, Self>,
        model: Bound<'_, PyAny>,
        tool: Option<&str>,
        method: Option<&str>,
    ) -> PyResult<Py<PyAny>> {
        let (py, call, message) = (slf.py(), slf.get(), slf.get().message.get());
        let target = tool.map(Target::Tool).or(method.map(Target::Method));
        if let Err(it) = message.step(py, |gate, ticket| gate.read(ticket, target))? {
            return refused(py, &it, None);
        }
        let read = import!(py, "linegate._fit", "read")?.call1((&model, &*call.arguments, call.aside))?;
        let (arguments, unfit): (Py<PyAny>, Option<Unfit>) = read.extract()?;
        let Some((wrong, way, member)) = unfit else {
            let typed = Typed { call: slf.unbind(), model: model.unbind(), arguments };
            return Ok(Py::new(py, typed)?.into_any());
        };
        let wrong = WRONG.get(wrong).copied().unwrap_or(Wrong::Value);
        let it = message.step(py, |gate, ticket| gate.unfit(ticket, wrong, &way, member.as_deref()))?;
        refused(py, &it, None)
    }

    /// The refusal (501) of a call for which there is no action.
    fn unknown(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        refused(py, &self.message.get().step(py, HeldGate::unknown)?, None)
    }
}

/// A call whose arguments fit. It may still be denied.
#[pyclass(frozen, generic, get_all, module = "linegate._linegate")]
pub(crate) struct Typed {
    /// The call that they are of.
    call: Py<Call>,
    /// What its arguments were read as.
    model: Py<PyAny>,
    /// The arguments.
    arguments: Py<PyAny>,
}

#[pymethods]
impl Typed {
    /// Asks the policy, once. Only True allows; anything else denies (503), a text as the reason, which stays with the host. What the
    /// policy raises goes out as it is, and nothing is allowed.
    fn authorize(&self, py: Python<'_>, policy: Bound<'_, PyAny>, journal: Py<Journal>) -> PyResult<Py<PyAny>> {
        let call = self.call.get();
        call.advance(py, Stage::Read, Stage::Asked)?;
        let said = policy.call1((&self.call, &self.arguments))?;
        // Nothing but True allows: a policy that forgot its answer, or gave a text, denies.
        if !said.is(&*true.into_pyobject(py)?) {
            let reason: Option<String> = said.extract().ok();
            let denial = Denial::because("the policy did not say yes");
            let it = call.message.get().step(py, |gate, ticket| gate.denied(ticket, denial))?;
            return refused(py, &it, reason.as_deref());
        }
        call.advance(py, Stage::Asked, Stage::Allowed)?;
        let (call, model, arguments) =
            (self.call.clone_ref(py), self.model.clone_ref(py), self.arguments.clone_ref(py));
        Ok(Py::new(py, Authorized { call, model, arguments, journal })?.into_any())
    }
}

/// An action that may be executed, once, until its gate judges the next line.
#[pyclass(frozen, generic, module = "linegate._linegate")]
pub(crate) struct Authorized {
    /// The call that was allowed.
    #[pyo3(get)]
    call: Py<Call>,
    /// What its arguments were read as.
    #[pyo3(get)]
    model: Py<PyAny>,
    arguments: Py<PyAny>,
    journal: Py<Journal>,
}

#[pymethods]
impl Authorized {
    /// The arguments. With this the action counts as executed; a second time raises (504).
    fn open(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.call.get().advance(py, Stage::Allowed, Stage::Over)?;
        self.journal.borrow_mut(py).0 += 1;
        Ok(self.arguments.clone_ref(py))
    }
}

/// Counts executions. Nothing but an execution writes it; what is refused is counted by the gate.
#[pyclass(module = "linegate._linegate")]
pub(crate) struct Journal(
    /// Actions whose executor has taken their arguments.
    #[pyo3(get, name = "executed")]
    u64,
);

#[pymethods]
impl Journal {
    #[new]
    const fn new() -> Self {
        Self(0)
    }
}
