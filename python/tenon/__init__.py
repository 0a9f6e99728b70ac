# SPDX-License-Identifier: Apache-2.0
"""Tenon: neural networks from TensorFlow Lite and ONNX files, run on the CPU.

    import numpy as np, tenon
    model = tenon.Model("model.tflite")
    result = model(np.zeros((1, 224, 224, 3), np.float32))

Importing the package loads neither numpy nor the library; both are loaded when they are first needed.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it as true; importing typing would take most of the time
if TYPE_CHECKING:
    from typing import Any

    from . import enums, errors
    from ._runner import Bound
    from .cancellation import Cancellation
    from .delegate import delegate_path
    from .errors import (
        BackendUnavailableError,
        CancelledError,
        ClosedError,
        DTypeError,
        Error,
        ForkedError,
        ImportFailedError,
        InvalidArgumentError,
        InvalidDataError,
        InvalidGraphError,
        InvalidLayerError,
        LibraryNotFoundError,
        LimitExceededError,
        NotFoundError,
        OutOfMemoryError,
        UnsupportedError,
    )
    from .model import Model, Session
    from .network import Network, Shape, Value
    from .operators import Layer, Operator
    from .runtime import Runtime, default_runtime
    from .tensor_info import Quantization, TensorInfo
    from .tensor_metadata import TensorMetadata

    __version__: str
    """The version of the library, "major.minor.patch"."""

_MODULES = {
    "_runner": ("Bound",),
    "cancellation": ("Cancellation",),
    "delegate": ("delegate_path",),
    "errors": (
        "BackendUnavailableError",
        "CancelledError",
        "ClosedError",
        "DTypeError",
        "Error",
        "ForkedError",
        "ImportFailedError",
        "InvalidArgumentError",
        "InvalidDataError",
        "InvalidGraphError",
        "InvalidLayerError",
        "LibraryNotFoundError",
        "LimitExceededError",
        "NotFoundError",
        "OutOfMemoryError",
        "UnsupportedError",
    ),
    "model": ("Model", "Session"),
    "network": ("Network", "Shape", "Value"),
    "operators": ("Layer", "Operator"),
    "runtime": ("Runtime", "default_runtime"),
    "tensor_info": ("Quantization", "TensorInfo"),
    "tensor_metadata": ("TensorMetadata",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "BackendUnavailableError",
    "Bound",
    "Cancellation",
    "CancelledError",
    "ClosedError",
    "DTypeError",
    "Error",
    "ForkedError",
    "ImportFailedError",
    "InvalidArgumentError",
    "InvalidDataError",
    "InvalidGraphError",
    "InvalidLayerError",
    "Layer",
    "LibraryNotFoundError",
    "LimitExceededError",
    "Model",
    "Network",
    "NotFoundError",
    "Operator",
    "OutOfMemoryError",
    "Quantization",
    "Runtime",
    "Session",
    "Shape",
    "TensorInfo",
    "TensorMetadata",
    "UnsupportedError",
    "Value",
    "default_runtime",
    "delegate_path",
    "enums",
    "errors",
]


if not TYPE_CHECKING:  # type checkers would take it that there is any name

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name == "__version__":
            value = import_module("._ffi", __name__).lib.tenon_version().decode()
        elif name in ("enums", "errors"):
            value = import_module(f".{name}", __name__)
        elif name in _MODULE_OF:
            value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
