//! What the command says to people beside its output: whole lines on stderr, each marked as the command's own.
//!
//! A person or a log that doesn't read must not stop the gate: where stderr takes nothing for a second, the line is lost.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};

/// Bytes of the longest line. A pipe that polls as writable takes this many without blocking.
const LONGEST: usize = 4000;

/// Writes `linegate: `, the text and a line feed. Where nobody takes it there is nobody left to tell that.
pub fn tell(text: fmt::Arguments<'_>) {
    let _ = try_tell(text);
}

/// The same; says whether someone took it.
#[must_use]
pub fn try_tell(text: fmt::Arguments<'_>) -> bool {
    let mut line = format!("linegate: {text}");
    if line.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or(0));
        line.push('…');
    }
    line.push('\n');
    // Whoever writes there looks for room and writes under one lock, so that no write waits.
    let mut stderr = io::stderr().lock();
    takes_bytes() && stderr.write_all(line.as_bytes()).is_ok()
}

#[cfg(unix)]
fn takes_bytes() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec};
    let stderr = io::stderr();
    let mut wait = [PollFd::new(&stderr, PollFlags::OUT)];
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    !matches!(rustix::event::poll(&mut wait, Some(&second)), Ok(0))
}

#[cfg(not(unix))]
fn takes_bytes() -> bool {
    true
}

/// Text of a peer made fit for a terminal: controls and invisible characters are escaped, quotes are not.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    Cow::Owned(shown)
}

/// The same for text of several lines, whose line feeds stay.
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        assert_eq!(printable("a \"b\" c"), "a \"b\" c");
        assert_eq!(printable("\u{1b}[31m\u{9b}\u{202e}é"), "\\u{1b}[31m\\u{9b}\\u{202e}é");
    }
}
