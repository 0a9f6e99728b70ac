# SPDX-License-Identifier: Apache-2.0
"""Tensors of QSymmS4: two elements in a byte, the first in the low half. Arrays have them as int8 from -8 to 7."""

from __future__ import annotations


from . import errors

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

    Array = np.ndarray[Any, Any]

NAME = "QSymmS4"
LOWEST, HIGHEST = -8, 7


def pack(array: Array, what: str) -> Array:
    """The bytes of the tensor, uint8 of one dimension.

    Raises:
        InvalidArgumentError: an element does not fit; `what` names the tensor.
    """
    import numpy as np

    if array.size != 0 and not LOWEST <= array.min() <= array.max() <= HIGHEST:
        raise errors.InvalidArgumentError(
            f"{what} has elements from {LOWEST} to {HIGHEST}; it was given {array.min()} to {array.max()}"
        )
    halves = np.zeros(array.size + array.size % 2, np.uint8)
    halves[: array.size] = array.reshape(-1) & 0xF
    packed: Array = halves[0::2] | halves[1::2] << 4
    return packed


def unpack(packed: Array, shape: tuple[int, ...]) -> Array:
    """The elements of a tensor of this shape."""
    import numpy as np

    halves = np.stack([packed & 0xF, packed >> 4], 1).reshape(-1)[: int(np.prod(shape))]
    elements: Array = ((halves ^ 8).astype(np.int8) - 8).astype(np.int8).reshape(shape)
    return elements
