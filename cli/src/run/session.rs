//! One session: hears from both directions, decides when it is over, ends the server.
//!
//! A session ends with the end of either stream, with a refusal that the policy ends it for, with a signal, or with the
//! server. From then on nothing new reaches the server; what it still says is passed on, unless a line of its own ended the
//! session.
//! The server's input is closed and it gets its time, then SIGTERM, then SIGKILL, its whole process group each time. Its time stands
//! still while the client takes nothing, unless a signal asks for the end.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use linegate::{Direction, Gate};
use linegate_host::HeapStorage;
use linegate_host::supervise::{Ended, How, Signal, Supervised, Waits, exit_code};
use signal_hook::consts::{SIGTTIN, SIGTTOU};

use super::client::{self, Patience};
use super::clock::Allowance;
use super::server;
use super::shared::{Event, Over, Shared};
use super::stderr::{self, Place};
use crate::tell::tell;

fn spawn(name: &str, shared: &Arc<Shared>, work: impl FnOnce(&Shared) + Send + 'static) -> io::Result<()> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name(name.into()).spawn(move || work(&shared)).map(drop)
}

/// What a leader's leftovers are given to write when a client that took nothing reads again.
const LEFT: Duration = Duration::from_millis(100);

/// Tells why nothing comes from the server any more. It has to stay as it is: the terminal is the client's as well, and a client
/// from whom it were taken would be stopped in the server's place.
fn tell_stopped(read: bool) {
    let (signal, act) = if read { ("SIGTTIN", "asks on") } else { ("SIGTTOU", "sets or writes to") };
    tell(format_args!(
        "the server is stopped ({signal}): it {act} the terminal, which behind linegate run is not its own. \
         Give it what it asks for otherwise, by --env NAME=file:PATH or an agent"
    ));
}

/// How far the ending of the server has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Closing,
    Terminating,
    Killing,
}

/// A session and how far it has come.
pub struct Session {
    server: Supervised,
    waits: Waits,
    shared: Arc<Shared>,
    heard: Receiver<Event>,
    /// Dropped to call off the client's thread, which then closes the server's input.
    off: Option<io::PipeWriter>,
    /// Dropped when the server's group has ended: its thread then takes what is left and doesn't wait for more.
    drained: Option<io::PipeWriter>,
    phase: Phase,
    /// Why the server is to end, once it is.
    over: Option<Over>,
    /// When the ending moves on.
    deadline: Option<Allowance>,
    /// Whether this process got a signal.
    signalled: bool,
    /// Whether the terminal has stopped the server: then it takes no signal but one that lets it go on or kills it.
    stopped: bool,
    /// Whether the client's thread is done.
    client_done: bool,
    /// Whether the server's thread is done.
    server_done: bool,
    /// Whether the thread of its stderr is done, or there is none.
    stderr_done: bool,
}

