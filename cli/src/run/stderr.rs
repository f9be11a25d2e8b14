//! The server's stderr: passed on, or kept in a file; in both places without secrets.
//!
//! Secrets are looked for in whole lines, so a line goes on when it has ended, or when the stream has. One that is longer
//! than [`HELD`] goes on in parts; what is no longer than [`OVERLAP`] is found across them. A prompt, which has no end and is
//! waited on, goes on before, as far as it can't be the beginning of a value; with patterns nothing is certain before the end. Where there is nothing to mask and
//! nothing to keep, the server has this process's own stderr and none of this is between.

use std::io::PipeReader;
use std::process::ChildStderr;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::capture::Capture;
use super::shared::Shared;
use super::wire::{self, Input, PIECE};
use crate::secrets::Secrets;
use crate::tell::tell;

/// Bytes of a line that are held at most.
const HELD: usize = 64 << 10;
/// Bytes of a line that stay held when it goes on in parts.
const OVERLAP: usize = 8 << 10;

/// How long a line may pause until it is taken for a prompt.
const PAUSE: Duration = Duration::from_millis(100);

/// Where the lines go.
#[derive(Debug)]
pub enum Place {
    /// To this process's own stderr.
    Own,
    /// Into a file.
    Kept(Capture),
}

/// Takes the server's lines until the stream ends. Once `drained` says that nobody is left to write, it doesn't wait for more than
/// there is.
pub fn pump(shared: &Shared, stderr: ChildStderr, mut place: Place, drained: &PipeReader) {
    let mut veil = Veil::new(&shared.secrets);
    let mut piece = vec![0; PIECE];
    let mut asked = false;
    let end = loop {
        // A file keeps whole lines, and nobody waits for it.
        let wait = (!asked && matches!(place, Place::Own) && veil.may_be_asking()).then_some(PAUSE);
        match wire::read(&stderr, drained, true, wait, &mut piece) {
            Ok(Input::Bytes(bytes)) => {
                place.take(&veil.pass(bytes));
                asked = false;
            }
            Ok(Input::Nothing) => {
                place.take(&veil.ask());
                asked = true;
            }
            Ok(Input::End | Input::CalledOff) => break Ok(()),
            Err(error) => break Err(error),
        }
        shared.report.masked.store(veil.masked, Relaxed);
    };
    place.take(&veil.finish());
    shared.report.masked.store(veil.masked, Relaxed);
    if let Err(error) = end {
        tell(format_args!("cannot read the server's stderr, which is taken for its end: {error}"));
    }
}

impl Place {
    fn take(&mut self, lines: &[u8]) {
        match self {
            // A server whose diagnostics nobody takes waits, as it would without this process between. Where they are gone for
            // good nobody is left to tell that.
            Self::Own => _ = wire::write_to_stderr(lines),
            Self::Kept(capture) => capture.take(lines),
        }
    }
}

/// A stream of lines without its secrets.
#[derive(Debug)]
struct Veil<'s> {
    secrets: &'s Secrets,
    held: Vec<u8>,
    masked: u64,
}

impl<'s> Veil<'s> {
    const fn new(secrets: &'s Secrets) -> Self {
        Self { secrets, held: Vec::new(), masked: 0 }
    }

