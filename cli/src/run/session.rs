//! One session: starts the server, hears from both directions, decides when it is over, ends the server.
//!
//! A session ends with the end of either stream, with a refusal that the policy ends it for, with a signal, or with the
//! server. From then on nothing new reaches the server; what it still says is passed on, unless a line of its own ended the
//! session.
//! The server's input is closed and it gets its time, then SIGTERM, then SIGKILL, its whole process group each time.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use linegate::{Direction, Gate, Options};
use linegate_host::HeapStorage;
use linegate_host::supervise::{Ended, How, Signal, Supervised, Waits, exit_code};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

use super::capture::{Bounds, Capture};
use super::client::{self, Patience};
use super::report::Report;
use super::server;
use super::shared::{Event, Shared};
use super::stderr::{self, Place};
use crate::args::RunArgs;
use crate::secrets::Secrets;
use crate::tell::{printable, tell};
use crate::{environment, gates};

/// Runs the session. Gives the exit status, or why there was no session.
pub fn run(args: &'static RunArgs) -> Result<u8, String> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err("give the server's command after --".to_owned());
    };
    if !args.answer_wait.is_zero() && !args.revision.is_mcp() {
        return Err("--answer-wait needs a revision of MCP or auto: plain JSON-RPC has no sessions".to_owned());
    }
    let report = Report::new(args)?;
    let environment = environment(args)?;
    let secrets = secrets(args, &environment);
    // Only where there is something to do for it does this process stand between the server and its stderr.
    let place = match &args.stderr {
        Some(path) => Some(Place::Kept(capture(args, path)?)),
        None if secrets.is_empty() => None,
        None => Some(Place::Own),
    };
    let (client, server) = (options(args, Direction::FromClient)?, options(args, Direction::FromServer)?);
    // Plain JSON-RPC has no sessions.
    let tracker = args.revision.is_mcp().then(|| gates::track(&client, &server)).transpose()?;
    let gates = (gates::open(client)?, gates::open(server)?);
    let (events, heard) = mpsc::channel();
    pass_signals_on(events.clone()).map_err(|error| format!("cannot handle signals: {error}"))?;

    let mut command = Command::new(program);
    command.args(arguments);
    if args.clean_env {
        command.env_clear().envs(environment::safe());
    }
    command.envs(environment);
    if place.is_some() {
        command.stderr(Stdio::piped());
    }
    let waits = Waits { close: args.close_wait, term: args.term_wait };
    let patience = Patience { answers: args.answer_wait, closed: args.close_wait };
    let server = Supervised::spawn(command, waits)
        .map_err(|error| format!("cannot start {}: {error}", printable(&program.to_string_lossy())))?;
    if args.observe {
        tell(format_args!("observing only: what would be refused is told and passed on. This is no protection."));
    }
    let shared = Arc::new(Shared::new(args, tracker, report, secrets, events));
    Session::start(server, gates, place, (waits, patience), shared, heard)
        .and_then(Session::conduct)
        .map_err(|error| format!("cannot run the session: {error}"))
}

fn options(args: &'static RunArgs, from: Direction) -> Result<Options, String> {
    let mut options = args.allow.applied_to(gates::options(from)?);
    options.revision = args.revision;
    options.policy = args.policy();
    if let Some(max_frame) = args.max_frame {
        options.limits.max_frame = max_frame;
    }
    Ok(options)
}

/// The variables that the user gives the server.
fn environment(args: &RunArgs) -> Result<Vec<(OsString, OsString)>, String> {
    args.env.iter().map(|variable| Ok((variable.name().into(), variable.value()?))).collect()
}

/// What must not be read in the server's words: the secrets that it is given, and what the user names.
fn secrets(args: &RunArgs, given: &[(OsString, OsString)]) -> Secrets {
    let inherited: Vec<_> = if args.clean_env { environment::safe().collect() } else { std::env::vars_os().collect() };
    let mut secrets = Secrets::of_variables(inherited.into_iter().chain(given.iter().cloned()));
    for (variable, (_, value)) in args.env.iter().zip(given).filter(|(variable, _)| variable.is_from_file()) {
        secrets.add_value(variable.name(), value.as_bytes());
    }
    args.mask.iter().for_each(|pattern| secrets.add_pattern(pattern.clone()));
    secrets
}

