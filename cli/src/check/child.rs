//! One start of the server: raw bytes in, raw bytes out, in a process group of its own, with a limit on every wait.
//!
//! Stdout is always read to its end and stderr is drained beside it, so that no server stops because a pipe is full. What
//! is written to stdin goes through a thread of its own, so that a server that does not read can't stop the check.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use linegate_host::supervise::{How, Signal, Supervised, Waits};
use rustix::event::{PollFd, PollFlags, poll};

use super::judge::Ends;
use super::past::{Act, Conditions, Exit, Launch, Run, Step};
use super::wire::{self, Answer, NoResult};

/// How often the end of the process is looked for while its pipes say nothing.
const TICK: Duration = Duration::from_millis(5);
/// How long the process may be gone and its pipes still open (something that it started holds them).
const LEFTOVER: Duration = Duration::from_millis(500);
/// Bytes kept of each stream; a server that writes more is drained all the same.
pub const KEPT: usize = 64 << 20;

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
    conditions: Conditions,
    process: Supervised,
    input: Option<Sender<Vec<u8>>>,
    events: Receiver<Event>,
    /// Stdout is read as long as this is here.
    listening: Option<PipeWriter>,
    /// The stderr that nobody reads yet, and where it goes once it is read.
    unread: Option<(ChildStderr, SyncSender<Event>)>,
    cut: bool,
    /// Whether the server's own requests are answered.
    answering: bool,
    /// Bytes of stdout in which requests were looked for, and those that were searched for the end of the next line.
    heard: (usize, usize),
    started: Instant,
    ended: Option<Instant>,
    sent: Vec<u8>,
    steps: Vec<Step>,
    /// When something passed last, either way.
    touched: Instant,
    stdout: Pipe,
    stderr: Pipe,
}

/// What one of the server's pipes brought so far.
#[derive(Default)]
struct Pipe {
    bytes: Vec<u8>,
    /// More came than is kept.
    overflowed: bool,
    ended: bool,
}

impl Pipe {
    fn keep(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.bytes.len()).min(bytes.len());
        self.overflowed |= room < bytes.len();
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }
}

impl<'l> Child<'l> {
    /// Starts the command.
    ///
    /// # Errors
    ///
    /// The command can't be started.
    pub fn start(launch: &'l Launch, command: Vec<OsString>, conditions: Conditions) -> io::Result<Self> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut builder = Command::new(program);
        builder.args(arguments).stderr(Stdio::piped());
        if conditions.bare {
            builder.env_clear();
        }
        conditions.unset.iter().for_each(|name| _ = builder.env_remove(name));
        builder.envs(conditions.env.iter().chain(&launch.env).map(|(name, value)| (name, value)));
        for (name, value) in &conditions.broken {
            match value {
                Some(value) => builder.env(name, value),
                None => builder.env_remove(name),
            };
        }
        if let Some(directory) = conditions.directory.as_ref().or(launch.directory.as_ref()) {
            builder.current_dir(directory);
        }
        let mut process = Supervised::spawn(builder, Waits::default())?;

        // Bounded: a server that floods its stdout waits for the check, and the check's memory does not grow.
        let (events_in, events) = sync_channel(64);
        let (hung_up, listening) = io::pipe()?;
        if let Some(stdout) = process.stdout.take() {
            pump(Hearer { stdout, hung_up }, events_in.clone(), Event::Stdout, Event::StdoutEnd);
        }
        let mut unread = None;
        match process.stderr.take() {
            Some(stderr) if conditions.stderr_unread => unread = Some((stderr, events_in)),
            Some(stderr) => pump(stderr, events_in, Event::Stderr, Event::StderrEnd),
            None => {}
        }
        let (input, lines) = channel::<Vec<u8>>();
        if let Some(mut stdin) = process.stdin.take() {
            // A server that has closed its stdin ends the thread; what it made of that shows on its stdout.
            thread::spawn(move || lines.into_iter().try_for_each(|bytes| stdin.write_all(&bytes)));
        }
        Ok(Self {
            launch,
            command,
            conditions,
            process,
            input: Some(input),
            events,
            listening: Some(listening),
            unread,
            cut: false,
            answering: true,
            heard: (0, 0),
            started: Instant::now(),
            ended: None,
            sent: Vec::new(),
            steps: Vec::new(),
            touched: Instant::now(),
            stdout: Pipe::default(),
            stderr: Pipe::default(),
        })
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.sent.extend_from_slice(bytes);
        self.note(Act::Send(bytes.len()));
        if let Some(input) = &self.input {
            // A writer that is gone had a server that closed its stdin.
            let _ = input.send(bytes.to_vec());
        }
    }

