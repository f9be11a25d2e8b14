"""Written by ffi-python/stubs.py from the core's tables; the names at run time are built from the same."""

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Any, NamedTuple, Optional

TABLE: dict[str, Any]

class Stage(str, Enum):
    """The room of the gate that gave a verdict, in the order in which a line passes them."""

    FRAME = "frame"
    JSON = "json"
    RPC = "rpc"
    MCP = "mcp"
    SESSION = "session"
    ACTION = "action"
    CALLER = "caller"

class Profile(str, Enum):
    """A named set of text rules."""

    STRICT = "strict"
    DATA = "data"
    RFC8259 = "rfc8259"

class Revision(str, Enum):
    """Which protocol the lines of a session speak."""

    AUTO = "auto"
    JSONRPC = "jsonrpc"
    V2024_11_05 = "2024-11-05"
    V2025_03_26 = "2025-03-26"
    V2025_06_18 = "2025-06-18"
    V2025_11_25 = "2025-11-25"
    V2026_07_28 = "2026-07-28"

class Policy(str, Enum):
    """When a refusal ends the session."""

    CLOSE_ALL = "close_all"
    CLOSE_MALFORMED = "close_malformed"
    CONTINUE = "continue"

class Switch(str, Enum):
    """A rule that may be loosened; what is named is the quirk that passes."""

    BLANK_LINES = "blank_lines"
    """Empty lines are skipped and counted. Some readers deliver them as empty messages, some skip them."""
    SURROUNDING_SPACE = "surrounding_space"
    """Space and tab around the value pass. The Go SDK closes the connection at a space before the line feed."""
    SEPARATORS = "separators"
    """Raw U+0085, U+2028 and U+2029 in strings pass. Unicode line splitters (Python's str.splitlines, Java's Scanner) cut there; no SDK does."""
    LONE_SURROGATES = "lone_surrogates"
    """Escaped halves of surrogate pairs pass. Parsers refuse them, replace them, drop them, or keep them, in up to seven ways."""
    LONG_KEYS = "long_keys"
    """Keys above 8192 bytes pass. One parser keeps key lengths modulo 65,536 and takes a long key for a short one."""
    CASE_COLLISIONS = "case_collisions"
    """Keys of one object that are equal under case folding pass. Go structs and cJSON take the one for the other."""
    ESCAPED_NUL = "escaped_nul"
    """\\u0000 in string values passes. C readers cut the value there."""
    ESCAPED_NUL_IN_KEYS = "escaped_nul_in_keys"
    """\\u0000 in keys passes. To json-c and json-glib the key ends there and may replace another."""
    BIG_INTEGERS = "big_integers"
    """Integers beyond 2^53-1 either way pass. Parsers round them, saturate, wrap, or make them strings."""
    NUMBER_RANGE = "number_range"
    """All numbers of RFC 8259 pass: minus zero, zero with an exponent, beyond the range or precision of a double. Parsers disagree on each."""
    INEXACT_DECIMALS = "inexact_decimals"
    """Decimals of 16 and 17 significant digits pass. Parsers that don't round correctly differ in the last bit."""
    FORBIDDEN_KEYS = "forbidden_keys"
    """__proto__ and $serde_json::private:: keys pass. JavaScript code that copies keys replaces a prototype; a serde_json build reads an object as a number."""
    UNKNOWN_MEMBERS = "unknown_members"
    """Members of the message other than the six of JSON-RPC pass. The Python SDK ignores them, the TypeScript SDK refuses the message."""
    MAX_DEPTH = "max_depth"
    """Values deeper than 32 pass, up to the limit max_depth, which alone decides how deep. json-c and coreJSON refuse them, others follow at 100 and beyond."""

