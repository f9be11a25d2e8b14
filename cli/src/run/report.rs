//! What a session tells of its refusals: to a person on stderr, to the audit file, and as counts at the end.
//!
//! None of it can change a verdict or stop the gate: a reader or a disk that fails is given up, once and for all, with a
//! warning where that is still possible.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use linegate::{Direction, Refusal};
use linegate_host::refused_line;

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
    pub fn new(audit: Option<&Path>) -> Result<Self, String> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.map_err(|error| format!("cannot open the audit file {}: {error}", path.display()))
        };
        Ok(Self { audit: audit.map(open).transpose()?, ..Self::default() })
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
        self.append(refusal);
        if self.unheard.load(Relaxed) {
            return;
        }
        let code = refusal.code();
        let (who, at, text) = (direction.name(), refusal.at(), code.text());
        let waits = !ends && refusal.settles().is_some();
        let settled = if waits { " The request that it answers gets error -32603 instead." } else { "" };
        let line = excerpt.map(|shown| format!(" The line: {shown}")).unwrap_or_default();
        let end = if ends { " This ends the session." } else { "" };
        let told = try_tell(format_args!(
            "refused a line of the {who} at offset {offset}: {code}, byte {at} of the line: {text}{end}{settled}{line}"
        ));
        self.unheard.store(!told, Relaxed);
    }

    fn append(&self, refusal: &Refusal<'_>) {
        let Some(mut audit) = self.audit.as_ref() else { return };
        let line = refused_line(&refusal.record());
        // One write for one line, so that sessions that share a file don't mix within lines.
        if let Err(error) = audit.write_all(line.as_bytes())
            && !self.audit_failed.swap(true, Relaxed)
        {
            tell(format_args!("the audit file can't be written, refusals may be missing in it: {error}"));
        }
    }

    /// Tells the counts, if anything was refused.
    pub fn conclude(&self) {
        let [(taken, refused), (taken_back, refused_back)] =
            [&self.client, &self.server].map(|tally| (tally.accepted.load(Relaxed), tally.refused.load(Relaxed)));
        if refused + refused_back > 0 {
            tell(format_args!(
                "lines of the client: {taken} accepted, {refused} refused; \
                 of the server: {taken_back} accepted, {refused_back} refused"
            ));
        }
    }
}