impl Session {
    /// Starts the threads of both directions, and of the server's stderr where it goes to a `place`.
    pub fn start(
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
            watch.wait_as_only_parent(|signal| {
                if matches!(signal, SIGTTIN | SIGTTOU) {
                    shared.send(Event::Stopped { read: signal == SIGTTIN });
                }
            });
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
            over: None,
            deadline: None,
            signalled: false,
            stopped: false,
            client_done: false,
            server_done: false,
            stderr_done,
        })
    }

    /// Waits for the end of the session and of its server. Gives the exit status.
    pub fn conduct(mut self) -> io::Result<u8> {
        while let Some(event) = self.hear() {
            match event {
                Event::Over(over) => self.close(over),
                Event::Stuck => {
                    let close = self.waits.close.as_secs_f64();
                    self.terminate(format_args!("the server has read nothing for {close} s, and the client is gone"));
                }
                Event::Signal(signal) => self.pass_on(signal),
                Event::Stopped { read } => {
                    self.stopped = true;
                    tell_stopped(read);
                }
                Event::Exited => break,
                other => self.note(&other),
            }
        }
        let how = match self.phase {
            Phase::Open | Phase::Closing => How::Exited,
            Phase::Terminating => How::Terminated,
            Phase::Killing => How::Killed,
        };
        self.off = None;
        self.let_the_rest_be_written();
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
                Err(RecvTimeoutError::Timeout) if self.phase == Phase::Closing => {
                    let (close, since) = (self.waits.close.as_secs_f64(), self.over.unwrap_or(Over::Input).since());
                    self.terminate(format_args!("the server has not ended {close} s after {since} (--close-wait)"));
                }
                Err(RecvTimeoutError::Timeout) => {
                    // Before it is told, which takes a second where nobody reads.
                    self.shared.cut();
                    self.server.signal(Signal::Kill);
                    (self.phase, self.deadline) = (Phase::Killing, None);
                    let term = self.waits.term.as_secs_f64();
                    tell(format_args!(
                        "the server has not ended {term} s after it was asked to by a signal (--term-wait): it gets SIGKILL"
                    ));
                }
            }
        }
    }

    /// The next event, if it comes before the deadline.
    fn hear_in_time(&self) -> Result<Event, RecvTimeoutError> {
        let Some(deadline) = self.deadline else { return Ok(self.heard.recv()?) };
        let stalls = &self.shared.to_client.stalls;
        loop {
            match self.heard.recv_timeout(deadline.pause(stalls)) {
                Err(RecvTimeoutError::Timeout) if !deadline.left(stalls).is_zero() => {}
                heard => return heard,
            }
        }
    }

    /// So much time, in which the server is not made to pay for a client that takes nothing. After a signal everybody is in a hurry.
    fn allow(&self, length: Duration) -> Option<Allowance> {
        let running = self.signalled;
        Some(if running {
            Allowance::running(length)
        } else {
            Allowance::standing(length, &self.shared.to_client.stalls)
        })
    }

    /// Nothing more goes to the server; its time runs.
    fn close(&mut self, over: Over) {
        self.off = None;
        if self.phase == Phase::Open {
            self.over = Some(over);
            (self.phase, self.deadline) = (Phase::Closing, self.allow(self.waits.close));
        }
    }

    fn terminate(&mut self, why: fmt::Arguments<'_>) {
        self.off = None;
        if matches!(self.phase, Phase::Open | Phase::Closing) {
            self.ask_to_end(Signal::Terminate);
            (self.phase, self.deadline) = (Phase::Terminating, self.allow(self.waits.term));
            tell(format_args!("{why}: it gets SIGTERM"));
        }
    }

    fn ask_to_end(&self, signal: Signal) {
        self.shared.cut();
        self.server.signal(signal);
        if self.stopped {
            self.server.resume();
        }
    }

    /// A signal to this process is one to the server; a server that ignores one that asks it to end is killed when its time is
    /// over.
    fn pass_on(&mut self, signal: Signal) {
        if signal == Signal::User2 {
            self.server.signal(signal);
            return;
        }
        let first = !std::mem::replace(&mut self.signalled, true);
        self.off = None;
        self.ask_to_end(signal);
        if first && self.phase != Phase::Killing {
            (self.phase, self.deadline) = (Phase::Terminating, self.allow(self.waits.term));
        }
    }

    /// What is of no weight for the ending.
    fn note(&mut self, event: &Event) {
        match event {
            Event::Done(direction) => self.note_done(*direction),
            Event::StderrDone => self.stderr_done = true,
            Event::Count => self.shared.report.tell_counts(),
            _ => {}
        }
    }

    const fn note_done(&mut self, direction: Direction) {
        match direction {
            Direction::FromClient => self.client_done = true,
            Direction::FromServer => self.server_done = true,
        }
    }

    /// Where the client takes nothing, what the server's leader left of its group may hold the last lines, and is ended only
    /// when they are written.
    fn let_the_rest_be_written(&mut self) {
        if !self.shared.to_client.stalls.is_stalled() {
            return;
        }
        self.deadline = self.allow(LEFT);
        while !self.server_done && !self.signalled {
            match self.hear_in_time() {
                Ok(Event::Signal(_)) => {
                    self.signalled = true;
                    self.shared.cut();
                }
                Ok(event) => self.note(&event),
                Err(_) => return,
            }
        }
    }

    /// Lets the threads write what they still have. A client that reads slowly gets the server's last lines and the replies however
    /// long it takes, unless a signal asks for the end; who reads stderr is not waited for like that.
    fn let_threads_finish(&mut self) {
        self.deadline = None;
        let mut hurried = false;
        while !(self.client_done && self.server_done && self.stderr_done) {
            if !hurried && (self.signalled || self.server_done) {
                hurried = true;
                self.deadline = self.allow(self.waits.term);
            }
            match self.hear_in_time() {
                Ok(Event::Signal(_)) => {
                    hurried &= self.signalled;
                    self.signalled = true;
                }
                Ok(event) => self.note(&event),
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
