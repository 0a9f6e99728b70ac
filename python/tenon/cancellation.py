# SPDX-License-Identifier: Apache-2.0
"""Ending runs early."""

from __future__ import annotations

from . import _ffi

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import NoReturn


class Cancellation:
    """Ends the runs that it is given to: ``model(x, cancellation=cancellation)``. May be used from any thread, and for
    any number of runs at once.

    Raises:
        ForkedError: a method is called in a child of the process that made it.
    """

    def __init__(self) -> None:
        self._handle = _ffi.Handle(_ffi.make(_ffi.lib.tenon_cancellation_create), _ffi.lib.tenon_cancellation_destroy)

    def __reduce__(self) -> NoReturn:
        import pickle

        raise pickle.PicklingError("a cancellation is not copied or pickled: it is of one process")

    def cancel(self) -> None:
        """Ends runs under way before their next layer, and those that begin later at once: they raise CancelledError.
        States of models stay as they were before the run."""
        _ffi.lib.tenon_cancellation_cancel(self._handle.get())

    def reset(self) -> None:
        """Makes it as new: runs that begin later go to their end."""
        _ffi.lib.tenon_cancellation_reset(self._handle.get())
