//! A call as a host in another language has it, which holds the message by its own means while it looks for the tool, reads the
//! arguments and decides. Here it can be read and refused, and nothing else: no way leads from it to an executor.

use super::call::{Call, Origin, denied, ungranted};
use super::misfit::Misfit;
use super::{Denial, Target};
use crate::gate::Gate;
use crate::json::Cursor;
use crate::limits::Switches;
use crate::mcp::is_reserved;
use crate::message::Message;
use crate::refusal::Refusal;
use crate::storage::Storage;

/// The call that a gate accepted last, see [`Gate::refusable`](crate::Gate::refusable). Each refusal is counted, ends the session
/// and is answered as that of a [`Call`], and is the last thing that becomes of it.
#[must_use]
pub struct Refusable<'a> {
    call: Call<'a>,
    loosened: Switches,
}

impl<S: Storage> Gate<S> {
    /// The call that the last feed accepted, for a host in another language, which can't hold the message: it can be read and
    /// refused, and nothing else. `None` once it was refused, where the message asks for nothing (a response, a batch), and
    /// where its line lay whole in the input. To have each line gathered in the storage, feed its first byte by itself, and nothing
    /// that holds the start of a line behind the end of another: behind a blank line that is skipped the gate reads on.
    pub fn refusable(&mut self) -> Option<Refusable<'_>> {
        Refusable::of(self.last_message()?)
    }
}

impl<'a> Refusable<'a> {
    /// Of a message that asks for something.
    pub(crate) fn of(message: Message<'a>) -> Option<Self> {
        let loosened = message.loosened();
        let call = message.into_call(loosened).ok()?;
        Some(Self { call, loosened })
    }

    /// Where it comes from.
    #[must_use]
    pub const fn origin(&self) -> &Origin<'a> {
        self.call.origin()
    }

    /// Whether it is a `tools/call` of MCP.
    #[must_use]
    pub fn is_tool_call(&self) -> bool {
        self.call.origin.is_tool_call()
    }

    /// The tool that a `tools/call` of MCP asks for, as the client spelt it.
    #[must_use]
    pub fn tool(&self) -> Option<Cursor<'a>> {
        self.call.tool()
    }

    /// Whether it asks for this.
    #[must_use]
    pub fn is_for(&self, target: Target<'_>) -> bool {
        self.call.is_for(target)
    }

    /// Its arguments for `target`, `{}` where there are none, and the name of a member of theirs that belongs to the protocol.
    #[must_use]
    pub fn arguments(&self, target: Target<'_>) -> (Cursor<'a>, Option<&'static str>) {
        self.call.arguments_for(target)
    }

    /// Gives it back unless the line passed the gate only by a loosened switch that isn't granted.
    ///
    /// # Errors
    /// 505 with the first such switch.
    #[expect(clippy::result_large_err, reason = "a refusal is told once, where it is met")]
    pub fn granted(self, granted: Switches) -> Result<Self, Refusal<'a>> {
        match self.loosened.minus(granted).iter().next() {
            None => Ok(self),
            Some(switch) => Err(ungranted(self.call.standing, &self.call.origin, switch)),
        }
    }

    /// Refuses it because there is no such tool or method (501).
    pub fn unknown(self) -> Refusal<'a> {
        self.call.unknown()
    }

    /// Refuses it for arguments that don't fit (502).
    pub fn misfit(self, misfit: Misfit<'a>) -> Refusal<'a> {
        self.call.unfit(misfit)
    }

    /// Whether its revision lets a denial be answered with this JSON-RPC code: 2026-07-28 keeps some for itself (409).
    #[must_use]
    pub fn may_be_answered_with(&self, rpc_code: i32) -> bool {
        !(self.call.origin.is_modern() && is_reserved(rpc_code.into()))
    }

    /// Refuses it because it isn't allowed (503).
    pub fn denied(self, denial: Denial) -> Refusal<'a> {
        denied(self.call.standing, &self.call.origin, denial)
    }
}

impl core::fmt::Debug for Refusable<'_> {
    /// Shows where it comes from, never the arguments.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Refusable").field(&self.call.origin).finish()
    }
}
