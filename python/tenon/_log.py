# SPDX-License-Identifier: Apache-2.0
"""Messages of the library as records of the logger "tenon"."""

from __future__ import annotations

import ctypes
import os
import sys
import threading

from . import _exit, _ffi

#: Levels of logging by tenon_severity: 5, DEBUG, INFO, WARNING, ERROR, CRITICAL.
_LEVELS = (5, 10, 20, 30, 40, 50)
_DEFAULT_LEVEL = 30

_lock = threading.Lock()
_process: int | None = None  # the process that set the function
_severity: int | None = None


def _consume(_self: int, severity: int, text: bytes) -> None:
    import logging

    logging.getLogger("tenon").log(
        _LEVELS[min(severity, len(_LEVELS) - 1)], "%s", _ffi.without_marks(text.decode("utf-8", "replace"))
    )


_consume_function = _ffi.LogFunction(_consume)


def _release() -> None:
    """At the interpreter's end no thread may call into it any more, and messages of threads that still run are dropped.
    In a forked child the library's lock may have no owner."""
    if _process == os.getpid():
        _ffi.lib.tenon_log_set_severity(len(_LEVELS) - 1, None)
        _ffi.lib.tenon_log_set_function(_ffi.LogFunction(), None, None)


def _level() -> int:
    """The level of the logger. A program that has not imported logging, which takes longer than all of this package,
    has set none."""
    logging = sys.modules.get("logging")
    return _DEFAULT_LEVEL if logging is None else logging.getLogger("tenon").getEffectiveLevel()


def follow() -> None:
    """Has the library's messages go to the logger, and leaves out those that it would drop."""
    global _process, _severity
    with _lock:
        if _process is None:
            error = ctypes.c_void_p()
            status = _ffi.lib.tenon_log_set_function(_consume_function, None, ctypes.addressof(error))
            if status != _ffi.OK:
                raise _ffi.error_of(status, error)
            _process = os.getpid()
            _exit.at_end(_release)
        level = _level()
        severity = next((i for i, own in enumerate(_LEVELS) if own >= level), len(_LEVELS) - 1)
        if severity != _severity:
            _ffi.call(_ffi.lib.tenon_log_set_severity, severity)
            _severity = severity


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


_ffi.on_fork(_renew_lock)