fn capture(args: &RunArgs, path: &Path) -> Result<Capture, String> {
    let bounds = Bounds { size: args.stderr_size, older: args.stderr_older, age: args.stderr_age };
    Capture::open(path, bounds)
        .map_err(|error| format!("cannot keep the server's stderr in {}: {error}", path.display()))
}

fn pass_signals_on(events: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let event = match signal {
                SIGUSR1 => Event::Count,
                SIGHUP => Event::Signal(Signal::Hangup),
                SIGINT => Event::Signal(Signal::Interrupt),
                SIGQUIT => Event::Signal(Signal::Quit),
                SIGUSR2 => Event::Signal(Signal::User2),
                _ => Event::Signal(Signal::Terminate),
            };
            let _ = events.send(event);
        }
    })?;
    Ok(())
}

fn spawn(name: &str, shared: &Arc<Shared>, work: impl FnOnce(&Shared) + Send + 'static) -> io::Result<()> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name(name.into()).spawn(move || work(&shared)).map(drop)
}

/// How far the ending of the server has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Closing,
    Terminating,
    Killing,
}

struct Session {
    server: Supervised,
    waits: Waits,
    shared: Arc<Shared>,
    heard: Receiver<Event>,
    /// Dropped to call off the client's thread, which then closes the server's input.
    off: Option<io::PipeWriter>,
    /// Dropped when the server's group has ended: its thread then takes what is left and doesn't wait for more.
    drained: Option<io::PipeWriter>,
    phase: Phase,
    deadline: Option<Instant>,
    /// Whether this process got a signal.
    signalled: bool,
    /// Whether the client's thread is done.
    client_done: bool,
    /// Whether the server's thread is done.
    server_done: bool,
    /// Whether the thread of its stderr is done, or there is none.
    stderr_done: bool,
}

