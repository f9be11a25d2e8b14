"""A host's table of actions, and the walk of a message along it: from the tool's name to its one execution.

Message --call--> Call --arguments--> Typed --authorize--> Authorized --executor--> its result, once
           505          501, 502             503                       ---> Refused
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Generic, NamedTuple, Optional, TypeVar, Union, overload

from linegate import _names
from linegate._callables import checked, checked_model, checked_policy, parameter, parameter_type, unrun
from linegate._errors import UsageError, an
from linegate._linegate import Authorized, Call, Journal, Message
from linegate._options import switches
from linegate._refused import Refused

T = TypeVar("T")
R = TypeVar("R")


# Not looked up again for each action.
_open = Authorized.open


class Executor(Generic[T, R]):
    """A function that acts, which can be given nothing but an `Authorized` of its own tool and arguments."""

    def __init__(self, act: Callable[[T], R], model: Any, tool: Optional[str], method: Optional[str]) -> None:
        self.__name__ = getattr(act, "__name__", type(act).__name__)
        checked(act, self.__name__)
        self._act = act
        self.model = model
        self.tool = tool
        self.method = method
        self.__doc__ = act.__doc__

    def __call__(self, action: Authorized[T]) -> R:
        # The exact type: the extension's classes have no others below them.
        if type(action) is not Authorized:
            raise UsageError(_names.Code.STALE_EVENT, f"{self.__name__} takes an Authorized, not {an(action)}")
        call = action.call
        asked = (call.tool, None) if call.tool is not None else (None, call.message.method)
        if action.model is not self.model or asked != (self.tool, self.method):
            raise UsageError(_names.Code.STALE_EVENT, f"{self.__name__} is not the executor of this action")
        result = self._act(_open(action))
        # A lambda around a coroutine function is seen only by what it gives.
        if kind := unrun(result):
            raise TypeError(f"{self.__name__} gave {kind}, which nothing here runs: what it was to do is not done")
        return result

    def __repr__(self) -> str:
        return f"<Executor of {self.tool or self.method}>"


@overload
def executor(act: Callable[[T], R], /) -> Executor[T, R]: ...


@overload
def executor(
    *, tool: Optional[str] = None, method: Optional[str] = None, model: Any = None
) -> Callable[[Callable[[T], R]], Executor[T, R]]: ...


def executor(act: Any = None, /, *, tool: Optional[str] = None, method: Optional[str] = None, model: Any = None) -> Any:
    """Makes a function of one parameter the executor of a tool (by default of the function's name) or of a method.

    The arguments are read as the parameter's type, or as `model`. An `async def` or a generator is refused: a call of
    it would do nothing. What needs a loop runs one (`asyncio.run`), or hands the work to it and waits.
    """

    def decorate(act: Callable[[T], R]) -> Executor[T, R]:
        name = getattr(act, "__name__", type(act).__name__)
        checked(act, name)
        taken = parameter(act, name)
        wanted = parameter_type(act, name, taken) if model is None else model
        asked = tool if tool is not None or method is not None else name
        return Executor(act, wanted, asked, method if asked is None else None)

    if isinstance(act, str):
        raise UsageError(_names.Code.BAD_OPTIONS, f'the tool is named by keyword: executor(tool="{act}")')
    for said, name in (("tool", tool), ("method", method)):
        if name is not None and not isinstance(name, str):
            raise UsageError(_names.Code.BAD_OPTIONS, f"{said} is a name, not {an(name)}")
    if tool is not None and method is not None:
        raise UsageError(_names.Code.BAD_OPTIONS, "an executor is of a tool or of a method, not of both")
    if model is not None:
        checked_model(model)
    return decorate if act is None else decorate(act)


class Executed(NamedTuple):
    """An action that was executed."""

    call: Call
    """What asked for it."""
    result: Any
    """What its executor gave."""
    failure: Optional[Exception]
    """What its executor raised. An execution all the same."""


class Actions:
    """A table of executors, with one policy and one journal, which counts what was executed.

    `authorize` is given the call and its arguments, and nothing to execute them with; only True allows. What it raises
    goes out of `handle`, and nothing was allowed. `granted` are loosened switches by which a line may have passed and
    still ask for an action. `audit` is given the lines of an audit file: each refusal that `handle` sees, each
    authorized action, and its end.
    """

    def __init__(
        self,
        executors: Iterable[Executor[Any, Any]],
        authorize: Callable[[Call, Any], Union[bool, str, None]],
        *,
        granted: Iterable[Union[_names.Switch, str]] = (),
        audit: Optional[Callable[[str], object]] = None,
    ) -> None:
        checked(authorize, "authorize")
        checked_policy(authorize)
        if audit is not None:
            checked(audit, "audit")
        self.journal = Journal()
        self.failed = 0
        self._table: dict[tuple[Optional[str], Optional[str]], Executor[Any, Any]] = {}
        self._authorize = authorize
        self._granted = switches("granted", granted)
        self._audit = audit or (lambda line: None)
        for row in executors:
            if not isinstance(row, Executor):
                name = getattr(row, "__name__", type(row).__name__)
                raise UsageError(
                    _names.Code.BAD_OPTIONS, f"{name} is no executor: decorate it with @linegate.executor()"
                )
            if (row.tool, row.method) in self._table:
                raise UsageError(_names.Code.BAD_OPTIONS, f"there are two executors of {row.tool or row.method}")
            self._table[row.tool, row.method] = row

    def handle(self, event: Union[Message, Refused]) -> Union[Executed, Refused, None]:
        """Walks one verdict of a gate to its end: executed, refused, or None where it asks for no action of the
        table's.

        A tool that isn't in the table is refused (501); another method that isn't is the host's own to answer."""
        if not isinstance(event, (Message, Refused)):
            raise TypeError(f"handle takes a Message or a Refused of a gate, not {an(event)}")
        outcome = event if isinstance(event, Refused) else self._walk(event)
        if isinstance(outcome, Refused):
            self._audit(outcome.audit_line)
        return outcome

    def _walk(self, message: Message) -> Union[Executed, Refused, None]:
        # What isn't ours isn't asked to be a call at all: it needs no grant.
        is_tool = message.method == "tools/call" and getattr(message.gate, "is_mcp", True)
        if not is_tool and (None, message.method) not in self._table:
            return None
        call = message.call(self._granted)
        if not isinstance(call, Call):
            return call
        key = (call.tool, None) if call.tool is not None else (None, message.method)
        row = self._table.get(key)
        if row is None:
            return call.unknown() if call.tool is not None else None
        typed = call.arguments(row.model, tool=row.tool, method=row.method)
        if isinstance(typed, Refused):
            return typed
        action = typed.authorize(self._authorize, self.journal)
        if isinstance(action, Refused):
            return action
        self._audit(_line("authorized", call))
        result, failure = None, None
        try:
            result = row(action)
        except Exception as error:
            self.failed += 1
            failure = error
        except BaseException:
            # An interrupt goes on its way. Its action has ended all the same.
            self.failed += 1
            self._audit(_line("ended", call, "failed"))
            raise
        self._audit(_line("ended", call, "done" if failure is None else "failed"))
        return Executed(call, result, failure)


def _line(event: str, call: Call, outcome: Optional[str] = None) -> str:
    """The audit line of an action, as `linegate_host::AuditFile` writes it."""
    members: dict[str, Any] = {"event": event, "sequence": call.message.sequence, "direction": "client"}
    members["fingerprint"] = call.fingerprint
    members["method" if call.tool is None else "tool"] = call.message.method if call.tool is None else call.tool
    if outcome is not None:
        members["outcome"] = outcome
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")) + "\n"
