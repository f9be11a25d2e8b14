"""What a host must remember of a server that it starts, whether it waits for it in threads or in asyncio: what was
asked and not answered, what is subscribed to, how it is started, and what it may see of the environment."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from linegate._errors import ClosedError, RefusedError, UsageError, an
from linegate._gate import session
from linegate._linegate import Message
from linegate._names import Code
from linegate._refused import Refused

if TYPE_CHECKING:
    from linegate._options import Options

# What a child process may see where nothing else is said, as the SDKs have it.
POSIX_NAMES = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER")
WINDOWS_NAMES = (
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
)


def minimal_environment(more: Optional[Mapping[str, str]] = None) -> dict[str, str]:
    """An environment for a server: what programs need to run at all, and `more`. No key or token of the host's is in
    it, unless it is named."""
    names = WINDOWS_NAMES if sys.platform == "win32" else POSIX_NAMES
    # A value that begins so is a function of some shells.
    kept = {name: os.environ[name] for name in names if not os.environ.get(name, "()").startswith("()")}
    return {**kept, **(more or {})}


# Seconds: a day.
MAX_GRACE = 86_400


class Lost(NamedTuple):
    """What went with a server that ended. Nothing of it is asked again by itself: whether that does harm only the
    host knows."""

    status: int
    """Its exit status; negative, the signal that ended it."""
    requests: list[Union[int, str]]
    """Ids of requests that are not answered, and never will be."""
    subscriptions: list[bytes]
    """The request lines of subscriptions that were open, to be sent again to a server that takes its place, with ids
    of its own."""


Outgoing = Union[bytes, str, Mapping[str, Any]]
Event = Union[Message, Refused]


def _encoded(message: Outgoing) -> bytes:
    """A message as a line. What can't be written in UTF-8 is for the gate to refuse."""
    if isinstance(message, Mapping):
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError:
            # A lone surrogate, as an escape: the rule about it has its say.
            return json.dumps(message, separators=(",", ":")).encode("ascii")
    if isinstance(message, str):
        return message.encode("utf-8", "surrogatepass")
    if isinstance(message, (bytes, bytearray, memoryview)):
        return bytes(message)
    raise TypeError(f"a message is a mapping, or a line (bytes or str), not {type(message).__name__}")


class Book:
    """The two gates of a session with a server, and what is open in it."""

    def __init__(self, options: Options, in_flight: int) -> None:
        self._client, self._server = session(in_flight=in_flight, **options)
        self._asked: dict[Union[int, str], tuple[str, bytes, Any]] = {}
        self._subscribed: dict[Any, bytes] = {}

    def outgoing(self, message: Outgoing) -> bytes:
        """The line that may be sent; `RefusedError` if it may not, `ClosedError` once such a one has ended the
        session."""
        text = _encoded(message)
        text = text[:-1] if text.endswith(b"\n") else text
        if b"\n" in text:
            raise ValueError("a line feed inside a line")
        if self._client.closed:
            raise ClosedError("the session ended with a line that was refused; a restart begins a new one")
        passed: list[Message] = []
        for event in self._client.feed(text + b"\n"):
            if isinstance(event, Refused):
                raise RefusedError(event)
            passed.append(event)
        # A line goes out because the gate said yes to it, never because it said nothing.
        if not passed:
            raise ValueError("an empty line is no message")
        for one in passed:
            self._note_sent(one)
        return text + b"\n"

    def _note_sent(self, message: Message) -> None:
        params = message.params if isinstance(message.params, dict) else {}
        if message.kind == "request" and message.id is not None and message.method is not None:
            self._asked[message.id] = (message.method, message.raw + b"\n", params.get("uri"))
        elif message.method == "notifications/cancelled":
            self._asked.pop(params.get("requestId", ""), None)

    def incoming(self, chunk: bytes) -> list[Event]:
        """What a server's output comes to; `b""` is its end."""
        # All of it is judged before the first is handed out: an event of a server asks for no action.
        events: list[Event] = list(self._server.feed(chunk) if chunk else self._server.close())
        for event in events:
            if isinstance(event, Refused):
                if event.settlement is not None:
                    self._settle(json.loads(event.settlement)["id"], False)
            elif event.kind in ("result", "error") and event.id is not None:
                self._settle(event.id, event.kind == "result")
        return events

    def _settle(self, id: Union[int, str], went_well: bool) -> None:
        method, line, uri = self._asked.pop(id, ("", b"", None))
        if went_well and method == "resources/subscribe":
            self._subscribed[uri] = line
        elif went_well and method == "resources/unsubscribe":
            self._subscribed.pop(uri, None)

    @property
    def closed(self) -> bool:
        """Whether the server's side is over."""
        return self._server.closed

    def lost(self, status: int) -> Lost:
        """What is open, now that the server has ended."""
        # A subscription of 2026-07-28 is a request that is answered when it ends.
        listens = [line for method, line, _ in self._asked.values() if method == "subscriptions/listen"]
        ids = [id for id, (method, _, _) in self._asked.items() if method != "subscriptions/listen"]
        return Lost(status, ids, [*self._subscribed.values(), *listens])


def checked_words(words: Sequence[str]) -> Sequence[str]:
    """The words of a command, if they are some: a text would be taken for the name of one program."""
    if isinstance(words, (str, bytes, os.PathLike)):
        raise TypeError("the command is a list of words, as [sys.executable, 'server.py'], not one text")
    words = list(words)
    if not words:
        raise _bad("the command is empty: it is a list of words, the program first")
    return words


def _bad(text: str) -> UsageError:
    return UsageError(Code.BAD_OPTIONS, text)


def checked_grace(grace: Any) -> float:
    """The seconds of each step of a server's end, if they are some."""
    if isinstance(grace, bool) or not isinstance(grace, (int, float)) or not 0 <= grace <= MAX_GRACE:
        raise _bad(f"grace is seconds, 0 to {MAX_GRACE}, not {grace!r}")
    return float(grace)


class Command(NamedTuple):
    """How a server is started."""

    words: Sequence[str]
    env: Optional[Mapping[str, str]]
    cwd: Union[str, os.PathLike[str], None]
    stderr: Any

    @classmethod
    def of(cls, words: Sequence[str], *how: Any) -> Command:
        """One that can be started at all."""
        command = cls(checked_words(words), *how)
        if command.env is not None and not (
            isinstance(command.env, Mapping)
            and all(isinstance(text, str) for pair in command.env.items() for text in pair)
        ):
            raise _bad("env is a mapping of names to values, all of them text")
        stderr = command.stderr
        if isinstance(stderr, str) or not (stderr is None or isinstance(stderr, int) or hasattr(stderr, "fileno")):
            raise _bad(f"stderr is None, a file with a descriptor, or one of subprocess's constants, not {an(stderr)}")
        return command

    def arguments(self) -> dict[str, Any]:
        """Those that `subprocess` and `asyncio` share."""
        # A group of its own: what the server starts ends with it.
        group = {"start_new_session": True} if os.name == "posix" else {}
        return {"env": minimal_environment(self.env), "cwd": self.cwd, "stderr": self.stderr, **group}


def signal_group(pid: int, name: str, alone: Any) -> None:
    """Sends a signal to a server and what it started; where there are no groups, to it alone."""
    if os.name != "posix":
        alone()
        return
    import signal

    # It may have ended, and all that it started.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, getattr(signal, name))
