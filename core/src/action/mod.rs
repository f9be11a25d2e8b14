//! From an accepted message to an effect: typed, authorized, executed once, audited.
//!
//! ```text
//! Message --into_call--> Call --arguments::<A>--> Typed<A> --authorize--> Authorized<A> --execute--> the arguments, once
//!            \                     \                             \
//!            505                 501, 502                        503                      ---> Refusal { code, at, .. }
//! ```
//!
//! The order can't be changed. Each stage is made only by the one before, which it consumes, and none can be made by hand,
//! cloned, or kept over the next feed; so there is nothing to check again and nothing to forget. In particular:
//!
//! - An executor is never given JSON. It is given an [`Authorized`] action of its own kind, and what [comes out of
//!   it](Authorized::open) are the arguments as the host's type. Opening it writes the [`Journal`]; there is no other way to them.
//! - An authorizer decides on the same typed arguments that will be executed, and has nothing to execute them with.
//! - A refusal on this way is a [`Refusal`](crate::Refusal) like the gate's: counted in the gate's [`Counters`](crate::Counters), ending the
//!   session where its policy wants it, answered by the same rule. A denied call is refused; it is no execution that failed.
//! - Executions are counted by the [`Journal`], and by nothing else.
//! - A line that passed the gate only by a [loosened switch](crate::Switch) asks for no effect, unless the host grants that
//!   switch for actions.
//!
//! [`Actions`] walks this way with a table of a host's [`Entry`]s and answers the client. What isn't in the table has no
//! handler that could run.
//!
//! ```
//! # #[cfg(feature = "typed")] {
//! use linegate::action::{
//!     Action, Authorize, Authorized, Denial, Execute, Misfit, Origin, RawArguments, Target, Text,
//! };
//! use serde::Deserialize;
//!
//! /// The arguments of a tool: what isn't in here is refused.
//! #[derive(Deserialize)]
//! struct Valve<'a> { name: &'a str, percent: u8 }
//!
//! /// The tool.
//! struct OpenValve;
//! impl Action for OpenValve {
//!     const TARGET: Target<'static> = Target::Tool("open_valve");
//!     type Arguments<'a> = Valve<'a>;
//!     fn read<'a>(arguments: RawArguments<'a>) -> Result<Valve<'a>, Misfit<'a>> { arguments.typed() }
//! }
//!
//! /// Who may do what.
//! struct Limit(u8);
//! impl Authorize<OpenValve> for Limit {
//!     fn authorize(&self, _: &Origin<'_>, valve: &Valve<'_>) -> Result<(), Denial> {
//!         if valve.percent <= self.0 { Ok(()) } else { Err(Denial::because("above the limit")) }
//!     }
//! }
//!
//! /// Who does it.
//! struct Plant { open: u8 }
//! impl Execute<OpenValve> for Plant {
//!     type Output = Text<&'static str>;
//!     type Error = &'static str;
//!     fn execute(&mut self, action: Authorized<'_, OpenValve>) -> Result<Self::Output, Self::Error> {
//!         let Valve { name, percent } = action.open();
//!         if name != "north" { return Err("there is no such valve") }
//!         self.open = percent;
//!         Ok(Text("done"))
//!     }
//! }
//!
//! use linegate::action::{Actions, Entry, Handled, Writer};
//! use linegate::{AuditKey, Direction, Event, Gate, Inline, Options};
//!
//! const TOOLS: &[Entry<Limit, Plant>] = &[Entry::of::<OpenValve>()];
//! let mut actions = Actions::new(TOOLS, Limit(50), Plant { open: 0 }, ())?;
//! let key = AuditKey::new(*b"sixteen random b");
//! let mut gate = Gate::new(Options::new(Direction::FromClient, key), Inline::<1024, 128>::new())?;
//! let mut sent = Vec::new();
//! let server = Options::new(Direction::FromServer, key);
//! let mut wire = Writer::new(server, Inline::<1024, 128>::new(), |line: &[u8]| sent.extend_from_slice(line))?;
//!
//! let line = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open_valve","arguments":{"name":"north","percent":20}}}
//! "#;
//! let Event::Message(message) = gate.feed(line).event else { unreachable!() };
//! let (mut room, mut out) = ([0; 1024], [0; 1024]);
//! assert!(matches!(actions.handle(message, &mut room, &mut out, &mut wire), Handled::Executed(..)));
//! assert_eq!((actions.executor().open, actions.journal().executed()), (20, 1));
//! assert_eq!(sent, br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"done"}],"isError":false}}
//! "#);
//! # }
//! # Ok::<(), linegate::BadOptions>(())
//! ```

mod answer;
mod call;
mod dispatch;
mod journal;
mod misfit;
mod refusable;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "typed")]
mod typed;

use core::fmt;

