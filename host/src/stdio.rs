//! The process's own standard streams, moved out of everybody's reach: what is printed, by a C library or a child process
//! too, must not get onto the wire, and a child process must not read what the client sends.
//!
//! Descriptors are moved, not objects of the standard library: whoever writes to descriptor 1 writes to standard error. The
//! wire is a private duplicate above 2 that no child process inherits. What can't be helped: a process that was started
//! before the guard has the streams already, and code that looks for the duplicate finds it.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stdin, dup2_stdout};

/// The first descriptor that is none of the standard ones.
const ABOVE: i32 = 3;

/// Whether a guard stands; there are two streams in a process, however many servers.
static STDIN: AtomicBool = AtomicBool::new(false);
static STDOUT: AtomicBool = AtomicBool::new(false);

/// A stream's claim, given back when dropped.
#[derive(Debug)]
struct Claim(&'static AtomicBool);

impl Claim {
    fn on(stream: &'static AtomicBool, name: &str) -> io::Result<Self> {
        if stream.swap(true, SeqCst) {
            let text = format!("{name} is guarded already: a process has one, so one server at a time can have it");
            return Err(io::Error::new(ErrorKind::AlreadyExists, text));
        }
        Ok(Self(stream))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.0.store(false, SeqCst);
    }
}

/// As long as it stands, descriptor 1 is standard error, and the wire is a file that only its owner has.
///
/// What Rust's and C's standard output held when it began goes to standard error, and so does what they hold when it ends or,
/// if it is never dropped, when the process exits. Dropping it gives descriptor 1 back: what a thread prints after that is on
/// the wire again. A server that ends with its process keeps its guard for ever with [`std::mem::forget`], so that tasks
/// that outlive `main`'s locals can't print there either.
#[derive(Debug)]
pub struct StdoutGuard {
    saved: OwnedFd,
    _claim: Claim,
}

impl StdoutGuard {
    /// Moves standard output away, and gives the wire: unbuffered, to be written by its one owner.
    ///
    /// # Errors
    /// A guard stands already ([`ErrorKind::AlreadyExists`]); standard output or standard error is no open descriptor, or
    /// there are no more descriptors.
    pub fn take() -> io::Result<(Self, File)> {
        let claim = Claim::on(&STDOUT, "standard output")?;
        let stdout = io::stdout();
        let saved = fcntl_dupfd_cloexec(&stdout, ABOVE)?;
        let wire = fcntl_dupfd_cloexec(&stdout, ABOVE)?;
        // Locked, no thread can print between the two steps.
        let mut locked = stdout.lock();
        dup2_stdout(io::stderr())?;
        flush(&mut locked);
        Ok((Self { saved, _claim: claim }, File::from(wire)))
    }
}

impl Drop for StdoutGuard {
    fn drop(&mut self) {
        let mut locked = io::stdout().lock();
        flush(&mut locked);
        // It can only fail if another thread closes descriptors that aren't its own.
        let _ = dup2_stdout(&self.saved);
    }
}

/// Empties what was printed and still waits in the process, to where descriptor 1 leads now. That nobody reads standard error is no
/// fault of the server.
fn flush(stdout: &mut impl Write) {
    let _ = stdout.flush();
    flush_c();
}

/// The same for C's streams.
#[allow(unsafe_code)]
fn flush_c() {
    // SAFETY: fflush takes a null pointer, for all output streams; it locks each of them.
    unsafe { libc::fflush(std::ptr::null_mut()) };
}

/// As long as it stands, descriptor 0 is the null device, and what the client sends is in a file that only its owner has.
///
/// Dropping it gives descriptor 0 back; what the file's owner has read ahead is gone. It must come before anything reads
/// [`io::stdin`], which reads ahead too.
#[derive(Debug)]
pub struct StdinGuard {
    saved: OwnedFd,
    _claim: Claim,
}

impl StdinGuard {
    /// Moves standard input away, and gives it.
    ///
    /// # Errors
    /// A guard stands already ([`ErrorKind::AlreadyExists`]); standard input is no open descriptor, there are no more
    /// descriptors, or no null device.
    pub fn take() -> io::Result<(Self, File)> {
        let claim = Claim::on(&STDIN, "standard input")?;
        let saved = fcntl_dupfd_cloexec(io::stdin(), ABOVE)?;
        let input = fcntl_dupfd_cloexec(io::stdin(), ABOVE)?;
        dup2_stdin(File::open("/dev/null")?.as_fd())?;
        Ok((Self { saved, _claim: claim }, File::from(input)))
    }
}

impl Drop for StdinGuard {
    fn drop(&mut self) {
        let _ = dup2_stdin(&self.saved);
    }
}

/// Both guards of a server on standard input and output. It must have a name, `_guard` for one: what is bound to `_` is dropped at
/// once.
#[derive(Debug)]
pub struct StdioGuard {
    _stdin: StdinGuard,
    _stdout: StdoutGuard,
}

impl StdioGuard {
    /// Moves both streams away, and gives them: input, then output.
    ///
    /// # Errors
    /// As of [`StdinGuard::take`] and [`StdoutGuard::take`]; then neither is moved.
    pub fn take() -> io::Result<(Self, File, File)> {
        let (_stdin, input) = StdinGuard::take()?;
        let (_stdout, output) = StdoutGuard::take()?;
        Ok((Self { _stdin, _stdout }, input, output))
    }
}
