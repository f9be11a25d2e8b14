//! What can be known of a verdict, as facts of one's own that outlive the line: of a refusal, and of a call and its arguments.

use linegate::action::{Refusable, Target};
use linegate::{Cursor, JsonKind, REPLY_LEN, Record, Refusal, TooSmall};

/// All that a [`Refusal`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedLine {
    /// What may be kept of it.
    pub record: Record,
    /// See [`Refusal::id`].
    pub id: Option<Vec<u8>>,
    /// See [`Refusal::rpc_code`].
    pub rpc_code: Option<i32>,
    /// The line that answers it, where a reply is due.
    pub reply: Option<Vec<u8>>,
    /// See [`Refusal::write_settlement`].
    pub settlement: Option<Vec<u8>>,
    /// See [`Refusal::reason`].
    pub reason: Option<&'static str>,
    /// See [`Refusal::subject`].
    pub subject: Option<&'static str>,
    /// Whether the session ended with it.
    pub closes: bool,
}

impl RefusedLine {
    pub(crate) fn new(it: &Refusal<'_>) -> Self {
        let id_len = it.id().map_or(0, <[u8]>::len).max(it.settles().map_or(0, <[u8]>::len));
        let mut out = vec![0; REPLY_LEN + id_len];
        let mut line = |write: &dyn Fn(&mut [u8]) -> Result<usize, TooSmall>| {
            let len = write(&mut out).unwrap_or(0);
            out.get(..len).filter(|line| !line.is_empty()).map(<[u8]>::to_vec)
        };
        Self {
            record: it.record(),
            id: it.id().map(<[u8]>::to_vec),
            rpc_code: it.rpc_code(),
            reply: line(&|out| it.write_reply(out)),
            settlement: line(&|out| it.write_settlement(out)),
            reason: it.reason(),
            subject: it.subject(),
            closes: it.closes(),
        }
    }
}

/// What can be known of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallFacts {
    /// The tool that a `tools/call` of MCP asks for, as JSON text.
    pub tool: Option<Vec<u8>>,
    /// The arguments as JSON text, `{}` where there are none; of another method than `tools/call` its params.
    pub arguments: Vec<u8>,
    /// The member of such params that is the protocol's and no argument: `_meta` of MCP.
    pub aside: Option<&'static str>,
    /// See [`Origin::revision`](linegate::action::Origin::revision).
    pub revision: Option<&'static str>,
    /// Of its line.
    pub fingerprint: String,
}

impl CallFacts {
    pub(crate) fn of(call: &Refusable<'_>) -> Self {
        let (arguments, aside) = arguments_of(call);
        Self {
            tool: call.tool().map(|tool| tool.bytes().to_vec()),
            arguments: arguments.bytes().to_vec(),
            aside,
            revision: call.origin().revision(),
            fingerprint: call.origin().fingerprint().to_string(),
        }
    }
}

/// The arguments of a call, whatever its tool's or method's name is, and the member of theirs that is none.
pub(crate) fn arguments_of<'a>(call: &Refusable<'a>) -> (Cursor<'a>, Option<&'static str>) {
    call.arguments(if call.is_tool_call() { Target::Tool("") } else { Target::Method("") })
}

/// What stands at the end of a way; of a member that isn't known, its key.
pub(crate) fn walk<'a>(start: Cursor<'a>, way: &[String], to_key: bool) -> Option<Cursor<'a>> {
    let Some((place, rest)) = way.split_first() else { return Some(start) };
    if start.kind() == JsonKind::Array {
        return walk(start.elements().nth(place.parse().ok()?)?, rest, to_key);
    }
    let (key, value) = start.members().find(|(key, _)| key.is_str(place))?;
    if to_key && rest.is_empty() { Some(key) } else { walk(value, rest, to_key) }
}
