//! The extension `linegate._linegate`: the gate as Python classes that nobody can make by hand. It moves bytes and verdicts across
//! and judges nothing. What Python sees has doc comments, which are its docstrings; the
//! stub, `python/linegate/_linegate.pyi`, says the same for editors.

mod action;
mod event;
mod gate;

use std::ffi::OsString;

use linegate::{BadOptions, Code, Options};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// What a Python module has under this name.
macro_rules! import {
    ($py:expr, $module:literal, $name:literal) => {{
        static KEPT: pyo3::sync::PyOnceLock<Py<PyAny>> = pyo3::sync::PyOnceLock::new();
        KEPT.import($py, $module, $name)
    }};
}
pub(crate) use import;

/// A fault of the caller: an order that makes no sense (504, 904), an option that can't be (903).
fn misuse(py: Python<'_>, code: Code, text: &str) -> PyErr {
    let made = import!(py, "linegate._errors", "UsageError").and_then(|class| class.call1((code.number(), text)));
    made.map_or_else(|error| error, PyErr::from_value)
}

fn bad_options(py: Python<'_>, bad: BadOptions) -> PyErr {
    misuse(py, Code::BadOptions, bad.text)
}

/// A value of checked JSON text as Python objects.
fn loads(py: Python<'_>, text: &[u8]) -> PyResult<Py<PyAny>> {
    Ok(import!(py, "json", "loads")?.call1((PyString::from_bytes(py, text)?,))?.unbind())
}

/// Options, as the Python side names them.
fn options(given: &Bound<'_, PyAny>) -> PyResult<Options> {
    linegate_host::named_options(&pythonize::depythonize(given)?).map_err(|bad| bad_options(given.py(), bad))
}

/// Every name that options, verdicts and records have, as `linegate_host::names` has them.
#[pyfunction]
fn names(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    Ok(pythonize::pythonize(py, &linegate_host::names())?)
}

/// The command `linegate`; gives its exit status. `program` are the words that start this program.
#[pyfunction]
fn main(py: Python<'_>, program: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| linegate_cli::main(program, arguments))
}

#[pymodule(gil_used = false)]
mod _linegate {
    #[pymodule_export]
    use super::action::{Authorized, Call, Journal, Typed};
    #[pymodule_export]
    use super::event::Message;
    #[pymodule_export]
    use super::gate::{Gate, Tracker};
    #[pymodule_export]
    use super::{main, names};
}
