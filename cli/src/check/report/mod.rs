//! The report: printed for people or for programs, and saved as files with the raw bytes of every run.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::replay;
use crate::args::ReportFormat;

mod document;
mod github;
mod junit;
mod outline;
mod page;
mod people;
mod sarif;

pub use document::document;
pub use outline::Outline;
pub use people::complaints;

/// The files of a saved report.
const FILES: [(&str, ReportFormat); 6] = [
    ("report.txt", ReportFormat::Text),
    ("report.json", ReportFormat::Json),
    ("report.junit.xml", ReportFormat::Junit),
    ("report.sarif", ReportFormat::Sarif),
    ("report.github.txt", ReportFormat::Github),
    ("report.html", ReportFormat::Html),
];

/// Prints the report.
///
/// # Errors
///
/// The output can't be written.
pub fn print(outline: &Outline<'_>, format: ReportFormat, out: &mut impl Write) -> io::Result<()> {
    match format {
        ReportFormat::Text => people::write(outline, out)?,
        ReportFormat::Json => document::write(outline, out)?,
        ReportFormat::Junit => junit::write(outline, out)?,
        ReportFormat::Sarif => sarif::write(outline, out)?,
        ReportFormat::Github => github::write(outline, out)?,
        ReportFormat::Html => page::write(outline, out)?,
    }
    out.flush()
}

/// Writes the report in every format into a folder, and for each run its bytes and what it takes to do it again. Stdin and
/// stdout are kept raw, stderr with its secrets masked.
///
/// # Errors
///
/// The folder or a file can't be written.
pub fn save(outline: &Outline<'_>, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, format) in FILES {
        let mut report = Vec::new();
        print(outline, format, &mut anstream::StripStream::new(&mut report))?;
        fs::write(folder.join(name), report)?;
    }
    for outcome in outline.all() {
        for (number, run) in outcome.runs.iter().enumerate() {
            let again = if number == 0 { String::new() } else { format!(".{}", number + 1) };
            let name = format!("{}{again}", outcome.name.replace('/', "."));
            let stderr = outline.secrets().masked(&run.stderr);
            for (stream, bytes) in [("stdin", &run.stdin), ("stdout", &run.stdout), ("stderr", &stderr)] {
                fs::write(folder.join(format!("{name}.{stream}")), bytes)?;
            }
            let again = serde_json::to_vec_pretty(&replay::document(outline.setup(), outcome, run))?;
            fs::write(folder.join(format!("{name}.replay.json")), again)?;
        }
    }
    Ok(())
}
