//! Stand-ins for the tests of a host: an executor that records instead of acting, authorizers of one mind, and an audit that
//! can be read. With the feature `testing`, which needs a heap.
//!
//! Write the host's table for any executor, and give it the [`Recorder`] where the real one would act:
//!
//! ```
//! # #[cfg(feature = "typed")] {
//! # use linegate::{AuditKey, Direction, Event, Gate, Inline, Options};
//! # use linegate::action::{Action, Actions, Entry, Execute, Handled, Misfit, RawArguments, Target};
//! use linegate::action::testing::{Deny, Ledger, Recorder, Sent};
//!
//! # struct OpenValve;
//! # impl Action for OpenValve {
//! #     const TARGET: Target<'static> = Target::Tool("open_valve");
//! #     type Arguments<'a> = std::collections::BTreeMap<String, u8>;
//! #     fn read<'a>(arguments: RawArguments<'a>) -> Result<Self::Arguments<'a>, Misfit<'a>> { arguments.typed() }
//! # }
//! fn table<X: Execute<OpenValve>>() -> &'static [Entry<Deny, X>] {
//!     const { &[Entry::of::<OpenValve>()] }
//! }
//!
//! let mut actions = Actions::new(table(), Deny("maintenance"), Recorder::default(), Ledger::default())?;
//! # let key = AuditKey::new(*b"sixteen random b");
//! # let mut gate = Gate::new(Options::new(Direction::FromClient, key), Inline::<1024, 128>::new())?;
//! # let line = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"open_valve\"}}\n";
//! # let Event::Message(message) = gate.feed(line).event else { unreachable!() };
//! let (mut room, mut out, mut sent) = ([0; 1024], [0; 1024], Sent::default());
//! let Handled::Refused(record) = actions.handle(message, &mut room, &mut out, &mut sent) else { panic!() };
//! assert_eq!(record.code.number(), 503);
//! assert_eq!(actions.journal().executed(), 0);
//! assert!(actions.executor().calls.is_empty());
//! assert_eq!(actions.audit().refused.len(), 1);
//! # }
//! # Ok::<(), linegate::BadOptions>(())
//! ```

extern crate alloc;

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use super::{Action, Audit, Authorize, Authorized, Denial, Execute, Execution, Origin, Outcome, Target, Text, Wire};
use crate::audit::Record;

/// An executor of every action whose arguments can be shown: it records them, does nothing, and answers.
#[derive(Debug, Default)]
pub struct Recorder {
    /// What it was given to execute, in order.
    pub calls: Vec<Recorded>,
    /// If there is a text, every execution fails with it.
    pub failure: Option<&'static str>,
}

/// A recorded execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What was asked for.
    pub target: Target<'static>,
    /// The arguments as their `Debug` shows them.
    pub arguments: String,
    /// The id of the request as it was written; none of a notification.
    pub id: Option<Vec<u8>>,
}

impl<A: Action> Execute<A> for Recorder
where
    for<'a> A::Arguments<'a>: Debug,
{
    type Output = Text<&'static str>;
    type Error = &'static str;

    fn execute(&mut self, action: Authorized<'_, A>) -> Result<Self::Output, Self::Error> {
        let id = action.origin().id().map(<[u8]>::to_vec);
        self.calls.push(Recorded { target: A::TARGET, arguments: format!("{:?}", action.open()), id });
        self.failure.map_or(Ok(Text("recorded")), Err)
    }
}

/// Allows everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allow;

impl<A: Action> Authorize<A> for Allow {
    fn authorize(&self, _: &Origin<'_>, _: &A::Arguments<'_>) -> Result<(), Denial> {
        Ok(())
    }
}

/// Denies everything, for this reason.
#[derive(Clone, Copy, Debug)]
pub struct Deny(pub &'static str);

impl<A: Action> Authorize<A> for Deny {
    fn authorize(&self, _: &Origin<'_>, _: &A::Arguments<'_>) -> Result<(), Denial> {
        Err(Denial::because(self.0))
    }
}

/// An audit that can be read.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Refusals.
    pub refused: Vec<Record>,
    /// Actions that were authorized.
    pub authorized: Vec<Execution>,
    /// How they ended.
    pub ended: Vec<(Execution, Outcome)>,
}

impl Audit for Ledger {
    fn refused(&mut self, record: &Record) {
        self.refused.push(*record);
    }

    fn authorized(&mut self, execution: &Execution) {
        self.authorized.push(*execution);
    }

    fn ended(&mut self, execution: &Execution, outcome: Outcome) {
        self.ended.push((*execution, outcome));
    }
}

/// A wire that keeps what it was given, unjudged.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// The lines, each with its line feed.
    pub lines: Vec<Vec<u8>>,
}

impl Wire for Sent {
    fn send(&mut self, line: &[u8]) -> bool {
        self.lines.push(line.to_owned());
        true
    }
}
