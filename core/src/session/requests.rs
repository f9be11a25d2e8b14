//! The bounded memory of one sender's requests: those in flight, and a ring of the last ones that were answered or
//! cancelled. It knows no rules; it says what it remembers.

use crate::mcp::{Method, Set};

/// Type and decoded value of an id or a token, as a keyed hash.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key(pub(super) u64, pub(super) u64);

/// Room for one request in a [`Tracker`](crate::Tracker).
#[derive(Clone, Copy)]
pub struct Slot {
    pub(super) id: Key,
    /// The progress token's hash; 0 if it gave none.
    pub(super) token: u64,
    /// None where the host added the method.
    pub(super) method: Option<&'static Method>,
    /// The revisions that took it.
    pub(super) revisions: Set,
    /// Its params asked for a task.
    pub(super) task: bool,
    /// The kinds of input that its client declared.
    pub(super) declared: u8,
    pub(super) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    InFlight,
    /// In flight, and a subscription that was acknowledged.
    Open,
    /// In flight, and answered by an element of the batch that is being judged.
    Answering,
    Cancelled,
    /// Cancelled, and answered late by the line that is being judged.
    AnsweringLate,
    /// Refused after it had been taken into the session; the reply to that may still be judged as a response.
    Denied,
    /// Refused so, and its reply is in the line that is being judged.
    AnsweringDenied,
    Answered,
}

impl Slot {
    /// Room that nothing was put into.
    pub const EMPTY: Self = Self {
        id: Key(0, 0),
        token: 0,
        method: None,
        revisions: Set::NONE,
        task: false,
        declared: 0,
        state: State::InFlight,
    };

    pub(super) fn is(&self, method: &str) -> bool {
        self.method.is_some_and(|row| row.is(method))
    }
}

impl core::fmt::Debug for Slot {
    /// Shows no id.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Slot({:?})", self.state)
    }
}

/// How much of one sender's room is used.
#[derive(Clone, Copy)]
pub(super) struct Used {
    /// Requests in flight: the first so many slots of the table.
    pub(super) live: usize,
    /// Slots of the ring, and the place of the next.
    past: usize,
    next: usize,
    /// How many of these were cancelled, and how many asked for a task.
    cancelled: usize,
    tasks: usize,
    /// The ring has pushed out one that asked for a task.
    forgotten: bool,
}

impl Used {
    pub(super) const NONE: Self = Self { live: 0, past: 0, next: 0, cancelled: 0, tasks: 0, forgotten: false };
}

/// One sender's requests. The room is half table, half ring.
pub(super) struct Requests<'a> {
    pub(super) used: &'a mut Used,
    pub(super) slots: &'a mut [Slot],
}

impl Requests<'_> {
    fn size(&self) -> usize {
        self.slots.len() / 2
    }

    pub(super) fn live(&self) -> &[Slot] {
        self.slots.get(..self.used.live).unwrap_or_default()
    }

    fn live_mut(&mut self) -> &mut [Slot] {
        self.slots.get_mut(..self.used.live).unwrap_or_default()
    }

    /// What left the table last, the newest first.
    fn past(&self) -> impl Iterator<Item = &Slot> {
        let ring = self.slots.get(self.size()..).unwrap_or_default();
        let newer = ring.get(..self.used.next).unwrap_or_default();
        let older = ring.get(self.used.next..self.used.past).unwrap_or_default();
        newer.iter().rev().chain(older.iter().rev())
    }

    /// A request in flight.
    pub(super) fn find(&self, id: Key) -> Option<&Slot> {
        self.live().iter().find(|slot| slot.id == id)
    }

    pub(super) fn find_mut(&mut self, id: Key) -> Option<&mut Slot> {
        self.live_mut().iter_mut().find(|slot| slot.id == id)
    }

    /// The same, the newest of that id, to be marked.
    pub(super) fn ended_mut(&mut self, id: Key) -> Option<&mut Slot> {
        let ring = self.slots.get_mut(self.slots.len() / 2..).unwrap_or_default();
        let (newer, older) = ring.split_at_mut_checked(self.used.next)?;
        let older = older.get_mut(..self.used.past.saturating_sub(self.used.next)).unwrap_or_default();
        newer.iter_mut().rev().chain(older.iter_mut().rev()).find(|slot| slot.id == id)
    }

    /// How a request with that id left the table, if the ring still has it.
    pub(super) fn ended(&self, id: Key) -> Option<&Slot> {
        self.past().find(|slot| slot.id == id)
    }

    pub(super) fn was_cancelled(&self, id: Key) -> bool {
        self.used.cancelled > 0 && self.past().any(|slot| slot.id == id && slot.state == State::Cancelled)
    }

    /// Whether progress may be told for that token: a request gave it that is in flight or was cancelled, or that asked for a
    /// task, which may outlive its response.
    pub(super) fn may_progress(&self, token: u64) -> bool {
        let goes_on = |slot: &Slot| slot.task || slot.state == State::Cancelled;
        self.live().iter().any(|slot| slot.token == token)
            || self.used.forgotten
            || (self.used.cancelled + self.used.tasks > 0
                && self.past().any(|slot| slot.token == token && goes_on(slot)))
    }

    /// Puts a request into the table; false where it is full.
    pub(super) fn add(&mut self, slot: Slot) -> bool {
        let (live, size) = (self.used.live, self.size());
        match self.slots.get_mut(..size).and_then(|table| table.get_mut(live)) {
            Some(place) => *place = slot,
            None => return false,
        }
        self.used.live += 1;
        true
    }

    /// Forgets what was added since the table had so many, and which requests the line answers.
    pub(super) fn undo(&mut self, live: usize) {
        self.used.live = live;
        for slot in self.slots.iter_mut() {
            slot.state = match slot.state {
                State::Answering => State::InFlight,
                State::AnsweringLate => State::Cancelled,
                State::AnsweringDenied => State::Denied,
                other => other,
            };
        }
    }

    /// Moves a request from the table to the ring. Nothing where it isn't in flight.
    pub(super) fn end(&mut self, id: Key, state: State) {
        let Some(last) = self.live().last().copied() else { return };
        let Some(place) = self.find_mut(id) else { return };
        let slot = core::mem::replace(place, last);
        self.used.live -= 1;
        self.remember(Slot { state, ..slot });
    }

    /// The answer has come to a request that had left the table before: late, if it was cancelled.
    pub(super) fn answered_late(&mut self, id: Key) -> bool {
        let size = self.size();
        let ring = self.slots.get_mut(size..).unwrap_or_default();
        let answered = |slot: &&mut Slot| matches!(slot.state, State::AnsweringLate | State::AnsweringDenied);
        let Some(slot) = ring.iter_mut().filter(answered).find(|slot| slot.id == id) else { return false };
        let late = slot.state == State::AnsweringLate;
        slot.state = State::Answered;
        self.used.cancelled -= usize::from(late);
        late
    }

    fn remember(&mut self, slot: Slot) {
        let size = self.size();
        let full = self.used.past == size;
        let Some(place) = self.slots.get_mut(size + self.used.next) else { return };
        let before = core::mem::replace(place, slot);
        if full {
            let cancelled = matches!(before.state, State::Cancelled | State::AnsweringLate);
            self.used.cancelled -= usize::from(cancelled);
            self.used.tasks -= usize::from(before.task);
            self.used.forgotten |= before.task;
        } else {
            self.used.past += 1;
        }
        self.used.cancelled += usize::from(slot.state == State::Cancelled);
        self.used.tasks += usize::from(slot.task);
        self.used.next += 1;
        if self.used.next == size {
            self.used.next = 0;
        }
    }
}