impl Session {
    fn start(
        mut server: Supervised,
        (from_client, from_server): (Gate<HeapStorage>, Gate<HeapStorage>),
        place: Option<Place>,
        (waits, patience): (Waits, Patience),
        shared: Arc<Shared>,
        heard: Receiver<Event>,
    ) -> io::Result<Self> {
        let (Some(stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(io::Error::other("the server has no pipes"));
        };
        let (calling_off, off) = io::pipe()?;
        let (draining, drained) = io::pipe()?;
        let stderr_done = place.is_none();
        if let (Some(stderr), Some(place)) = (server.stderr.take(), place) {
            let draining = draining.try_clone()?;
            spawn("stderr", &shared, move |shared| {
                stderr::pump(shared, stderr, place, &draining);
                shared.send(Event::StderrDone);
            })?;
        }
        let watch = server.exit_watch();
        spawn("exit", &shared, move |shared| {
            watch.wait();
            shared.send(Event::Exited);
        })?;
        spawn("client", &shared, move |shared| {
            client::pump(shared, from_client, stdin, &calling_off, patience);
            shared.send(Event::Done(Direction::FromClient));
        })?;
        spawn("server", &shared, move |shared| {
            server::pump(shared, from_server, stdout, &draining);
            shared.send(Event::Done(Direction::FromServer));
        })?;
        Ok(Self {
            server,
            waits,
            shared,
            heard,
            off: Some(off),
            drained: Some(drained),
            phase: Phase::Open,
            deadline: None,
            signalled: false,
            client_done: false,
            server_done: false,
            stderr_done,
        })
    }

    fn conduct(mut self) -> io::Result<u8> {
        while let Some(event) = self.hear() {
            match event {
                Event::InputEnded | Event::OutputEnded | Event::ClientGone | Event::Refused => self.close(),
                Event::Stuck => self.terminate(),
                Event::Signal(signal) => self.pass_on(signal),
                Event::Count => self.shared.report.tell_counts(),
                Event::Done(direction) => self.note_done(direction),
                Event::StderrDone => self.stderr_done = true,
                Event::Exited => break,
            }
        }
        let how = match self.phase {
            Phase::Open | Phase::Closing => How::Exited,
            Phase::Terminating => How::Terminated,
            Phase::Killing => How::Killed,
        };
        self.off = None;
        let ended = self.server.finish(how)?;
        self.drained = None;
        self.let_threads_finish();
        Ok(self.conclude(&ended))
    }

    /// The next event; a deadline that passes moves the ending on. `None` can't come while a signal may.
    fn hear(&mut self) -> Option<Event> {
        loop {
            match self.hear_in_time() {
                Ok(event) => return Some(event),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if self.phase == Phase::Closing => self.terminate(),
                Err(RecvTimeoutError::Timeout) => {
                    self.server.signal(Signal::Kill);
                    self.enter(Phase::Killing, None);
                }
            }
        }
    }

    /// The next event, if it comes before the deadline.
    fn hear_in_time(&self) -> Result<Event, RecvTimeoutError> {
        match self.deadline {
            Some(deadline) => self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => Ok(self.heard.recv()?),
        }
    }

    fn enter(&mut self, phase: Phase, wait: Option<Duration>) {
        self.phase = phase;
        self.deadline = wait.map(|wait| Instant::now() + wait);
    }

    /// Nothing more goes to the server; its time runs.
    fn close(&mut self) {
        self.off = None;
        if self.phase == Phase::Open {
            self.enter(Phase::Closing, Some(self.waits.close));
        }
    }

    fn terminate(&mut self) {
        self.off = None;
        if matches!(self.phase, Phase::Open | Phase::Closing) {
            self.server.signal(Signal::Terminate);
            self.enter(Phase::Terminating, Some(self.waits.term));
        }
    }

    /// A signal to this process is one to the server; a server that ignores one that asks it to end is killed when its time is
    /// over.
    fn pass_on(&mut self, signal: Signal) {
        if signal == Signal::User2 {
            self.server.signal(signal);
            return;
        }
        self.signalled = true;
        self.off = None;
        self.server.signal(signal);
        if matches!(self.phase, Phase::Open | Phase::Closing) {
            self.enter(Phase::Terminating, Some(self.waits.term));
        }
    }

    const fn note_done(&mut self, direction: Direction) {
        match direction {
            Direction::FromClient => self.client_done = true,
            Direction::FromServer => self.server_done = true,
        }
    }

    /// Lets both threads write what they still have. A client that reads slowly gets the server's last lines however long
    /// it takes; nobody waits for that after a signal, or when the session ended otherwise than by itself.
    fn let_threads_finish(&mut self) {
        self.deadline = None;
        while !(self.client_done && self.server_done && self.stderr_done) {
            let hurried = self.signalled || self.shared.ended() || self.server_done;
            if self.deadline.is_none() && hurried {
                self.deadline = Some(Instant::now() + self.waits.term);
            }
            match self.hear_in_time() {
                Ok(Event::Done(direction)) => self.note_done(direction),
                Ok(Event::StderrDone) => self.stderr_done = true,
                Ok(Event::Count) => self.shared.report.tell_counts(),
                Ok(Event::Signal(_)) => self.signalled = true,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Says what is to be said at the end, and gives the exit status.
    fn conclude(&self, ended: &Ended) -> u8 {
        let code = exit_code(ended.status);
        self.shared.report.conclude();
        // That a signal ended it is no news to who sent one; where a refusal ended the session its status has no other place.
        let by_itself = matches!(self.phase, Phase::Open | Phase::Closing) && !self.signalled;
        if code != 0 && (by_itself || self.shared.ended()) {
            tell(format_args!("the server ended with status {code}"));
        }
        if self.shared.ended() { 1 } else { code }
    }
}
