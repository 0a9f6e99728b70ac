# SPDX-License-Identifier: Apache-2.0
"""Descriptions of tensors: element type, shape, quantization."""

from __future__ import annotations

import ctypes
import math
import operator

from . import _ffi, _int4, errors

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Iterable, NoReturn, Sequence, Union

    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike

    ShapeLike = Union[Sequence[Union[int, None]], None]
    """Sizes, outermost first. ``None`` or -1 is a size that only a run tells, ``None`` as a whole an unknown rank."""

#: Element types of the library by their numbers: name, and numpy's name of the elements.
TYPES: dict[int, tuple[str, str]] = {
    0: ("Float16", "float16"),
    1: ("Float32", "float32"),
    2: ("QAsymmU8", "uint8"),
    3: ("Signed32", "int32"),
    4: ("Boolean", "bool"),
    5: ("QSymmS16", "int16"),
    6: ("QSymmS8", "int8"),
    7: ("QAsymmS8", "int8"),
    8: ("BFloat16", "bfloat16"),
    9: ("Signed64", "int64"),
    10: ("Float64", "float64"),
    11: ("Signed8", "int8"),
    12: ("Signed16", "int16"),
    13: ("Unsigned8", "uint8"),
    14: ("Unsigned16", "uint16"),
    15: ("Unsigned32", "uint32"),
    16: ("Unsigned64", "uint64"),
    17: ("QSymmS4", "int8"),
    18: ("Complex64", "complex64"),
    19: ("Complex128", "complex128"),
}
_BY_NAME = {name: number for number, (name, _) in TYPES.items()}
_PLAIN = {numpy_name: number for number, (name, numpy_name) in TYPES.items() if not name.startswith("Q")}
#: Types of quantized tensors by numpy's name of the elements; one scale, several scales.
_QUANTIZED = {"uint8": (2, 2), "int8": (7, 6), "int16": (5, 5)}


class Quantization:
    """How stored numbers stand for real ones: ``real = scale * (stored - zero_point)``.

    Does not change.

    Args:
        scales: one scale, one for each index of ``axis``, or one for each block.
        zero_points: one for all scales, or as many as scales: integers of 32 bits.
        axis: the dimension that has a scale for each index, or along which blocks lie; ``None`` for one scale.
        block_size: this many neighbouring elements along ``axis`` share a scale. The scales are in the order of the
            elements of a tensor of which each stands for a block. ``None``: there are no blocks.

    Raises:
        InvalidArgumentError: there is no scale, another number of zero points or one of more bits, or several scales
            or blocks and no axis; a scale is not above 0 (of blocks: not below) and finite in float32; the axis is not
            from 0 to 7, or the block size not from 1 to 2**32 - 1.
        TypeError: an argument is no number or list of numbers.
    """

    __slots__ = ("axis", "block_size", "scales", "zero_points")

    scales: tuple[float, ...]
    """One scale, one for each index of :attr:`Quantization.axis`, or one for each block."""
    zero_points: tuple[int, ...]
    """As many as scales."""
    axis: int | None
    """The dimension that has a scale for each index, or along which blocks lie; ``None`` for one scale."""
    block_size: int | None
    """The elements along the axis that share a scale; ``None`` where there are no blocks."""

    def __init__(
        self,
        scales: float | Iterable[float],
        zero_points: int | Iterable[int] = 0,
        axis: int | None = None,
        block_size: int | None = None,
    ) -> None:
        points = _numbers("zero_points", zero_points, operator.index)
        self._set(
            _numbers("scales", scales, float),
            points,
            None if axis is None else _ffi.to_integer("axis", axis),
            None if block_size is None else _ffi.to_integer("block_size", block_size),
        )
        if not self.scales or len(self.zero_points) != len(self.scales):
            raise errors.InvalidArgumentError(
                f"a quantization needs a scale and a zero point for each: it has {len(self.scales)} scales and "
                f"{len(self.zero_points)} zero points"
            )
        if any(not -(2**31) <= point < 2**31 for point in self.zero_points):
            raise errors.InvalidArgumentError(f"zero points have 32 bits: {self.zero_points!r}")
        if (len(self.scales) > 1 or block_size is not None) and axis is None:
            raise errors.InvalidArgumentError(
                f"{len(self.scales)} scales need an axis" if block_size is None else "blocks need an axis"
            )
        if self.block_size is not None and not 1 <= self.block_size < 2**32:
            raise errors.InvalidArgumentError(f"a block has 1 to 2**32 - 1 elements, not {self.block_size}")
        if self.axis is not None and not 0 <= self.axis < _ffi.MAX_RANK:
            raise errors.InvalidArgumentError(f"the axis of a quantization is from 0 to 7, not {self.axis}")
        may_be_0 = self.block_size is not None  # of a block of zeros
        for scale in self.scales:
            rounded = ctypes.c_float(scale).value
            if not 0 <= rounded < float("inf") or (rounded == 0 and not may_be_0):
                raise errors.InvalidArgumentError(f"scales are above 0 and finite in float32, not {self.scales!r}")

    def _set(
        self, scales: tuple[float, ...], zero_points: tuple[int, ...], axis: int | None, block_size: int | None
    ) -> None:
        object.__setattr__(self, "scales", scales)
        object.__setattr__(self, "zero_points", zero_points * (len(scales) if len(zero_points) == 1 else 1))
        object.__setattr__(self, "axis", axis)
        object.__setattr__(self, "block_size", block_size)

    def __setattr__(self, name: str, _: object) -> NoReturn:
        raise AttributeError(f"a quantization does not change: '{name}' is set where it is made")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a quantization does not change: '{name}' stays")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore_quantization, self._key())

    def _key(self) -> tuple[Any, ...]:
        return (self.scales, self.zero_points, self.axis, self.block_size)

    def __repr__(self) -> str:
        if self.axis is None:
            return f"Quantization(scales={self.scales[0]!r}, zero_points={self.zero_points[0]!r})"
        blocks = "" if self.block_size is None else f", block_size={self.block_size!r}"
        return f"Quantization(scales={self.scales!r}, zero_points={self.zero_points!r}, axis={self.axis!r}{blocks})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantization):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _restore_quantization(
    scales: tuple[float, ...], zero_points: tuple[int, ...], axis: int | None, block_size: int | None = None
) -> Quantization:
    """One that a model has: whatever it is."""
    made = Quantization.__new__(Quantization)
    made._set(scales, zero_points, axis, block_size)
    return made


