//! What a session tells of its refusals: to a person on stderr, to the audit file, and as counts at the end.
//!
//! None of it can change a verdict or stop the gate: a reader or a disk that fails is given up, once and for all, with a
//! warning where that is still possible.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use linegate::{Direction, Refusal};
use serde_json::json;

use crate::tell::{tell, try_tell};

/// Where refusals are told.
#[derive(Debug, Default)]
pub struct Report {
    audit: Option<File>,
    audit_failed: AtomicBool,
    unheard: AtomicBool,
    client: Tally,
    server: Tally,
}

#[derive(Debug, Default)]
struct Tally {
    accepted: AtomicU64,
    refused: AtomicU64,
}

impl Report {
    /// Tells on stderr, and appends to the audit file if there is one.
    pub fn new(audit: Option<&Path>) -> io::Result<Self> {
        let audit = audit.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        Ok(Self { audit, ..Self::default() })
    }

    const fn tally(&self, direction: Direction) -> &Tally {
        match direction {
            Direction::FromClient => &self.client,
            Direction::FromServer => &self.server,
        }
    }

    /// Counts an accepted line.
    pub fn accepted(&self, direction: Direction) {
        self.tally(direction).accepted.fetch_add(1, Relaxed);
    }

    /// Tells of a refused line: where its stream had come to when it began, how it begins (a server's only), and whether
    /// the session ends with it.
    pub fn refused(&self, direction: Direction, refusal: &Refusal<'_>, offset: u64, excerpt: Option<&str>, ends: bool) {
        self.tally(direction).refused.fetch_add(1, Relaxed);
        self.append(direction, refusal);
        if self.unheard.load(Relaxed) {
            return;
        }
        let code = refusal.code();
        let (who, at, text) = (direction.name(), refusal.at(), code.text());
        let line = excerpt.map(|shown| format!(" The line: {shown}")).unwrap_or_default();
        let end = if ends { " This ends the session." } else { "" };
        let told = try_tell(format_args!(
            "refused a line of the {who} at offset {offset}: {} {}, byte {at} of the line: {text}{end}{line}",
            code.number(),
            code.name(),
        ));
        self.unheard.store(!told, Relaxed);
    }

    fn append(&self, direction: Direction, refusal: &Refusal<'_>) {
        let Some(mut audit) = self.audit.as_ref() else { return };
        let record = refusal.record();
        let mut line = json!({
            "sequence": record.sequence,
            "direction": direction.name(),
            "stage": record.code.stage().name(),
            "code": record.code.number(),
            "name": record.code.name(),
            "at": record.at,
            "length": record.frame_len,
            "fingerprint": record.fingerprint.to_string(),
        })
        .to_string();
        line.push('\n');
        // One write for one line, so that sessions that share a file don't mix within lines.
        if let Err(error) = audit.write_all(line.as_bytes())
            && !self.audit_failed.swap(true, Relaxed)
        {
            tell(format_args!("the audit file can't be written, refusals may be missing in it: {error}"));
        }
    }

    /// Whether anything was refused.
    pub fn any_refused(&self) -> bool {
        [&self.client, &self.server].iter().any(|tally| tally.refused.load(Relaxed) > 0)
    }

    /// Tells the counts, if anything was refused.
    pub fn conclude(&self) {
        if self.any_refused() {
            let count = |tally: &Tally| (tally.accepted.load(Relaxed), tally.refused.load(Relaxed));
            let ((accepted, refused), (accepted_back, refused_back)) = (count(&self.client), count(&self.server));
            tell(format_args!(
                "lines of the client: {accepted} accepted, {refused} refused; \
                 of the server: {accepted_back} accepted, {refused_back} refused"
            ));
        }
    }
}
