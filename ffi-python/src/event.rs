//! Verdicts as objects that outlive the gate's next line. Their forms as text show no payload.

use linegate::{Code, Cursor, Message as Accepted};
use linegate_host::{HeldGate, RefusedLine, named_switches, refused_line};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

use crate::action::Call;
use crate::gate::Gate;
use crate::{bad_options, import, loads, misuse};

/// What is done in a gate, or the fault of the caller.
type Done<T> = Result<T, Code>;

/// The sentence of 504, which means more here than in Rust: the compiler has no word in the order of steps.
const AGAIN: &str = "The call was used already; each step of it is taken once.";

/// A value in a line: its place, and what was read there when it was asked for first.
struct Part {
    line: Py<PyBytes>,
    place: Option<(usize, usize)>,
    read: PyOnceLock<Py<PyAny>>,
}

impl Part {
    fn bytes<'a>(&'a self, py: Python<'a>) -> Option<&'a [u8]> {
        let (start, len) = self.place?;
        self.line.as_bytes(py).get(start..)?.get(..len)
    }
}

impl<'py> IntoPyObject<'py> for &Part {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(text) = self.bytes(py) else { return Ok(py.None().into_bound(py)) };
        Ok(self.read.get_or_try_init(py, || loads(py, text))?.bind(py).clone())
    }
}

/// An accepted line. Its parts are read from exactly the bytes that were checked.
#[pyclass(frozen, get_all, module = "linegate._linegate")]
pub(crate) struct Message {
    /// The gate that judged it.
    pub(crate) gate: Py<Gate>,
    /// The number of the verdict in its gate.
    pub(crate) ticket: u64,
    /// What it is: `request`, `notification`, `result`, `error` or `batch`.
    kind: &'static str,
    /// The method of a request or notification, unescaped.
    method: Option<Py<PyString>>,
    /// Exactly the bytes that were checked, without CR and LF.
    raw: Py<PyBytes>,
    /// The ordinal of the line in its stream, from 1.
    sequence: u64,
    /// Bytes of the line before its LF, a stripped CR counted.
    length: usize,
    /// The switches without which the line would have been refused.
    loosened: Vec<&'static str>,
    /// The id; None for notifications, batches, and errors with an unknown id.
    id: Part,
    /// The params of a request or notification, read once; None where there are none.
    params: Part,
    /// The result of a response, read once.
    result: Part,
    /// The error of a response, read once.
    error: Part,
}

impl Message {
    pub(crate) fn new(py: Python<'_>, gate: Py<Gate>, ticket: u64, it: &Accepted<'_>) -> Self {
        let text = it.bytes();
        let raw = PyBytes::new(py, text).unbind();
        let part = |part: Option<&[u8]>| {
            let place = part.map(|part| (part.as_ptr().addr() - text.as_ptr().addr(), part.len()));
            Part { line: raw.clone_ref(py), place, read: PyOnceLock::new() }
        };
        let value = |value: Option<Cursor<'_>>| part(value.as_ref().map(Cursor::bytes));
        Self {
            gate,
            ticket,
            kind: it.kind().name(),
            method: it.method().map(|method| PyString::new(py, method).unbind()),
            sequence: it.sequence(),
            length: it.line_len(),
            loosened: it.loosened().iter().map(|switch| switch.name()).collect(),
            id: part(it.id()),
            params: value(it.params()),
            result: value(it.result()),
            error: value(it.error()),
            raw: raw.clone_ref(py),
        }
    }

    /// Does something with the gate, in which this message may still be the last verdict.
    pub(crate) fn step<T>(&self, py: Python<'_>, act: impl FnOnce(&mut HeldGate, u64) -> Done<T>) -> PyResult<T> {
        let done = act(&mut self.gate.bind(py).try_borrow_mut()?.0, self.ticket);
        done.map_err(|code| misuse(py, code, if code == Code::AlreadyUsed { AGAIN } else { code.text() }))
    }
}

#[pymethods]
impl Message {
    /// The id as it was written, quotes included.
    #[getter]
    fn id_raw<'a>(&'a self, py: Python<'a>) -> Option<&'a [u8]> {
        self.id.bytes(py)
    }

    /// The call that a request or notification is, on its way to an effect; None for other messages.
    ///
    /// Refused (505) where the line passed only by a switch that isn't `granted` here.
    #[pyo3(signature = (granted = Vec::new()))]
    fn call(slf: Bound<'_, Self>, granted: Vec<String>) -> PyResult<Option<Py<PyAny>>> {
        let py = slf.py();
        let granted = named_switches(&granted).map_err(|bad| bad_options(py, bad))?;
        match slf.get().step(py, |gate, ticket| gate.call(ticket, granted))? {
            Err(it) => refused(py, &it, None).map(Some),
            Ok(None) => Ok(None),
            Ok(Some(facts)) => Ok(Some(Py::new(py, Call::new(slf, facts)?)?.into_any())),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Message: {}, line {}, {} bytes>", self.kind, self.sequence, self.length)
    }
}

/// A refusal as an object of Python's own: it is only data, and nothing can be made of it.
pub(crate) fn refused(py: Python<'_>, it: &RefusedLine, reason: Option<&str>) -> PyResult<Py<PyAny>> {
    let bytes = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(|bytes| PyBytes::new(py, bytes));
    let (record, reason) = (&it.record, reason.or(it.reason));
    let place = (record.code.number(), record.at, record.frame_len, record.sequence, record.direction.name());
    let reply = (bytes(&it.id), it.rpc_code, bytes(&it.reply), bytes(&it.settlement));
    let audit = (record.fingerprint.to_string(), refused_line(record));
    import!(py, "linegate._refused", "refused")?
        .call1((place, reply, reason, it.subject, it.closes, audit))
        .map(Bound::unbind)
}
