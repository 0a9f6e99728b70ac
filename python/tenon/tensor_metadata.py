# SPDX-License-Identifier: Apache-2.0
"""The metadata that .tflite models have about their inputs and outputs."""

from __future__ import annotations

import ctypes
from ctypes import addressof

from . import _ffi

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any


class TensorMetadata:
    """The metadata of an input or output of a .tflite model, see :attr:`tenon.Model.input_metadata`.

    Attributes:
        name: for people; "" where the model has none. Runs take the name that :class:`tenon.TensorInfo` has.
        description: for people; "" where the model has none.
        mean: with `std`: an input takes ``(x - mean) / std`` of values x as in pictures, 0 to 255. One number for all
            channels or one for each, as in the file, unchecked; none where the model has none.
        std: see `mean`.
        labels: label i names index i of an axis, mostly the last: a class. None where the model has none.
        value_labels: label i names the value i of an element. None where the model has none.
    """

    __slots__ = ("description", "labels", "mean", "name", "std", "value_labels")

    def __init__(self, c_metadata: Any) -> None:
        self.name: str = _to_text(c_metadata.name)
        self.description: str = _to_text(c_metadata.description)
        self.mean: tuple[float, ...] = tuple(c_metadata.means[: c_metadata.num_means])
        self.std: tuple[float, ...] = tuple(c_metadata.stds[: c_metadata.num_stds])
        self.labels: tuple[str, ...] = tuple(map(_to_text, c_metadata.labels[: c_metadata.num_labels]))
        self.value_labels: tuple[str, ...] = tuple(
            map(_to_text, c_metadata.value_labels[: c_metadata.num_value_labels])
        )

    def __repr__(self) -> str:
        return f"<TensorMetadata {self.name!r}: {len(self.labels or self.value_labels)} labels>"


def _to_text(text: bytes | None) -> str:
    return (text or b"").decode("utf-8", "replace")


def texts(network: _ffi.Handle) -> dict[str, str]:
    """The texts that an .onnx or .tflite model has about itself."""
    key, text = ctypes.c_char_p(), ctypes.c_char_p()
    by_key = {}
    for index in range(_ffi.lib.tenon_network_num_metadata(network.get())):
        _ffi.call(_ffi.lib.tenon_network_metadata, network.get(), index, addressof(key), addressof(text))
        by_key[_to_text(key.value)] = _to_text(text.value)
    return by_key


def of_ports(network: _ffi.Handle, kind: str) -> tuple[TensorMetadata, ...]:
    """The metadata of all inputs or outputs of a network: `kind` is "input" or "output"."""
    made = ctypes.POINTER(_ffi.CTensorMetadata)()
    listed = []
    for index in range(getattr(_ffi.lib, f"tenon_network_num_{kind}s")(network.get())):
        _ffi.call(getattr(_ffi.lib, f"tenon_network_{kind}_metadata"), network.get(), index, addressof(made))
        listed.append(TensorMetadata(made.contents))
    return tuple(listed)
