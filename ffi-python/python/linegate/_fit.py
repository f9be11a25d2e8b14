"""Arguments as types of Python's. What the type doesn't read is refused, at every level; so is a value of another
JSON type.

A dataclass is read here, field by field in the order of the line. A pydantic model is read by pydantic, strictly and
with members that it doesn't know forbidden. Anything else is called with the value, and what it raises (`ValueError`,
`TypeError`) means that the value doesn't fit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, Optional, Union, get_args, get_origin, get_type_hints

# What can be wrong, in the extension's order.
MISSING, UNKNOWN, TYPE, VALUE = range(4)

# What is wrong, the way there, and the member's name.
Unfit = tuple[int, list[str], Optional[str]]


class Misfit(Exception):
    """Arguments that don't fit; the way is that to the value, to the unknown member, or to the object that lacks
    one."""

    def __init__(self, wrong: int, member: Optional[str] = None, way: tuple[str, ...] = ()) -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.member = member
        self.way = list(way)

    def within(self, step: Union[str, int], member: Optional[str]) -> Misfit:
        """The same, seen from the value around."""
        self.way.insert(0, str(step))
        if self.wrong != UNKNOWN:
            self.member = self.member or member
        return self


def read(model: Any, text: bytes, aside: Optional[str]) -> tuple[Any, Optional[Unfit]]:
    """The value that checked JSON text is as a model, or why it isn't one. `aside` is a member that is none of the
    arguments."""
    value = json.loads(text)
    if isinstance(value, dict):
        value.pop(aside, None)
    try:
        if hasattr(model, "model_validate_json"):
            return _pydantic(model, value), None
        return _read(model, value), None
    except Misfit as misfit:
        return None, (misfit.wrong, misfit.way, misfit.member)


def _pydantic(model: Any, value: Any) -> Any:
    from pydantic import ValidationError

    try:
        # As JSON: what JSON has no type for, such as a date, is read from its text even where the model is strict.
        return model.model_validate_json(json.dumps(value), strict=True, extra="forbid")
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    kind, way = fault["type"], tuple(str(step) for step in fault["loc"])
    member = next((step for step in reversed(fault["loc"]) if isinstance(step, str)), None)
    if kind == "missing":
        raise Misfit(MISSING, member, way[:-1])
    if kind == "extra_forbidden":
        raise Misfit(UNKNOWN, None, way)
    raise Misfit(TYPE if kind.endswith(("_type", "_parsing")) else VALUE, member, way)


@lru_cache(maxsize=1024)
def _fields(model: Any) -> dict[str, tuple[Any, bool]]:
    """Type and whether it is required, of each field that arguments may name."""
    from dataclasses import MISSING as NOTHING, fields

    hints = get_type_hints(model, include_extras=True)
    made = [field for field in fields(model) if field.init]
    return {
        field.name: (hints[field.name], field.default is NOTHING and field.default_factory is NOTHING) for field in made
    }


def _dataclass(model: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        raise Misfit(TYPE)
    fields, given = _fields(model), {}
    for name, part in value.items():
        if name not in fields:
            raise Misfit(UNKNOWN, None, (name,))
        try:
            given[name] = _read(fields[name][0], part)
        except Misfit as misfit:
            raise misfit.within(name, name) from None
    for name, (_, required) in fields.items():
        if required and name not in given:
            raise Misfit(MISSING, name)
    return _called(lambda: model(**given))


def _called(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except Misfit:
        raise
    except (ValueError, TypeError):
        raise Misfit(VALUE) from None


def _items(model: Any, values: list[Any]) -> list[Any]:
    read = []
    for index, value in enumerate(values):
        try:
            read.append(_read(model, value))
        except Misfit as misfit:
            raise misfit.within(index, None) from None
    return read


def _mapping(model: Any, value: dict[str, Any]) -> dict[str, Any]:
    read = {}
    for name, part in value.items():
        try:
            read[name] = _read(model, part)
        except Misfit as misfit:
            raise misfit.within(name, None) from None
    return read


def _union(models: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in models:
        return None
    misfits = []
    for model in models:
        if model is type(None):
            continue
        try:
            return _read(model, value)
        except Misfit as misfit:
            misfits.append(misfit)
    # Of a value or nothing, what is wrong with the value; of several types, that it is of none of them.
    raise misfits[0] if len(misfits) == 1 else Misfit(TYPE)


_PLAIN: dict[Any, type[Any]] = {str: str, bool: bool, type(None): type(None)}


def _read(model: Any, value: Any) -> Any:
    origin, parts = get_origin(model), get_args(model)
    if model is Any or model is object:
        return value
    if model in (int, float):
        if isinstance(value, bool) or not isinstance(value, (int, float) if model is float else int):
            raise Misfit(TYPE)
        return model(value)
    if isinstance(model, type) and model in _PLAIN:
        if not isinstance(value, _PLAIN[model]):
            raise Misfit(TYPE)
        return value
    if model in (list, dict):
        if not isinstance(value, model):
            raise Misfit(TYPE)
        return value
    if origin is list or origin is dict:
        if not isinstance(value, origin):
            raise Misfit(TYPE)
        given: Any = value
        return _items(parts[0], given) if origin is list else _mapping(parts[1], given)
    if origin is Literal:
        # True is not 1.
        if not any(type(part) is type(value) and part == value for part in parts):
            raise Misfit(VALUE)
        return value
    if hasattr(model, "__metadata__"):
        read = _read(parts[0], value)
        for check in model.__metadata__:
            if callable(check):
                _called(lambda check=check: check(read))  # type: ignore[misc]
        return read
    if parts and (origin is Union or type(model).__name__ == "UnionType"):
        return _union(parts, value)
    if hasattr(model, "__dataclass_fields__"):
        return _dataclass(model, value)
    if hasattr(model, "model_validate_json"):
        return _pydantic(model, value)
    return _called(lambda: model(value))
