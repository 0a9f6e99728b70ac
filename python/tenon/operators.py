# SPDX-License-Identifier: Apache-2.0
"""Operators of the application, written in Python."""

from __future__ import annotations

import ctypes

from . import _ffi, _int4, errors
from .tensor_info import TensorInfo, from_c, to_shape

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Sequence

    import numpy as np

    from .tensor_info import ShapeLike

    Array = np.ndarray[Any, Any]
    """An array of numpy."""


def _write(text: str, target: Any, mark: str = "") -> None:
    """Writes a text where the library reads it, as far as there is room."""
    buffer = target.contents
    plain = text.replace("\0", "\ufffd").replace(_ffi.MARK, "")
    written = (mark + plain).encode("utf-8", "replace")[: buffer.capacity - 1].decode("utf-8", "ignore")
    data = written.encode("utf-8") + b"\0"
    ctypes.memmove(buffer.data, data, len(data))


def _keep(raised: BaseException, target: Any) -> None:
    """Gives the library the text of an exception, which is kept until the error of the call is made."""
    try:
        text = str(raised)
    except Exception as reason:
        text = f"without a text, as str() of it raises {type(reason).__name__}"
    _write(f"{type(raised).__name__}: {text}", target, _ffi.keep_raised(raised))


class Layer:
    """A layer that runs an operator, as its functions see it. Valid during the call that it is passed to.

    Attributes:
        name: of the layer; in ``infer`` that of the operator.
        parameters: the bytes that the model has for the operator: in a .tflite file its custom options.
        inputs: infos of inputs; ``None`` where none is connected. Shapes are known, but in ``is_supported``.
        outputs: infos of outputs; in ``infer`` they have no meaning but their number.
        values: in ``infer``: the values of those inputs that ``value_inputs`` lists, else ``None`` for each.
    """

    __slots__ = ("inputs", "name", "outputs", "parameters", "values")

    def __init__(self, layer: Any, values: Any = None) -> None:
        self.name: str = (layer.name or b"").decode("utf-8", "replace")
        self.parameters = b""
        for i in range(layer.num_attributes):
            attribute = layer.attributes[i]
            if attribute.name == b"Options" and attribute.count != 0:
                self.parameters = ctypes.string_at(attribute.values, attribute.count)
        self.inputs = [from_c(layer.inputs[i].contents) if layer.inputs[i] else None for i in range(layer.num_inputs)]
        self.outputs = [from_c(layer.outputs[i].contents) for i in range(layer.num_outputs)]
        self.values: list[Array | None] = [
            None if not values or not values[i] or info is None else _view(values[i], info, is_writable=False)
            for i, info in enumerate(self.inputs)
        ]


def _view(address: int | None, info: TensorInfo, is_writable: bool) -> Array:
    """An array on memory of the library."""
    import numpy as np

    if info.type == _int4.NAME:
        raise errors.UnsupportedError(f"an operator in Python takes no tensors of {info.type}")
    shape: Any = info.shape
    dtype = info.dtype
    count = dtype.itemsize
    for size in shape:
        count *= size
    if address is None or count == 0:
        return np.empty(shape, dtype)
    memory: Any = (ctypes.c_char * count).from_address(address)
    array: Array = np.ndarray(shape, dtype, memory)
    array.flags.writeable = is_writable
    return array