class Code(IntEnum):
    """A verdict's code. The numbers are stable for ever."""

    @property
    def rule(self) -> str:
        """The code's name as `scan`, audit records and docs spell it."""
    @property
    def stage(self) -> Stage:
        """The stage that gives this code."""
    @property
    def rpc_code(self) -> Optional[int]:
        """The JSON-RPC code of the reply, where one is due."""
    @property
    def closes(self) -> bool:
        """Whether `Policy.CLOSE_MALFORMED` ends the session after it."""
    @property
    def text(self) -> str:
        """The rule as a sentence that a person can act on."""
    FRAME_TOO_LONG = 101
    """The line is longer than the gate's max_frame; send a shorter message."""
    FRAME_EMPTY = 102
    """The line is empty; send one JSON-RPC message on each line."""
    BARE_CR = 103
    """A carriage return may stand only as the last byte before the line feed; some readers end a line at it."""
    TRUNCATED = 104
    """The input ended inside a line; a message counts only with its line feed."""
    BOM = 105
    """The line begins with a byte order mark; send UTF-8 without one."""
    NUL_BYTE = 106
    """The line holds a raw NUL byte; send UTF-8 JSON text."""
    SURROUNDING_SPACE = 107
    """Space or tab stands before or after the message; send the JSON value alone on its line."""
    INVALID_UTF8 = 201
    """The line is not well-formed UTF-8."""
    UNEXPECTED_BYTE = 202
    """A byte stands where JSON does not allow it; only JSON-RPC messages belong on this stream."""
    BAD_ESCAPE = 203
    """A string holds an escape that JSON does not have."""
    LONE_SURROGATE = 204
    """A string escapes half of a surrogate pair; send the whole character, or U+FFFD in its place."""
    CONTROL_IN_STRING = 205
    """A string holds a raw control character; escape it."""
    BAD_NUMBER = 206
    """A number is not spelt as JSON spells numbers."""
    TRAILING_BYTES = 207
    """Bytes follow the message on its line; send one message on each line and nothing else."""
    TOO_DEEP = 208
    """Values nest deeper than the gate's max_depth; send a flatter message."""
    DUPLICATE_KEY = 209
    """An object has the same key twice; readers disagree on which of the two counts."""
    TOO_MANY_KEYS = 210
    """More object keys are open at once than the gate's max_keys; send a smaller object."""
    KEY_TOO_LONG = 211
    """An object key is longer than 8192 bytes; send a shorter key."""
    CASE_COLLISION = 212
    """Two keys of one object differ only in case; send keys that no reader can confuse."""
    ESCAPED_NUL = 213
    """A string holds \\u0000, at which some readers cut it; send text without it, or encode it as base64."""
    NUMBER_RANGE = 214
    """A number is one that readers take for different values; send large or very precise numbers as strings."""
    FORBIDDEN_KEY = 215
    """A key has a special meaning to some readers (__proto__, $serde_json::private::); choose another name."""
    UNEXPECTED_END = 216
    """The line ends inside the JSON value; send the whole message on one line."""
    LINE_SEPARATOR = 217
    """A string holds a raw U+0085, U+2028 or U+2029, at which some readers end a line; escape it."""
    NOT_AN_OBJECT = 301
    """The message is not a JSON object."""
    BATCH = 302
    """A batch (a JSON array) is not taken here in this form; send one message on each line."""
    JSONRPC_MISSING = 303
    """The member jsonrpc is missing; it must be the string 2.0."""
    JSONRPC_WRONG = 304
    """The member jsonrpc must be the string 2.0."""
    METHOD_TYPE = 305
    """The member method must be a string of 1 to 255 bytes."""
    ID_TYPE = 306
    """The member id must be a string or an integer written without fraction, exponent or minus zero."""
    ID_NULL = 307
    """The member id must not be null."""
    ID_RANGE = 308
    """The id is too large: integers go to 2^53-1 either way, strings to the gate's max_id bytes."""
    PARAMS_TYPE = 309
    """The member params must be an object."""
    MIXED_SHAPE = 310
    """A message has exactly one of method, result and error, and params only beside method."""
    NO_SHAPE = 311
    """The message has none of method, result and error."""
    UNKNOWN_MEMBER = 312
    """The message has a member other than jsonrpc, id, method, params, result and error."""
    MISSPELT_MEMBER = 313
    """A member's name is a protocol name in other case or with escapes; readers disagree on whether it counts."""
    ERROR_OBJECT = 314
    """The member error must be an object with an integer code and a string message."""
    RESULT_TYPE = 315
    """The member result must be an object."""
    ID_MISSING = 316
    """A result must carry the id of its request."""
    WRONG_DIRECTION = 401
    """Such a message may not travel in this direction under this revision."""
    UNKNOWN_METHOD = 402
    """The revision has no such method for this direction, and the host added none of that name."""
    PARAM_MISSING = 403
    """A member that the method requires is missing in params."""
    PARAM_TYPE = 404
    """A member of params has a JSON type or a value that the method does not take."""
    META_MISSING = 405
    """A request of 2026-07-28 carries params._meta with protocolVersion and clientCapabilities (prefix io.modelcontextprotocol/)."""
    META_KEY = 406
    """A key of _meta is not an optional prefix (labels parted by dots, and a slash) and a name."""
    UNSUPPORTED_REVISION = 407
    """The request's protocol version is not one that is served here; data.supported names those that are."""
    RESULT_SHAPE = 408
    """The result is not one that the request it answers may have."""
    ERROR_CODE = 409
    """The revision does not allow a server to send this error code."""
    ID_PRESENCE = 410
    """The method is a notification and carries an id, or is a request and carries none."""
    NOT_INITIALIZED = 451
    """Send initialize first; before it only ping and server/discover are taken."""
    INITIALIZE_AGAIN = 452
    """The session is initialized already, or an initialize waits for its answer."""
    ID_IN_USE = 453
    """A request with this id waits for its answer or was cancelled just now; take another id."""
    UNKNOWN_RESPONSE = 454
    """The response answers no request that is in flight."""
    ANSWERED_AFTER_CANCEL = 455
    """The response answers a request that was cancelled: it is passed on and counted."""
    TOO_MANY_IN_FLIGHT = 456
    """More requests wait for their answers than the gate remembers; wait for some of them."""
    UNKNOWN_PROGRESS = 457
    """Progress is told for a token that no request in flight gave."""
    ANSWERED_TWICE = 458
    """The request was answered already."""
    UNKNOWN_SUBSCRIPTION = 459
    """The notification belongs to no subscription that is open, or does not say to which."""
    UNKNOWN_TOOL = 501
    """There is no tool of this name here."""
    ARGUMENTS_SCHEMA = 502
    """The arguments don't fit the tool's schema."""
    NOT_AUTHORIZED = 503
    """The call is not allowed here; nothing was done."""
    ALREADY_USED = 504
    """The authorization was used already; an action runs once."""
    SWITCH_NOT_GRANTED = 505
    """The line passed only because a rule is loosened here, and that is not granted for actions."""
    NULL_ARGUMENT = 901
    """A pointer argument is NULL, or not aligned as its type must be."""
    BUFFER_TOO_SMALL = 902
    """The buffer given is too small; nothing was written."""
    BAD_OPTIONS = 903
    """An option has a value that it can't have."""
    STALE_EVENT = 904
    """The call is about an event that is over, or comes in an order that makes no sense."""
    CLOSED = 905
    """The session has ended; nothing more is judged until a reset."""
    INTERNAL = 999
    """The library failed, which is a fault of its own; end the session and report it."""

class Counters(NamedTuple):
    """What a gate has counted. Refusals only: what was executed is counted by a journal."""

    accepted: int
    """Lines accepted."""
    blank_lines: int
    """Empty lines skipped, where the switch allows them."""
    stripped_crs: int
    """Carriage returns stripped before a line feed."""
    replies: int
    """Replies that were due."""
    by_stage: Mapping[Stage, int]
    """Lines refused, by the stage that refused them."""

    @property
    def refused(self) -> int:
        """Lines refused."""

def counters(accepted: int, blank_lines: int, stripped_crs: int, replies: int, refused: list[int]) -> Counters:
    """The counters of a gate, from the extension's numbers."""
