"""The extension: the gate of the Rust core, and what it hands out. All judgement is there; nothing here can be made
by hand."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, Literal, Optional, TypeVar, Union, final

from typing_extensions import Self, disjoint_base

from linegate._names import Switch
from linegate._refused import Refused

_T = TypeVar("_T")

__all__ = ["Authorized", "Call", "Gate", "Journal", "Message", "Tracker", "Typed", "main", "names"]

def names() -> dict[str, Any]:
    """Every name that options, verdicts and records have, as `linegate_host::names` has them."""

def main(program: list[str], arguments: list[str]) -> int:
    """The command `linegate`; gives its exit status. `program` are the words that start this program."""

@disjoint_base
class Gate:
    """The gate in the extension's own words; `linegate.Gate` has it in Python's."""

    def __new__(cls, given: dict[str, Any], tracker: Optional[Tracker]) -> Self: ...
    def take(self, data: Optional[bytes]) -> None:
        """Takes input, or None: its end. What an event before it could still be used for is over."""
    def judge_all(self, data: Optional[bytes]) -> tuple[bytes, list[Refused]]:
        """Takes input, or None: its end, and judges all of it in one step: the accepted lines, each with a line feed,
        and the refusals, in order."""
    def __next__(self) -> Union[Message, Refused]:
        """Judges up to the next verdict. What an event before it could still be used for is over."""
    def counts(self) -> tuple[bool, int, int, int, int, list[int]]:
        """Whether the session is over; lines accepted, blank lines, stripped CRs, replies, and refusals by stage."""

@final
class Tracker:
    """What the two gates of one session remember together."""

    def __new__(cls, client: dict[str, Any], server: dict[str, Any], in_flight: int) -> Self: ...
    @property
    def late_responses(self) -> int:
        """Answers to cancelled requests, which pass (455)."""

@final
class Message:
    """An accepted line. Its parts are read from exactly the bytes that were checked."""

    @property
    def gate(self) -> Gate:
        """The gate that judged it."""
    @property
    def ticket(self) -> int:
        """The number of the verdict in its gate."""
    @property
    def kind(self) -> Literal["request", "notification", "result", "error", "batch"]:
        """What it is: `request`, `notification`, `result`, `error` or `batch`."""
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
        """The params of a request or notification, read once; None where there are none."""
    @property
    def result(self) -> Any:
        """The result of a response, read once."""
    @property
    def error(self) -> Any:
        """The error of a response, read once."""
    @property
    def loosened(self) -> list[str]:
        """The switches without which the line would have been refused."""
    @property
    def sequence(self) -> int:
        """The ordinal of the line in its stream, from 1."""
    @property
    def length(self) -> int:
        """Bytes of the line before its LF, a stripped CR counted."""
    def call(self, granted: Iterable[Union[Switch, str]] = ...) -> Union[Call, Refused, None]:
        """The call that a request or notification is, on its way to an effect; None for other messages.

        Refused (505) where the line passed only by a switch that isn't `granted` here."""

@final
class Call:
    """A request or notification on its way to an effect, until its gate judges the next line."""

    @property
    def message(self) -> Message:
        """The message that asks for it."""
    @property
    def tool(self) -> Optional[str]:
        """The tool that a `tools/call` asks for."""
    @property
    def revision(self) -> Optional[str]:
        """The revision of MCP that it is of, where that is known."""
    @property
    def fingerprint(self) -> str:
        """By which its line is recognised again: 32 hex digits, keyed."""
    def arguments(
        self, model: Union[type[_T], Callable[[Any], _T]], *, tool: Optional[str] = None, method: Optional[str] = None
    ) -> Union[Typed[_T], Refused]:
        """The arguments as a `model`: a dataclass, a pydantic model, or whatever takes the value and raises where it
        doesn't fit. Refused with 501 where the call asks for another tool or method than the one named, with 502
        where they don't fit. Arguments that aren't there are an empty object."""
    def unknown(self) -> Refused:
        """The refusal (501) of a call for which there is no action."""

@final
class Typed(Generic[_T]):
    """A call whose arguments fit. It may still be denied."""

    @property
    def call(self) -> Call:
        """The call that they are of."""
    @property
    def model(self) -> Callable[[Any], _T]:
        """What its arguments were read as."""
    @property
    def arguments(self) -> _T:
        """The arguments."""
    def authorize(
        self, policy: Callable[[Call, _T], Union[bool, str, None]], journal: Journal
    ) -> Union[Authorized[_T], Refused]:
        """Asks the policy, once. Only True allows; anything else denies (503), a text as the reason, which stays with
        the host. What the policy raises goes out as it is, and nothing is allowed."""

@final
class Authorized(Generic[_T]):
    """An action that may be executed, once, until its gate judges the next line."""

    @property
    def call(self) -> Call:
        """The call that was allowed."""
    @property
    def model(self) -> Callable[[Any], _T]:
        """What its arguments were read as."""
    def open(self) -> _T:
        """The arguments. With this the action counts as executed; a second time raises (504)."""

@final
class Journal:
    """Counts executions. Nothing but an execution writes it; what is refused is counted by the gate."""

    def __new__(cls) -> Self: ...
    @property
    def executed(self) -> int:
        """Actions whose executor has taken their arguments."""
