"""A gate for newline-delimited JSON-RPC and MCP on stdio: bytes in, checked messages or a reason out.

    with linegate.install():    # before the SDK takes sys.stdin and sys.stdout
        mcp.run()

`Gate` judges bytes; `wrap`, `install`, `gated_stdio` and `guard_stdout` put one around streams; `executor` and
`Actions` go on from an accepted message to an effect. `linegate.aio` has the readers for asyncio, `linegate.host`
starts servers and reads them, `linegate.testing` is for tests. Whatever it is, it is imported when it is first asked
for: neither the command nor pytest, which finds a plugin here, needs any of it at its start.
"""

TYPE_CHECKING = False  # As type checkers know it; `typing` takes longer than all that is here.
if TYPE_CHECKING:
    from linegate import aio as aio, host as host, testing as testing
    from linegate._action import Actions as Actions, Executed as Executed, Executor as Executor, executor as executor
    from linegate._errors import (
        ClosedError as ClosedError,
        Error as Error,
        RefusedError as RefusedError,
        UsageError as UsageError,
    )
    from linegate._gate import Gate as Gate, session as session
    from linegate._linegate import (
        Authorized as Authorized,
        Call as Call,
        Journal as Journal,
        Message as Message,
        Tracker as Tracker,
        Typed as Typed,
    )
    from linegate._names import (
        Code as Code,
        Counters as Counters,
        Policy as Policy,
        Profile as Profile,
        Revision as Revision,
        Stage as Stage,
        Switch as Switch,
    )
    from linegate._options import Limits as Limits, Options as Options
    from linegate._refused import Refused as Refused
    from linegate._stdio import (
        Stdio as Stdio,
        gated_stdio as gated_stdio,
        guard_stdout as guard_stdout,
        install as install,
        pump as pump,
    )
    from linegate._stream import wrap as wrap
    from linegate._wire import Wire as Wire
else:
    # Hidden from type checkers, for which a module with these functions has every name.
    _NAMES = {
        "_action": "Actions Executed Executor executor",
        "_errors": "ClosedError Error RefusedError UsageError",
        "_gate": "Gate session",
        "_linegate": "Authorized Call Journal Message Tracker Typed",
        "_names": "Code Counters Policy Profile Revision Stage Switch",
        "_options": "Limits Options",
        "_refused": "Refused",
        "_stdio": "Stdio gated_stdio guard_stdout install pump",
        "_stream": "wrap",
        "_wire": "Wire",
    }
    _HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
    _MODULES = ("aio", "host", "testing")
    __all__ = [*_HOMES]

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _MODULES:
            return import_module("linegate." + name)
        if name not in _HOMES:
            raise AttributeError(f"module 'linegate' has no attribute {name!r}")
        globals()[name] = found = getattr(import_module("linegate." + _HOMES[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted([*globals(), *_HOMES, *_MODULES])
