//! A gate for faces of languages that can't hold a borrow: it keeps its input and its last message, hands out facts of its
//! own, and takes what becomes of a message by the number of its verdict.
//!
//! What the compiler shows of [`linegate::action`] in Rust is an error here: of a verdict that isn't the last any more, nothing can
//! be made (904), and of no stage anything twice (504).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use linegate::action::{Denial, Misfit, Refusable, Target, Wrong};
use linegate::{
    BadOptions, Code, Counters, Cursor, Event, Gate, Kind, Message, Options, Refusal, Slot, Switches, Tracker,
};
use memchr::memchr;

use crate::HeapStorage;
use crate::facts::{CallFacts, RefusedLine, arguments_of, walk};
use crate::named::kept_name;

/// Input that is kept until it is judged.
pub type Chunk = Box<dyn AsRef<[u8]> + Send + Sync>;
/// What the two gates of one session remember together. It is locked only while a line is judged.
pub type SharedTracker = Arc<Mutex<Tracker<Vec<Slot>>>>;
/// What became of a message, or the fault of the caller: 504 or 904.
pub type Asked<T> = Result<Result<T, RefusedLine>, Code>;

/// How far the last verdict has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is a message, and nothing was made of it.
    Message,
    /// It is a call.
    Called,
    /// Its arguments are being read, or are.
    Read,
    /// Whether it may be done is being asked.
    Asked,
    /// It may be done.
    Allowed,
    /// Nothing can become of it any more.
    Over,
}

/// A gate that keeps its input and its last message. What it says of the latter is said by the number of the verdict,
/// [`ticket`](Self::ticket): of one that isn't the last nothing can be made (904), and of no stage anything twice (504).
pub struct HeldGate {
    gate: Gate<HeapStorage>,
    tracker: Option<SharedTracker>,
    queue: VecDeque<Chunk>,
    /// Bytes of the first chunk that are judged.
    judged: usize,
    ended: bool,
    /// Whether the next byte may be the first of a line.
    at_start: bool,
    verdicts: u64,
    stage: Stage,
    /// Whether the last message is a request or notification.
    asks: bool,
}

impl HeldGate {
    /// A gate with these options, of a session if it is given its tracker.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`].
    pub fn new(options: Options, tracker: Option<SharedTracker>) -> Result<Self, BadOptions> {
        let storage = HeapStorage::with_limits(&options.limits);
        Ok(Self {
            gate: Gate::new(options, storage)?,
            tracker,
            queue: VecDeque::new(),
            judged: 0,
            ended: false,
            at_start: true,
            verdicts: 0,
            stage: Stage::Over,
            asks: false,
        })
    }

    /// Takes input. The last verdict is over.
    pub fn feed(&mut self, chunk: Chunk) {
        self.begin();
        self.queue.push_back(chunk);
    }

    /// Takes the end of input, which is judged behind what was fed.
    pub fn end(&mut self) {
        self.begin();
        self.ended = true;
    }

    /// Ends the last verdict, for another.
    const fn begin(&mut self) {
        self.verdicts += 1;
        self.stage = Stage::Over;
    }

    fn rest(&self) -> Option<&[u8]> {
        (**self.queue.front()?).as_ref().get(self.judged..)
    }

    /// Whether there is nothing to judge. Lets go of what was judged.
    fn is_done(&mut self) -> bool {
        while self.rest().is_some_and(<[u8]>::is_empty) {
            self.queue.pop_front();
            self.judged = 0;
        }
        if self.gate.is_closed() {
            self.queue.clear();
            self.judged = 0;
        }
        self.queue.is_empty() && (!self.ended || self.gate.is_closed())
    }

