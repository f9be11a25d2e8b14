"""The gate for one stream, and the pair of them for a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Optional, Union

from linegate import _linegate, _names
from linegate._errors import RefusedError, UsageError, an, octets
from linegate._options import both, encode
from linegate._refused import Refused

if TYPE_CHECKING:
    from typing_extensions import Buffer, Self, Unpack

    from linegate._options import Options


# Requests of one side that may wait at once: 10 MiB of memory, taken at the start.
MAX_IN_FLIGHT = 65_536


class Gate(_linegate.Gate):
    """Judges one stream, line by line.

        for event in gate.feed(chunk):
            ...                            # a Message or a Refused

    A line is judged when it is iterated to, not before: what the handler of one line does, a refusal of its arguments
    for one, holds for the next. What is left of a chunk waits. One thread at a time may use a gate.

    `strict` raises a `RefusedError` instead of giving a `Refused`. The other options are those of `linegate.Options`.
    """

    __slots__ = {"_strict": None, "is_mcp": "Whether its lines are judged as those of MCP."}
    _strict: bool
    is_mcp: bool

    def __new__(
        cls, *, strict: bool = False, tracker: Optional[_linegate.Tracker] = None, **options: Unpack[Options]
    ) -> Self:
        if tracker is not None and not isinstance(tracker, _linegate.Tracker):
            raise UsageError(_names.Code.BAD_OPTIONS, f"tracker is one of linegate.session's, not {an(tracker)}")
        if not isinstance(strict, bool):
            raise UsageError(_names.Code.BAD_OPTIONS, f"strict is True or False, not {an(strict)}")
        gate = super().__new__(cls, encode(options), tracker)
        gate._strict = strict
        gate.is_mcp = str(options.get("revision", "auto")) != "jsonrpc"
        return gate

    def feed(self, data: Buffer) -> Self:
        """Takes input and gives the gate, to be iterated.

        `bytes` are borrowed, any other buffer is copied. Nothing that the peer wrote raises. After the session's end
        the input is dropped."""
        self.take(octets(data, "a gate takes bytes"))
        return self

    def close(self) -> Self:
        """The end of input, and the gate, to be iterated: a line without its line feed is refused (104)."""
        self.take(None)
        return self

    def filter(self, data: Buffer) -> tuple[bytes, list[Refused]]:
        """Judges all of the input at once: the accepted lines, each with a line feed, and the refusals, in order."""
        return self.judge_all(octets(data, "a gate takes bytes"))

    def __iter__(self) -> Iterator[Union[_linegate.Message, Refused]]:
        return self._raising() if self._strict else self

    def _raising(self) -> Iterator[Union[_linegate.Message, Refused]]:
        while (event := next(self, None)) is not None:
            if isinstance(event, Refused):
                raise RefusedError(event)
            yield event

    @property
    def closed(self) -> bool:
        """Whether the session is over: nothing more is judged."""
        return self.counts()[0]

    @property
    def counters(self) -> _names.Counters:
        """What was counted since the start."""
        return _names.counters(*self.counts()[1:])


def gate_of(gate: Optional[Gate], options: Options) -> Gate:
    """The gate that was made before, or one of these options; never both."""
    if gate is None:
        return Gate(**options)
    if not isinstance(gate, Gate):
        raise UsageError(_names.Code.BAD_OPTIONS, f"gate is a linegate.Gate, not {an(gate)}")
    if options:
        text = f"{', '.join(options)} beside gate=: the options of that gate hold; give them where it is made"
        raise UsageError(_names.Code.BAD_OPTIONS, text)
    return gate


def session(*, in_flight: int = 1024, **options: Unpack[Options]) -> tuple[Gate, Gate]:
    """The gates of a client's lines and of a server's, which follow their session together (451 to 459).

    The options are the client's; the server speaks the same protocol within the same bounds. `in_flight` requests of
    one side, 1 to 65,536, may wait for their answers at once. Plain JSON-RPC has no session to follow.
    """
    if isinstance(in_flight, bool) or not isinstance(in_flight, int) or not 1 <= in_flight <= MAX_IN_FLIGHT:
        text = f"in_flight is an integer, 1 to {MAX_IN_FLIGHT}, not {in_flight!r}"
        raise UsageError(_names.Code.BAD_OPTIONS, text)
    encode(options)
    client, server = both(options)
    tracker: Any = None
    if str(client.get("revision", "auto")) != "jsonrpc":
        tracker = _linegate.Tracker(encode(client), encode(server), in_flight)
    return Gate(tracker=tracker, **client), Gate(tracker=tracker, **server)
