"""What stands between `with` and its end: steps that take everything back, whenever it is interrupted, and a word to
who makes one and never enters it."""

from __future__ import annotations

import atexit
import warnings
from collections.abc import Awaitable
from types import MethodType
from typing import TYPE_CHECKING, Any, Callable, Generic, Optional, TypeVar

from linegate._errors import UsageError

T = TypeVar("T")


class Undo:
    """Steps that take back what was done, the last first. A step stands here before what it takes back is done, and
    may be taken again: an interrupt can fall between any two things that Python does."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], object]] = []

    def add(self, step: Callable[[], object]) -> None:
        """Adds a step: one that does nothing where there is nothing to take back, or nothing any more."""
        self._steps.append(step)

    def forget(self) -> None:
        """Leaves all as it is."""
        self._steps.clear()

    def run(self) -> None:
        """Takes all steps, also where some fail, and raises what one of them raised."""
        try:
            self._round()
        finally:
            try:
                # Where the first round was interrupted, this one ends it.
                self._round()
            finally:
                self._steps.clear()

    def _round(self) -> None:
        fault: Optional[BaseException] = None
        for step in reversed(self._steps):
            try:
                step()
            except BaseException as error:
                fault = error
        try:
            if fault is not None:
                raise fault
        finally:
            # An exception that its own frame holds would live until the next collection, and all that it holds.
            del fault

    def __del__(self) -> None:
        # An interrupt can fall before the first line of an `__exit__`, which then is never called again; or of the
        # `__init__` of this.
        if getattr(self, "_steps", None):
            self.run()


# Guards that were entered by no `with`, until their end. Nothing is ungated because nobody kept a handle.
_kept: set[_Entered] = set()


@atexit.register
def _leave_kept() -> None:
    # What the interpreter drops when it ends must not be put back then: what is printed so late isn't for the wire.
    for guard in _kept:
        guard.leave()


class _End:
    """`__exit__`, which sees who asks for it. A `with` does before it enters, and holds it to its end: what it leaves
    behind when an interrupt falls before the first line of this, is to be put back."""

    def __init__(self, end: Callable[..., Any]) -> None:
        self._end = end

    def __get__(self, guard: Optional[_Entered], owner: Any = None) -> Any:
        if guard is None:
            return self._end
        guard.is_held = True
        return MethodType(self._end, guard)


class _Entered:
    """What does nothing before it is entered, and says so if that never happens."""

    is_held = False

    def __init__(self, name: str, way: str) -> None:
        self._name, self._way = name, way
        self._undo: Optional[Undo] = None

    def leave(self) -> None:
        """Has nothing be taken back any more."""
        if self._undo is not None:
            self._undo.forget()

    def _fresh(self) -> Undo:
        if self._undo is not None:
            raise UsageError(None, f"what {self._name}() gives is entered once: call it again")
        self._undo = Undo()
        if not self.is_held:
            _kept.add(self)
        return self._undo

    def _end(self) -> None:
        if self._undo is not None:
            self._undo.run()
        _kept.discard(self)

    def __del__(self) -> None:
        # Nor is one told of that was interrupted while it was made.
        if getattr(self, "_undo", self) is None:
            # As Python has it for a coroutine that nobody awaits.
            text = f"{self._name}() was never entered, so nothing is gated: write `{self._way} {self._name}():`"
            warnings.warn(text, RuntimeWarning, stacklevel=2)


class Guard(_Entered, Generic[T]):
    """A context manager over `begin`, which gives what `as` names and says how to take back what it does."""

    def __init__(self, name: str, begin: Callable[[Undo], T]) -> None:
        super().__init__(name, "with")
        self._begin = begin

    def __enter__(self) -> T:
        undo = self._fresh()
        try:
            return self._begin(undo)
        except BaseException:
            self._end()
            raise

    def stay(self) -> T:
        """Enters it to the end of the process, and gives what `as` would name."""
        # Whoever looked at its `__exit__` doesn't hold it for that.
        self.is_held = False
        return self.__enter__()

    def _exit(self, *_: object) -> None:
        self._end()

    if TYPE_CHECKING:

        def __exit__(self, *_: object) -> None: ...
    else:
        __exit__ = _End(_exit)


class AsyncGuard(_Entered, Generic[T]):
    """The same for `async with`."""

    def __init__(self, name: str, begin: Callable[[Undo], Awaitable[T]]) -> None:
        super().__init__(name, "async with")
        self._begin = begin

    async def __aenter__(self) -> T:
        undo = self._fresh()
        try:
            return await self._begin(undo)
        except BaseException:
            self._end()
            raise

    async def _aexit(self, *_: object) -> None:
        self._end()

    if TYPE_CHECKING:

        async def __aexit__(self, *_: object) -> None: ...
    else:
        __aexit__ = _End(_aexit)
