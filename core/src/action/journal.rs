//! What was executed: the count, and what an audit may keep of it. Refusals are counted by the gate, in another type.

use core::cell::Cell;

use super::Target;
use crate::audit::{Fingerprint, Record};
use crate::limits::Direction;

/// Counts executions. Nothing else can be read from it, and nothing but an execution writes it.
#[derive(Debug, Default)]
pub struct Journal {
    pub(super) executed: Cell<u64>,
    pub(super) failed: Cell<u64>,
}

impl Journal {
    /// A journal in which nothing was executed.
    #[must_use]
    pub const fn new() -> Self {
        Self { executed: Cell::new(0), failed: Cell::new(0) }
    }

    /// Actions whose executor has taken their arguments.
    #[must_use]
    pub const fn executed(&self) -> u64 {
        self.executed.get()
    }

    /// Those of them of which [`Actions`](super::Actions) was told that they failed.
    #[must_use]
    pub const fn failed(&self) -> u64 {
        self.failed.get()
    }
}

/// The audit record of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Execution {
    /// The ordinal of the line in its session, from 1.
    pub sequence: u64,
    /// Who asked for it.
    pub direction: Direction,
    /// What was asked for, by the host's own name.
    pub target: Target<'static>,
    /// The fingerprint of the line.
    pub fingerprint: Fingerprint,
}

/// How an authorized action ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was executed.
    Done,
    /// It was executed, and the executor says that it failed.
    Failed,
    /// The executor answered without taking the arguments: nothing counts as executed, and no result of it is sent.
    Untouched,
}

impl Outcome {
    /// The outcome as audit files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Untouched => "untouched",
        }
    }
}

/// Where refusals and executions are recorded.
///
/// It is told of things, and asked nothing: whatever it does, no verdict changes, and it has nothing to execute with. One that
/// blocks holds up the stream; nothing more is executed then either. One that can fail should count what it lost.
pub trait Audit {
    /// A line was refused, by the gate or on its way to an effect.
    fn refused(&mut self, record: &Record);

    /// An action is authorized, and will now be given to its executor.
    fn authorized(&mut self, execution: &Execution);

    /// Its executor has answered.
    fn ended(&mut self, execution: &Execution, outcome: Outcome);
}

/// Records nothing.
impl Audit for () {
    fn refused(&mut self, _: &Record) {}
    fn authorized(&mut self, _: &Execution) {}
    fn ended(&mut self, _: &Execution, _: Outcome) {}
}

impl<T: Audit + ?Sized> Audit for &mut T {
    fn refused(&mut self, record: &Record) {
        (**self).refused(record);
    }

    fn authorized(&mut self, execution: &Execution) {
        (**self).authorized(execution);
    }

    fn ended(&mut self, execution: &Execution, outcome: Outcome) {
        (**self).ended(execution, outcome);
    }
}
