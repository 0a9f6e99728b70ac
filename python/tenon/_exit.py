# SPDX-License-Identifier: Apache-2.0
"""The interpreter's end, while daemon threads are inside of the library.

A thread that wants to go from the library to Python then would be ended by Python with the library's frames on its
stack, which ends the process by an abort. So calls that may call back are counted; at the end those under way are
cancelled and waited for, some seconds at most, and other threads than the one that ends the interpreter begin no
further ones.
"""

from __future__ import annotations

import atexit
import threading
import time

from . import _ffi
from .cancellation import Cancellation

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn

#: Seconds that the interpreter's end waits: an operator may wait for an event that never comes.
_PATIENCE = 5.0

#: Calls under way, with the threads that make them. An entry is made before `_ending` is read, and `_ending` is set before
#: entries are read, so that none is missed.
_calls: dict[Any, int] = {}
_ending: int | None = None  # the thread that ends the interpreter
_default = None


#: Functions for the moment when no other thread is inside of a call.
_last: list[Callable[[], None]] = []


def at_end(function: Callable[[], None]) -> None:
    """Has `function` called at the interpreter's end, when no other thread is inside of a call that may call back."""
    _last.append(function)


def _park() -> NoReturn:
    """Holds a daemon thread until the process is gone, as Python does with those that want to run then."""
    while True:
        time.sleep(3600)


def default_cancellation() -> Cancellation:
    """The one of runs that are given none."""
    global _default
    if _default is None:
        _default = Cancellation()
    return _default


class Call:
    """A call that may call back, as a context manager."""

    __slots__ = ("cancellation",)

    def __init__(self, cancellation: Cancellation | None = None) -> None:
        self.cancellation = cancellation  # of a run

    def __enter__(self) -> None:
        _calls[self] = threading.get_ident()
        self._stop_at_the_end()

    def __exit__(self, *_: object) -> None:
        self._stop_at_the_end()
        del _calls[self]

    def _stop_at_the_end(self) -> None:
        if _ending is not None and _ending != threading.get_ident():
            _calls.pop(self, None)
            _park()


def _end() -> None:
    global _ending
    _ending = threading.get_ident()
    latest = time.monotonic() + _PATIENCE
    while time.monotonic() < latest:
        others = [call for call, thread in list(_calls.items()) if thread != _ending]
        if not others:
            break
        for call in others:
            if call.cancellation is not None:
                call.cancellation.cancel()
        time.sleep(0.001)
    if _default is not None:
        _default.reset()  # functions that run later may still use models
    for function in _last:
        function()


def _forget() -> None:
    """In a forked child other threads are gone."""
    global _default
    _calls.clear()
    _default = None


atexit.register(_end)
_ffi.on_fork(_forget)
