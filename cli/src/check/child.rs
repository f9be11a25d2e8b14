//! One start of the server: raw bytes in, raw bytes out, in a process group of its own, with a limit on every wait.
//!
//! Stdout is always read to its end and stderr is drained beside it, so that no server stops because a pipe is full. What
//! is written to stdin goes through a thread of its own, so that a server that does not read can't stop the check.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use linegate_host::supervise::{How, Supervised, Waits};

use super::wire::{self, Answer, NoResult};

/// How often the end of the process is looked for while its pipes say nothing.
const TICK: Duration = Duration::from_millis(5);
/// How long the process may be gone and its pipes still open (something that it started holds them).
const LEFTOVER: Duration = Duration::from_millis(500);
/// Bytes kept of each stream; a server that writes more is drained all the same.
const KEPT: usize = 64 << 20;

/// What holds for every start.
#[derive(Debug)]
pub struct Launch {
    /// Added to the environment.
    pub env: Vec<(String, String)>,
    /// The limit of the traffic, and again of the end after the input was closed.
    pub timeout: Duration,
    /// Set by a signal to the check itself: every wait is over at once.
    pub interrupted: Arc<AtomicBool>,
}

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Status(i32),
    /// By a signal that the check did not send.
    Signal(i32),
    /// Not within the limit: the check killed it.
    Killed,
}

/// Bytes that were sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// How many.
    pub len: usize,
    /// Bytes of stdout that were seen before.
    pub behind: usize,
}

/// All that passed between the check and one start of the server.
#[derive(Debug)]
pub struct Run {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What was sent.
    pub stdin: Vec<u8>,
    /// In which pieces, and when.
    pub sends: Vec<Sent>,
    /// What came back, to the end.
    pub stdout: Vec<u8>,
    /// What was logged.
    pub stderr: Vec<u8>,
    /// How it ended.
    pub exit: Exit,
    /// Processes that it had started were still there when it had ended.
    pub left_processes: bool,
    /// Whether it was only asked which revision it speaks, by a request that may be foreign to it.
    pub probe: bool,
    /// How long it was given to end.
    pub patience: Duration,
    /// From start to end.
    pub took: Duration,
}

enum Event {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    StdoutEnd,
    StderrEnd,
}

/// A running server. Dropping it kills its process group.
pub struct Child<'l> {
    launch: &'l Launch,
    command: Vec<OsString>,
    process: Supervised,
    input: Option<Sender<Vec<u8>>>,
    events: Receiver<Event>,
    started: Instant,
    ended: Option<Instant>,
    sent: Vec<u8>,
    sends: Vec<Sent>,
    stdout: Pipe,
    stderr: Pipe,
}

/// What one of the server's pipes brought so far.
#[derive(Default)]
struct Pipe {
    bytes: Vec<u8>,
    ended: bool,
}

impl<'l> Child<'l> {
    /// Starts the command.
    ///
    /// # Errors
    ///
    /// The command can't be started.
    pub fn start(launch: &'l Launch, command: Vec<OsString>) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut builder = Command::new(program);
        builder.args(arguments).envs(launch.env.iter().map(|(name, value)| (name, value))).stderr(Stdio::piped());
        let mut process = Supervised::spawn(builder, Waits::default())?;

        // Bounded: a server that floods its stdout waits for the check, and the check's memory does not grow.
        let (events_in, events) = sync_channel(64);
        if let Some(stdout) = process.stdout.take() {
            pump(stdout, events_in.clone(), Event::Stdout, Event::StdoutEnd);
        }
        if let Some(stderr) = process.stderr.take() {
            pump(stderr, events_in, Event::Stderr, Event::StderrEnd);
        }
        let (input, lines) = channel::<Vec<u8>>();
        if let Some(mut stdin) = process.stdin.take() {
            // A server that has closed its stdin ends the thread; what it made of that shows on its stdout.
            thread::spawn(move || lines.into_iter().try_for_each(|bytes| stdin.write_all(&bytes)));
        }
        Ok(Self {
            launch,
            command,
            process,
            input: Some(input),
            events,
            started: Instant::now(),
            ended: None,
            sent: Vec::new(),
            sends: Vec::new(),
            stdout: Pipe::default(),
            stderr: Pipe::default(),
        })
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.sent.extend_from_slice(bytes);
        self.sends.push(Sent { len: bytes.len(), behind: self.stdout.bytes.len() });
        if let Some(input) = &self.input {
            // A writer that is gone had a server that closed its stdin.
            let _ = input.send(bytes.to_vec());
        }
    }

