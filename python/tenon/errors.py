# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the package, one class for each status of the library.

All are of :class:`Error` and carry the library's text. Where Python has an exception of the same meaning, the class is
one of it, too: ``except ValueError`` catches an :class:`InvalidArgumentError`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import ClassVar


class Error(Exception):
    """A call failed. ``str(error)`` says where, for which reason and, mostly, the remedy."""

    status: ClassVar[int] = 1
    """The number of the status in the C interface, ``tenon_status``."""


class InvalidArgumentError(Error, ValueError):
    """An argument, option, shape or size does not fit."""

    status = 2


class DTypeError(InvalidArgumentError, TypeError):
    """An array has another element type than the model; nothing is cast. The text names both types."""


class UnsupportedError(Error, NotImplementedError):
    """No backend runs a layer, or an operator is unknown. The text names all such layers."""

    status = 3


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""

    status = 4


class InvalidLayerError(Error, ValueError):
    """The parameters, or the shapes or values of the inputs of a layer contradict each other."""

    status = 5


class InvalidDataError(Error, ValueError):
    """A model file is corrupt or of no known format."""

    status = 6


class NotFoundError(Error, FileNotFoundError):
    """There is no such file."""

    status = 7


class InvalidGraphError(Error, ValueError):
    """A network is malformed."""

    status = 8


class BackendUnavailableError(Error):
    """A saved network is for a backend that the runtime does not have."""

    status = 9


class LimitExceededError(Error):
    """A model asks for more than a limit allows. The text names the limit."""

    status = 10


class CancelledError(Error):
    """A run was cancelled by its :class:`tenon.Cancellation`."""

    status = 11


class ImportFailedError(Error):
    """A backend cannot import memory of the caller as it is."""

    status = 12


class ForkedError(Error, RuntimeError):
    """The object was made before ``os.fork()``. Threads do not survive a fork: the child loads its models itself."""


class ClosedError(Error, ValueError):
    """The model or session was closed."""


class LibraryNotFoundError(Error, ImportError):
    """libtenon.so was not found, or is of another version of the C interface."""


_BY_STATUS: dict[int, type[Error]] = {
    cls.status: cls
    for cls in (
        Error,
        InvalidArgumentError,
        UnsupportedError,
        OutOfMemoryError,
        InvalidLayerError,
        InvalidDataError,
        NotFoundError,
        InvalidGraphError,
        BackendUnavailableError,
        LimitExceededError,
        CancelledError,
        ImportFailedError,
    )
}