class Operator:
    """An operator that models run by Python functions, on CpuAcc or CpuRef: the first of the model's backends.

    The functions are called from any thread, and from several at once as far as the GIL allows. The exception that one
    raises becomes the cause (``__cause__``) of the error of the run or load, whose text has it, too. KeyboardInterrupt and
    SystemExit are raised themselves.

    Args:
        name: in models; in a .tflite file the custom_code.
        run: ``run(layer, inputs, outputs)`` computes the arrays `outputs` from the arrays `inputs`, which are read-only
            and ``None`` where not connected. All of them are valid during the call only. With ``late_outputs``:
            ``run(layer, inputs)`` returns the arrays.
        infer: ``infer(layer)`` returns the shape of the output, or a list of the shapes of several. Not needed with
            ``late_outputs``.
        value_inputs: inputs whose values `infer` needs, ``layer.values``.
        late_outputs: only `run` knows the shapes of outputs.
        is_supported: ``is_supported(layer)`` returns ``None`` or ``True`` if the operator takes the layer, else the
            reason why not; ``False`` gives none.

    Raises:
        TypeError: an argument is of another type; the text names it.
        InvalidArgumentError: neither `infer` nor `late_outputs` is given, the name is empty, or `value_inputs` lists
            others than the first 32 inputs.
    """

    name: str
    """The name in models."""

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        infer: Callable[[Layer], Any] | None = None,
        *,
        value_inputs: Iterable[int] = (),
        late_outputs: bool = False,
        is_supported: Callable[[Layer], str | bool | None] | None = None,
    ) -> None:
        if not isinstance(name, str):
            raise _ffi.wrong_type("name", "a text", name)
        if not name or (infer is None and not late_outputs):
            raise errors.InvalidArgumentError(
                f"operator '{name}' needs a name, `run` and, unless late_outputs is true, `infer`"
            )
        for argument, function in (("run", run), ("infer", infer), ("is_supported", is_supported)):
            if not callable(function) and (function is not None or argument == "run"):
                raise _ffi.wrong_type(f"operator '{name}': {argument}", "a function", function)
        needed = "a list of the numbers of inputs"
        value_inputs = tuple(
            _ffi.to_integer("a number in value_inputs", i) for i in _ffi.to_tuple("value_inputs", needed, value_inputs)
        )
        if any(not 0 <= i < 32 for i in value_inputs):
            raise errors.InvalidArgumentError(f"operator '{name}': value_inputs lists inputs from 0 to 31")
        self.name = name
        self._given = (run, infer, value_inputs, late_outputs, is_supported)
        self._run = run
        self._infer = infer
        self._is_supported = is_supported
        #: tenon_operator. Whatever the library makes of it has to keep this object alive.
        self._c = _ffi.COperator(
            struct_size=ctypes.sizeof(_ffi.COperator),
            name=_ffi.text_bytes(name),
            value_inputs=sum(1 << i for i in set(value_inputs)),
            has_late_outputs=late_outputs,
            run=_ffi.RunFunction(self._run_late_layer if late_outputs else self._run_layer),
        )
        if infer is not None:
            self._c.infer_shapes = _ffi.InferFunction(self._infer_layer)
        if is_supported is not None:
            self._c.is_supported = _ffi.IsSupportedFunction(self._support_layer)

    def _infer_layer(self, _self: int, layer: Any, values: Any, outputs: Any, error: Any) -> int:
        try:
            asked = Layer(layer.contents, values)
            assert self._infer is not None
            answer = self._infer(asked)
            for i, shape in enumerate(_shapes(answer, len(asked.outputs))):
                outputs[i].rank = len(shape)
                for k, size in enumerate(shape):
                    outputs[i].dims[k] = size
        except BaseException as raised:  # passed on by the library
            _keep(raised, error)
            return _ffi.INVALID_LAYER
        return _ffi.OK

    def _support_layer(self, _self: int, layer: Any, reason: Any) -> int:
        try:
            assert self._is_supported is not None
            refusal = self._is_supported(Layer(layer.contents))
            if type(refusal).__name__ in ("bool", "bool_"):  # also those of numpy
                refusal = bool(refusal)
            if refusal is None or refusal is True:
                return _ffi.OK
            _write("is_supported() gave no reason" if refusal is False else str(refusal), reason)
            return _ffi.UNSUPPORTED_PARAMETERS
        except BaseException as raised:
            _keep(raised, reason)
            return _ffi.UNSUPPORTED_PARAMETERS

    def _run_layer(self, _self: int, layer: Any, args: Any, error: Any) -> int:
        try:
            known = Layer(layer.contents)
            memory = args.contents
            outputs = [_view(memory.outputs[i], info, True) for i, info in enumerate(known.outputs)]
            self._run(known, _inputs(known, memory), outputs)
        except BaseException as raised:
            _keep(raised, error)
            return _ffi.ERROR
        return _ffi.OK

    def _run_late_layer(self, _self: int, layer: Any, args: Any, error: Any) -> int:
        try:
            known = Layer(layer.contents)
            answer = self._run(known, _inputs(known, args.contents))
            results = list(answer) if isinstance(answer, (list, tuple)) else [answer]
            if len(results) != len(known.outputs):
                raise errors.InvalidArgumentError(
                    f"run() returned {len(results)} arrays; the layer has {len(known.outputs)} outputs"
                )
            late = args.contents.late_outputs.contents
            for i, (result, info) in enumerate(zip(results, known.outputs)):
                status = _write_late(late, i, result, info, error)
                if status != _ffi.OK:
                    return status
        except BaseException as raised:
            _keep(raised, error)
            return _ffi.ERROR
        return _ffi.OK

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.name, *self._given))


def _restore(name: str, run: Any, infer: Any, value_inputs: Any, late_outputs: bool, is_supported: Any) -> Operator:
    return Operator(name, run, infer, value_inputs=value_inputs, late_outputs=late_outputs, is_supported=is_supported)


def _inputs(layer: Layer, memory: Any) -> list[Array | None]:
    return [
        None if info is None else _view(memory.inputs[i], info, is_writable=False)
        for i, info in enumerate(layer.inputs)
    ]


def _shapes(answer: Any, count: int) -> Sequence[tuple[int, ...]]:
    """The shapes that `infer` returned: one, or a list of several."""
    is_single = isinstance(answer, (list, tuple)) and not any(isinstance(part, (list, tuple)) for part in answer)
    if not isinstance(answer, (list, tuple)):
        raise TypeError(f"infer() returned {answer!r}; it must be a shape, or a list of shapes")
    listed: Sequence[ShapeLike] = [answer] if is_single and (answer or count == 1) else answer
    if len(listed) != count:
        raise errors.InvalidArgumentError(f"infer() returned {len(listed)} shapes; the layer has {count} outputs")
    shapes: list[tuple[int, ...]] = []
    for shape in listed:
        sizes = to_shape(shape)
        if sizes is None or None in sizes or len(sizes) > _ffi.MAX_RANK:
            raise errors.InvalidArgumentError(
                f"infer() returned the shape {shape!r}; all sizes must be known, and be at most {_ffi.MAX_RANK}"
            )
        shapes.append(sizes)  # type: ignore[arg-type]
    return shapes


def _write_late(late: Any, index: int, result: Any, info: TensorInfo, error: Any) -> int:
    """Copies an array that `run` returned to memory that the library gives for it."""
    import numpy as np

    array = np.asarray(result)
    if array.dtype != info.dtype:
        raise errors.DTypeError(f"run() returned an array of {array.dtype}; output {index} is of {info.dtype}")
    dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    memory = ctypes.c_void_p()
    status: int = late.allocate(late.self, index, array.ndim, dims, ctypes.pointer(memory), error)
    if status == _ffi.OK and array.nbytes != 0:
        source = np.ascontiguousarray(array)
        ctypes.memmove(memory, source.ctypes.data, source.nbytes)
    return status
