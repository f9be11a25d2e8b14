//! The report: printed for people or for programs, and saved as files with the raw bytes of every run.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::args::Format;

mod document;
mod outline;
mod people;

pub use outline::Outline;

/// Prints the report.
///
/// # Errors
///
/// The output can't be written.
pub fn print(outline: &Outline<'_>, format: Format, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Text => people::write(outline, out)?,
        Format::Json => document::write(outline, out)?,
    }
    out.flush()
}

/// Writes the report in both formats and the bytes of every run into a folder.
///
/// # Errors
///
/// The folder or a file can't be written.
pub fn save(outline: &Outline<'_>, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, format) in [("report.txt", Format::Text), ("report.json", Format::Json)] {
        let mut report = Vec::new();
        print(outline, format, &mut anstream::StripStream::new(&mut report))?;
        fs::write(folder.join(name), report)?;
    }
    for outcome in outline.all() {
        for (number, run) in outcome.runs.iter().enumerate() {
            let again = if number == 0 { String::new() } else { format!(".{}", number + 1) };
            let name = format!("{}{again}", outcome.name.replace('/', "."));
            for (stream, bytes) in [("stdin", &run.stdin), ("stdout", &run.stdout), ("stderr", &run.stderr)] {
                fs::write(folder.join(format!("{name}.{stream}")), bytes)?;
            }
        }
    }
    Ok(())
}
