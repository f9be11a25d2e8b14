//! The way back: what an execution gives as a response line, and the writer that lets only checked lines out.

use core::fmt::{self, Write as _};

use super::Target;
use super::call::Origin;
use super::journal::Outcome;
use crate::code::INTERNAL_ERROR;
use crate::gate::{Event, Gate};
use crate::json::Cursor;
use crate::options::{BadOptions, Options, Policy};
use crate::refusal::Refusal;
use crate::response::{Line, TooSmall};
use crate::session::{Slot, Tracker};
use crate::storage::Storage;

/// What an execution gives.
pub trait Answer {
    /// Writes the result.
    ///
    /// # Errors
    /// [`fmt::Error`] where it can't be written; the client is then answered -32603.
    fn write(&self, result: ResultLine<'_, '_>) -> fmt::Result;
}

/// A text: the content of a tool's result, or for another method a JSON string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<T>(pub T);

impl<T: fmt::Display> Answer for Text<T> {
    fn write(&self, result: ResultLine<'_, '_>) -> fmt::Result {
        result.text(&self.0)
    }
}

/// JSON text, the whole result as it is to be sent; for a tool an object with `content`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: AsRef<str>> Answer for Json<T> {
    fn write(&self, result: ResultLine<'_, '_>) -> fmt::Result {
        result.json(self.0.as_ref())
    }
}

/// JSON text that becomes the structured content of a tool's result and, as MCP asks, its text as well; before 2025-06-18 its
/// text alone. An object: 2026-07-28 takes any value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structured<T>(pub T);

impl<T: AsRef<str>> Answer for Structured<T> {
    fn write(&self, result: ResultLine<'_, '_>) -> fmt::Result {
        result.structured(self.0.as_ref())
    }
}

/// The place of a result in a response that is being written.
pub struct ResultLine<'l, 'o> {
    line: &'l mut Line<'o>,
    origin: Origin<'l>,
}

impl ResultLine<'_, '_> {
    /// Writes a text, see [`Text`].
    ///
    /// # Errors
    /// Those of the text's own `Display`.
    pub fn text(self, text: &dyn fmt::Display) -> fmt::Result {
        self.put_text(text, false)
    }

    /// Writes JSON text as it is, see [`Json`].
    ///
    /// # Errors
    /// [`fmt::Error`] where it holds a line break, or goes on behind its first value: nothing that a text says can become
    /// another member of the response. Whether it is JSON, and a result, the writer's gate judges.
    pub fn json(self, json: &str) -> fmt::Result {
        one_value(json)?;
        self.line.put(b"\"result\":");
        self.line.put(json.as_bytes());
        Ok(())
    }

    /// Writes JSON text as structured content, see [`Structured`].
    ///
    /// # Errors
    /// As of [`json`](Self::json).
    pub fn structured(self, json: &str) -> fmt::Result {
        one_value(json)?;
        self.line.begin_tool_text(self.origin.is_modern());
        self.line.put_inside(json);
        if self.origin.has_structured_content() {
            self.line.put(b"\"}],\"structuredContent\":");
            self.line.put(json.as_bytes());
            self.line.put(b",\"isError\":false}");
        } else {
            self.line.end_tool_text(false);
        }
        Ok(())
    }

    fn put_text(self, text: &dyn fmt::Display, is_error: bool) -> fmt::Result {
        match self.origin.target() {
            Some(Target::Tool(_)) => {
                self.line.begin_tool_text(self.origin.is_modern());
                write!(self.line, "{text}")?;
                self.line.end_tool_text(is_error);
            }
            _ if is_error => {
                self.line.begin_error(INTERNAL_ERROR);
                write!(self.line, "{text}")?;
                self.line.put(b"\"}");
            }
            _ => {
                self.line.put(b"\"result\":\"");
                write!(self.line, "{text}")?;
                self.line.put(b"\"");
            }
        }
        Ok(())
    }
}

/// Whether a text, if the line around it is JSON, is one value of it and on one line. One that ends inside its value passes, and
/// leaves the line around it without an end.
fn one_value(json: &str) -> fmt::Result {
    let text = json.as_bytes();
    let value = Cursor::starting(text.trim_ascii(), 0).bytes();
    let is_one = !value.is_empty() && value.len() == text.trim_ascii().len();
    if is_one && memchr::memchr2(b'\n', b'\r', text).is_none() { Ok(()) } else { Err(fmt::Error) }
}

