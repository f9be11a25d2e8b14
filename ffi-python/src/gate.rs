//! `Gate` and `Tracker`: input in, one verdict after another out. The interpreter's lock is given away while much is judged.

use std::sync::{Arc, Mutex, PoisonError};

use linegate::{Message as Accepted, Slot, Stage};
use linegate_host::{HeldGate, SharedTracker};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::event::{Message, refused};
use crate::{bad_options, options};

/// Bytes from which on judging takes longer than giving the lock away and taking it again.
const MUCH: usize = 16 * 1024;

/// What the two gates of one session remember together.
#[pyclass(frozen, module = "linegate._linegate")]
pub(crate) struct Tracker(SharedTracker);

#[pymethods]
impl Tracker {
    #[new]
    fn new(client: &Bound<'_, PyAny>, server: &Bound<'_, PyAny>, in_flight: usize) -> PyResult<Self> {
        let (py, slots) = (client.py(), vec![Slot::EMPTY; in_flight.saturating_mul(4)]);
        let tracker = linegate::Tracker::new(&options(client)?, &options(server)?, slots);
        Ok(Self(Arc::new(Mutex::new(tracker.map_err(|bad| bad_options(py, bad))?))))
    }

    /// Answers to cancelled requests, which pass (455).
    #[getter]
    fn late_responses(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).late_responses()
    }
}

/// The gate in the extension's own words; `linegate.Gate` has it in Python's.
// The class's own lock keeps a second thread out while one is inside.
#[pyclass(subclass, module = "linegate._linegate")]
pub(crate) struct Gate(pub(crate) HeldGate);

#[pymethods]
impl Gate {
    #[new]
    fn new(given: &Bound<'_, PyAny>, tracker: Option<&Tracker>) -> PyResult<Self> {
        let held = HeldGate::new(options(given)?, tracker.map(|tracker| Arc::clone(&tracker.0)));
        Ok(Self(held.map_err(|bad| bad_options(given.py(), bad))?))
    }

    /// Takes input, or None: its end. What an event before it could still be used for is over.
    fn take(&mut self, data: Option<PyBackedBytes>) {
        // No input is its end.
        if let Some(data) = data { self.0.feed(Box::new(data)) } else { self.0.end() }
    }

    /// Takes input, or None: its end, and judges all of it in one step: the accepted lines, each with a line feed, and the
    /// refusals, in order.
    fn judge_all(slf: &Bound<'_, Self>, data: Option<PyBackedBytes>) -> PyResult<(Py<PyBytes>, Vec<Py<PyAny>>)> {
        let (py, mut gate) = (slf.py(), slf.try_borrow_mut()?);
        gate.take(data);
        let (much, held) = (gate.0.has_input_of(MUCH), &mut gate.0);
        let (lines, all) = if much { py.detach(|| held.filter()) } else { held.filter() };
        drop(gate); // Before anything of Python's runs, where a signal handler may come here again.
        Ok((PyBytes::new(py, &lines).unbind(), all.iter().map(|it| refused(py, it, None)).collect::<PyResult<_>>()?))
    }

    fn __next__(slf: Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let (py, kept, mut gate) = (slf.py(), slf.clone().unbind(), slf.try_borrow_mut()?);
        let held = &mut gate.0;
        let look = |message: &Accepted<'_>, ticket| Python::attach(|py| Message::new(py, kept, ticket, message));
        let verdict = if held.has_line_of(MUCH) { py.detach(|| held.judge(look)) } else { held.judge(look) };
        drop(gate); // As above.
        match verdict {
            None => Ok(None),
            Some(Err(it)) => refused(py, &it, None).map(Some),
            Some(Ok(message)) => Ok(Some(Py::new(py, message)?.into_any())),
        }
    }

    /// Whether the session is over; lines accepted, blank lines, stripped CRs, replies, and refusals by stage.
    fn counts(&self) -> (bool, u64, u64, u64, u64, [u64; Stage::ALL.len()]) {
        let (it, closed) = self.0.counters();
        (closed, it.accepted, it.blank_lines, it.stripped_crs, it.replies, Stage::ALL.map(|stage| it.refused(stage)))
    }
}
