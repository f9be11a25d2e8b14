//! What the threads of a session share: the way to the client, the place where refusals are told, whether a refusal has
//! ended the session, and the events by which the main thread hears of all that.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::Sender;

use linegate::{Direction, Policy, Refusal};
use linegate_host::supervise::Signal;

use super::report::Report;
use super::wire::ToClient;

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
    /// The server has ended; it waits to be reaped.
    Exited,
    /// The thread of this direction is done.
    Done(Direction),
}

/// What the threads share.
#[derive(Debug)]
pub struct Shared {
    /// The way to the client.
    pub to_client: ToClient,
    /// Where refusals are told.
    pub report: Report,
    policy: Policy,
    ended: AtomicBool,
    events: Sender<Event>,
}

impl Shared {
    /// At the start of a session.
    pub fn new(policy: Policy, report: Report, events: Sender<Event>) -> Self {
        Self { to_client: ToClient::default(), report, policy, ended: AtomicBool::new(false), events }
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
