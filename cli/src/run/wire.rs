//! The three pipes of a session: reads and writes that can be called off, and whole lines on stdout under one lock.
//!
//! Reads and writes go to the descriptors themselves: a buffer in between would hold lines back. A descriptor may have been
//! made non-blocking by whoever shares it, so every operation is ready for EAGAIN.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use linegate::{REPLY_LEN, Refusal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::clock::{Allowance, Stalls};

/// Bytes of one read, and of gathered lines that are written at once.
pub const PIECE: usize = 64 << 10;

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'p> {
    /// Bytes.
    Bytes(&'p [u8]),
    /// The end of input.
    End,
    /// Nothing: the other side called it off.
    CalledOff,
    /// Nothing in the time that it was given.
    Nothing,
}

/// Waits for input and reads what is there. Input goes before the calling off where `drain` is set, after it otherwise.
pub fn read<'p>(
    input: impl AsFd,
    off: &PipeReader,
    drain: bool,
    wait: Option<Duration>,
    piece: &'p mut [u8],
) -> io::Result<Input<'p>> {
    loop {
        let mut fds = [PollFd::new(&input, PollFlags::IN), PollFd::new(off, PollFlags::IN)];
        if poll_retry(&mut fds, wait.map(timespec).as_ref())? == 0 {
            return Ok(Input::Nothing);
        }
        let [ready, called_off] = fds.map(|fd| !fd.revents().is_empty());
        if !ready || (called_off && !drain) {
            return Ok(Input::CalledOff);
        }
        match rustix::io::read(&input, &mut *piece) {
            // A peer that was torn away ends its stream too.
            Ok(0) | Err(Errno::CONNRESET | Errno::PIPE) => return Ok(Input::End),
            Ok(len) => return Ok(Input::Bytes(piece.get(..len).unwrap_or_default())),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Lets that time pass; says whether it was called off meanwhile.
pub fn pause(off: &PipeReader, time: Duration) -> bool {
    // Where even that can't be waited for, nothing is.
    poll_retry(&mut [PollFd::new(off, PollFlags::IN)], Some(&timespec(time))).map_or(true, |ready| ready > 0)
}

/// Lines that wait to be written at once: of checked ones exactly the bytes that were checked, and one line feed after each.
#[derive(Debug, Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// Adds the bytes of a message; says whether it is time to write.
    pub fn add(&mut self, message: &[u8]) -> bool {
        self.0.extend_from_slice(message);
        self.0.push(b'\n');
        self.0.len() >= PIECE
    }

    /// Adds the answer in the place of a refused response, if somebody waits for one.
    pub fn settle(&mut self, refusal: &Refusal<'_>) {
        let mut answer = [0; REPLY_LEN];
        if let Ok(len) = refusal.write_settlement(&mut answer) {
            self.0.extend_from_slice(answer.get(..len).unwrap_or_default());
        }
    }

    /// What waits.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Forgets what was written.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// Why bytes were not written to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The server closed its input or ended.
    Gone,
    /// The session ended meanwhile.
    CalledOff,
    /// The client is gone, and the server has taken nothing for as long as it may.
    Stuck,
}

/// Writes to a server that may read slowly or never: gives up when called off, and when the client that `client` reads
/// from is gone and nothing moves for `patience`, in which the time of `stalls` doesn't count. `server` must be non-blocking.
pub fn write_to_server(
    server: impl AsFd,
    mut bytes: &[u8],
    client: impl AsFd,
    off: &PipeReader,
    patience: Duration,
    stalls: &Stalls,
) -> Result<(), Halt> {
    let mut client_gone = false;
    let mut unmoved = None;
    while !bytes.is_empty() {
        match rustix::io::write(&server, bytes) {
            Ok(len) => {
                bytes = bytes.get(len..).unwrap_or_default();
                unmoved = None;
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut fds = [
                    PollFd::new(&server, PollFlags::OUT),
                    PollFd::new(off, PollFlags::IN),
                    PollFd::new(&client, HANG_UP),
                ];
                let allowance =
                    client_gone.then(|| *unmoved.get_or_insert_with(|| Allowance::standing(patience, stalls)));
                let timeout = allowance.map(|allowance| timespec(allowance.pause(stalls)));
                // A hang-up is reported for ever: look for it only until it was seen.
                let watched = if client_gone { 2 } else { 3 };
                let Ok(count) = poll_retry(fds.get_mut(..watched).unwrap_or_default(), timeout.as_ref()) else {
                    return Err(Halt::Gone);
                };
                let [_, off, client] = fds.map(|fd| !fd.revents().is_empty());
                if off {
                    return Err(Halt::CalledOff);
                }
                if count == 0 && allowance.is_some_and(|allowance| allowance.left(stalls).is_zero()) {
                    return Err(Halt::Stuck);
                }
                client_gone |= client;
            }
            Err(_) => return Err(Halt::Gone),
        }
    }
    Ok(())
}

/// Events that say that the sender is gone while unread bytes are left.
#[cfg(target_os = "linux")]
const HANG_UP: PollFlags = PollFlags::RDHUP;
#[cfg(not(target_os = "linux"))]
const HANG_UP: PollFlags = PollFlags::empty();

/// Writes the server's own words to this process's stderr, between whole lines of others. It waits for whoever reads there, but
/// never while it holds the lock of stderr: what this process has to say itself must not wait for that.
pub fn write_to_stderr(mut lines: &[u8]) -> io::Result<()> {
    // A pipe that polls as writable takes as many bytes without blocking.
    const AT_ONCE: usize = 4000;
    let stderr = io::stderr();
    while !lines.is_empty() {
        poll_retry(&mut [PollFd::new(&stderr, PollFlags::OUT)], None)?;
        let _turn = stderr.lock();
        if poll_retry(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&Timespec::default()))? == 0 {
            continue;
        }
        let part = lines.get(..AT_ONCE.min(lines.len())).unwrap_or_default();
        let part = part.iter().rposition(|byte| *byte == b'\n').and_then(|at| part.get(..=at)).unwrap_or(part);
        match rustix::io::write(&stderr, part) {
            Ok(len) => lines = lines.get(len..).unwrap_or_default(),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// stdout of this process: the way to the client, for both threads.
#[derive(Debug, Default)]
pub struct ToClient {
    turn: Mutex<()>,
    /// How long the client took nothing.
    pub stalls: Stalls,
}

impl ToClient {
    /// Writes whole lines, when it is this writer's turn. An error means that the client is gone.
    pub fn write(&self, lines: &[u8]) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.stalls.count(|| write_all(lines))
    }
}

fn write_all(mut lines: &[u8]) -> io::Result<()> {
    let stdout = io::stdout();
    while !lines.is_empty() {
        match rustix::io::write(&stdout, lines) {
            Ok(len) => lines = lines.get(len..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                poll_retry(&mut [PollFd::new(&stdout, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn poll_retry(fds: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| poll(fds, timeout))?)
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}