    /// Takes bytes, and gives those that may go on.
    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let known = self.held.len();
        self.held.extend_from_slice(bytes);
        let ended = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| known + at + 1);
        let mut free = self.let_go(ended);
        if self.held.len() > HELD {
            let part = self.part();
            free.extend(self.let_go(part));
        }
        free
    }

    /// Whether something is held that may go on before its line has ended.
    const fn may_be_asking(&self) -> bool {
        !self.held.is_empty() && !self.secrets.has_patterns()
    }

    /// What is certain of a line that has not ended.
    fn ask(&mut self) -> Vec<u8> {
        self.let_go(self.secrets.certain(&self.held))
    }

    /// The rest, at the end of the stream.
    fn finish(&mut self) -> Vec<u8> {
        self.let_go(self.held.len())
    }

    /// Where a line that is too long is parted: not inside a secret, unless that is as long.
    fn part(&self) -> usize {
        let part = self.held.len() - OVERLAP;
        let places = self.secrets.places_to_cut(&self.held);
        match places.iter().find(|(place, _)| place.start < part && part < place.end) {
            Some((place, _)) if place.start > 0 => place.start,
            Some((place, _)) => place.end,
            None => part,
        }
    }

    fn let_go(&mut self, end: usize) -> Vec<u8> {
        let rest = self.held.split_off(end);
        let lines = std::mem::replace(&mut self.held, rest);
        let mut free = Vec::with_capacity(lines.len());
        // Line by line, so that no pattern takes two lines for one.
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
            self.masked += self.secrets.mask(text, &mut free);
            // Outside of what is matched: no match may glue two lines, and `$` is the end of what stands in one.
            free.extend_from_slice(line.get(text.len()..).unwrap_or_default());
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use regex::bytes::Regex;

    use super::*;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.add_value("KEY", b"s3cret-value");
        secrets.add_pattern(Regex::new(r"sk-\w+").expect("a pattern"));
        secrets
    }

    fn veiled(pieces: &[&[u8]]) -> (String, u64) {
        let secrets = secrets();
        let mut veil = Veil::new(&secrets);
        let mut seen: Vec<u8> = pieces.iter().flat_map(|piece| veil.pass(piece)).collect();
        seen.extend(veil.finish());
        (String::from_utf8(seen).expect("text"), veil.masked)
    }

    #[test]
    fn secrets_are_masked_at_every_cut() {
        let text = b"a s3cret-value b\nsk-12 s3cret-value\n\nno end s3cret-value";
        for cut in 0..=text.len() {
            let (head, tail) = text.split_at(cut);
            assert_eq!(veiled(&[head, tail]), ("a [KEY] b\n[masked] [KEY]\n\nno end [KEY]".to_owned(), 4), "{cut}");
        }
    }

    #[test]
    fn a_pattern_sees_a_line_without_its_end() {
        for (pattern, text, seen) in [
            ("password=.*$", "a password=x\nb\r\nlogin password=y\r\n", "a [masked]\nb\r\nlogin [masked]\r\n"),
            ("^secret line$", "secret line\nsecret line\r\nsecret line", "[masked]\n[masked]\r\n[masked]"),
            ("token=[^ ]+", "a token=abc\nsecond\r\ntoken=abc\r\n", "a [masked]\nsecond\r\n[masked]\r\n"),
            (r"pin=\d+\s*", "pin=1\n\npin=2  \r\n", "[masked]\n\n[masked]\r\n"),
        ] {
            let mut secrets = Secrets::default();
            secrets.add_pattern(Regex::new(pattern).expect("a pattern"));
            for cut in 0..=text.len() {
                let mut veil = Veil::new(&secrets);
                let (head, tail) = text.as_bytes().split_at(cut);
                let free = [veil.pass(head), veil.pass(tail), veil.finish()].concat();
                assert_eq!(String::from_utf8(free).expect("text"), seen, "{pattern} {cut}");
            }
        }
    }

    #[test]
    fn a_prompt_goes_on_before_its_line_ends() {
        let mut secrets = Secrets::default();
        secrets.add_value("KEY", b"s3cret-value");
        let mut veil = Veil::new(&secrets);
        assert_eq!(veil.pass(b"your name s3cret"), b"");
        assert!(veil.may_be_asking());
        assert_eq!(veil.ask(), b"your name ");
        assert_eq!(veil.ask(), b"");
        assert_eq!(veil.pass(b"-value? \n"), b"[KEY]? \n");
        assert!(!veil.may_be_asking());
        // What a pattern matches may begin anywhere.
        secrets.add_pattern(Regex::new("name.*").expect("a pattern"));
        let mut veil = Veil::new(&secrets);
        veil.pass(b"your name");
        assert!(!veil.may_be_asking());
    }

    #[test]
    fn secrets_are_masked_wherever_a_long_line_is_parted() {
        for before in [HELD - OVERLAP, HELD].into_iter().flat_map(|edge| edge - 20..edge + 20) {
            for secret in ["s3cret-value", "sk-0123456789"] {
                let line = format!("{}{secret} {}", ".".repeat(before), ".".repeat(HELD * 2));
                let pieces: Vec<_> = line.as_bytes().chunks(5000).collect();
                let (seen, masked) = veiled(&pieces);
                assert!(!seen.contains("cret") && !seen.contains("12") && masked == 1, "{before} {secret}");
                assert_eq!(seen.matches('.').count(), line.matches('.').count());
            }
        }
    }

    #[test]
    fn a_line_without_end_does_not_grow_the_memory() {
        let secrets = secrets();
        let mut veil = Veil::new(&secrets);
        for _ in 0..100 {
            veil.pass(&[b'k'; 50_000]);
            assert!(veil.held.len() <= HELD + 50_000);
        }
        // A match without end is shown as one, and the rest of it may be seen.
        let mut veil = Veil::new(&secrets);
        veil.pass(b"sk-");
        for _ in 0..100 {
            veil.pass(&[b'k'; 50_000]);
            assert!(veil.held.len() <= HELD + 50_000);
        }
    }
}