    /// Judges up to one verdict, or a part of a line. To have each line `gathered` in the storage, where the gate finds it again, its
    /// first byte is fed by itself, and no piece holds the start of a line behind the end of another: behind one that is skipped the
    /// gate reads on.
    #[inline]
    fn step(&mut self, gathered: bool) -> Event<'_> {
        let Self { gate, tracker, queue, judged, at_start, .. } = self;
        let Some(chunk) = queue.front() else { return gate.finish() };
        let mut rest = (**chunk).as_ref().get(*judged..).unwrap_or_default();
        if gathered && *at_start {
            if let Some(behind) = rest.strip_prefix(b"{") {
                // No verdict can come of that. A line that begins so is never skipped.
                *judged += gate.feed(b"{").consumed;
                *at_start = false;
                rest = behind;
            } else {
                rest = rest.get(..1).unwrap_or_default();
            }
        } else if gathered {
            rest = memchr(b'\n', rest).and_then(|end| rest.get(..=end)).unwrap_or(rest);
        }
        let fed = match tracker {
            Some(tracker) => gate.feed_with(rest, &mut tracker.lock().unwrap_or_else(PoisonError::into_inner)),
            None => gate.feed(rest),
        };
        // What the last byte was says where the input stands, not what came of it: the rest of a line that was refused early, and a
        // line that is skipped, come to nothing.
        if let Some(last) = rest.get(..fed.consumed).unwrap_or(rest).last() {
            *at_start = *last == b'\n';
        }
        *judged += fed.consumed;
        fed.event
    }

    /// Judges up to the next verdict: of a message, what `look` makes of it and of the verdict's number. `None` if there is
    /// nothing left to judge; the last verdict stays the last then.
    pub fn judge<T>(&mut self, look: impl FnOnce(&Message<'_>, u64) -> T) -> Option<Result<T, RefusedLine>> {
        if self.is_done() {
            return None;
        }
        self.begin();
        let ticket = self.verdicts;
        loop {
            match self.step(true) {
                Event::Message(message) => {
                    let asks = matches!(message.kind(), Kind::Request | Kind::Notification);
                    let found = look(&message, ticket);
                    self.asks = asks;
                    self.stage = Stage::Message;
                    return Some(Ok(found));
                }
                Event::Refused(refusal) => return Some(Err(RefusedLine::new(&refusal))),
                _ => {}
            }
            if self.is_done() {
                return None;
            }
        }
    }

    /// Judges all that there is: the accepted lines, each with a line feed, and the refusals. The last verdict is over.
    pub fn filter(&mut self) -> (Vec<u8>, Vec<RefusedLine>) {
        self.begin();
        let (mut lines, mut refused) = (Vec::new(), Vec::new());
        while !self.is_done() {
            match self.step(false) {
                Event::Message(message) => {
                    lines.extend_from_slice(message.bytes());
                    lines.push(b'\n');
                }
                Event::Refused(refusal) => refused.push(RefusedLine::new(&refusal)),
                _ => {}
            }
        }
        (lines, refused)
    }

    /// The number of the last verdict; what it lends is over where the number is another.
    #[must_use]
    pub const fn ticket(&self) -> u64 {
        self.verdicts
    }

    /// Whether the next line, or what is there of it, has so many bytes.
    #[must_use]
    pub fn has_line_of(&self, bytes: usize) -> bool {
        let start = self.rest().and_then(|rest| rest.get(..bytes));
        start.is_some_and(|start| !start.contains(&b'\n'))
    }

    /// Whether input of so many bytes waits in one chunk.
    #[must_use]
    pub fn has_input_of(&self, bytes: usize) -> bool {
        self.rest().is_some_and(|rest| rest.len() >= bytes)
    }

    /// What was counted, and whether the session is over.
    #[must_use]
    pub const fn counters(&self) -> (Counters, bool) {
        (*self.gate.counters(), self.gate.is_closed())
    }

    /// Makes the message a call, as of [`Gate::refusable`]; nothing where it isn't one.
    ///
    /// # Errors
    /// 904 where the verdict isn't the last, 504 where it is a call already, 999 where the gate has lost the line of a request, which
    /// must not look as if it asked for nothing. Inside, 505.
    pub fn call(&mut self, ticket: u64, granted: Switches) -> Asked<Option<CallFacts>> {
        self.advance(ticket, Stage::Message, Stage::Over)?;
        let Self { gate, tracker, stage, asks, .. } = self;
        let Some(call) = gate.refusable() else {
            if *asks {
                return Err(Code::Internal);
            }
            *stage = Stage::Message;
            return Ok(Ok(None));
        };
        match call.granted(granted) {
            Err(refusal) => Ok(Err(settled(tracker.as_ref(), &refusal))),
            Ok(call) => {
                let facts = CallFacts::of(&call);
                *stage = Stage::Called;
                Ok(Ok(Some(facts)))
            }
        }
    }

    /// Takes the call from a stage to the next: before a policy is asked, after it said yes, and where it is executed.
    ///
    /// # Errors
    /// 904 where the verdict isn't the last, 504 where the call isn't at this stage; so it is of all that follow.
    pub fn advance(&mut self, ticket: u64, from: Stage, to: Stage) -> Result<(), Code> {
        if ticket != self.verdicts {
            return Err(Code::StaleEvent);
        }
        if self.stage != from {
            return Err(Code::AlreadyUsed);
        }
        self.stage = to;
        Ok(())
    }

    /// Takes a call to where its arguments are read, if it asks for this.
    ///
    /// # Errors
    /// As of [`advance`](Self::advance). Inside, 501: it asks for something else.
    pub fn read(&mut self, ticket: u64, target: Option<Target<'_>>) -> Asked<()> {
        self.advance(ticket, Stage::Called, Stage::Read)?;
        let call = self.gate.refusable().ok_or(Code::AlreadyUsed)?;
        if target.is_none_or(|target| call.is_for(target)) {
            return Ok(Ok(()));
        }
        self.refuse(ticket, Stage::Read, |call| call.unknown()).map(Err)
    }

    /// Refuses the call, if it is at this stage.
    fn refuse(
        &mut self,
        ticket: u64,
        at: Stage,
        refuse: impl for<'a> FnOnce(Refusable<'a>) -> Refusal<'a>,
    ) -> Result<RefusedLine, Code> {
        self.advance(ticket, at, Stage::Over)?;
        let Self { gate, tracker, .. } = self;
        let call = gate.refusable().ok_or(Code::AlreadyUsed)?;
        Ok(settled(tracker.as_ref(), &refuse(call)))
    }

    /// Refuses a call whose arguments weren't read: there is no action for it (501).
    ///
    /// # Errors
    /// As of [`advance`](Self::advance).
    pub fn unknown(&mut self, ticket: u64) -> Result<RefusedLine, Code> {
        self.refuse(ticket, Stage::Called, |call| call.unknown())
    }

    /// Refuses a call whose arguments were read: they don't fit (502), at the end of this way through them: names of members, and
    /// in arrays indices from 0. `member` is the host's own name for what doesn't fit.
    ///
    /// # Errors
    /// As of [`advance`](Self::advance).
    pub fn unfit(
        &mut self,
        ticket: u64,
        wrong: Wrong,
        way: &[String],
        member: Option<&str>,
    ) -> Result<RefusedLine, Code> {
        self.refuse(ticket, Stage::Read, |call| {
            let (start, _) = arguments_of(&call);
            let at = walk(start, way, wrong == Wrong::Unknown);
            // Where a way leads nowhere, a place in no line stands for that of the params.
            let misfit = Misfit::new(wrong, at.unwrap_or(Cursor::from_bytes(b"{}")));
            call.misfit(member.map_or(misfit, |member| misfit.of_member(kept_name(member))))
        })
    }

    /// Refuses a call of which the policy was asked: it is denied (503).
    ///
    /// # Errors
    /// As of [`advance`](Self::advance).
    pub fn denied(&mut self, ticket: u64, denial: Denial) -> Result<RefusedLine, Code> {
        self.refuse(ticket, Stage::Asked, |call| call.denied(denial))
    }
}

/// What is told of a call that was refused. In the session of its gate it waits no longer.
fn settled(tracker: Option<&SharedTracker>, refusal: &Refusal<'_>) -> RefusedLine {
    if let Some(tracker) = tracker {
        tracker.lock().unwrap_or_else(PoisonError::into_inner).settle(refusal);
    }
    RefusedLine::new(refusal)
}

impl std::fmt::Debug for HeldGate {
    /// Shows where it stands, never what it holds.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (counters, closed) = self.counters();
        f.debug_struct("HeldGate").field("closed", &closed).field("counters", &counters).finish_non_exhaustive()
    }
}
