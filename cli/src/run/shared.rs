//! What the threads of a session share: the way to the client, what is remembered of the session, the place where refusals
//! are told, whether a refusal has ended the session, and the events by which the main thread hears of all that.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use linegate::{Direction, Fed, Gate, Policy, Refusal};
use linegate_host::HeapStorage;
use linegate_host::supervise::Signal;

use super::report::Report;
use super::wire::ToClient;
use crate::args::RunArgs;
use crate::gates::Tracker;
use crate::secrets::Secrets;

/// What the main thread hears.
#[derive(Debug)]
pub enum Event {
    /// The session is over; the server gets its time to end.
    Over(Over),
    /// The client is gone and the server takes nothing.
    Stuck,
    /// A signal for the server.
    Signal(Signal),
    /// Somebody wants to see the counts.
    Count,
    /// The terminal has stopped the server: a read of it, or else a write.
    Stopped {
        /// Whether it was a read.
        read: bool,
    },
    /// The server has ended; it waits to be reaped.
    Exited,
    /// The thread of this direction is done.
    Done(Direction),
    /// The thread of the server's stderr is done.
    StderrDone,
}

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The client closed its end.
    Input,
    /// The server closed its input.
    Deaf,
    /// The server closed its output.
    Mute,
    /// The client does not read any more.
    ClientGone,
    /// A refusal has ended the session.
    Refused,
}

impl Over {
    /// What the server has still to do something after, in a sentence.
    pub const fn since(self) -> &'static str {
        match self {
            Self::Input => "its input was closed, as the client closed its end",
            Self::Deaf => "it closed its own input",
            Self::Mute => "it closed its own output",
            Self::ClientGone => "its input was closed, as the client reads no more",
            Self::Refused => "its input was closed, as a refusal ended the session",
        }
    }
}

/// What the threads share.
#[derive(Debug)]
pub struct Shared {
    /// The way to the client.
    pub to_client: ToClient,
    /// Where refusals are told.
    pub report: Report,
    /// What must not be read in the server's own words.
    pub secrets: Secrets,
    /// Whether every line is passed on, whatever its verdict.
    pub observing: bool,
    /// What both directions remember together; nothing in plain JSON-RPC.
    tracker: Option<Mutex<Tracker>>,
    policy: Policy,
    ended: AtomicBool,
    /// Whether this process has sent the server a signal that may have ended it within a line.
    cutting: AtomicBool,
    events: Sender<Event>,
}

impl Shared {
    /// At the start of a session.
    pub fn new(
        args: &RunArgs,
        tracker: Option<Tracker>,
        report: Report,
        secrets: Secrets,
        events: Sender<Event>,
    ) -> Self {
        Self {
            to_client: ToClient::default(),
            report,
            secrets,
            observing: args.observe,
            tracker: tracker.map(Mutex::new),
            policy: args.policy(),
            ended: AtomicBool::new(false),
            cutting: AtomicBool::new(false),
            events,
        }
    }

    /// Judges one line at most, in the session.
    ///
    /// The tracker is held no longer than that: a pipe that takes nothing must not stop the other direction. The order that it
    /// needs holds all the same, for a line is passed on only after it was judged: no answer comes before its request.
    pub fn feed<'a>(&self, gate: &'a mut Gate<HeapStorage>, input: &'a [u8]) -> Fed<'a> {
        match &self.tracker {
            Some(tracker) => gate.feed_with(input, &mut *tracker.lock().unwrap_or_else(PoisonError::into_inner)),
            None => gate.feed(input),
        }
    }

    /// Whether a request of the client's still has no answer. Never in plain JSON-RPC, where that isn't known.
    pub fn owes_answers(&self) -> bool {
        let tracker = self.tracker.as_ref().map(|tracker| tracker.lock().unwrap_or_else(PoisonError::into_inner));
        tracker.is_some_and(|tracker| tracker.in_flight(Direction::FromClient) > 0)
    }

    /// Whether a refusal has ended the session: then no further line reaches the server.
    pub fn ended(&self) -> bool {
        self.ended.load(SeqCst)
    }

    /// Takes note that from now on it may not be the server's fault where its output stops.
    pub fn cut(&self) {
        self.cutting.store(true, SeqCst);
    }

    /// Whether a line of the server's that stops half way is none of its faults.
    pub fn is_cut(&self) -> bool {
        self.cutting.load(SeqCst)
    }

    /// Ends the session if the policy ends it with this refusal; says whether it does.
    pub fn end_for(&self, refusal: &Refusal<'_>) -> bool {
        let ends = self.policy != Policy::Continue && refusal.closes();
        if ends {
            self.ended.store(true, SeqCst);
            self.send(Event::Over(Over::Refused));
        }
        ends
    }

    /// Lets the main thread hear of it.
    pub fn send(&self, event: Event) {
        // It hangs up only when the process is about to end.
        let _ = self.events.send(event);
    }
}