    /// Keeps what is done for whoever wants to do it again.
    fn note(&mut self, act: Act) {
        self.steps.push(Step { act, behind: self.stdout.bytes.len(), pause: self.touched.elapsed() });
        self.touched = Instant::now();
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

    /// Waits until what came on stdout so far is enough; `false` where it was not in time.
    pub fn wait_for(&mut self, limit: Duration, enough: impl Fn(&[u8]) -> bool) -> bool {
        let until = Instant::now() + limit;
        loop {
            if enough(&self.stdout.bytes) {
                return true;
            }
            if self.stdout.ended || self.is_abandoned() || !self.step(until) {
                return enough(&self.stdout.bytes);
            }
        }
    }

    /// What came on stdout so far.
    pub fn stdout(&self) -> &[u8] {
        &self.stdout.bytes
    }

    /// Whether stdout has ended, and not by this side.
    pub const fn has_closed_stdout(&self) -> bool {
        self.stdout.ended && !self.cut
    }

    /// Takes what the pipes bring for a while; over before, where the process ends.
    pub fn rest(&mut self, while_: Duration) {
        let until = Instant::now() + while_;
        while !self.has_ended() && self.step(until) {}
    }

    /// Reads stdout no more, and closes it. It is closed when this returns.
    pub fn hang_up(&mut self) {
        self.note(Act::HangUp);
        self.cut = true;
        self.listening = None;
        let until = Instant::now() + LEFTOVER;
        while !self.stdout.ended && self.step(until) {}
    }

    /// Sends a signal to the server and all that it has started.
    pub fn signal(&mut self, signal: Signal) {
        self.note(Act::Signal(signal));
        self.cut = true;
        self.process.signal(signal);
    }

    /// Waits for the end of the process with its input open; `false` where it still runs.
    pub fn ends_within(&mut self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        while !self.has_ended() && self.step(until) {}
        self.has_ended()
    }

    /// Closes the input and waits for the end: of the process, and of what it writes.
    ///
    /// # Errors
    ///
    /// The system refuses to wait for the process.
    pub fn finish(mut self, patience: Duration) -> io::Result<Run> {
        self.input = None;
        if let Some((stderr, events)) = self.unread.take() {
            pump(stderr, events, Event::Stderr, Event::StderrEnd);
        }
        let until = Instant::now() + patience;
        while !self.is_over() && self.step(until) {}
        let in_time = self.has_ended();
        let ended = if in_time { self.process.finish(How::Exited) } else { self.process.terminate() }?;

        // The group is dead, so the pipes end; only a process that left the group could hold them longer.
        let until = Instant::now() + LEFTOVER;
        while !self.pipes_ended() && self.step(until) {}
        Ok(Run {
            command: self.command,
            conditions: self.conditions,
            cut: self.cut || !in_time || self.stdout.overflowed,
            overflowed: self.stdout.overflowed,
            stdin: self.sent,
            steps: self.steps,
            ends: Ends::ByItself,
            stdout: self.stdout.bytes,
            stderr: self.stderr.bytes,
            exit: if in_time { exit(ended.status) } else { Exit::Killed },
            left_processes: ended.left_processes,
            probe: false,
            patience,
            took: self.started.elapsed(),
        })
    }

    /// Leaves the server's own requests to whoever sends the lines.
    pub const fn leave_requests(&mut self) {
        self.answering = false;
    }

    /// Answers what the server asks on its own, as a client does that offers nothing: a server may wait for it.
    fn answer_requests(&mut self) {
        let (heard, searched) = self.heard;
        let fresh = self.stdout.bytes.get(searched..).unwrap_or_default();
        self.heard.1 = self.stdout.bytes.len();
        let Some(end) = fresh.iter().rposition(|byte| *byte == b'\n') else { return };
        let end = searched + end + 1;
        self.heard.0 = end;
        let lines = self.stdout.bytes.get(heard..end).unwrap_or_default();
        let replies: Vec<u8> = wire::requests(lines).flat_map(|request| wire::reply_to(&request)).collect();
        if self.answering && self.input.is_some() && !replies.is_empty() {
            self.send(&replies);
        }
    }

    /// Takes what the pipes bring next, or lets a tick pass; `false` where the time is up.
    fn step(&mut self, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || self.launch.interrupted.load(Ordering::Relaxed) {
            return false;
        }
        match self.events.recv_timeout(TICK.min(left)) {
            Ok(Event::Stdout(bytes)) => {
                self.touched = Instant::now();
                self.stdout.keep(&bytes);
                self.answer_requests();
            }
            Ok(Event::Stderr(bytes)) => self.stderr.keep(&bytes),
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

/// The reading end of a server's stdout, until the check hangs up.
struct Hearer {
    stdout: std::process::ChildStdout,
    hung_up: PipeReader,
}

impl Read for Hearer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ready = [
            PollFd::from_borrowed_fd(self.stdout.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.hung_up.as_fd(), PollFlags::IN),
        ];
        poll(&mut ready, None)?;
        let [_, hung_up] = ready;
        if hung_up.revents().is_empty() { self.stdout.read(buffer) } else { Ok(0) }
    }
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
        drop(pipe);
        // Nobody listens any more where the check has given the server up.
        let _ = events.send(end);
    });
}
