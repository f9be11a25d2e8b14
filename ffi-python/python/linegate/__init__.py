"""A gate for newline-delimited JSON-RPC and MCP on stdio: bytes in, checked messages or a reason out.

    with linegate.install():    # before the SDK takes sys.stdin and sys.stdout
        mcp.run()

`Gate` judges bytes; `wrap`, `install`, `gated_stdio` and `guard_stdout` put one around streams; `executor` and
`Actions` go on from an accepted message to an effect. `linegate.aio` has the readers for asyncio, `linegate.host`
starts servers and reads them, `linegate.testing` is for tests. These three are imported when they are first asked for.
"""

from typing import TYPE_CHECKING

from linegate._action import Actions, Executed, Executor, executor
from linegate._errors import ClosedError, Error, RefusedError, UsageError
from linegate._gate import Gate, session
from linegate._linegate import Authorized, Call, Journal, Message, Tracker, Typed
from linegate._names import Code, Counters, Policy, Profile, Revision, Stage, Switch
from linegate._options import Limits, Options
from linegate._refused import Refused
from linegate._stdio import Stdio, gated_stdio, guard_stdout, install, pump
from linegate._stream import wrap
from linegate._wire import Wire

if TYPE_CHECKING:
    from linegate import aio as aio
    from linegate import host as host
    from linegate import testing as testing
else:
    # Hidden from type checkers, for which a module with this function has every name.
    def __getattr__(name: str) -> object:
        if name in ("aio", "host", "testing"):
            from importlib import import_module

            return import_module("linegate." + name)
        raise AttributeError(f"module 'linegate' has no attribute {name!r}")


__all__ = [
    "Actions",
    "Authorized",
    "Call",
    "ClosedError",
    "Code",
    "Counters",
    "Error",
    "Executed",
    "Executor",
    "Gate",
    "Journal",
    "Limits",
    "Message",
    "Options",
    "Policy",
    "Profile",
    "Refused",
    "RefusedError",
    "Revision",
    "Stage",
    "Stdio",
    "Switch",
    "Tracker",
    "Typed",
    "UsageError",
    "Wire",
    "executor",
    "gated_stdio",
    "guard_stdout",
    "install",
    "pump",
    "session",
    "wrap",
]
