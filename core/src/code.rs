//! The one table of verdict codes: number, name, stage, JSON-RPC code, session effect and text.
//!
//! Everything that speaks of a code (names, stages, JSON-RPC codes of replies, `linegate rules`, docs/rules.md, the
//! faces in other languages) is derived from the table in this file. Numbers are for ever: a code that is no longer
//! given stays listed as reserved, and blocks of a hundred (fifty for the session) belong to one stage.

use core::fmt;

/// JSON-RPC 2.0 section 5.1: the text is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC 2.0 section 5.1: JSON, but not a request the receiver takes.
pub const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC 2.0 section 5.1: the receiver has no such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// JSON-RPC 2.0 section 5.1: the params don't fit the method.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC 2.0 section 5.1: the receiver failed.
pub const INTERNAL_ERROR: i32 = -32603;
/// MCP 2026-07-28: the request's protocol version is one that the server doesn't serve.
pub const UNSUPPORTED_VERSION: i32 = -32022;

/// The room of the gate that gave a verdict, in the order in which a line passes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// 1xx: cutting the stream into lines.
    Frame,
    /// 2xx: the line as JSON text (RFC 8259, RFC 7493).
    Json,
    /// 3xx: the value as a JSON-RPC 2.0 message.
    Rpc,
    /// 401 to 410: the message as one of the Model Context Protocol.
    Mcp,
    /// 45x: the message in its session.
    Session,
    /// 5xx: the call as an action of the host, after the gate accepted its line.
    Action,
    /// 9xx: faults of the caller of this library, never of the peer.
    Caller,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 7] =
        [Self::Frame, Self::Json, Self::Rpc, Self::Mcp, Self::Session, Self::Action, Self::Caller];

    /// The stage's name as `scan`, audit records and docs spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Json => "json",
            Self::Rpc => "rpc",
            Self::Mcp => "mcp",
            Self::Session => "session",
            Self::Action => "action",
            Self::Caller => "caller",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! codes {
    ($( $number:literal $variant:ident $name:literal $stage:ident $rpc:expr, $closes:literal, $text:literal; )*) => {
        /// A verdict's code. The numbers are stable for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        #[non_exhaustive]
        pub enum Code {
            $( #[doc = $text] $variant = $number, )*
        }

        impl Code {
            /// Every code, by number.
            pub const ALL: &'static [Self] = &[$( Self::$variant, )*];

            /// The code's name: lower case, stable, as `scan` and the audit record spell it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )* }
            }

            /// The stage that gives this code.
            #[must_use]
            pub const fn stage(self) -> Stage {
                match self { $( Self::$variant => Stage::$stage, )* }
            }

            /// The JSON-RPC code of the reply, where one is due; `None` for codes that are never answered.
            #[must_use]
            pub const fn rpc_code(self) -> Option<i32> {
                match self { $( Self::$variant => $rpc, )* }
            }

            /// Whether [`Policy::CloseMalformed`](crate::Policy::CloseMalformed) ends the session after it.
            #[must_use]
            pub const fn closes(self) -> bool {
                match self { $( Self::$variant => $closes, )* }
            }

            /// The rule as a sentence that a person can act on; also the message of the reply.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $( Self::$variant => $text, )* }
            }
        }
    };
}

const PARSE: Option<i32> = Some(PARSE_ERROR);
const REQUEST: Option<i32> = Some(INVALID_REQUEST);
const METHOD: Option<i32> = Some(METHOD_NOT_FOUND);
const PARAMS: Option<i32> = Some(INVALID_PARAMS);
const VERSION: Option<i32> = Some(UNSUPPORTED_VERSION);