impl Origin<'_> {
    /// Writes the response line of a result into `out`; gives its length, 0 for a notification.
    ///
    /// # Errors
    /// [`Unwritten`]: there is no room, or the answer couldn't be written.
    pub fn write_result(&self, answer: &impl Answer, out: &mut [u8]) -> Result<usize, Unwritten> {
        self.write(out, |result| answer.write(result))
    }

    /// Writes the response line of an execution that failed, as [`Execute::Error`](super::Execute::Error) says.
    ///
    /// # Errors
    /// As of [`write_result`](Self::write_result).
    pub fn write_failure(&self, error: &impl fmt::Display, out: &mut [u8]) -> Result<usize, Unwritten> {
        self.write(out, |result| result.put_text(error, true))
    }

    /// Writes an error line (-32603) that says that an answer can't be given, or that there is none for the executor did nothing.
    ///
    /// # Errors
    /// As of [`write_result`](Self::write_result). [`REPLY_LEN`](crate::REPLY_LEN) suffices.
    pub fn write_no_answer(&self, outcome: Outcome, out: &mut [u8]) -> Result<usize, Unwritten> {
        let text = if outcome == Outcome::Untouched { UNTOUCHED } else { NO_ANSWER };
        self.write(out, |result| {
            result.line.put_error(INTERNAL_ERROR, text);
            Ok(())
        })
    }

    fn write(&self, out: &mut [u8], put: impl FnOnce(ResultLine<'_, '_>) -> fmt::Result) -> Result<usize, Unwritten> {
        let Some(id) = self.id() else { return Ok(0) };
        let mut line = Line::response(out, Some(id));
        put(ResultLine { line: &mut line, origin: *self }).map_err(|fmt::Error| Unwritten::Answer)?;
        line.end().map_err(Unwritten::Room)
    }
}

/// What a client reads where a result can't be sent.
const NO_ANSWER: &str = "The action was executed; its result can't be sent.";
/// And where an executor answered without having taken the arguments.
const UNTOUCHED: &str = "The action was not executed.";

/// An answer was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unwritten {
    /// There is too little room (902).
    Room(TooSmall),
    /// Its text is no result: it can't be displayed, or is JSON text with a line break or of more than one value.
    Answer,
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Room(room) => room.fmt(f),
            Self::Answer => f.write_str("the answer can't be written as one value on one line"),
        }
    }
}

impl core::error::Error for Unwritten {}

/// Where response lines go.
pub trait Wire {
    /// Sends a line, with its line feed, if it is one that may be sent; whether it was.
    fn send(&mut self, line: &[u8]) -> bool;
}

impl<T: Wire + ?Sized> Wire for &mut T {
    fn send(&mut self, line: &[u8]) -> bool {
        (**self).send(line)
    }
}

/// A wire with a gate of its own: each line is judged as any of its sender's, and only accepted ones are put out.
#[derive(Debug)]
pub struct Writer<S, F> {
    gate: Gate<S>,
    put: F,
}

/// A line that was not sent. Nothing of it was put out.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotSent<'a> {
    /// It is no message that may be sent.
    Refused(Refusal<'a>),
    /// It is not one line: its line feed isn't its last byte, or its only one.
    NotALine,
}

impl<S: Storage, F: FnMut(&[u8])> Writer<S, F> {
    /// A writer that judges by these options, a server's for a server, and hands accepted lines to `put`. A refused line is
    /// withheld and the next one judged, whatever the options' policy.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`].
    pub fn new(mut options: Options, storage: S, put: F) -> Result<Self, BadOptions> {
        options.policy = Policy::Continue;
        Ok(Self { gate: Gate::new(options, storage)?, put })
    }

    /// Sends a line, which ends with its line feed.
    ///
    /// # Errors
    /// [`NotSent`] says why it wasn't.
    #[expect(clippy::result_large_err, reason = "a refusal is told once, where it is met")]
    pub fn write_line<'a>(&'a mut self, line: &'a [u8]) -> Result<(), NotSent<'a>> {
        if !is_one_line(line) {
            return Err(NotSent::NotALine);
        }
        self.end_refused_line();
        match self.gate.feed(line).event {
            Event::Message(_) => {
                (self.put)(line);
                Ok(())
            }
            Event::Refused(refusal) => Err(NotSent::Refused(refusal)),
            // A line is always judged: it is whole, and nothing ends this gate's session.
            Event::NeedMore | Event::Closed => Err(NotSent::NotALine),
        }
    }

    /// The same, in the session that this tracker follows; the gate of the other direction is fed with it too.
    ///
    /// # Errors
    /// [`NotSent`] says why it wasn't.
    #[expect(clippy::result_large_err, reason = "a refusal is told once, where it is met")]
    pub fn write_line_with<'a, T: AsRef<[Slot]> + AsMut<[Slot]>>(
        &'a mut self,
        line: &'a [u8],
        tracker: &mut Tracker<T>,
    ) -> Result<(), NotSent<'a>> {
        if !is_one_line(line) {
            return Err(NotSent::NotALine);
        }
        self.end_refused_line();
        match self.gate.feed_with(line, tracker).event {
            Event::Message(_) => {
                (self.put)(line);
                Ok(())
            }
            Event::Refused(refusal) => Err(NotSent::Refused(refusal)),
            Event::NeedMore | Event::Closed => Err(NotSent::NotALine),
        }
    }

    /// A line that was refused before its end is not fed to it, and its line feed would take the next line along.
    fn end_refused_line(&mut self) {
        if self.gate.discarding() {
            let _ = self.gate.feed(b"\n");
        }
    }

    /// The gate, for its counters.
    pub const fn gate(&self) -> &Gate<S> {
        &self.gate
    }
}

fn is_one_line(line: &[u8]) -> bool {
    memchr::memchr(b'\n', line).is_some_and(|at| at + 1 == line.len())
}

impl<S: Storage, F: FnMut(&[u8])> Wire for Writer<S, F> {
    fn send(&mut self, line: &[u8]) -> bool {
        self.write_line(line).is_ok()
    }
}