    /// Waits for the response with this id, to the limit of the traffic and no longer than `limit`.
    pub fn answer(&mut self, id: &str, limit: Duration) -> Answer {
        let until = (self.started + self.launch.timeout).min(Instant::now() + limit);
        let (mut read, mut looked) = (0, 0);
        loop {
            let fresh = self.stdout.bytes.get(looked..).unwrap_or_default();
            if let Some(end) = fresh.iter().rposition(|byte| *byte == b'\n') {
                let end = looked + end + 1;
                let lines = self.stdout.bytes.get(read..end).unwrap_or_default();
                if let Some(answer) = wire::messages(lines).find_map(|message| wire::answer_to(id, &message)) {
                    return answer;
                }
                read = end;
            }
            looked = self.stdout.bytes.len();
            if self.stdout.ended || self.is_abandoned() {
                return Err(NoResult::Closed);
            }
            if !self.step(until) {
                return Err(NoResult::Silent);
            }
        }
    }

    /// Closes the input and waits for the end: of the process, and of what it writes.
    ///
    /// # Errors
    ///
    /// The system refuses to wait for the process.
    pub fn finish(mut self, patience: Duration) -> io::Result<Run> {
        self.input = None;
        let until = Instant::now() + patience;
        while !self.is_over() && self.step(until) {}
        let in_time = self.has_ended();
        let ended = if in_time { self.process.finish(How::Exited) } else { self.process.terminate() }?;

        // The group is dead, so the pipes end; only a process that left the group could hold them longer.
        let until = Instant::now() + LEFTOVER;
        while !self.pipes_ended() && self.step(until) {}
        Ok(Run {
            command: self.command,
            stdin: self.sent,
            sends: self.sends,
            stdout: self.stdout.bytes,
            stderr: self.stderr.bytes,
            exit: if in_time { exit(ended.status) } else { Exit::Killed },
            left_processes: ended.left_processes,
            probe: false,
            patience,
            took: self.started.elapsed(),
        })
    }

    /// Takes what the pipes bring next, or lets a tick pass; `false` where the time is up.
    fn step(&mut self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || self.launch.interrupted.load(Ordering::Relaxed) {
            return false;
        }
        match self.events.recv_timeout(TICK.min(left)) {
            Ok(Event::Stdout(bytes)) => keep(&mut self.stdout.bytes, &bytes),
            Ok(Event::Stderr(bytes)) => keep(&mut self.stderr.bytes, &bytes),
            Ok(Event::StdoutEnd) => self.stdout.ended = true,
            Ok(Event::StderrEnd) => self.stderr.ended = true,
            Err(RecvTimeoutError::Timeout) => {}
            // Both pipes have ended; only the process is waited for.
            Err(RecvTimeoutError::Disconnected) => thread::sleep(TICK.min(left)),
        }
        true
    }

    fn pipes_ended(&self) -> bool {
        self.stdout.ended && self.stderr.ended
    }

    /// Whether nothing more is waited for.
    fn is_over(&mut self) -> bool {
        (self.has_ended() && self.pipes_ended()) || self.is_abandoned()
    }

    /// Whether the process is gone and its pipes have had their time to end.
    fn is_abandoned(&mut self) -> bool {
        self.has_ended() && self.ended.is_some_and(|ended| ended.elapsed() >= LEFTOVER)
    }

    fn has_ended(&mut self) -> bool {
        if self.ended.is_none() && self.process.wait_until(Instant::now()) {
            self.ended = Some(Instant::now());
        }
        self.ended.is_some()
    }
}

fn exit(status: ExitStatus) -> Exit {
    status.code().map(Exit::Status).or(status.signal().map(Exit::Signal)).unwrap_or(Exit::Killed)
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = KEPT.saturating_sub(kept.len()).min(bytes.len());
    kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
}

/// Reads a pipe to its end in a thread of its own.
fn pump(mut pipe: impl Read + Send + 'static, events: SyncSender<Event>, some: fn(Vec<u8>) -> Event, end: Event) {
    thread::spawn(move || {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(length) => {
                    let bytes = chunk.get(..length).unwrap_or_default().to_vec();
                    if events.send(some(bytes)).is_err() {
                        return;
                    }
                }
            }
        }
        // Nobody listens any more where the check has given the server up.
        let _ = events.send(end);
    });
}