codes! {
    101 FrameTooLong "frame_too_long" Frame REQUEST, true,
        "The line is longer than the gate's max_frame; send a shorter message.";
    102 FrameEmpty "frame_empty" Frame PARSE, false,
        "The line is empty; send one JSON-RPC message on each line.";
    103 BareCr "bare_cr" Frame PARSE, true,
        "A carriage return may stand only as the last byte before the line feed; some readers end a line at it.";
    104 Truncated "truncated" Frame None, true,
        "The input ended inside a line; a message counts only with its line feed.";
    105 Bom "bom" Frame PARSE, true,
        "The line begins with a byte order mark; send UTF-8 without one.";
    106 NulByte "nul_byte" Frame PARSE, true,
        "The line holds a raw NUL byte; send UTF-8 JSON text.";
    107 SurroundingSpace "surrounding_space" Frame REQUEST, false,
        "Space or tab stands before or after the message; send the JSON value alone on its line.";
    201 InvalidUtf8 "invalid_utf8" Json PARSE, true,
        "The line is not well-formed UTF-8.";
    202 UnexpectedByte "unexpected_byte" Json PARSE, true,
        "A byte stands where JSON does not allow it; only JSON-RPC messages belong on this stream.";
    203 BadEscape "bad_escape" Json PARSE, true,
        "A string holds an escape that JSON does not have.";
    204 LoneSurrogate "lone_surrogate" Json REQUEST, false,
        "A string escapes half of a surrogate pair; send the whole character, or U+FFFD in its place.";
    205 ControlInString "control_in_string" Json PARSE, true,
        "A string holds a raw control character; escape it.";
    206 BadNumber "bad_number" Json PARSE, true,
        "A number is not spelt as JSON spells numbers.";
    207 TrailingBytes "trailing_bytes" Json PARSE, true,
        "Bytes follow the message on its line; send one message on each line and nothing else.";
    208 TooDeep "too_deep" Json REQUEST, false,
        "Values nest deeper than the gate's max_depth; send a flatter message.";
    209 DuplicateKey "duplicate_key" Json REQUEST, true,
        "An object has the same key twice; readers disagree on which of the two counts.";
    210 TooManyKeys "too_many_keys" Json REQUEST, false,
        "More object keys are open at once than the gate's max_keys; send a smaller object.";
    211 KeyTooLong "key_too_long" Json REQUEST, false,
        "An object key is longer than 8192 bytes; send a shorter key.";
    212 CaseCollision "case_collision" Json REQUEST, false,
        "Two keys of one object differ only in case; send keys that no reader can confuse.";
    213 EscapedNul "escaped_nul" Json REQUEST, false,
        "A string holds \\u0000, at which some readers cut it; send text without it, or encode it as base64.";
    214 NumberRange "number_range" Json REQUEST, false,
        "A number is one that readers take for different values; send large or very precise numbers as strings.";
    215 ForbiddenKey "forbidden_key" Json REQUEST, false,
        "A key has a special meaning to some readers (__proto__, $serde_json::private::); choose another name.";
    216 UnexpectedEnd "unexpected_end" Json PARSE, true,
        "The line ends inside the JSON value; send the whole message on one line.";
    217 LineSeparator "line_separator" Json REQUEST, false,
        "A string holds a raw U+0085, U+2028 or U+2029, at which some readers end a line; escape it.";
    301 NotAnObject "not_an_object" Rpc REQUEST, true,
        "The message is not a JSON object.";
    302 Batch "batch" Rpc REQUEST, true,
        "A batch (a JSON array) is not taken here in this form; send one message on each line.";
    303 JsonrpcMissing "jsonrpc_missing" Rpc REQUEST, true,
        "The member jsonrpc is missing; it must be the string 2.0.";
    304 JsonrpcWrong "jsonrpc_wrong" Rpc REQUEST, true,
        "The member jsonrpc must be the string 2.0.";
    305 MethodType "method_type" Rpc REQUEST, true,
        "The member method must be a string of 1 to 255 bytes.";
    306 IdType "id_type" Rpc REQUEST, true,
        "The member id must be a string or an integer written without fraction, exponent or minus zero.";
    307 IdNull "id_null" Rpc REQUEST, true,
        "The member id must not be null.";
    308 IdRange "id_range" Rpc REQUEST, true,
        "The id is too large: integers go to 2^53-1 either way, strings to the gate's max_id bytes.";
    309 ParamsType "params_type" Rpc PARAMS, false,
        "The member params must be an object.";
    310 MixedShape "mixed_shape" Rpc REQUEST, true,
        "A message has exactly one of method, result and error, and params only beside method.";
    311 NoShape "no_shape" Rpc REQUEST, true,
        "The message has none of method, result and error.";
    312 UnknownMember "unknown_member" Rpc REQUEST, true,
        "The message has a member other than jsonrpc, id, method, params, result and error.";
    313 MisspeltMember "misspelt_member" Rpc REQUEST, true,
        "A member's name is a protocol name in other case or with escapes; readers disagree on whether it counts.";
    314 ErrorObject "error_object" Rpc REQUEST, true,
        "The member error must be an object with an integer code and a string message.";
    315 ResultType "result_type" Rpc REQUEST, true,
        "The member result must be an object.";
    316 IdMissing "id_missing" Rpc REQUEST, true,
        "A result must carry the id of its request.";
    401 WrongDirection "wrong_direction" Mcp REQUEST, true,
        "Such a message may not travel in this direction under this revision.";
    402 UnknownMethod "unknown_method" Mcp METHOD, false,
        "The revision has no such method for this direction, and the host added none of that name.";
    403 ParamMissing "param_missing" Mcp PARAMS, false,
        "A member that the method requires is missing in params.";
    404 ParamType "param_type" Mcp PARAMS, false,
        "A member of params has a JSON type or a value that the method does not take.";
    405 MetaMissing "meta_missing" Mcp PARAMS, false,
        "A request of 2026-07-28 carries params._meta with protocolVersion and clientCapabilities (prefix io.modelcontextprotocol/).";
    406 MetaKey "meta_key" Mcp PARAMS, false,
        "A key of _meta is not an optional prefix (labels parted by dots, and a slash) and a name.";
    407 UnsupportedRevision "unsupported_revision" Mcp VERSION, false,
        "The request's protocol version is not one that is served here; data.supported names those that are.";
    408 ResultShape "result_shape" Mcp None, false,
        "The result is not one that the request it answers may have.";
    409 ErrorCode "error_code" Mcp None, false,
        "The revision does not allow a server to send this error code.";
    410 IdPresence "id_presence" Mcp REQUEST, true,
        "The method is a notification and carries an id, or is a request and carries none.";
    451 NotInitialized "not_initialized" Session REQUEST, false,
        "Send initialize first; before it only ping and server/discover are taken.";
    452 InitializeAgain "initialize_again" Session REQUEST, false,
        "The session is initialized already, or an initialize waits for its answer.";
    453 IdInUse "id_in_use" Session REQUEST, false,
        "A request with this id waits for its answer or was cancelled just now; take another id.";
    454 UnknownResponse "unknown_response" Session None, false,
        "The response answers no request that is in flight.";
    455 AnsweredAfterCancel "answered_after_cancel" Session None, false,
        "The response answers a request that was cancelled: it is passed on and counted.";
    456 TooManyInFlight "too_many_in_flight" Session REQUEST, false,
        "More requests wait for their answers than the gate remembers; wait for some of them.";
    457 UnknownProgress "unknown_progress" Session None, false,
        "Progress is told for a token that no request in flight gave.";
    458 AnsweredTwice "answered_twice" Session None, false,
        "The request was answered already.";
    459 UnknownSubscription "unknown_subscription" Session None, false,
        "The notification belongs to no subscription that is open, or does not say to which.";
    501 UnknownTool "unknown_tool" Action PARAMS, false,
        "There is no tool of this name here.";
    502 ArgumentsSchema "arguments_schema" Action PARAMS, false,
        "The arguments don't fit the tool's schema.";
    503 NotAuthorized "not_authorized" Action PARAMS, false,
        "The call is not allowed here; nothing was done.";
    504 AlreadyUsed "already_used" Action None, false,
        "The authorization was used already; an action runs once.";
    505 SwitchNotGranted "switch_not_granted" Action REQUEST, false,
        "The line passed only because a rule is loosened here, and that is not granted for actions.";
    901 NullArgument "null_argument" Caller None, false,
        "A pointer argument is NULL, or not aligned as its type must be.";
    902 BufferTooSmall "buffer_too_small" Caller None, false,
        "The buffer given is too small; nothing was written.";
    903 BadOptions "bad_options" Caller None, false,
        "An option has a value that it can't have.";
    904 StaleEvent "stale_event" Caller None, false,
        "The call is about an event that is over, or comes in an order that makes no sense.";
    905 Closed "closed" Caller None, false,
        "The session has ended; nothing more is judged until a reset.";
    999 Internal "internal" Caller None, false,
        "The library failed, which is a fault of its own; end the session and report it.";
}

impl Code {
    /// The code's number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self as u16
    }

    /// The code that has this number, if any has.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.number() == number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.number(), self.name())
    }
}

/// A verdict and the byte it is about, counted from the frame's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) at: usize,
}
