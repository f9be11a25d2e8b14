//! A gate for faces of languages that can't hold a borrow: it keeps its input and its last message, hands out facts of its
//! own, and takes what becomes of a message by the number of its verdict.
//!
//! What the compiler shows of [`linegate::action`] in Rust is an error here: of a verdict that isn't the last any more, nothing can
//! be made (904), and of no stage anything twice (504).

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use linegate::action::{Call, Denial, Misfit, NoCall, Target, Wrong};
use linegate::{BadOptions, Code, Counters, Cursor, Event, Gate, Message, Options, Refusal, Slot, Switches, Tracker};
use self_cell::{MutBorrow, self_cell};

use crate::HeapStorage;
use crate::facts::{CallFacts, RefusedLine, arguments_of, walk};
use crate::named::kept_name;

/// Input that is kept until it is judged.
pub type Chunk = Box<dyn AsRef<[u8]> + Send + Sync>;
/// What the two gates of one session remember together. It is locked only while a line is judged.
pub type SharedTracker = Arc<Mutex<Tracker<Vec<Slot>>>>;
/// What became of a message, or the fault of the caller: 504 or 904.
pub type Asked<T> = Result<Result<T, RefusedLine>, Code>;

/// How far a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is a call.
    Called,
    /// Its arguments are being read, or are.
    Read,
    /// Whether it may be done is being asked.
    Asked,
    /// It may be done.
    Allowed,
}

/// A gate with the input that it is to judge.
struct Source {
    gate: Gate<HeapStorage>,
    tracker: Option<SharedTracker>,
    queue: VecDeque<Chunk>,
    /// Bytes of the first chunk that are judged.
    judged: usize,
    ended: bool,
}

impl Source {
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

    /// Judges up to one verdict, and says whether there is more to judge.
    fn step(&mut self) -> (Event<'_>, bool) {
        let Self { gate, tracker, queue, judged, ended } = self;
        let Some(chunk) = queue.front() else { return (gate.finish(), false) };
        let rest = (**chunk).as_ref().get(*judged..).unwrap_or_default();
        let fed = match tracker {
            Some(tracker) => gate.feed_with(rest, &mut tracker.lock().unwrap_or_else(PoisonError::into_inner)),
            None => gate.feed(rest),
        };
        *judged += fed.consumed;
        let more = queue.len() > 1 || *judged < (**chunk).as_ref().len() || *ended;
        (fed.event, more)
    }
}

