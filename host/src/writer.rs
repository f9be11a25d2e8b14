//! A stream into which only accepted lines go.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use linegate::{BadOptions, Gate, Options, Record, Refusal};

use crate::HeapStorage;
use crate::filter::Filter;
use crate::outbox::Outbox;

/// Takes bytes in any pieces, and writes to `W` only the lines that its gate accepts: each whole, in one write, and flushed.
///
/// - A refused line is no error of [`write`](Write::write), which takes its bytes all the same: it goes nowhere, is counted and
///   told to the [observer](Self::on_refusal). [`write_line`](Self::write_line) says of one message whether it was accepted.
/// - In a [`Session`](crate::Session) the client whose request a refused line was to answer gets error -32603 in its place, so
///   that it doesn't wait for ever.
/// - Where the policy ends the session with a refusal, every further write fails with [`ErrorKind::BrokenPipe`], and a reader of
///   the same session comes to its end of file. (One that waits in `read` at that moment isn't woken.)
/// - A line without its line feed is held, by `flush` too. When the writer is dropped it is refused (104), never sent.
/// - Errors of `W` are passed on, and after one nothing more is sent, for the wire may have stopped inside a line. A `W` that
///   would block is no error as long as the line can wait; `flush` sends it.
///
/// One thread writes at a time: several share it in a [`Mutex`].
///
/// ```
/// use std::io::Write;
///
/// use linegate::{Direction, Options};
/// use linegate_host::{GatedWriter, LineError, random_key};
///
/// let mut wire = Vec::new();
/// let mut writer = GatedWriter::new(&mut wire, Options::new(Direction::FromServer, random_key()?))?;
/// write!(writer, "{{\"jsonrpc\":\"2.0\",\"id\":1,")?;
/// write!(writer, "\"result\":{{}}}}\n")?;
/// let LineError::Refused(record) = writer.write_line(b"{\"id\":2,\"result\":{}}").unwrap_err() else { unreachable!() };
/// assert_eq!(record.code.name(), "jsonrpc_missing");
/// drop(writer);
/// assert_eq!(wire, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GatedWriter<W> {
    filter: Filter,
    wire: Arc<Mutex<Outbox<W>>>,
    /// Whether what was written last ended inside a line.
    unfinished: bool,
}

impl<W> GatedWriter<W> {
    /// A writer with these options, which belongs to no session.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`].
    pub fn new(inner: W, options: Options) -> Result<Self, BadOptions> {
        Ok(Self::with(Arc::new(Mutex::new(Outbox::new(inner))), Filter::new(options, None)?))
    }

    pub(crate) const fn with(wire: Arc<Mutex<Outbox<W>>>, filter: Filter) -> Self {
        Self { filter, wire, unfinished: false }
    }

    /// The writer, with somebody who is told of each refused line. It is called from the writing thread and should be quick; the
    /// [record](Refusal::record) of a refusal may be kept. By default refusals are only counted.
    #[must_use]
    pub fn on_refusal(mut self, observer: impl FnMut(&Refusal<'_>) + Send + 'static) -> Self {
        self.filter.observe(observer);
        self
    }

    /// The gate, for its counters.
    #[must_use]
    pub const fn gate(&self) -> &Gate<HeapStorage> {
        self.filter.gate()
    }
}

impl<W: Write> GatedWriter<W> {
    /// Writes one message, with or without its line feed, and says if it was not accepted.
    ///
    /// # Errors
    /// [`LineError`]. Nothing of the message was or will be sent, but for [`LineError::Io`].
    pub fn write_line(&mut self, message: &[u8]) -> Result<(), LineError> {
        let message = message.strip_suffix(b"\n").unwrap_or(message);
        if self.unfinished {
            return Err(LineError::Unfinished);
        }
        if let Some(at) = message.iter().position(|byte| *byte == b'\n') {
            return Err(LineError::LineFeed { at });
        }
        if self.filter.gate().is_closed() {
            return Err(LineError::Closed);
        }
        let mut wire = lock(&self.wire);
        wire.drain()?;
        let mut refused = None;
        for mut rest in [message, b"\n"] {
            while !rest.is_empty() {
                let (consumed, record) = feed(&mut self.filter, rest, &mut wire.waiting);
                refused = refused.or(record);
                rest = &rest[consumed..];
            }
        }
        wire.drain_if_possible()?;
        refused.map_or(Ok(()), |record| Err(LineError::Refused(record)))
    }
}

impl<W: Write> Write for GatedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut wire = lock(&self.wire);
        wire.drain()?;
        if self.filter.gate().is_closed() {
            return Err(closed());
        }
        let mut rest = bytes;
        // A line at a time, and no further once one has to wait: then fewer bytes are taken than were offered.
        while !rest.is_empty() && wire.waiting.is_empty() {
            let (consumed, _) = feed(&mut self.filter, rest, &mut wire.waiting);
            if let Some(last) = rest[..consumed].last() {
                self.unfinished = *last != b'\n';
            }
            rest = &rest[consumed..];
            wire.drain_if_possible()?;
        }
        Ok(bytes.len() - rest.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        lock(&self.wire).drain()
    }
}

impl<W> Drop for GatedWriter<W> {
    fn drop(&mut self) {
        self.filter.finish();
    }
}

impl<W> fmt::Debug for GatedWriter<W> {
    /// Shows where the gate stands, never what is held.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatedWriter").field("gate", self.gate()).finish_non_exhaustive()
    }
}

/// Judges one line at most, and lets the session's reader know if it ended the session.
pub(crate) fn feed(filter: &mut Filter, input: &[u8], onward: &mut Vec<u8>) -> (usize, Option<Record>) {
    let fed = filter.feed(input, onward, None);
    if filter.gate().is_closed()
        && let Some(link) = filter.link()
    {
        link.end();
    }
    fed
}

/// The error of everything that is written after the session's end.
pub(crate) fn closed() -> io::Error {
    io::Error::new(ErrorKind::BrokenPipe, LineError::Closed)
}

fn lock<W>(wire: &Mutex<Outbox<W>>) -> MutexGuard<'_, Outbox<W>> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a message was not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum LineError {
    /// The gate refused it.
    Refused(Record),
    /// A line feed stands inside, at this byte: these would be two lines. JSON for a line is written without line breaks.
    LineFeed {
        /// Its offset.
        at: usize,
    },
    /// Bytes of a line without its line feed were written before.
    Unfinished,
    /// A refusal has ended the session (905).
    Closed,
    /// The wire failed, and how much of the message it took isn't known. With [`ErrorKind::WouldBlock`] it takes nothing at the
    /// moment, and the message wasn't looked at.
    Io(io::Error),
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(record) => write!(f, "{}, byte {}: {}", record.code, record.at, record.code.text()),
            Self::LineFeed { at } => write!(f, "a line feed stands inside the message, at byte {at}"),
            Self::Unfinished => f.write_str("a line that was begun before has no line feed yet"),
            Self::Closed => f.write_str("a refused line has ended the session"),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for LineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let Self::Io(error) = self { error.source() } else { None }
    }
}

impl From<io::Error> for LineError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
