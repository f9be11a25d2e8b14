//! The gated streams for tokio. All state is in the streams and none in a future, so that a read or a write that is called
//! off, as in a `select!`, loses nothing.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker, ready};

use ::tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use linegate::{BadOptions, Gate, Options, Refusal};

use crate::filter::{Filter, PIECE};
use crate::intake::Intake;
use crate::outbox::Outbox;
use crate::writer::{closed, feed};
use crate::{HeapStorage, Session};

/// [`GatedReader`](crate::GatedReader) over an [`AsyncRead`]: what is said there holds here.
///
/// A reader that waits is woken when the session's writer ends the session. Before more is read, answers that are due must
/// have been taken by the wire; accepted lines don't wait for that.
pub struct AsyncGatedReader<R> {
    intake: Intake,
    replies: Option<Weak<Wire<dyn AsyncWrite + Send + Unpin>>>,
    /// Whether an answer may not have been sent yet.
    owes: bool,
    inner: R,
}

impl<R> AsyncGatedReader<R> {
    /// A reader with these options, which answers nothing and belongs to no session.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`].
    pub fn new(inner: R, options: Options) -> Result<Self, BadOptions> {
        Ok(Self { intake: Intake::new(Filter::new(options, None)?, false), replies: None, owes: false, inner })
    }

    /// As [`GatedReader::on_refusal`](crate::GatedReader::on_refusal).
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

    /// Sends the answers that wait, if there is still a way. The writer sends them with its own lines if the reader isn't polled.
    fn poll_answer(&mut self, cx: &Context<'_>) -> Poll<()> {
        let Some(wire) = self.replies.as_ref().and_then(Weak::upgrade) else {
            self.intake.replies.clear();
            return Poll::Ready(());
        };
        let waker = wire.register(Side::Reader, cx);
        self.owes |= !self.intake.replies.is_empty();
        if self.owes {
            let mut outbox = wire.lock();
            outbox.waiting.append(&mut self.intake.replies);
            // A failed wire is the writer's to tell.
            let _ = ready!(outbox.poll_drain(&mut Context::from_waker(&waker)));
            self.owes = false;
        }
        Poll::Ready(())
    }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for AsyncGatedReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        loop {
            this.intake.judge();
            let answered = this.poll_answer(cx);
            if !this.intake.lines().is_empty() {
                return Poll::Ready(Ok(this.intake.lines()));
            }
            ready!(answered);
            if this.intake.is_over() {
                return Poll::Ready(Ok(&[]));
            }
            let Some(spare) = this.intake.spare() else { continue };
            let mut buffer = ReadBuf::new(spare);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut buffer))?;
            let len = buffer.filled().len();
            this.intake.filled(len);
        }
    }

    fn consume(self: Pin<&mut Self>, len: usize) {
        self.get_mut().intake.consume(len);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for AsyncGatedReader<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if out.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let lines = ready!(self.as_mut().poll_fill_buf(cx))?;
        let len = lines.len().min(out.remaining());
        out.put_slice(&lines[..len]);
        self.consume(len);
        Poll::Ready(Ok(()))
    }
}

impl<R> fmt::Debug for AsyncGatedReader<R> {
    /// Shows where the gate stands, never what is held.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncGatedReader").field("gate", self.gate()).finish_non_exhaustive()
    }
}

/// [`GatedWriter`](crate::GatedWriter) over an [`AsyncWrite`]: what is said there holds here, but that lines which the wire does
/// not take at once wait, up to 64 KiB and a line, and are surely sent and flushed only by `flush` or `shutdown`.
pub struct AsyncGatedWriter<W> {
    filter: Filter,
    wire: Arc<Wire<W>>,
}

impl<W> AsyncGatedWriter<W> {
    /// A writer with these options, which belongs to no session.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`].
    pub fn new(inner: W, options: Options) -> Result<Self, BadOptions> {
        Ok(Self { filter: Filter::new(options, None)?, wire: Wire::new(inner) })
    }

