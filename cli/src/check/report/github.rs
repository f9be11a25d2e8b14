//! The report as annotations of GitHub Actions: a workflow command for each violation, printed to the job's log.

use std::io::{self, Write};

use super::outline::Outline;
use crate::check::text::escaped;

/// Writes the annotations, and a notice where all is clean.
///
/// # Errors
///
/// The output can't be written.
pub fn write(outline: &Outline<'_>, out: &mut impl Write) -> io::Result<()> {
    for outcome in outline.failed() {
        for finding in &outcome.findings {
            // A class that does not count for the exit status does not fail the job.
            let level = if outline.counted().contains(&finding.class) { "error" } else { "warning" };
            let title = format!("linegate check: {} ({})", outcome.name, finding.class.name());
            let mut text = format!("{}\n{}", escaped(finding.what.as_bytes()), finding.fix);
            if let Some(line) = finding.dirt.as_ref().map(|dirt| &dirt.line) {
                text.push_str(&format!("\nbytes: {}", escaped(&line.bytes)));
            }
            writeln!(out, "::{level} title={}::{}", property(&title), data(&text))?;
        }
    }
    if outline.failed().is_empty() {
        writeln!(out, "::notice title=linegate check::clean")?;
    }
    Ok(())
}

/// Text behind the colons.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
