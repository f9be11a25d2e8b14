//! The stages of a call: [`Call`], [`Typed`], [`Authorized`]. Each is made only by the one before it, which it consumes; each
//! refusal on the way is counted where the gate counts its own, and ends the session where the policy wants it.

use core::cell::Cell;

use super::journal::{Execution, Journal};
use super::misfit::Misfit;
use super::{Action, Authorize, Denial, RawArguments, Target};
use crate::audit::Fingerprint;
use crate::code::{Code, Fault};
use crate::json::Cursor;
use crate::judge::Told;
use crate::limits::{Direction, Switch, Switches};
use crate::mcp::{Revision, Set, VERSION};
use crate::message::Message;
use crate::options::Options;
use crate::refusal::{Detail, Refusal, Reply};
use crate::rpc::Kind;
use crate::standing::{Counters, Standing};

/// The member of params that belongs to the protocol and is no argument.
const META: &str = "_meta";

/// A request or notification on its way to an effect. It lives until the gate is fed again.
#[must_use = "a call that is dropped is never answered"]
pub struct Call<'a> {
    pub(super) origin: Origin<'a>,
    params: Option<Cursor<'a>>,
    pub(super) standing: &'a mut Standing,
}

/// A message that becomes no call.
#[derive(Debug)]
#[non_exhaustive]
pub enum NoCall<'a> {
    /// It asks for nothing: a response. Or it is a batch: an action is asked for on a line of its own.
    Message(Message<'a>),
    /// It passed the gate only by a switch that isn't granted for actions (505).
    Refused(Refusal<'a>),
}

impl<'a> Message<'a> {
    /// The call that the message is. `granted` are the loosened switches by which a line may have passed and still ask for an
    /// effect; [`Switches::NONE`] unless the host has a reason.
    ///
    /// # Errors
    /// [`NoCall::Message`] gives back a response or a batch; [`NoCall::Refused`] (505) a line that needed another switch.
    #[expect(clippy::result_large_err, reason = "what isn't a call is handed back as it came")]
    pub fn into_call(self, granted: Switches) -> Result<Call<'a>, NoCall<'a>> {
        if !matches!(self.kind(), Kind::Request | Kind::Notification) {
            return Err(NoCall::Message(self));
        }
        let (params, needed) = (self.params(), self.loosened.minus(granted));
        let meta = params.and_then(|params| params.get(META));
        // A request that says its version itself is of the revision that has this.
        let says_version = self.options.revision.is_mcp() && meta.is_some_and(|meta| meta.get(VERSION).is_some());
        let origin = Origin {
            target: None,
            method: self.method.unwrap_or_default(),
            id: self.id(),
            revisions: if says_version && !self.revisions.is_one() { Set::MODERN } else { self.revisions },
            sequence: self.standing.sequence,
            line: self.line,
            options: self.options,
        };
        let call = Call { origin, params, standing: self.standing };
        match needed.iter().next() {
            None => Ok(call),
            Some(switch) => Err(NoCall::Refused(ungranted(call.standing, &origin, switch))),
        }
    }
}

impl<'a> Call<'a> {
    /// Where it comes from.
    #[must_use]
    pub const fn origin(&self) -> &Origin<'a> {
        &self.origin
    }

    /// The tool that a `tools/call` of MCP asks for, as the client spelt it.
    #[must_use]
    pub fn tool(&self) -> Option<Cursor<'a>> {
        if self.origin.is_tool_call() { self.params?.get("name") } else { None }
    }

    /// The params as they came: for a host that reads them by itself, with types that no Rust compiler knows.
    #[must_use]
    pub const fn params(&self) -> Option<Cursor<'a>> {
        self.params
    }

    /// What its gate has counted since the start or reset.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.standing.counters
    }

    /// Whether it asks for this.
    #[must_use]
    pub fn is_for(&self, target: Target<'_>) -> bool {
        match target {
            Target::Tool(name) => self.tool().is_some_and(|tool| tool.is_str(name)),
            Target::Method(name) => !self.origin.is_tool_call() && self.origin.method == name.as_bytes(),
        }
    }

    /// The arguments, read as this action's. `room` takes strings that were written with escapes; as many bytes as the line has
    /// always suffice. Absent arguments are an empty object.
    ///
    /// # Errors
    /// 501 where the call asks for something else, 502 where the arguments don't fit.
    #[expect(clippy::result_large_err, reason = "a refusal is told once, where it is met")]
    pub fn arguments<A: Action>(self, room: &'a mut [u8]) -> Result<Typed<'a, A>, Refusal<'a>> {
        if !self.is_for(A::TARGET) {
            return Err(self.unknown());
        }
        self.arguments_of(A::TARGET, room)
    }

    /// The arguments of a call for `target`.
    #[expect(clippy::result_large_err, reason = "a refusal is told once, where it is met")]
    pub(super) fn arguments_of<A: Action>(
        mut self,
        target: Target<'static>,
        room: &'a mut [u8],
    ) -> Result<Typed<'a, A>, Refusal<'a>> {
        let (value, aside) = self.arguments_for(target);
        match A::read(RawArguments { value, room, aside }) {
            Ok(arguments) => {
                self.origin.target = Some(target);
                Ok(Typed { origin: self.origin, arguments, standing: self.standing })
            }
            Err(misfit) => Err(self.unfit(misfit)),
        }
    }

    /// The value that holds the arguments for `target`, and the member of it that is none.
    pub(super) fn arguments_for(&self, target: Target<'_>) -> (Cursor<'a>, Option<&'static str>) {
        let (arguments, aside) = match target {
            Target::Tool(_) => (self.params.and_then(|params| params.get("arguments")), None),
            Target::Method(_) => (self.params, self.origin.options.revision.is_mcp().then_some(META)),
        };
        (arguments.unwrap_or(Cursor::new(b"{}")), aside)
    }

    /// The refusal of a call for which there is no action (501).
    pub fn unknown(self) -> Refusal<'a> {
        let at = self.tool().map_or(0, |tool| tool.place(self.origin.line));
        let fault = Fault { code: Code::UnknownTool, at };
        let reply = if self.origin.is_tool_call() { Reply::to(fault.code) } else { Reply::to(Code::UnknownMethod) };
        refuse(self.standing, &self.origin, fault, reply, Detail::default())
    }

    /// The refusal of a call whose arguments don't fit (502), for a host that reads the [params](Self::params) by itself.
    pub fn unfit(self, misfit: Misfit<'a>) -> Refusal<'a> {
        let Misfit { wrong, at, member } = misfit;
        // What isn't there has its place where it would stand: at the params that lack it.
        let line = self.origin.line.as_ptr_range();
        let inside = |value: &Cursor<'_>| line.contains(&value.bytes().as_ptr());
        let at = at.filter(inside).or(self.params).map_or(0, |value| value.place(self.origin.line));
        let fault = Fault { code: Code::ArgumentsSchema, at };
        let reply = if self.origin.is_tool_call() && self.origin.revisions.reports_arguments_as_results() {
            Reply::ToolResult { complete: self.origin.is_modern() }
        } else {
            Reply::to(fault.code)
        };
        let detail = Detail { reason: Some(wrong.text()), name: member, told: true };
        refuse(self.standing, &self.origin, fault, reply, detail)
    }

    /// The refusal of a call that the host denies (503) by itself. The refusal [has the reason](Refusal::reason), which the
    /// reply doesn't.
    pub fn denied(self, denial: Denial) -> Refusal<'a> {
        denied(self.standing, &self.origin, denial)
    }
}