def _numbers(argument: str, values: Any, convert: Any) -> tuple[Any, ...]:
    try:
        return (convert(values),)
    except (TypeError, ValueError):  # a text is no number, and its characters are none either
        pass
    try:
        return tuple(convert(value) for value in values)
    except (TypeError, ValueError):
        raise _ffi.wrong_type(argument, "a number or a list of numbers", values) from None


def to_shape(shape: ShapeLike) -> tuple[int | None, ...] | None:
    """A shape of Python's: -1 is an unknown size, too."""
    if shape is None:
        return None
    sizes: list[int | None] = []
    for size in _ffi.to_tuple("a shape", "a list of integers", shape):
        number = _ffi.UNKNOWN_DIM if size is None else _ffi.to_integer("a size", size)
        if not _ffi.UNKNOWN_DIM <= number < 2**63:
            raise errors.InvalidArgumentError(f"shape {tuple(shape)!r} has the size {size!r}")
        sizes.append(None if number == _ffi.UNKNOWN_DIM else number)
    return tuple(sizes)


def _type_number(dtype: Any, quantization: Quantization | None) -> int:
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", getattr(dtype, "__name__", None))
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name == "bool_":
        name = "bool"
    if quantization is not None and name in _QUANTIZED:
        return _QUANTIZED[name][quantization.axis is not None]
    if name not in _PLAIN:
        raise errors.InvalidArgumentError(
            f"there is no element type {dtype!r}; there are {', '.join(sorted(_PLAIN))} and the names of Tenon: "
            f"{', '.join(_BY_NAME)}"
        )
    return _PLAIN[name]


