"""Options of a gate as keyword arguments, and the JSON text that the extension reads of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, TypedDict, Union

from linegate._errors import UsageError
from linegate._names import Code

if TYPE_CHECKING:
    from linegate._names import Policy, Profile, Revision, Switch


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
    revision: Union[Revision, str]
    """The protocol revision. Default `auto`; `jsonrpc` for plain JSON-RPC 2.0."""
    profile: Union[Profile, str]
    """The set of text rules. Default: that of the sender."""
    allow: Iterable[Union[Switch, str]]
    """Switches to loosen."""
    refuse: Iterable[Union[Switch, str]]
    """Switches to tighten."""
    limits: Limits
    """The bounds."""
    policy: Union[Policy, str]
    """When a refusal ends the session. Default `close_malformed`; `close_all` for what has effects outside."""
    batches: Literal["by_revision", "allow", "refuse"]
    """Whether a JSON array of messages is taken."""
    error_id: Literal["by_revision", "null", "absent"]
    """What stands in a reply for an id that could not be read."""
    versions: Iterable[str]
    """Protocol versions that are served to requests that say theirs (407)."""
    methods: Iterable[str]
    """Methods of the host's own, beside the revision's (402)."""
    result_types: Iterable[str]
    """Values of `resultType` of the host's own (408)."""
    key: bytes
    """16 bytes, the key of fingerprints. Default: random."""


# The names of options that the core has others for.
_NAMES = {"sender": "from", "versions": "revisions", "methods": "allow_methods", "result_types": "allow_result_types"}
_WORDS = ("sender", "revision", "profile", "policy", "batches", "error_id")
_LISTS = ("allow", "refuse", "versions", "methods", "result_types")
# Bytes of the longest error reply without its id.
_REPLY = 1024


def encode(options: Mapping[str, Any]) -> str:
    """The options as the extension reads them."""
    given: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        if name in _WORDS:
            given[_NAMES.get(name, name)] = str(value)
        elif name in _LISTS and not isinstance(value, str):
            given[_NAMES.get(name, name)] = [str(word) for word in value]
        elif name == "limits":
            limits: Any = value
            given.update(limits._asdict())
        elif name == "key":
            key: Any = value
            given["key"] = bytes(key).hex()
        else:
            raise UsageError(Code.BAD_OPTIONS, f"{name} is no option, or has no such value")
    return json.dumps(given)


def both(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a session's client and of its server, which speaks the same protocol within the same bounds."""
    client: dict[str, Any] = {"key": os.urandom(16), **options, "sender": "client"}
    shared = ("key", "revision", "versions", "methods", "result_types")
    server: dict[str, Any] = {name: client[name] for name in shared if name in client}
    limits = client.get("limits") or Limits()
    # An error with the longest id always has room.
    max_frame = None if limits.max_frame is None else max(limits.max_frame, _REPLY + (limits.max_id or 255))
    server.update(sender="server", limits=Limits(max_frame=max_frame, max_id=limits.max_id))
    return client, server
