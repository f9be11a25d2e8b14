"""The extension: the gate of the Rust core, and what it hands out. All judgement is there; nothing here can be made by hand."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, Literal, Optional, TypeVar, Union, final

from typing_extensions import Self

from linegate._names import Code, Counters, Switch

T = TypeVar("T")

__version__: Final[str]

def tables() -> dict[str, list[Any]]:
    """What the core's tables hold, by name: `codes` as (number, name, stage, rpc_code, closes, text), `stages`, `profiles`,
    `revisions`, `switches` as (name, code, text), `policies`, `batches`, `error_ids`."""

def main(program: list[str], arguments: list[str]) -> int:
    """The command `linegate`; gives its exit status. `program` are the words that start this program."""

class Gate:
    """One stream, judged line by line. Options as `linegate.Options` has them, all of them present."""

    def __new__(cls, options: Mapping[str, Any], tracker: Optional[Tracker] = None) -> Self: ...
    def feed(self, data: Union[bytes, bytearray, memoryview]) -> Self:
        """Takes input, and gives the gate itself, whose iteration judges it line by line.

        `bytes` are borrowed, any other buffer is copied. Nothing of the peer's raises; after the session's end the input is
        dropped."""
    def close(self) -> Self:
        """The end of input. A line without its line feed is refused (104) when what was fed is judged up to there."""
    def filter(self, data: Union[bytes, bytearray, memoryview]) -> tuple[bytes, list[Refused]]:
        """Judges all of the input at once: the accepted lines with a line feed each, and the refusals, in order."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> Union[Message, Refused]:
        """The next verdict. What an event before it could still be used for is over (904)."""
    @property
    def closed(self) -> bool:
        """Whether the session is over: nothing more is judged."""
    @property
    def counters(self) -> Counters:
        """What was counted since the start."""

@final
class Tracker:
    """What the two gates of one session remember together."""

    def __new__(cls, client: Mapping[str, Any], server: Mapping[str, Any], in_flight: int) -> Self: ...
    @property
    def late_responses(self) -> int:
        """Answers to cancelled requests, which pass (455)."""

@final
class Message:
    """An accepted line. Its parts are read from exactly the bytes that were checked."""

    __match_args__: Final = ("kind", "method", "params")
    @property
    def kind(self) -> Literal["request", "notification", "result", "error", "batch"]: ...
    @property
    def method(self) -> Optional[str]:
        """The method of a request or notification, unescaped."""
    @property
    def id(self) -> Union[int, str, None]:
        """The id; None for notifications, batches, and errors with an unknown id."""
    @property
    def id_raw(self) -> Optional[bytes]:
        """The id as it was written, quotes included."""
    @property
    def raw(self) -> bytes:
        """Exactly the bytes that were checked, without CR and LF."""
    @property
    def params(self) -> Any:
        """The params, read once; None where there are none."""
    @property
    def result(self) -> Any:
        """The result of a response, read once."""
    @property
    def error(self) -> Any:
        """The error of a response, read once."""
    @property
    def value(self) -> Any:
        """The whole message, read anew each time; of a batch the list."""
    @property
    def loosened(self) -> tuple[Switch, ...]:
        """The switches without which the line would have been refused."""
    @property
    def sequence(self) -> int:
        """The ordinal of the line in its stream, from 1."""
    @property
    def length(self) -> int:
        """Bytes of the line before its LF, a stripped CR counted."""
    def call(self, granted: Iterable[Switch] = ()) -> Union[Call, Refused, None]:
        """The call that a request or notification is, on its way to an effect; None for other messages.

        Refused (505) where the line passed only by a switch that isn't `granted` here."""

@final
class Refused:
    """A refused line: why, where, and what may be answered. It has had no effect and will have none."""

    __match_args__: Final = ("code", "offset")
    @property
    def code(self) -> Code: ...
    @property
    def offset(self) -> int:
        """The byte that the verdict is about, from the line's start."""
    @property
    def length(self) -> int:
        """Bytes of the line before its LF; of a line that was refused before its end, those up to the decision."""
    @property
    def sequence(self) -> int:
        """The ordinal of the line in its stream, from 1."""
    @property
    def sender(self) -> Literal["client", "server"]: ...
    @property
    def id(self) -> Union[int, str, None]:
        """The request's id, if it could be read beyond doubt."""
    @property
    def id_raw(self) -> Optional[bytes]:
        """The same as it was written."""
    @property
    def rpc_code(self) -> Optional[int]:
        """The JSON-RPC code of the reply, where one is due."""
    @property
    def reply(self) -> Optional[bytes]:
        """The line that answers it, LF at its end. Only who owns the one writer of the wire may send it."""
    @property
    def settlement(self) -> Optional[bytes]:
        """The error line for the peer that waits for the refused response, which now never comes."""
    @property
    def reason(self) -> Optional[str]:
        """Why, more exactly than the code says (502, 503). Never words of the peer."""
    @property
    def subject(self) -> Optional[str]:
        """What it is about: the member of the arguments (502), or the switch (505)."""
    @property
    def closes(self) -> bool:
        """Whether the session ended with it."""
    @property
    def fingerprint(self) -> str:
        """By which the same line is recognised again: 32 hex digits, keyed."""
    @property
    def audit_line(self) -> str:
        """The line of an audit file, as `linegate run --audit` writes it, LF at its end."""

@final
class Journal:
    """Counts executions. Nothing but an execution writes it; what is refused is counted by the gate.

    `audit` is told of each authorized action and of its end, with a line for an audit file."""

    def __new__(cls, audit: Optional[Callable[[str], object]] = None) -> Self: ...
    @property
    def executed(self) -> int:
        """Actions whose executor has taken their arguments."""
    @property
    def failed(self) -> int:
        """Those of them whose executor raised."""

@final
class Call:
    """A request or notification on its way to an effect, until its gate judges the next line."""

    @property
    def tool(self) -> Optional[str]:
        """The tool that a `tools/call` asks for."""
    @property
    def method(self) -> str: ...
    @property
    def id(self) -> Union[int, str, None]: ...
    @property
    def revision(self) -> Optional[str]:
        """The revision of MCP that it is of, where that is known."""
    def arguments(
        self, model: Union[type[T], Callable[[Any], T]], *, tool: Optional[str] = None, method: Optional[str] = None
    ) -> Union[Typed[T], Refused]:
        """The arguments as a `model`: a dataclass, a pydantic model, or anything that takes the value and raises where it
        doesn't fit. Refused (501) where it asks for another tool or method than the one named, 502 where they don't fit."""
    def unknown(self) -> Refused:
        """The refusal (501) of a call for which there is no action."""

@final
class Typed(Generic[T]):
    """A call whose arguments fit. It may still be denied."""

    @property
    def arguments(self) -> T: ...
    @property
    def call(self) -> Call: ...
    def authorize(
        self, policy: Callable[[Call, T], Union[bool, str, None]], journal: Journal
    ) -> Union[Authorized[T], Refused]:
        """Asks the policy, once: True allows; False, None or a text (the reason, for the host's own eyes) denies (503)."""

@final
class Authorized(Generic[T]):
    """An action that may be executed, once, until its gate judges the next line."""

    @property
    def call(self) -> Call: ...
    @property
    def model(self) -> Callable[[Any], T]:
        """What its arguments were read as."""
    def open(self) -> T:
        """The arguments. With this the action counts as executed; a second time raises (504)."""
    def failed(self) -> None:
        """Tells the journal, once, that the executor failed."""
