//! A host's table of actions, and the walk of a message along it: from the tool's name to the one answer.

use core::fmt;

use super::answer::{Unwritten, Wire};
use super::call::{Call, NoCall, Origin, add_one};
use super::journal::{Audit, Execution, Journal, Outcome};
use super::{Action, Authorize, Execute, Target};
use crate::audit::Record;
use crate::code::Code;
use crate::limits::Switches;
use crate::message::Message;
use crate::options::BadOptions;
use crate::refusal::{Refusal, Reply};

/// One row of a host's table: an action, with the way to it for the authorizer `Z` and the executor `X`.
pub struct Entry<Z: ?Sized, X: ?Sized> {
    target: Target<'static>,
    run: Run<Z, X>,
}

type Run<Z, X> = for<'a> fn(Call<'a>, Target<'static>, &mut Step<'a, '_, Z, X>) -> Result<Done<'a>, Refusal<'a>>;

/// What the way of one call needs.
struct Step<'a, 's, Z: ?Sized, X: ?Sized> {
    room: &'a mut [u8],
    out: &'s mut [u8],
    authorizer: &'s Z,
    executor: &'s mut X,
    audit: &'s mut dyn Audit,
    journal: &'a Journal,
}

/// An executed call, and the answer to it.
struct Done<'a> {
    origin: Origin<'a>,
    execution: Execution,
    outcome: Outcome,
    answer: Result<usize, Unwritten>,
}

impl<Z: ?Sized, X: ?Sized> Entry<Z, X> {
    /// The row of an action.
    #[must_use]
    pub const fn of<A: Action>() -> Self
    where
        Z: Authorize<A>,
        X: Execute<A>,
    {
        Self::named::<A>(A::TARGET)
    }

    /// The row of an action that is asked for in another way than its own, as where a configuration names the tools. Authorizer
    /// and executor find in the [origin](Origin::target) what was asked for.
    #[must_use]
    pub const fn named<A: Action>(target: Target<'static>) -> Self
    where
        Z: Authorize<A>,
        X: Execute<A>,
    {
        Self { target, run: run::<A, Z, X> }
    }

    /// What has to be asked for.
    #[must_use]
    pub const fn target(&self) -> Target<'static> {
        self.target
    }
}

impl<Z: ?Sized, X: ?Sized> fmt::Debug for Entry<Z, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.target).finish()
    }
}

/// The whole way of a call that asks for `target`, which is an `A`.
#[expect(clippy::result_large_err, reason = "a refusal is told once, where it is met")]
fn run<'a, A: Action, Z: Authorize<A> + ?Sized, X: Execute<A> + ?Sized>(
    call: Call<'a>,
    target: Target<'static>,
    step: &mut Step<'a, '_, Z, X>,
) -> Result<Done<'a>, Refusal<'a>> {
    let room = core::mem::take(&mut step.room);
    let authorized = call.arguments_of::<A>(target, room)?.authorize(step.authorizer, step.journal)?;
    let origin = *authorized.origin();
    let execution = origin.execution_of(target);
    step.audit.authorized(&execution);
    let before = step.journal.executed();
    let done = step.executor.execute(authorized);
    let outcome = match &done {
        _ if step.journal.executed() == before => Outcome::Untouched,
        Ok(_) => Outcome::Done,
        Err(_) => Outcome::Failed,
    };
    let answer = match &done {
        // Whatever it did, it did without the arguments: no success that anybody could count.
        Ok(_) if outcome == Outcome::Untouched => Err(Unwritten::Answer),
        Ok(output) => origin.write_result(output, step.out),
        Err(error) => origin.write_failure(error, step.out),
    };
    step.audit.ended(&execution, outcome);
    if outcome == Outcome::Failed {
        add_one(&step.journal.failed);
    }
    Ok(Done { origin, execution, outcome, answer })
}

/// A host's table with all that it takes to act on it: who decides, who does, who records.
pub struct Actions<Z: 'static, X: 'static, S = ()> {
    table: &'static [Entry<Z, X>],
    authorizer: Z,
    executor: X,
    audit: S,
    journal: Journal,
    granted: Switches,
}

/// What became of a message.
#[derive(Debug)]
#[non_exhaustive]
pub enum Handled<'a> {
    /// It asks for nothing in the table: a response, a batch, or a method that is no row of it. It is the host's.
    Message(Message<'a>),
    /// It was refused on its way, recorded and answered. Whether the session is over, the gate says.
    Refused(Record),
    /// It was given to the executor, recorded and answered.
    Executed(Execution, Outcome),
}

