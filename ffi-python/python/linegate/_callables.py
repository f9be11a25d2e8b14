"""What can be told of a caller's functions before they are called: whether a call of one does anything at all, and
what they take. `inspect` is imported when it is asked, which is once per function and not at the start."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Optional, get_origin, get_type_hints

from linegate import _names
from linegate._errors import UsageError, an


def checked(act: Any, what: str) -> None:
    """Raises a `UsageError` where `act` can't be called, or where a call of it would only make an object (a coroutine,
    a generator) that nobody runs."""
    if not callable(act):
        raise UsageError(_names.Code.BAD_OPTIONS, f"{what} is a function, not {an(act)}")
    if kind := _deferred(act):
        text = f"{what} is {kind}, which nothing here would run: give a plain function that does the work"
        raise UsageError(_names.Code.BAD_OPTIONS, text)


def checked_model(model: Any) -> None:
    """Raises a `UsageError` where nothing can be read as `model`: no arguments would ever fit."""
    if not callable(model) and model is not Any and get_origin(model) is None:
        text = f"model is a dataclass, a pydantic model, a type or a function, not {an(model)}"
        raise UsageError(_names.Code.BAD_OPTIONS, text)


def checked_policy(policy: Callable[..., Any]) -> None:
    """Raises a `UsageError` where a policy can't be called with a call and its arguments."""
    import inspect

    try:
        inspect.signature(policy).bind(None, None)
    except ValueError:
        return  # It doesn't say.
    except TypeError:
        text = "authorize takes two parameters: the call, and its arguments"
        raise UsageError(_names.Code.BAD_OPTIONS, text) from None


def _deferred(act: Any) -> Optional[str]:
    import inspect

    # The function that a call would come to: through partials and methods, and of an object its `__call__`.
    while isinstance(act, functools.partial):
        act = act.func
    for one in (act, None if isinstance(act, type) else type(act).__call__):
        if inspect.iscoroutinefunction(one):
            return "an `async def`"
        if inspect.isasyncgenfunction(one) or inspect.isgeneratorfunction(one):
            return "a generator"
    return None


def unrun(result: Any) -> Optional[str]:
    """Where a result is work that is still to be done, what it is. Such a one is closed, so that it is never run
    later."""
    import inspect

    if not (inspect.isawaitable(result) or inspect.isasyncgen(result) or inspect.isgenerator(result)):
        return None
    if inspect.iscoroutine(result) or inspect.isgenerator(result):
        result.close()
    return an(result)


def parameter(act: Callable[..., Any], name: str) -> Any:
    """The parameter that a function takes its arguments by, as of `inspect`; None of one that doesn't say. A
    `UsageError` where it can't be called with one value."""
    import inspect

    try:
        taken = list(inspect.signature(act).parameters.values())
    except ValueError:
        return None
    plain = [one for one in taken if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [one for one in taken if one.default is one.empty and one.kind not in rest]
    if len(needed) > 1 or any(one not in plain for one in needed) or not (plain or rest[0] in [o.kind for o in taken]):
        text = f"{name} takes {len(needed)} parameters; an executor takes one, its arguments as one object"
        raise UsageError(_names.Code.BAD_OPTIONS, text)
    return plain[0] if plain else None


def parameter_type(act: Callable[..., Any], name: str, taken: Any) -> Any:
    """The type that a function says of that parameter. A `UsageError` where it says none that can be found."""
    import inspect

    if taken is None or taken.annotation is taken.empty:
        raise UsageError(_names.Code.BAD_OPTIONS, f"{name} says no type of its one parameter, and model is not given")
    function = act if inspect.isroutine(act) else getattr(act, "__call__", act)  # noqa: B004
    try:
        return get_type_hints(function, include_extras=True)[taken.name]
    except (NameError, TypeError, KeyError) as error:
        text = f"the type of {name}'s parameter {taken.name} can't be read ({error}); give it as model="
        raise UsageError(_names.Code.BAD_OPTIONS, text) from None