pub use self::answer::{Answer, Json, NotSent, ResultLine, Structured, Text, Unwritten, Wire, Writer};
pub use self::call::{Authorized, Call, NoCall, Origin, Typed};
pub use self::dispatch::{Actions, Entry, Handled};
pub use self::journal::{Audit, Execution, Journal, Outcome};
pub use self::misfit::{Misfit, Wrong};
pub use self::refusable::Refusable;
use crate::code::INVALID_PARAMS;
use crate::json::Cursor;

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target<'a> {
    /// A tool, by the name in `tools/call` of MCP.
    Tool(&'a str),
    /// Any other method, by its name; its params, `_meta` aside, are the arguments.
    Method(&'a str),
}

impl<'a> Target<'a> {
    /// The name of the tool or method.
    #[must_use]
    pub const fn name(self) -> &'a str {
        match self {
            Self::Tool(name) | Self::Method(name) => name,
        }
    }
}

/// One kind of effect: what asks for it, and with which arguments. A type of its own, so that an executor of one action can't
/// be given another.
pub trait Action {
    /// The tool or method.
    const TARGET: Target<'static>;
    /// Its arguments, which may borrow from the line.
    type Arguments<'a>;

    /// Reads the arguments. With the feature `typed`, `RawArguments::typed` does it for a serde type.
    ///
    /// # Errors
    /// What doesn't fit, and where; the call is refused with 502.
    fn read(arguments: RawArguments<'_>) -> Result<Self::Arguments<'_>, Misfit<'_>>;
}

/// Arguments before they have a type. Given only to [`Action::read`].
pub struct RawArguments<'a> {
    value: Cursor<'a>,
    #[cfg_attr(not(feature = "typed"), expect(dead_code, reason = "only strings of types need room"))]
    room: &'a mut [u8],
    #[cfg_attr(not(feature = "typed"), expect(dead_code, reason = "only types are held to their members"))]
    aside: Option<&'static str>,
}

impl<'a> RawArguments<'a> {
    /// The arguments as they came; `{}` where there are none. Of a method of MCP these are the params, `_meta` included.
    #[must_use]
    pub const fn cursor(&self) -> Cursor<'a> {
        self.value
    }

    /// The arguments as a type. Members that the type doesn't read are refused at every level; a type that takes whatever it
    /// finds, and so would hide them, doesn't fit (`#[serde(flatten)]`, untagged and internally tagged enums, variants with
    /// named members in adjacently tagged ones, dynamic values). Neither does an array for a struct, or a map whose names aren't
    /// read as strings.
    ///
    /// A type that holds itself is read by recursion, as deep as the gate's `max_depth` lets the text be: allow 1 KiB of stack a
    /// level. Other types need as much as they are deep themselves, whatever the text.
    ///
    /// # Errors
    /// What doesn't fit, and where.
    #[cfg(feature = "typed")]
    pub fn typed<T: serde_core::Deserialize<'a>>(self) -> Result<T, Misfit<'a>> {
        typed::read(self.value, self.room, self.aside)
    }
}

impl fmt::Debug for RawArguments<'_> {
    /// Shows the kind and the length, never the content; nor what the room holds of lines before.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RawArguments").field(&self.value).finish()
    }
}

/// Decides which actions may be done.
///
/// It is given what is asked for and by whom, and nothing to do it with: no gate, no call, no executor.
pub trait Authorize<A: Action> {
    /// Whether the action may be done with these arguments.
    ///
    /// # Errors
    /// The reason why not; the call is refused with 503.
    fn authorize(&self, origin: &Origin<'_>, arguments: &A::Arguments<'_>) -> Result<(), Denial>;
}

/// Why an action may not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial {
    reason: &'static str,
    rpc_code: i32,
}

impl Denial {
    /// A denial for this reason, which is for the host's own eyes: the reply says only that the call isn't allowed, with the
    /// code -32602.
    #[must_use]
    pub const fn because(reason: &'static str) -> Self {
        Self { reason, rpc_code: INVALID_PARAMS }
    }

    /// The same, answered with another JSON-RPC code. [`Actions`] falls back to -32602 where the writer doesn't let it out, as
    /// 2026-07-28 has it for some codes (409).
    #[must_use]
    pub const fn with_rpc_code(mut self, rpc_code: i32) -> Self {
        self.rpc_code = rpc_code;
        self
    }
}

/// Does an action.
pub trait Execute<A: Action> {
    /// What the client is answered.
    type Output: Answer;
    /// Why it failed; the client reads it, as a tool's result with `isError`, or as the message of an error -32603.
    type Error: fmt::Display;

    /// Does the action. Its arguments [come out of it](Authorized::open) once, and only with that it counts as executed: a tool
    /// without arguments opens it all the same.
    ///
    /// # Errors
    /// Why it failed. That is an execution all the same.
    fn execute(&mut self, action: Authorized<'_, A>) -> Result<Self::Output, Self::Error>;
}
