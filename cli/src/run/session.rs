//! One session: starts the server, hears from both directions, decides when it is over, ends the server.
//!
//! A session ends with the end of either stream, with a refusal that the policy ends it for, with a signal, or with the
//! server. From then on nothing new reaches the server; what it still says is passed on, unless a line of its own ended the
//! session.
//! The server's input is closed and it gets its time, then SIGTERM, then SIGKILL, its whole process group each time.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use linegate::{Direction, Gate, Options};
use linegate_host::HeapStorage;
use linegate_host::supervise::{Ended, How, Signal, Supervised, Waits, exit_code};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::report::Report;
use super::shared::{Event, Shared};
use super::{client, server};
use crate::args::RunArgs;
use crate::gates;
use crate::tell::{printable, tell};

/// Runs the session. Gives the exit status, or why there was no session.
pub fn run(args: &'static RunArgs) -> Result<u8, String> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err("give the server's command after --".to_owned());
    };
    let report = Report::new(args.audit.as_deref())?;
    let (client, server) = (options(args, Direction::FromClient)?, options(args, Direction::FromServer)?);
    // Plain JSON-RPC has no sessions.
    let tracker = args.revision.is_mcp().then(|| gates::track(&client, &server)).transpose()?;
    let gates = (gates::open(client)?, gates::open(server)?);
    let (events, heard) = mpsc::channel();
    pass_signals_on(events.clone()).map_err(|error| format!("cannot handle signals: {error}"))?;

    let mut command = Command::new(program);
    command.args(arguments);
    let waits = Waits { close: args.close_wait, term: args.term_wait };
    let server = Supervised::spawn(command, waits)
        .map_err(|error| format!("cannot start {}: {error}", printable(&program.to_string_lossy())))?;
    let shared = Arc::new(Shared::new(args.on_reject.policy(), tracker, report, events));
    Session::start(server, gates, waits, shared, heard)
        .and_then(Session::conduct)
        .map_err(|error| format!("cannot run the session: {error}"))
}

fn options(args: &'static RunArgs, from: Direction) -> Result<Options, String> {
    let mut options = args.allow.applied_to(gates::options(from)?);
    options.revision = args.revision;
    options.policy = args.on_reject.policy();
    if let Some(max_frame) = args.max_frame {
        options.limits.max_frame = max_frame;
    }
    Ok(options)
}

fn pass_signals_on(events: Sender<Event>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            let signal = match signal {
                SIGHUP => Signal::Hangup,
                SIGINT => Signal::Interrupt,
                _ => Signal::Terminate,
            };
            let _ = events.send(Event::Signal(signal));
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
}

impl Session {
    fn start(
        mut server: Supervised,
        (from_client, from_server): (Gate<HeapStorage>, Gate<HeapStorage>),
        waits: Waits,
        shared: Arc<Shared>,
        heard: Receiver<Event>,
    ) -> io::Result<Self> {
        let (Some(stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(io::Error::other("the server has no pipes"));
        };
        let (calling_off, off) = io::pipe()?;
        let (draining, drained) = io::pipe()?;
        let watch = server.exit_watch();
        spawn("exit", &shared, move |shared| {
            watch.wait();
            shared.send(Event::Exited);
        })?;
        spawn("client", &shared, move |shared| {
            client::pump(shared, from_client, stdin, &calling_off, waits.close);
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
        })
    }

    fn conduct(mut self) -> io::Result<u8> {
        while let Some(event) = self.hear() {
            match event {
                Event::InputEnded | Event::OutputEnded | Event::ClientGone | Event::Refused => self.close(),
                Event::Stuck => self.terminate(),
                Event::Signal(signal) => self.pass_on(signal),
                Event::Done(direction) => self.note_done(direction),
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

    /// A signal to this process is one to the server; a server that ignores it is killed when its time is over.
    fn pass_on(&mut self, signal: Signal) {
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
        while !(self.client_done && self.server_done) {
            let hurried = self.signalled || self.shared.ended() || self.server_done;
            if self.deadline.is_none() && hurried {
                self.deadline = Some(Instant::now() + self.waits.term);
            }
            match self.hear_in_time() {
                Ok(Event::Done(direction)) => self.note_done(direction),
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