class TensorInfo:
    """An input or output of a model, or a tensor of a network that is built. Does not change.

    Args:
        shape: sizes; ``None`` or -1 for one that is unknown; ``None`` as a whole for an unknown rank.
        dtype: an element type: of numpy or its name ("float32"), or one of Tenon by its name ("QAsymmS8"). "int8",
            "uint8" and "int16" with a quantization are the quantized types.
        name: of an input or output.
        quantization: of quantized types.

    Raises:
        InvalidArgumentError: there is no such element type; a size is below -1 or does not fit into 63 bits; the shape
            does not have the axis of the quantization, or has another size there than there are scales or blocks.
    """

    __slots__ = ("_number", "name", "quantization", "shape")

    name: str
    """Of an input or output; else empty."""
    shape: tuple[int | None, ...] | None
    """Sizes, ``None`` where only a run tells; ``None`` where the rank is unknown."""
    quantization: Quantization | None
    """Of quantized types; ``None`` of others."""
    _number: int

    def __init__(
        self,
        shape: ShapeLike,
        dtype: DTypeLike | str = "float32",
        *,
        name: str = "",
        quantization: Quantization | None = None,
    ) -> None:
        if not isinstance(name, str):
            raise _ffi.wrong_type("name", "a text", name)
        if quantization is not None and not isinstance(quantization, Quantization):
            raise _ffi.wrong_type("quantization", "a tenon.Quantization", quantization)
        sizes = to_shape(shape)
        if quantization is not None and sizes is not None:
            _check_axis(f"the shape of tensor '{name}' is {sizes!r}", quantization, sizes)
        self._set(sizes, _type_number(dtype, quantization), name, quantization)

    def _set(
        self, shape: tuple[int | None, ...] | None, number: int, name: str, quantization: Quantization | None
    ) -> None:
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "quantization", quantization)
        object.__setattr__(self, "_number", number)

    def __setattr__(self, name: str, _: object) -> NoReturn:
        raise AttributeError(f"a TensorInfo does not change: '{name}' is set where it is made")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a TensorInfo does not change: '{name}' stays")

    @property
    def type(self) -> str:
        """The element type as the library calls it: "Float32", "QAsymmS8"."""
        return TYPES[self._number][0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of arrays. Imports numpy.

        BFloat16 is ``ml_dtypes.bfloat16`` where that package is installed, else uint16. QSymmS4 is int8 from -8 to 7.
        """
        import numpy as np

        name = TYPES[self._number][1]
        if name == "bfloat16":
            try:
                import ml_dtypes
            except ImportError:
                return np.dtype(np.uint16)
            bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
            return bfloat16
        return np.dtype(name)

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known."""
        return self.shape is not None and None not in self.shape

    def quantize(self, array: ArrayLike) -> np.ndarray[Any, Any]:
        """Real numbers as the tensor stores them: rounded to the nearest, halves away from zero, and clamped.

        Args:
            array: floats, of the tensor's shape where it has a scale for each index of an axis.

        Returns:
            A new array of :attr:`TensorInfo.dtype`.

        Raises:
            InvalidArgumentError: the tensor is not quantized, a number is none (NaN), or the array lacks the dimension
                of several scales, or has another size there than there are scales.
        """
        import numpy as np

        scales, zero_points = self._parameters(np, np.shape(array))
        # Quotients are those of float32, as in the operator Quantize. All that follows is exact.
        stored = (np.asarray(array, np.float32) / scales).astype(np.float64)
        if np.isnan(stored).any():
            raise errors.InvalidArgumentError(f"tensor '{self.name}' cannot store NaN: it is {self.type}")
        stored = np.clip(stored, -(2.0**40), 2.0**40)
        whole = np.trunc(stored)
        whole += np.where(np.abs(stored - whole) >= 0.5, np.sign(stored), 0.0)
        limits = np.iinfo(self.dtype)
        lowest, highest = (_int4.LOWEST, _int4.HIGHEST) if self.type == _int4.NAME else (limits.min, limits.max)
        result: np.ndarray[Any, Any] = np.clip(whole + zero_points, lowest, highest).astype(self.dtype)
        return result

    def dequantize(self, array: ArrayLike) -> np.ndarray[Any, Any]:
        """The real numbers that stored ones stand for.

        Args:
            array: stored numbers, of the tensor's shape where it has a scale for each index of an axis.

        Returns:
            A new array of float32 of the same shape.

        Raises:
            InvalidArgumentError: the tensor is not quantized, or the array lacks the dimension of several scales, or has
                another size there than there are scales.
        """
        import numpy as np

        scales, zero_points = self._parameters(np, np.shape(array))
        whole = np.asarray(array).astype(np.int64) - zero_points
        result: np.ndarray[Any, Any] = whole.astype(np.float32) * scales
        return result

    def _parameters(self, np: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
        """Scales and zero points in a form that is broadcast to an array of this shape."""
        if self.quantization is None:
            raise errors.InvalidArgumentError(f"tensor '{self.name}' is not quantized: it is {self.type}")
        axis, block = self.quantization.axis, self.quantization.block_size
        form: tuple[int, ...] = ()
        if axis is not None:
            _check_axis(f"an array of shape {shape!r} was given for tensor '{self.name}'", self.quantization, shape)
            form = tuple(-1 if i == axis else 1 for i in range(len(shape)))
        if block is not None:
            form = tuple(size // block if i == axis else size for i, size in enumerate(shape))
        scales = np.asarray(self.quantization.scales, np.float32).reshape(form)
        zero_points = np.asarray(self.quantization.zero_points, np.int64).reshape(form)
        if block is not None:
            return np.repeat(scales, block, axis), np.repeat(zero_points, block, axis)
        return scales, zero_points

    def __repr__(self) -> str:
        name = f"{self.name!r}: " if self.name else ""
        shape = " of unknown rank"
        if self.shape is not None:
            shape = f" [{', '.join('?' if size is None else str(size) for size in self.shape)}]"
        quantization = "" if self.quantization is None else f" {self.quantization!r}"
        return f"<TensorInfo {name}{self.type}{shape}{quantization}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorInfo):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return (self.name, self.shape, self._number, self.quantization)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.shape, self.type, self.name, self.quantization))


def _restore(
    shape: tuple[int | None, ...] | None, dtype: str, name: str, quantization: Quantization | None
) -> TensorInfo:
    """One that a model has: whatever it is."""
    made = TensorInfo.__new__(TensorInfo)
    made._set(shape, _BY_NAME[dtype], name, quantization)
    return made


def _check_axis(given: str, quantization: Quantization, shape: tuple[int | None, ...]) -> None:
    """Raises InvalidArgumentError if a quantization is not for this shape; `given` says where it is from."""
    axis, count = quantization.axis, len(quantization.scales)
    if axis is not None and quantization.block_size is not None:
        _check_blocks(given, quantization, shape)
    elif axis is not None and (axis >= len(shape) or (count > 1 and shape[axis] not in (None, count))):
        raise errors.InvalidArgumentError(
            f"{given}; the quantization has {count} scale{'s'[: count - 1]} along dimension {axis}"
        )


def _check_blocks(given: str, quantization: Quantization, shape: tuple[int | None, ...]) -> None:
    axis, block, count = quantization.axis or 0, quantization.block_size or 1, len(quantization.scales)
    size = shape[axis] if axis < len(shape) else -1
    sizes = [one for one in shape if one is not None]
    is_known = len(sizes) == len(shape)
    if size == -1 or (size is not None and size % block) or (is_known and math.prod(sizes) != count * block):
        raise errors.InvalidArgumentError(
            f"{given}; the quantization has {count} scale{'s'[: count - 1]} for blocks of {block} along dimension {axis}"
        )


def from_c(info: Any, name: str = "") -> TensorInfo:
    """A tenon_tensor_info."""
    shape: list[int | None] | None = None
    if info.rank != _ffi.UNKNOWN_RANK:
        shape = [None if info.dims[i] == _ffi.UNKNOWN_DIM else info.dims[i] for i in range(info.rank)]
    quantization = None
    if info.num_scales != 0:
        quantization = _restore_quantization(
            tuple(info.scales[i] for i in range(info.num_scales)),
            tuple(info.zero_points[i] for i in range(info.num_zero_points)) or (0,),
            info.quantization_dim if info.quantization_dim >= 0 else None,
            (info.quantization_block if info.struct_size > _ffi.CTensorInfo.quantization_block.offset else 0) or None,
        )
    return _restore(None if shape is None else tuple(shape), TYPES[info.type][0], name, quantization)


def to_dims(shape: tuple[int | None, ...]) -> Any:
    """int64_t[] of a shape."""
    sizes = [_ffi.UNKNOWN_DIM if size is None else size for size in shape]
    return (ctypes.c_int64 * len(sizes))(*sizes)


def to_c(info: TensorInfo) -> _ffi.CTensorInfo:
    """A tenon_tensor_info, which keeps alive all that it points to."""
    made = _ffi.CTensorInfo(struct_size=ctypes.sizeof(_ffi.CTensorInfo), type=info._number, quantization_dim=-1)
    if info.shape is None:
        made.rank = _ffi.UNKNOWN_RANK
    else:
        made.rank = len(info.shape)
        made.dims = to_dims(info.shape)
    if info.quantization is not None:
        count = len(info.quantization.scales)
        made.num_scales = made.num_zero_points = count
        made.scales = (ctypes.c_float * count)(*info.quantization.scales)
        made.zero_points = (ctypes.c_int32 * count)(*info.quantization.zero_points)
        made.quantization_dim = -1 if info.quantization.axis is None else info.quantization.axis
        made.quantization_block = info.quantization.block_size or 0
    return made


def ports(handle: int, kind: str) -> tuple[TensorInfo, ...]:
    """Inputs or outputs of a model or network: `kind` is "model_input", "network_output" and the like."""
    owner, port = kind.split("_")
    count = getattr(_ffi.lib, f"tenon_{owner}_num_{port}s")(handle)
    name, info = ctypes.c_char_p(), ctypes.POINTER(_ffi.CTensorInfo)()
    infos = []
    for index in range(count):
        _ffi.call(getattr(_ffi.lib, f"tenon_{kind}"), handle, index, ctypes.addressof(name), ctypes.addressof(info))
        infos.append(from_c(info.contents, (name.value or b"").decode("utf-8", "replace")))
    return tuple(infos)
