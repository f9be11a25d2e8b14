//! The extension `linegate._linegate`: the gate as Python classes that nobody can make by hand. It moves bytes and verdicts across
//! and judges nothing. The stub, `python/linegate/_linegate.pyi`, says what each class and function is for.

mod action;
mod event;
mod gate;

use std::ffi::OsString;

use linegate::{BadOptions, Code, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
    match import!(py, "linegate._errors", "UsageError").and_then(|class| class.call1((code.number(), text))) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

fn bad_options(py: Python<'_>, bad: BadOptions) -> PyErr {
    misuse(py, Code::BadOptions, bad.text)
}

/// A value of checked JSON text as Python objects.
fn loads(py: Python<'_>, text: &[u8]) -> PyResult<Py<PyAny>> {
    let text = str::from_utf8(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(import!(py, "json", "loads")?.call1((text,))?.unbind())
}

/// Options, as the Python side writes them.
fn options(py: Python<'_>, given: &str) -> PyResult<Options> {
    let given = serde_json::from_str(given).unwrap_or_default();
    linegate_host::named_options(&given).map_err(|bad| bad_options(py, bad))
}

#[pyfunction]
fn names() -> String {
    linegate_host::names().to_string()
}

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
