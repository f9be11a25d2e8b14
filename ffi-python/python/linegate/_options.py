"""Options of a gate as keyword arguments, and the table that the extension reads of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Optional, TypedDict, Union

from linegate import _names
from linegate._errors import UsageError, an


class Limits(NamedTuple):
    """The bounds of a gate; None is the default. At a bound the line is refused, and the next line starts clean."""

    max_frame: Optional[int] = None
    """Bytes of a line, 4 to 2^31-1. Default 8 MiB."""
    max_depth: Optional[int] = None
    """Levels of values, 1 to 512. Default 32 from a client, 64 from a server."""
    max_keys: Optional[int] = None
    """Object keys open at once, 1 to 2^24. Default 65,536."""
    max_id: Optional[int] = None
    """Bytes of a string id, 1 to 4096. Default 255."""
    max_replies: Optional[int] = None
    """Replies in a row without an accepted line, 0 and up. Default 16."""


class Options(TypedDict, total=False):
    """What every gate takes, and all that is made with gates."""

    sender: Literal["client", "server"]
    """Whose lines are judged. Default `client`: held to the profile `strict`, and answered where they are
    refused. A `server`'s are held to `data`, and never answered."""
    revision: Union[_names.Revision, str]
    """The protocol revision. Default `auto`; `jsonrpc` for plain JSON-RPC 2.0."""
    profile: Union[_names.Profile, str]
    """The set of text rules. Default: that of the sender."""
    allow: Iterable[Union[_names.Switch, str]]
    """Switches to loosen."""
    refuse: Iterable[Union[_names.Switch, str]]
    """Switches to tighten."""
    limits: Limits
    """The bounds."""
    policy: Union[_names.Policy, str]
    """When a refusal ends the session. Default `close_malformed`; `close_all` for what has effects outside."""
    batches: Literal["by_revision", "allow", "refuse"]
    """Whether a JSON array of messages is taken."""
    error_id: Literal["by_revision", "null", "absent"]
    """What stands in a reply for an id that could not be read."""
    versions: Iterable[str]
    """Protocol versions that are served to requests that say theirs (407): any words, for a host may serve a draft.
    Default: all that are published."""
    methods: Iterable[str]
    """Methods of the host's own, beside the revision's (402)."""
    result_types: Iterable[str]
    """Values of `resultType` of the host's own (408)."""
    key: bytes
    """16 bytes, the key of fingerprints. Default: random."""


# The names of options that the core has others for.
_NAMES = {"sender": "from", "versions": "revisions", "methods": "allow_methods", "result_types": "allow_result_types"}
_SENDERS = ("client", "server")
_WORDS = {
    "sender": _SENDERS,
    "revision": tuple(_names.TABLE["revisions"]),
    "profile": tuple(_names.TABLE["profiles"]),
    "policy": tuple(_names.TABLE["policies"]),
    "batches": tuple(_names.TABLE["batches"]),
    "error_id": tuple(_names.TABLE["error_ids"]),
}
_LISTS = ("allow", "refuse", "versions", "methods", "result_types")
_BEYOND = 2**63 - 1
# Bytes of the longest error reply without its id.
_REPLY = 1024


def _bad(text: str) -> UsageError:
    return UsageError(_names.Code.BAD_OPTIONS, text)


def encode(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as the extension reads them."""
    given: dict[str, Any] = {}
    for name, value in options.items():
        if name not in Options.__annotations__:
            raise _bad(_unknown(name))
        if value is None:
            continue
        if name in _WORDS:
            if value not in _WORDS[name]:
                raise _bad(f"{name} is {_either(_WORDS[name])}, not {value!r}")
            given[_NAMES.get(name, name)] = str(value)
        elif name in ("allow", "refuse"):
            given[name] = switches(name, value)
        elif name in _LISTS:
            given[_NAMES.get(name, name)] = _listed(name, value)
        elif name == "limits":
            # What is beyond any integer of the core's is beyond its ranges too, which it tells by name.
            bounds = _limits(value)._asdict()
            given.update({name: bound and max(-1, min(bound, _BEYOND)) for name, bound in bounds.items()})
        else:
            given["key"] = _key(value).hex()
    return given


def _either(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _listed(name: str, value: Any) -> list[str]:
    # A text would be a list of its letters.
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise _bad(f"{name} is a list of names, not {an(value)}")
    words: list[Any] = list(value)
    for word in words:
        if not isinstance(word, str):
            raise _bad(f"{name} is a list of names, and {an(word)} is none")
        if not word.isprintable():
            raise _bad(f"{name} is a list of names, and {word!a} is none: it holds what can't be printed")
    if name == "versions" and not words:
        raise _bad("versions is a list of at least one version; without it all are served")
    return [str(word) for word in words]


def switches(name: str, value: Any) -> list[str]:
    """The names of switches that an option holds."""
    words, known = _listed(name, value), tuple(row["name"] for row in _names.TABLE["switches"])
    for word in words:
        if word not in known:
            raise _bad(f"{name}: there is no switch {word!r}{_near(word, known)}; linegate.Switch lists them")
    return words


def _limits(value: Any) -> Limits:
    if not isinstance(value, Limits):
        raise _bad(f"limits is a linegate.Limits, not {an(value)}")
    for name, bound in value._asdict().items():
        if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool)):
            raise _bad(f"{name} is an integer, not {an(bound)}")
    return value


def _key(value: Any) -> bytes:
    # `bytes(16)` would be a key that everybody knows.
    try:
        key = memoryview(value).tobytes()
    except TypeError:
        key = b""
    if len(key) != 16:
        raise _bad(f"key is 16 bytes, not {an(value) if not key else len(key)}")
    return key


def _unknown(name: str) -> str:
    if name in Limits._fields:
        return f"{name} is one of the limits: limits=linegate.Limits({name}=...)"
    known = (*_WORDS, *_LISTS, "limits", "key")
    return f"there is no option {name}{_near(name, known)}; the options are {', '.join(known)}"


def _near(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, known, 1)
    return f" (is it {near[0]}?)" if near else ""


def both(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a session's client and of its server, which speaks the same protocol within the same bounds."""
    if options.get("sender") is not None:
        raise _bad("sender isn't given here: a session has both, and the options are the client's")
    client: dict[str, Any] = {"key": os.urandom(16), **options, "sender": "client"}
    shared = ("key", "revision", "versions", "methods", "result_types")
    server: dict[str, Any] = {name: client[name] for name in shared if name in client}
    limits = Limits() if client.get("limits") is None else _limits(client["limits"])
    # An error with the longest id always has room.
    max_frame = None if limits.max_frame is None else max(limits.max_frame, _REPLY + (limits.max_id or 255))
    server.update(sender="server", limits=Limits(max_frame=max_frame, max_id=limits.max_id))
    return client, server
