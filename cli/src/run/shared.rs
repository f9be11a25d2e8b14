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
    /// Somebody wants to see the counts.
    Count,
    /// The server has ended; it waits to be reaped.
    Exited,
    /// The thread of this direction is done.
    Done(Direction),
    /// The thread of the server's stderr is done.
    StderrDone,
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

    /// Ends the session if the policy ends it with this refusal; says whether it does.
    pub fn end_for(&self, refusal: &Refusal<'_>) -> bool {
        let ends = self.policy != Policy::Continue && refusal.closes();
        if ends {
            self.ended.store(true, SeqCst);
            self.send(Event::Refused);
        }
        ends
    }

    /// Lets the main thread hear of it.
    pub fn send(&self, event: Event) {
        // It hangs up only when the process is about to end.
        let _ = self.events.send(event);
    }
}
