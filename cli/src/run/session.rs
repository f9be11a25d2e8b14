//! One session: starts the server, hears from both directions, decides when it is over, ends the server.
//!
//! A session ends with the end of either stream, with a refusal that the policy ends it for, with a signal, or with the
//! server. From then on nothing new reaches the server; what it still says is passed on, unless a refusal ended the session.
//! The server's input is closed and it gets its time, then SIGTERM, then SIGKILL, its whole process group each time.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use linegate::{Direction, Gate, Options, Policy, Refusal};
use linegate_host::supervise::{Ended, How, Signal, Supervised, Waits, exit_code};
use linegate_host::{HeapStorage, random_key};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::report::Report;
use super::wire::ToClient;
use super::{client, server};
use crate::args::RunArgs;
use crate::tell::{printable, tell};

/// What the threads of a session tell the main thread.
#[derive(Debug)]
pub enum Event {
    /// No more input for the server: the client closed its end, or the server did.
    InputEnded,
    /// The client is gone and the server takes nothing.
    Stuck,
    /// The server closed its output.
    OutputEnded,
    /// The client does not read any more.
    ClientGone,
    /// A refusal has ended the session.
    Refused,
    /// A signal for the server.
    Signal(Signal),
    /// The server has ended; it waits to be reaped.
    Exited,
    /// The thread of this direction is done.
    Done(Direction),
}

/// What both directions share.
#[derive(Debug)]
pub struct Shared {
    /// The way to the client.
    pub to_client: ToClient,
    /// Where refusals are told.
    pub report: Report,
    /// When a refusal ends the session.
    pub policy: Policy,
    ended: AtomicBool,
    events: Sender<Event>,
}

impl Shared {
    /// Whether a refusal has ended the session: then no further line is passed on, either way.
    pub fn ended(&self) -> bool {
        self.ended.load(SeqCst)
    }

    /// Whether the policy ends the session with this refusal. (A line that is cut off by the end of its stream ends the gate's
    /// work in any case; that alone does not keep the other direction's lines back.)
    pub fn ends_with(&self, refusal: &Refusal<'_>) -> bool {
        self.policy != Policy::Continue && refusal.closes()
    }

    /// Ends the session for a refusal.
    pub fn end(&self) {
        self.ended.store(true, SeqCst);
        self.tell(Event::Refused);
    }

    /// Tells the main thread.
    pub fn tell(&self, event: Event) {
        // It hangs up only when the process is about to end.
        let _ = self.events.send(event);
    }
}

/// Runs the session. Gives the exit status, or why there was no session.
pub fn run(args: &RunArgs) -> Result<u8, String> {
    let Some((program, arguments)) = args.command.split_first() else {
        return Err("give the server's command after --".to_owned());
    };
    let report = Report::new(args.audit.as_deref()).map_err(|error| format!("cannot open the audit file: {error}"))?;
    let gates = (gate(args, Direction::FromClient)?, gate(args, Direction::FromServer)?);
    let (events, heard) = mpsc::channel();
    pass_signals_on(events.clone()).map_err(|error| format!("cannot handle signals: {error}"))?;

    let mut command = Command::new(program);
    command.args(arguments);
    let waits = Waits { close: args.close_wait, term: args.term_wait };
    let server = Supervised::spawn(command, waits)
        .map_err(|error| format!("cannot start {}: {error}", printable(&program.to_string_lossy())))?;
    let policy = args.on_reject.policy();
    let shared =
        Arc::new(Shared { to_client: ToClient::default(), report, policy, ended: AtomicBool::new(false), events });
    Session::start(server, gates, waits, &shared, heard)
        .and_then(Session::conduct)
        .map_err(|error| format!("cannot run the session: {error}"))
}

fn gate(args: &RunArgs, direction: Direction) -> Result<Gate<HeapStorage>, String> {
    let key = random_key().map_err(|error| format!("the system gives no random key: {error}"))?;
    let mut options = Options::new(direction, key);
    options.revision = args.revision;
    options.policy = args.on_reject.policy();
    if let Some(max_frame) = args.max_frame {
        options.limits.max_frame = max_frame;
    }
    let storage = HeapStorage::with_limits(&options.limits);
    Gate::new(options, storage).map_err(|bad| bad.to_string())
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
    signalled: bool,
    /// Directions whose thread is done.
    done: [bool; 2],
}

impl Session {
    fn start(
        mut server: Supervised,
        (from_client, from_server): (Gate<HeapStorage>, Gate<HeapStorage>),
        waits: Waits,
        shared: &Arc<Shared>,
        heard: Receiver<Event>,
    ) -> io::Result<Self> {
        let (Some(stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
            return Err(io::Error::other("the server has no pipes"));
        };
        let (calling_off, off) = io::pipe()?;
        let (draining, drained) = io::pipe()?;
        let watch = server.exit_watch();
        let spawn = |name: &str, work: Box<dyn FnOnce(&Shared) + Send>| {
            let shared = Arc::clone(shared);
            thread::Builder::new().name(name.into()).spawn(move || work(&shared)).map(drop)
        };
        spawn(
            "exit",
            Box::new(move |shared| {
                watch.wait();
                shared.tell(Event::Exited);
            }),
        )?;
        spawn(
            "client",
            Box::new(move |shared| {
                client::pump(shared, from_client, stdin, &calling_off, waits.close);
                shared.tell(Event::Done(Direction::FromClient));
            }),
        )?;
        spawn(
            "server",
            Box::new(move |shared| {
                server::pump(shared, from_server, stdout, &draining);
                shared.tell(Event::Done(Direction::FromServer));
            }),
        )?;
        Ok(Self {
            server,
            waits,
            shared: Arc::clone(shared),
            heard,
            off: Some(off),
            drained: Some(drained),
            phase: Phase::Open,
            deadline: None,
            signalled: false,
            done: [false; 2],
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
            let Some(deadline) = self.deadline else { return self.heard.recv().ok() };
            match self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
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

    fn note_done(&mut self, direction: Direction) {
        let [client, server] = &mut self.done;
        match direction {
            Direction::FromClient => *client = true,
            Direction::FromServer => *server = true,
        }
    }

    /// Lets both threads write what they still have. A client that reads slowly gets the server's last lines however long
    /// it takes; nobody waits for that after a signal, or when the session ended otherwise than by itself.
    fn let_threads_finish(&mut self) {
        self.deadline = None;
        while self.done != [true, true] {
            let [client, server] = self.done;
            let hurried = self.signalled || self.shared.ended() || (server && !client);
            if self.deadline.is_none() && hurried {
                self.deadline = Some(Instant::now() + self.waits.term);
            }
            let event = match self.deadline {
                Some(deadline) => self.heard.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok(),
                None => self.heard.recv().ok(),
            };
            match event {
                Some(Event::Done(direction)) => self.note_done(direction),
                Some(Event::Signal(_)) => self.signalled = true,
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Says what is to be said at the end, and gives the exit status.
    fn conclude(&self, ended: &Ended) -> u8 {
        let code = exit_code(ended.status);
        self.shared.report.conclude();
        if !self.shared.ended() {
            return code;
        }
        if code != 0 {
            tell(format_args!("the server ended with status {code}"));
        }
        1
    }
}