impl<Z, X, S: Audit> Actions<Z, X, S> {
    /// Actions on a table, with no loosened switch granted.
    ///
    /// # Errors
    /// [`BadOptions`] (903) where two rows have one target, or one is the method `tools/call`, which has tools for rows.
    pub fn new(table: &'static [Entry<Z, X>], authorizer: Z, executor: X, audit: S) -> Result<Self, BadOptions> {
        let twice = |(place, entry): (usize, &Entry<Z, X>)| {
            table.iter().take(place).any(|before| before.target == entry.target)
        };
        if table.iter().enumerate().any(twice) {
            return Err(BadOptions { option: "table", text: "each target has one row of the table" });
        }
        if table.iter().any(|entry| entry.target == Target::Method("tools/call")) {
            return Err(BadOptions { option: "table", text: "tools/call is no row of the table, its tools are" });
        }
        let (journal, granted) = (Journal::new(), Switches::NONE);
        Ok(Self { table, authorizer, executor, audit, journal, granted })
    }

    /// The same, with these switches granted: a line that passed the gate only by one of them may ask for an effect.
    #[must_use]
    pub fn with_granted(mut self, switches: Switches) -> Self {
        self.granted = switches;
        self
    }

    /// Does what a message asks for, or refuses it, and answers on `wire`.
    ///
    /// `room` takes strings of the arguments that were written with escapes; as many bytes as the longest line has always
    /// suffice. `out` takes the answer; [`REPLY_LEN`](crate::REPLY_LEN) suffices for refusals, and a result that doesn't fit, or
    /// isn't one, is answered by an error -32603.
    pub fn handle<'a>(
        &mut self,
        message: Message<'a>,
        room: &mut [u8],
        out: &mut [u8],
        wire: &mut impl Wire,
    ) -> Handled<'a> {
        if !self.is_ours(&message) {
            return Handled::Message(message);
        }
        let done = match message.into_call(self.granted) {
            Ok(call) => match self.table.iter().find(|entry| call.is_for(entry.target)) {
                None => Err(call.unknown()),
                Some(entry) => (entry.run)(
                    call,
                    entry.target,
                    &mut Step {
                        room,
                        out: &mut *out,
                        authorizer: &self.authorizer,
                        executor: &mut self.executor,
                        audit: &mut self.audit,
                        journal: &self.journal,
                    },
                ),
            },
            Err(NoCall::Refused(refusal)) => Err(refusal),
            Err(NoCall::Message(message)) => return Handled::Message(message),
        };
        match done {
            Ok(Done { origin, execution, outcome, answer }) => {
                let sent = answer.is_ok_and(|len| len == 0 || send(wire, out, len));
                if !sent && let Ok(len) = origin.write_no_answer(outcome, out) {
                    send(wire, out, len);
                }
                Handled::Executed(execution, outcome)
            }
            Err(mut refusal) => {
                let record = refusal.record();
                self.audit.refused(&record);
                let sent = refusal.write_reply(out).is_ok_and(|len| len == 0 || send(wire, out, len));
                // The code of a denial is the host's, and may be one that its revision doesn't let a server send.
                if !sent && refusal.code() == Code::NotAuthorized {
                    refusal.reply = Reply::to(Code::NotAuthorized);
                    let _ = refusal.write_reply(out).is_ok_and(|len| send(wire, out, len));
                }
                Handled::Refused(record)
            }
        }
    }

    /// Records a line that the gate itself refused.
    pub fn refused(&mut self, refusal: &Refusal<'_>) {
        self.audit.refused(&refusal.record());
    }

    /// Whether a message asks for what the table could have: any tool, or a method that is a row.
    fn is_ours(&self, message: &Message<'_>) -> bool {
        let tools = message.is_mcp() && message.method() == Some("tools/call");
        let row = |entry: &Entry<Z, X>| matches!(entry.target, Target::Method(name) if message.method() == Some(name));
        tools || self.table.iter().any(row)
    }
}

/// Sends what was written, if anything was.
fn send(wire: &mut impl Wire, out: &[u8], len: usize) -> bool {
    out.get(..len).is_some_and(|line| !line.is_empty() && wire.send(line))
}

impl<Z, X, S> Actions<Z, X, S> {
    /// What was executed.
    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Who does it.
    pub const fn executor(&self) -> &X {
        &self.executor
    }

    /// Who records it.
    pub const fn audit(&self) -> &S {
        &self.audit
    }

    /// The rows.
    #[must_use]
    pub const fn table(&self) -> &'static [Entry<Z, X>] {
        self.table
    }
}

impl<Z, X, S> fmt::Debug for Actions<Z, X, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Actions").field("table", &self.table).field("journal", &self.journal).finish_non_exhaustive()
    }
}