/// What may still become of the last verdict.
enum Step<'a> {
    Idle(&'a mut Source),
    Message(Message<'a>),
    Call(Call<'a>, Stage),
    Refused(RefusedLine),
    Over,
}

self_cell!(
    struct Held {
        owner: MutBorrow<Box<Source>>,
        #[not_covariant]
        dependent: Step,
    }
);

fn idle(source: Box<Source>) -> Held {
    Held::new(MutBorrow::new(source), |source| Step::Idle(source.borrow_mut()))
}

/// A gate that keeps its input and its last message. What it says of both is said by the number of the verdict,
/// [`ticket`](Self::ticket): of one that isn't the last nothing can be made (904), and of no stage anything twice (504).
pub struct HeldGate {
    /// Absent only where a call panicked.
    held: Option<Held>,
    verdicts: u64,
    /// Whether there is more to judge behind the last verdict.
    more: bool,
    is_mcp: bool,
}

impl HeldGate {
    /// A gate with these options, of a session if it is given its tracker.
    ///
    /// # Errors
    /// [`BadOptions`] (903) as of [`Gate::new`].
    pub fn new(options: Options, tracker: Option<SharedTracker>) -> Result<Self, BadOptions> {
        let is_mcp = options.revision.is_mcp();
        let storage = HeapStorage::with_limits(&options.limits);
        let gate = Gate::new(options, storage)?;
        let source = Source { gate, tracker, queue: VecDeque::new(), judged: 0, ended: false };
        Ok(Self { held: Some(idle(Box::new(source))), verdicts: 0, more: false, is_mcp })
    }

    /// Does something with the source, for which what the last verdict lent has to be over.
    fn change<T>(&mut self, change: impl FnOnce(&mut Source) -> T) -> Option<T> {
        self.verdicts += 1;
        let mut source = self.held.take()?.into_owner().into_inner();
        let done = change(&mut source);
        self.held = Some(idle(source));
        Some(done)
    }

    /// Takes input. The last verdict is over.
    pub fn feed(&mut self, chunk: Chunk) {
        self.change(|source| source.queue.push_back(chunk));
    }

    /// Takes the end of input, which is judged behind what was fed.
    pub fn end(&mut self) {
        self.change(|source| source.ended = true);
    }

    /// Judges up to the next verdict: `Ok` for a message, of which [`message`](Self::message) tells. `None` if there is nothing left
    /// to judge; the last verdict stays the last then.
    pub fn judge(&mut self) -> Option<Result<(), RefusedLine>> {
        if self.has_message() && !self.more {
            // It stays the last verdict.
            return None;
        }
        loop {
            self.verdicts += 1;
            let mut source = self.held.take()?.into_owner().into_inner();
            if source.is_done() {
                self.held = Some(idle(source));
                return None;
            }
            let mut held = Held::new(MutBorrow::new(source), |source| {
                let (event, more) = source.borrow_mut().step();
                self.more = more;
                match event {
                    Event::Message(message) => Step::Message(message),
                    Event::Refused(refusal) => Step::Refused(RefusedLine::new(&refusal)),
                    _ => Step::Over,
                }
            });
            let said = held.with_dependent_mut(|_, step| match mem::replace(step, Step::Over) {
                Step::Refused(refused) => Some(Err(refused)),
                Step::Over => None,
                message => {
                    *step = message;
                    Some(Ok(()))
                }
            });
            let is_message = matches!(said, Some(Ok(())));
            self.held = Some(if is_message { held } else { idle(held.into_owner().into_inner()) });
            if said.is_some() {
                return said;
            }
        }
    }

    /// Judges all that there is: the accepted lines, each with a line feed, and the refusals. The last verdict is over.
    pub fn filter(&mut self) -> (Vec<u8>, Vec<RefusedLine>) {
        let filtered = self.change(|source| {
            let (mut lines, mut refused) = (Vec::new(), Vec::new());
            while !source.is_done() {
                match source.step().0 {
                    Event::Message(message) => {
                        lines.extend_from_slice(message.bytes());
                        lines.push(b'\n');
                    }
                    Event::Refused(refusal) => refused.push(RefusedLine::new(&refusal)),
                    _ => {}
                }
            }
            (lines, refused)
        });
        filtered.unwrap_or_default()
    }

    /// The number of the last verdict; what it lends is over where the number is another.
    #[must_use]
    pub const fn ticket(&self) -> u64 {
        self.verdicts
    }

    /// The message that was the last verdict.
    pub fn message<T>(&self, look: impl FnOnce(&Message<'_>) -> T) -> Option<T> {
        self.held.as_ref()?.with_dependent(|_, step| match step {
            Step::Message(message) => Some(look(message)),
            _ => None,
        })
    }

    /// Whether something may still become of the last message.
    fn has_message(&self) -> bool {
        let is_message = |step: &Step<'_>| matches!(step, Step::Message(_) | Step::Call(..));
        self.held.as_ref().is_some_and(|held| held.with_dependent(|_, step| is_message(step)))
    }

    /// Whether the next line, or what is there of it, has so many bytes.
    pub fn has_line_of(&self, bytes: usize) -> bool {
        let Some(held) = &self.held else { return false };
        let start = held.with_dependent(|_, step| match step {
            Step::Idle(source) => Some(source.rest()?.get(..bytes)?.contains(&b'\n')),
            _ => None,
        });
        start == Some(false)
    }

    /// Whether input of so many bytes waits in one chunk.
    #[must_use]
    pub fn has_input_of(&self, bytes: usize) -> bool {
        let Some(held) = &self.held else { return false };
        held.with_dependent(|_, step| match step {
            Step::Idle(source) => source.rest().is_some_and(|rest| rest.len() >= bytes),
            _ => false,
        })
    }

    /// What was counted, and whether the session is over.
    #[must_use]
    pub fn counters(&self) -> (Counters, bool) {
        let counters = self.held.as_ref().and_then(|held| {
            held.with_dependent(|_, step| match step {
                Step::Idle(source) => Some((*source.gate.counters(), source.gate.is_closed())),
                Step::Message(message) => Some((*message.counters(), false)),
                Step::Call(call, _) => Some((*call.counters(), false)),
                Step::Refused(_) | Step::Over => None,
            })
        });
        counters.unwrap_or((Counters::default(), true))
    }

    /// Does something with what is left of the last verdict.
    fn with<T>(&mut self, ticket: u64, act: impl for<'a> FnOnce(Step<'a>) -> (Step<'a>, T)) -> Result<T, Code> {
        let held = self.held.as_mut().filter(|_| self.verdicts == ticket).ok_or(Code::StaleEvent)?;
        let (is_over, done) = held.with_dependent_mut(|_, step| {
            let (left, done) = act(mem::replace(step, Step::Over));
            *step = left;
            (matches!(step, Step::Over), done)
        });
        if is_over {
            // The number stays: of what is used up this is still the last verdict.
            self.verdicts -= 1;
            self.change(|_| ());
        }
        Ok(done)
    }

    fn with_call<T>(
        &mut self,
        ticket: u64,
        act: impl for<'a> FnOnce(Call<'a>, Stage) -> (Step<'a>, Result<T, Code>),
    ) -> Result<T, Code> {
        self.with(ticket, |step| match step {
            Step::Call(call, stage) => act(call, stage),
            step => (step, Err(Code::AlreadyUsed)),
        })?
    }

    /// Refuses the call, if it is at this stage.
    fn refuse(
        &mut self,
        ticket: u64,
        at: Stage,
        refuse: impl for<'a> FnOnce(Call<'a>) -> Refusal<'a>,
    ) -> Result<RefusedLine, Code> {
        self.with_call(ticket, |call, stage| {
            if stage == at {
                (Step::Over, Ok(RefusedLine::new(&refuse(call))))
            } else {
                (Step::Call(call, stage), Err(Code::AlreadyUsed))
            }
        })
    }

    /// Makes the message a call, see [`Message::into_call`]; nothing where it isn't one.
    ///
    /// # Errors
    /// 904 where the verdict isn't the last, 504 where it is a call already. Inside, 505.
    pub fn call(&mut self, ticket: u64, granted: Switches) -> Asked<Option<CallFacts>> {
        let is_mcp = self.is_mcp;
        self.with(ticket, |step| match step {
            Step::Message(message) => match message.into_call(granted) {
                Ok(call) => {
                    let facts = CallFacts::of(&call, is_mcp);
                    (Step::Call(call, Stage::Called), Ok(Ok(Some(facts))))
                }
                Err(NoCall::Message(message)) => (Step::Message(message), Ok(Ok(None))),
                Err(NoCall::Refused(refusal)) => (Step::Over, Ok(Err(RefusedLine::new(&refusal)))),
                Err(_) => (Step::Over, Ok(Ok(None))),
            },
            step => (step, Err(Code::AlreadyUsed)),
        })?
    }

    /// Takes the call from a stage to the next: where its arguments are read, before a policy is asked and after it said yes.
    ///
    /// # Errors
    /// 904 where the verdict isn't the last, 504 where the call isn't at this stage; so it is of all that follow.
    pub fn advance(&mut self, ticket: u64, from: Stage, to: Stage) -> Result<(), Code> {
        self.with_call(ticket, |call, stage| {
            if stage == from {
                (Step::Call(call, to), Ok(()))
            } else {
                (Step::Call(call, stage), Err(Code::AlreadyUsed))
            }
        })
    }

    /// Whether the call asks for this.
    ///
    /// # Errors
    /// As of [`advance`](Self::advance).
    pub fn is_for(&mut self, ticket: u64, target: Target<'_>) -> Result<bool, Code> {
        self.with_call(ticket, |call, stage| {
            let is_for = call.is_for(target);
            (Step::Call(call, stage), Ok(is_for))
        })
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
            let at = arguments_of(&call).and_then(|start| walk(start, way, wrong == Wrong::Unknown));
            // Where there are no arguments, a place in no line stands for their own.
            let misfit = Misfit::new(wrong, at.unwrap_or(Cursor::from_bytes(b"{}")));
            call.unfit(member.map_or(misfit, |member| misfit.of_member(kept_name(member))))
        })
    }

    /// Refuses a call of which the policy was asked: it is denied (503).
    ///
    /// # Errors
    /// As of [`advance`](Self::advance).
    pub fn denied(&mut self, ticket: u64, denial: Denial) -> Result<RefusedLine, Code> {
        self.refuse(ticket, Stage::Asked, |call| call.denied(denial))
    }

    /// Takes an allowed call, for it is executed now.
    ///
    /// # Errors
    /// As of [`advance`](Self::advance).
    pub fn take(&mut self, ticket: u64) -> Result<(), Code> {
        self.advance(ticket, Stage::Allowed, Stage::Allowed)?;
        self.with(ticket, |_| (Step::Over, ()))
    }
}

impl std::fmt::Debug for HeldGate {
    /// Shows where it stands, never what it holds.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (counters, closed) = self.counters();
        f.debug_struct("HeldGate").field("closed", &closed).field("counters", &counters).finish_non_exhaustive()
    }
}
