# SPDX-License-Identifier: Apache-2.0
"""The interpreter's end, while daemon threads are inside of the library.

A thread that wants to go from the library to Python then would be ended by Python with the library's frames on its
stack, which ends the process by an abort. So calls that may call back are counted; at the end those under way are
cancelled and waited for, some seconds at most, and other threads than the one that ends the interpreter begin no
further ones. An operator that still runs then gets an exception; where it goes on nevertheless, the process ends at once.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
import time

from . import _ffi
from .cancellation import Cancellation

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Callable, NoReturn

#: Seconds that the interpreter's end waits: an operator may wait for an event that never comes.
_PATIENCE = 5.0
#: Seconds for operators that got an exception.
_LAST_PATIENCE = 1.0


class InterpreterEnds(BaseException):
    """Ends operators that run when the interpreter ends."""


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

    __slots__ = ("calls_back", "cancellation", "latest_raised")

    def __init__(self, cancellation: Cancellation | None = None, calls_back: bool = True) -> None:
        self.cancellation = cancellation  # of a run
        self.calls_back = calls_back  # to more than the logger
        self.latest_raised = 0

    def __enter__(self) -> None:
        self.latest_raised = _ffi.latest_raised
        _calls[self] = threading.get_ident()
        self._stop_at_the_end()

    def __exit__(self, *_: object) -> None:
        self._stop_at_the_end()
        del _calls[self]
        if _ffi.raised:
            # Exceptions of this call that are no part of its error. Those of other calls are later than the beginnings of
            # all calls under way.
            latest = _ffi.latest_raised
            _ffi.forget_raised(min([latest, *(call.latest_raised for call in list(_calls))]))

    def _stop_at_the_end(self) -> None:
        if _ending is not None and _ending != threading.get_ident():
            _calls.pop(self, None)
            _park()


def _wait(seconds: float) -> bool:
    """Cancels the calls of other threads and waits for them. Returns whether none that may call back is left."""
    latest = time.monotonic() + seconds
    while True:
        others = [call for call, thread in list(_calls.items()) if thread != _ending]
        if not others:
            return True
        if time.monotonic() >= latest:
            return not any(call.calls_back for call in others)
        for call in others:
            if call.cancellation is not None:
                call.cancellation.cancel()
        time.sleep(0.001)


def _interrupt_operators() -> None:
    """Raises an exception in each thread that is inside of an operator, once it runs Python's code."""
    operators = sys.modules[f"{__package__}.operators"].__file__ if f"{__package__}.operators" in sys.modules else None
    for thread, innermost in sys._current_frames().items():
        frame: Any = innermost
        while frame is not None and frame.f_code.co_filename != operators:
            frame = frame.f_back
        if frame is not None and thread != _ending:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(InterpreterEnds))


def _stop() -> NoReturn:
    """Ends the process without the rest of the interpreter's end."""
    try:
        print(
            "tenon: an operator still runs in a daemon thread, so the process ends at once, with status 1",
            file=sys.stderr,
        )
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (AttributeError, OSError, ValueError):  # there is none, or it is closed
        pass
    os._exit(1)


def _end() -> None:
    global _ending
    _ending = threading.get_ident()
    if not _wait(_PATIENCE):
        _interrupt_operators()
        if not _wait(_LAST_PATIENCE):
            _stop()
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
