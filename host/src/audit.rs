//! An audit file: a JSON line for each refusal, each authorized action and its end. Never a byte of a line itself, but its keyed
//! fingerprint.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use linegate::Record;
use linegate::action::{Audit, Execution, Outcome, Target};
use serde_json::json;

/// The audit line of a refusal, with its line feed.
///
/// Members: `event` (`refused`), `sequence` (the line's ordinal in its stream, from 1), `direction` (`client` or `server`),
/// `stage`, `code`, `name`, `at` and `length` (bytes), `fingerprint` (32 hex digits).
#[must_use]
pub fn refused_line(record: &Record) -> String {
    record_line("refused", record)
}

/// The audit line of a refusal that was reported and not carried out: the line was passed on. `event` is `observed`.
#[must_use]
pub fn observed_line(record: &Record) -> String {
    record_line("observed", record)
}

fn record_line(event: &str, record: &Record) -> String {
    line(json!({
        "event": event,
        "sequence": record.sequence,
        "direction": record.direction.name(),
        "stage": record.stage.name(),
        "code": record.code.number(),
        "name": record.code.name(),
        "at": record.at,
        "length": record.frame_len,
        "fingerprint": record.fingerprint.to_string(),
    }))
}

/// The audit line of an action: `event` (`authorized`, or `ended` with an `outcome`), `sequence`, `direction`, `tool` or
/// `method`, `fingerprint`.
fn action_line(execution: &Execution, outcome: Option<Outcome>) -> String {
    let mut members = json!({
        "event": if outcome.is_some() { "ended" } else { "authorized" },
        "sequence": execution.sequence,
        "direction": execution.direction.name(),
        "fingerprint": execution.fingerprint.to_string(),
    });
    let (kind, name) = match execution.target {
        Target::Tool(name) => ("tool", name),
        Target::Method(name) => ("method", name),
    };
    members[kind] = name.into();
    if let Some(outcome) = outcome {
        members["outcome"] = outcome.name().into();
    }
    line(members)
}

fn line(members: serde_json::Value) -> String {
    format!("{members}\n")
}

/// An audit that appends to a writer, by default a file.
///
/// Each line is one write, so that processes that share a file don't mix within lines. A writer that blocks holds up the
/// stream; nothing is executed meanwhile. What can't be written changes no verdict and is [counted](Self::lost).
#[derive(Debug)]
pub struct AuditFile<W = File> {
    out: W,
    lost: u64,
    error: Option<io::Error>,
}

impl AuditFile {
    /// Appends to the file of that name, which is made if there is none.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn append(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::new(OpenOptions::new().create(true).append(true).open(path)?))
    }
}

impl<W: Write> AuditFile<W> {
    /// Appends to a writer that doesn't buffer.
    pub const fn new(out: W) -> Self {
        Self { out, lost: 0, error: None }
    }

    /// Lines that couldn't be written.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Why the first of them couldn't.
    pub const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// The writer.
    pub const fn get_ref(&self) -> &W {
        &self.out
    }

    fn write(&mut self, line: &str) {
        if let Err(error) = self.out.write_all(line.as_bytes()) {
            self.lost += 1;
            self.error.get_or_insert(error);
        }
    }
}

impl<W: Write> Audit for AuditFile<W> {
    fn refused(&mut self, record: &Record) {
        self.write(&refused_line(record));
    }

    fn authorized(&mut self, execution: &Execution) {
        self.write(&action_line(execution, None));
    }

    fn ended(&mut self, execution: &Execution, outcome: Outcome) {
        self.write(&action_line(execution, Some(outcome)));
    }
}