/// A call whose arguments fit an action. It may still be denied.
#[must_use = "a call that is dropped is never answered"]
pub struct Typed<'a, A: Action> {
    origin: Origin<'a>,
    arguments: A::Arguments<'a>,
    standing: &'a mut Standing,
}

impl<'a, A: Action> Typed<'a, A> {
    /// Where it comes from.
    #[must_use]
    pub const fn origin(&self) -> &Origin<'a> {
        &self.origin
    }

    /// Asks whether it may be done. What is executed is written into `journal`.
    ///
    /// # Errors
    /// 503 where it is denied; the refusal [has the reason](Refusal::reason), which the reply doesn't.
    #[expect(clippy::result_large_err, reason = "a refusal is told once, where it is met")]
    pub fn authorize(
        self,
        authorizer: &(impl Authorize<A> + ?Sized),
        journal: &'a Journal,
    ) -> Result<Authorized<'a, A>, Refusal<'a>> {
        let Self { origin, arguments, standing } = self;
        match authorizer.authorize(&origin, &arguments) {
            Ok(()) => Ok(Authorized { origin, arguments, journal }),
            Err(denial) => Err(denied(standing, &origin, denial)),
        }
    }
}

/// An action that may be executed, once.
#[must_use = "an action that is dropped is never answered"]
pub struct Authorized<'a, A: Action> {
    origin: Origin<'a>,
    arguments: A::Arguments<'a>,
    journal: &'a Journal,
}

impl<'a, A: Action> Authorized<'a, A> {
    /// Where it comes from.
    #[must_use]
    pub const fn origin(&self) -> &Origin<'a> {
        &self.origin
    }

    /// The arguments. With this the action counts as executed: there is no other way to them.
    #[must_use]
    pub fn open(self) -> A::Arguments<'a> {
        add_one(&self.journal.executed);
        self.arguments
    }
}

