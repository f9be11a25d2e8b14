//! The one writer of a wire, and the lines that wait for it. Whatever the wire takes at once, lines leave it whole and one
//! after the other, though a reader's answers and a writer's lines come from two sides.

use std::io::{self, ErrorKind, Write};

/// A wire with its queue.
pub(crate) struct Outbox<W: ?Sized> {
    /// Whole lines.
    pub(crate) waiting: Vec<u8>,
    sent: usize,
    /// Whether something was sent since the wire was flushed.
    unflushed: bool,
    /// Whether the wire failed. Nobody could tell where a line after that would begin, so nothing more is sent.
    broken: bool,
    wire: W,
}

impl<W> Outbox<W> {
    pub(crate) const fn new(wire: W) -> Self {
        Self { waiting: Vec::new(), sent: 0, unflushed: false, broken: false, wire }
    }
}

impl<W: ?Sized> Outbox<W> {
    fn check(&mut self) -> io::Result<()> {
        if self.broken { Err(self.failed(ErrorKind::BrokenPipe.into())) } else { Ok(()) }
    }

    /// Takes note of what the wire took.
    fn took(&mut self, len: usize) -> io::Result<()> {
        if len == 0 {
            return Err(self.failed(ErrorKind::WriteZero.into()));
        }
        self.unflushed = true;
        self.sent += len;
        if self.sent >= self.waiting.len() {
            self.waiting.clear();
            self.sent = 0;
        }
        Ok(())
    }

    /// Takes note of an error.
    fn failed(&mut self, error: io::Error) -> io::Error {
        if error.kind() != ErrorKind::WouldBlock {
            self.broken = true;
            self.unflushed = false;
            self.waiting.clear();
            self.sent = 0;
        }
        error
    }
}

impl<W: Write + ?Sized> Outbox<W> {
    /// Sends what waits, and flushes. A wire that would block is asked again the next time.
    pub(crate) fn drain(&mut self) -> io::Result<()> {
        self.check()?;
        loop {
            let done = if !self.waiting.is_empty() {
                self.wire.write(&self.waiting[self.sent..])
            } else if self.unflushed {
                self.wire.flush().map(|()| 0)
            } else {
                return Ok(());
            };
            match done {
                Ok(_) if self.waiting.is_empty() => self.unflushed = false,
                Ok(len) => self.took(len)?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    /// The same, where it is no error that the lines have to wait.
    pub(crate) fn drain_if_possible(&mut self) -> io::Result<()> {
        self.drain().or_else(|error| if error.kind() == ErrorKind::WouldBlock { Ok(()) } else { Err(error) })
    }
}

#[cfg(feature = "tokio")]
mod asynchronous {
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use ::tokio::io::AsyncWrite;

    use super::{Outbox, io};

    impl<W: AsyncWrite + Unpin + ?Sized> Outbox<W> {
        /// Sends what waits, and flushes.
        pub(crate) fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.check()?;
            while !self.waiting.is_empty() {
                let done = ready!(Pin::new(&mut self.wire).poll_write(cx, &self.waiting[self.sent..]));
                done.map_err(|error| self.failed(error)).and_then(|len| self.took(len))?;
            }
            if self.unflushed {
                let done = ready!(Pin::new(&mut self.wire).poll_flush(cx));
                done.map_err(|error| self.failed(error))?;
                self.unflushed = false;
            }
            Poll::Ready(Ok(()))
        }

        pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            ready!(self.poll_drain(cx))?;
            Pin::new(&mut self.wire).poll_shutdown(cx)
        }
    }
}
