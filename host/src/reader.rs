//! A stream of which only accepted lines come out.

use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::sync::{Mutex, PoisonError, Weak};

use linegate::{BadOptions, Gate, Options, Refusal};

use crate::HeapStorage;
use crate::filter::{Filter, PIECE};
use crate::intake::Intake;
use crate::outbox::Outbox;

/// Reads from `R`, and gives only the lines that its gate accepts: the bytes that were checked and one line feed, never a
/// carriage return.
///
/// - A refused line is no error. It goes nowhere, is counted, told to the [observer](Self::on_refusal), and, by a reader that a
///   [`Session`](crate::Session) made with a writer, answered where an answer is due. A reader made by [`new`](Self::new)
///   answers nothing: it has no right to anybody's stdout. An answer that can't be sent is dropped, for then the peer is gone.
/// - Where the policy ends the session with a refusal, what was accepted before still comes out, and then the end of file;
///   nothing more is read from `R`.
/// - A last line that is cut off is refused (104).
/// - Errors of `R` are passed on, and reading may go on after them; [`ErrorKind::Interrupted`] is tried again.
///
/// It reads ahead by 64 KiB. Beside the gate's keys its memory is bounded by three times [`max_frame`](linegate::Limits::max_frame)
/// and 400 KiB.
///
/// ```
/// use std::io::BufRead;
///
/// use linegate::{Direction, Options};
/// use linegate_host::{GatedReader, random_key};
///
/// let stdin: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n{\"jsonrpc\":\"2.0\",\"id\":2,\"id\":3,\"method\":\"ping\"}\n";
/// let options = Options::new(Direction::FromClient, random_key()?);
/// let reader = GatedReader::new(stdin, options)?.on_refusal(|refusal| assert_eq!(refusal.code().name(), "duplicate_key"));
/// let lines: Vec<String> = reader.lines().collect::<Result<_, _>>()?;
/// assert_eq!(lines, ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GatedReader<R> {
    intake: Intake,
    replies: Option<Replies>,
    inner: R,
}

/// The way back. The writer's owner ends the wire by dropping the writer.
pub(crate) type Replies = Weak<Mutex<Outbox<dyn Write + Send>>>;

impl<R> GatedReader<R> {
    /// A reader with these options, which answers nothing and belongs to no session.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`].
    pub fn new(inner: R, options: Options) -> Result<Self, BadOptions> {
        Ok(Self::with(inner, Filter::new(options, None)?, None))
    }

    pub(crate) fn with(inner: R, filter: Filter, replies: Option<Replies>) -> Self {
        Self { intake: Intake::new(filter, replies.is_some()), replies, inner }
    }

    /// The reader, with somebody who is told of each refused line. It is called from the reading thread and should be quick;
    /// the [record](Refusal::record) of a refusal may be kept. By default refusals are only counted.
    #[must_use]
    pub fn on_refusal(mut self, observer: impl FnMut(&Refusal<'_>) + Send + 'static) -> Self {
        self.intake.filter.observe(observer);
        self
    }

    /// The gate, for its counters.
    #[must_use]
    pub const fn gate(&self) -> &Gate<HeapStorage> {
        self.intake.filter.gate()
    }

    /// Sends the answers that wait, if there is still a way.
    fn answer(&mut self) {
        if self.intake.replies.is_empty() {
            return;
        }
        if let Some(wire) = self.replies.as_ref().and_then(Weak::upgrade) {
            let mut outbox = wire.lock().unwrap_or_else(PoisonError::into_inner);
            // A wire that would block, and whose reader takes nothing, gets no more.
            if outbox.waiting.len() < PIECE {
                outbox.waiting.append(&mut self.intake.replies);
            }
            let _ = outbox.drain();
        }
        self.intake.replies.clear();
    }
}

impl<R: Read> BufRead for GatedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        loop {
            self.intake.judge();
            self.answer();
            if !self.intake.lines().is_empty() || self.intake.is_over() {
                return Ok(self.intake.lines());
            }
            let Some(spare) = self.intake.spare() else { continue };
            match self.inner.read(spare) {
                Ok(len) => self.intake.filled(len),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn consume(&mut self, len: usize) {
        self.intake.consume(len);
    }
}

impl<R: Read> Read for GatedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let len = self.fill_buf()?.read(out)?;
        self.consume(len);
        Ok(len)
    }
}

impl<R> std::fmt::Debug for GatedReader<R> {
    /// Shows where the gate stands, never what is held.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatedReader").field("gate", self.gate()).finish_non_exhaustive()
    }
}