    /// As [`GatedWriter::on_refusal`](crate::GatedWriter::on_refusal).
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

impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncGatedWriter<W> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { filter, wire } = self.get_mut();
        let waker = wire.register(Side::Writer, cx);
        let mut cx = Context::from_waker(&waker);
        let mut outbox = wire.lock();
        ready!(outbox.poll_drain(&mut cx))?;
        if filter.gate().is_closed() {
            return Poll::Ready(Err(closed()));
        }
        let mut rest = bytes;
        while !rest.is_empty() && outbox.waiting.len() < PIECE {
            let (consumed, _) = feed(filter, rest, &mut outbox.waiting);
            rest = &rest[consumed..];
        }
        // The bytes are taken; that the wire fails is for the next call to say.
        let _ = outbox.poll_drain(&mut cx);
        drop(outbox);
        if filter.gate().is_closed() {
            wire.wakers.wake_one(Side::Reader);
        }
        Poll::Ready(Ok(bytes.len() - rest.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waker = self.wire.register(Side::Writer, cx);
        self.wire.lock().poll_drain(&mut Context::from_waker(&waker))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waker = self.wire.register(Side::Writer, cx);
        self.wire.lock().poll_shutdown(&mut Context::from_waker(&waker))
    }
}

impl<W> Drop for AsyncGatedWriter<W> {
    fn drop(&mut self) {
        self.filter.finish();
    }
}

impl<W> fmt::Debug for AsyncGatedWriter<W> {
    /// Shows where the gate stands, never what is held.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncGatedWriter").field("gate", self.gate()).finish_non_exhaustive()
    }
}

impl Session {
    /// As [`gate`](Self::gate), for streams of tokio. The pair is what servers on rmcp are given as their transport.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`gate`](Self::gate).
    pub fn gate_async<R: AsyncRead, W: AsyncWrite + Send + Unpin + 'static>(
        &self,
        reader: R,
        writer: W,
    ) -> Result<(AsyncGatedReader<R>, AsyncGatedWriter<W>), BadOptions> {
        let (client, server) = self.filters()?;
        let wire = Wire::new(writer);
        let replies: Weak<Wire<dyn AsyncWrite + Send + Unpin>> = Arc::downgrade(&wire) as _;
        let reader =
            AsyncGatedReader { intake: Intake::new(client, true), replies: Some(replies), owes: false, inner: reader };
        Ok((reader, AsyncGatedWriter { filter: server, wire }))
    }

    /// As [`stdio`](Self::stdio), for tokio: the guard, and the pair that a server on rmcp serves.
    ///
    /// As with tokio's own standard input, a read that waits can't be called off: a runtime that is dropped waits for it.
    ///
    /// # Errors
    /// As of [`stdio`](Self::stdio).
    #[cfg(unix)]
    pub fn stdio_async(&self) -> io::Result<(crate::StdioGuard, AsyncStdio)> {
        let (guard, stdin, stdout) = crate::StdioGuard::take()?;
        let [stdin, stdout] = [stdin, stdout].map(::tokio::fs::File::from_std);
        Ok((guard, self.gate_async(stdin, stdout).map_err(io::Error::other)?))
    }
}

/// The gated streams of a process.
#[cfg(unix)]
pub type AsyncStdio = (AsyncGatedReader<::tokio::fs::File>, AsyncGatedWriter<::tokio::fs::File>);

/// A wire that two tasks write to. An [`AsyncWrite`] wakes only the task that polled it last, so both poll it with one waker
/// that wakes both.
struct Wire<W: ?Sized> {
    wakers: Arc<Wakers>,
    outbox: Mutex<Outbox<W>>,
}

impl<W> Wire<W> {
    fn new(wire: W) -> Arc<Self> {
        Arc::new(Self { wakers: Arc::default(), outbox: Mutex::new(Outbox::new(wire)) })
    }
}

impl<W: ?Sized> Wire<W> {
    fn lock(&self) -> MutexGuard<'_, Outbox<W>> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the task of that side; gives the waker for polling the wire.
    fn register(&self, side: Side, cx: &Context<'_>) -> Waker {
        let mut waker = self.wakers.of(side);
        if !waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        drop(waker);
        Waker::from(self.wakers.clone())
    }
}

#[derive(Clone, Copy)]
enum Side {
    Reader,
    Writer,
}

/// The tasks that poll a wire.
#[derive(Default)]
struct Wakers([Mutex<Option<Waker>>; 2]);

impl Wakers {
    fn of(&self, side: Side) -> MutexGuard<'_, Option<Waker>> {
        self.0[side as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_one(&self, side: Side) {
        // Woken without the lock: a task may be polled at once, and note itself again.
        let waker = self.of(side).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        self.wake_one(Side::Reader);
        self.wake_one(Side::Writer);
    }
}