pub(super) fn add_one(count: &Cell<u64>) {
    count.set(count.get().wrapping_add(1));
}

/// Where a call comes from: what an authorizer may know of it beside the arguments, and what its answer needs.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    target: Option<Target<'static>>,
    method: &'a [u8],
    id: Option<&'a [u8]>,
    revisions: Set,
    sequence: u64,
    line: &'a [u8],
    options: &'a Options,
}

impl<'a> Origin<'a> {
    /// What it asks for, once the arguments were read.
    #[must_use]
    pub const fn target(&self) -> Option<Target<'static>> {
        self.target
    }

    /// The method, unescaped.
    #[must_use]
    pub fn method(&self) -> &'a str {
        core::str::from_utf8(self.method).unwrap_or_default()
    }

    /// The id as it was written, quotes included; none of a notification.
    #[must_use]
    pub const fn id(&self) -> Option<&'a [u8]> {
        self.id
    }

    /// The revision of MCP that it is of, where that is known: the host named it, the request says it, or the session's
    /// tracker has learnt it.
    #[must_use]
    pub fn revision(&self) -> Option<&'static str> {
        self.revisions.name(&Revision::PUBLISHED)
    }

    /// Who asks.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        self.options.direction
    }

    /// The ordinal of its line in its session, from 1.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// By which the same line is recognised again.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(self.options.audit_key, &[self.line])
    }

    /// What may be kept of its execution; none before its arguments were read.
    #[must_use]
    pub fn execution(&self) -> Option<Execution> {
        self.target.map(|target| self.execution_of(target))
    }

    pub(super) fn execution_of(&self, target: Target<'static>) -> Execution {
        let (sequence, direction) = (self.sequence, self.direction());
        Execution { sequence, direction, target, fingerprint: self.fingerprint() }
    }

    /// Whether its result says its type, as 2026-07-28 asks.
    pub(super) fn is_modern(&self) -> bool {
        self.revisions == Set::MODERN
    }

    /// Whether its result may have structured content: from 2025-06-18 on.
    pub(super) const fn has_structured_content(&self) -> bool {
        !self.revisions.is_empty() && self.revisions.minus(Set::NAMED_META).is_empty()
    }

    pub(super) fn is_tool_call(&self) -> bool {
        self.options.revision.is_mcp() && self.method == b"tools/call"
    }
}

impl core::fmt::Debug for Origin<'_> {
    /// Shows what it asks for and where it stands, never the payload.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Origin")
            .field("target", &self.target)
            .field("sequence", &self.sequence)
            .field("revision", &self.revision())
            .finish_non_exhaustive()
    }
}

impl core::fmt::Debug for Call<'_> {
    /// Shows where it comes from, never the arguments.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Call").field(&self.origin).finish()
    }
}

impl<A: Action> core::fmt::Debug for Typed<'_, A> {
    /// Shows where it comes from, never the arguments.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Typed").field(&self.origin).finish()
    }
}

impl<A: Action> core::fmt::Debug for Authorized<'_, A> {
    /// Shows where it comes from, never the arguments.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Authorized").field(&self.origin).finish()
    }
}

/// The refusal of a call that needed a loosened switch (505).
pub(super) fn ungranted<'a>(standing: &mut Standing, origin: &Origin<'a>, switch: Switch) -> Refusal<'a> {
    let detail = Detail { reason: None, name: Some(switch.name()), told: true };
    let fault = Fault { code: Code::SwitchNotGranted, at: 0 };
    refuse(standing, origin, fault, Reply::to(fault.code), detail)
}

/// The refusal of a call that isn't allowed (503).
pub(super) fn denied<'a>(standing: &mut Standing, origin: &Origin<'a>, denial: Denial) -> Refusal<'a> {
    let Denial { reason, rpc_code } = denial;
    let fault = Fault { code: Code::NotAuthorized, at: 0 };
    let detail = Detail { reason: Some(reason), name: None, told: false };
    refuse(standing, origin, fault, Reply::Error(rpc_code), detail)
}

/// Refuses a call: as the gate refuses a line, in the same counters, under the same policy.
fn refuse<'a>(standing: &mut Standing, origin: &Origin<'a>, fault: Fault, reply: Reply, detail: Detail) -> Refusal<'a> {
    let told = Told {
        fault,
        frame_len: origin.line.len(),
        fingerprint: origin.fingerprint(),
        id: origin.id,
        reply: if origin.id.is_some() { reply } else { Reply::None },
        detail,
        settles: None,
        requested: None,
        revisions: origin.revisions,
    };
    standing.refuse(origin.options, told)
}
