# SPDX-License-Identifier: Apache-2.0
"""One run: from arrays to the memory that the library reads and writes, with as few steps as Python allows."""

from __future__ import annotations

import ctypes
import math
import weakref
from ctypes import addressof, byref, c_char, c_size_t, c_void_p, sizeof

from . import _exit, _ffi, _int4, errors
from .cancellation import Cancellation
from .tensor_info import TensorInfo

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Callable, Sequence

    import numpy as np

    from ._runner import Runner

    Array = np.ndarray[Any, Any]

_OK = _ffi.OK
#: tenon_model_run as a function of its own, whose arguments are what byref() and from_param() make: ctypes has nothing to
#: convert.
run_model: Any = _ffi.lib["tenon_model_run"]
run_model.restype = ctypes.c_int32
_from_buffer: Any = c_char.from_buffer


class Port:
    """An input or output in a frame."""

    __slots__ = (
        "_dims",
        "address",
        "dtype",
        "has_loaded_shape",
        "info",
        "is_packed",
        "itemsize",
        "kind",
        "loaded_shape",
        "memory",
        "num_bytes",
        "shape",
        "tensor",
    )

    def __init__(self, info: TensorInfo, kind: str, tensor: _ffi.Tensor) -> None:
        self.info = info
        self.kind = kind
        self.is_packed = info.type == _int4.NAME
        self.dtype = info.dtype
        self.itemsize = self.dtype.itemsize
        self.tensor = tensor
        self.address = 0  # of the array of the latest run
        tensor.type = _ffi.ANY_TYPE  # arrays are checked here
        self._dims = (ctypes.c_int64 * _ffi.MAX_RANK)()
        self.loaded_shape = info.shape if info.is_static else None
        self.shape: tuple[int, ...] | None = None  # that the tensor has
        self.has_loaded_shape = False
        if self.loaded_shape is not None:
            self.set_shape(self.loaded_shape)  # type: ignore[arg-type]
            # Memory of an array of this shape. ctypes keeps an entry for each size that there ever was a type for.
            self.memory = c_char * max(math.prod(self.loaded_shape) * self.itemsize, 1)  # type: ignore[arg-type]

    def set_shape(self, shape: tuple[int, ...]) -> None:
        """Has the tensor say this shape from now on."""
        if len(shape) > _ffi.MAX_RANK:
            raise errors.InvalidArgumentError(
                f"{self.describe()} was given an array of {len(shape)} dimensions; tensors have at most "
                f"{_ffi.MAX_RANK}"
            )
        self.shape = None
        count = self.itemsize
        for i, size in enumerate(shape):
            self._dims[i] = size
            count *= size
        self.tensor.rank = len(shape)
        self.tensor.dims = addressof(self._dims)
        self.tensor.num_bytes = self.num_bytes = (count + 1) // 2 if self.is_packed else count
        self.has_loaded_shape = shape == self.loaded_shape
        self.shape = shape

    def describe(self) -> str:
        """For texts of errors."""
        return f"{self.kind} '{self.info.name}', {self.info.type},"


class Frame:
    """The structs of one run, and the objects that have to live as long as they do."""

    def __init__(self, runner: Runner) -> None:
        import numpy as np

        self.ndarray: Any = np.ndarray
        handle, session_handle = runner._handle, runner._session
        self.handle: Any = handle
        self.session_handle: Any = handle if session_handle is None else session_handle
        self.calls_back: bool = getattr(handle, "calls_back", False)
        model = handle.get()
        session = None if session_handle is None else session_handle.get()
        self._c_inputs = (_ffi.Tensor * len(runner.inputs))()
        self._c_outputs = (_ffi.Tensor * len(runner.outputs))()
        self.inputs = [Port(info, "input", t) for info, t in zip(runner.inputs, self._c_inputs)]
        self.outputs = [Port(info, "output", t) for info, t in zip(runner.outputs, self._c_outputs)]
        self.outputs_are_static = all(info.is_static for info in runner.outputs)
        self.error = c_void_p()
        self.failed: BaseException | None = None  # of run_with_options
        self.allocation = _Allocation(self.outputs)
        self.options = _ffi.RunOptions(
            struct_size=sizeof(_ffi.RunOptions), session=session, allocate=self.allocation.function
        )
        #: Arguments of tenon_model_run. Where there is no session, runs that need neither allocator nor cancellation
        #: go without options.
        self.arguments = (
            c_void_p.from_param(model),
            byref(self.options),
            c_size_t.from_param(len(self.inputs)),
            byref(self._c_inputs),
            c_size_t.from_param(len(self.outputs)),
            byref(self._c_outputs),
            byref(self.error),
        )
        self.plain_arguments: tuple[Any, ...] = self.arguments
        if session is None:
            self.plain_arguments = (self.arguments[0], None, *self.arguments[2:])
        #: See _quick_run.
        self.quick: Callable[[Any, Any], Any] | None = _quick_run(self)

    def run(self, arrays: Sequence[Any], out: Sequence[Any] | None, cancellation: Cancellation | None) -> list[Any]:
        """Runs once. `arrays` and `out` are in the model's order. Returns `out`, or new arrays."""
        if self.handle.value is None or self.session_handle.value is None:
            raise self.lost()
        is_static = self.outputs_are_static
        failure: BaseException | None = None  # of the allocator
        copies = []
        ndarray = self.ndarray
        for array, port in zip(arrays, self.inputs):
            if type(array) is not ndarray or (array.dtype is not port.dtype and array.dtype != port.dtype):
                array = to_array(array, port)
                copies.append(array)
            if array.shape != port.shape:
                port.set_shape(array.shape)
            try:
                address = addressof(_from_buffer(array))
            except (TypeError, ValueError, BufferError):  # read-only, of no bytes, or not contiguous
                if not array.flags.c_contiguous:
                    array = array.copy("C")
                    copies.append(array)
                address = array.__array_interface__["data"][0]
            port.tensor.data = port.address = address
            if not port.has_loaded_shape:
                is_static = False
        results: Any = out
        if out is not None:
            for array, port in zip(out, self.outputs):
                try:
                    if type(array) is not ndarray or array.dtype is not port.dtype:
                        raise TypeError
                    address = addressof(_from_buffer(array))
                except (TypeError, ValueError, BufferError):
                    address = writable_address(array, port, ndarray)
                for given in self.inputs:
                    if given.address < address + array.nbytes and address < given.address + given.num_bytes:
                        raise overlap(port, given)
                if is_static:
                    if array.shape != port.shape:
                        raise wrong_out_shape(port, array.shape, port.loaded_shape)
                    port.tensor.data = address
            if len(out) > 1:
                refuse_overlaps(out, self.outputs)
        elif is_static:
            results = []
            for port in self.outputs:
                memory = port.memory()
                results.append(ndarray(port.shape, port.dtype, memory))
                port.tensor.data = addressof(memory)
        if not is_static:
            self.allocation.begin(out)
            for port in self.outputs:
                port.tensor.data = None
                port.tensor.num_bytes = 0
        try:
            if is_static and cancellation is None and not self.calls_back:
                status = run_model(*self.plain_arguments)
            else:
                status = self.run_with_options(cancellation)
        finally:
            if not is_static:
                results, failure = self.allocation.end()
                for port in self.outputs:
                    port.tensor.num_bytes = port.num_bytes if port.shape is not None else 0
        if status != _OK or failure is not None:  # the library takes none for an output without elements
            try:
                raise self.failure(status, failure)
            finally:
                failure = None  # whose traceback has this function's variables
        return results  # type: ignore[no-any-return]

    def run_with_options(self, cancellation: Cancellation | None) -> int:
        """A run that may call back or be cancelled. Returns the status."""
        used = _exit.default_cancellation() if cancellation is None else cancellation
        if not isinstance(used, Cancellation):
            raise _ffi.wrong_type("cancellation", "a tenon.Cancellation", cancellation)
        self.options.cancellation = used._handle.get()
        try:
            with _exit.Call(used):
                status: int = run_model(*self.arguments)
                if status != _OK:
                    self.failed = _ffi.error_of(status, self.error)
        finally:
            self.options.cancellation = None
        return status

    def lost(self) -> errors.Error:
        """The exception for a frame whose handles must not be used."""
        lost: errors.Error = (self.handle if self.handle.value is None else self.session_handle).lost()
        return lost

    def failure(self, status: int, raised: BaseException | None = None) -> BaseException:
        """The exception for a run that failed; `raised` is the allocator's exception."""
        failed, self.failed = self.failed, None
        if failed is None and status != _OK:
            failed = _ffi.error_of(status, self.error)
        made = failed if raised is None else raised
        assert made is not None
        return made


def _quick_run(frame: Frame) -> Callable[[Any, Any], Any] | None:
    """The usual run, in two thirds of the time that the frame's takes: from an array of the shape that the model was
    loaded with to a new one, or to `out`. The function returns None, and has run nothing, for arguments that need more
    than their addresses taken. There is none for models with other numbers of inputs and outputs, with shapes that only
    a run tells, or that call back."""
    if len(frame.inputs) != 1 or len(frame.outputs) != 1 or frame.calls_back or not frame.outputs_are_static:
        return None
    (given,), (made,) = frame.inputs, frame.outputs
    if given.loaded_shape is None or given.is_packed or made.is_packed:
        return None
    # Variables of this function in place of attributes; none of them is the frame, which has the function.
    handle, session_handle, ndarray = frame.handle, frame.session_handle, frame.ndarray
    arguments, error = frame.plain_arguments, frame.error
    given_tensor, given_shape, given_dtype, given_bytes = given.tensor, given.shape, given.dtype, given.num_bytes
    made_tensor, made_shape, made_dtype, made_bytes = made.tensor, made.shape, made.dtype, made.num_bytes
    make_memory = made.memory

    def run(array: Any, out: Any) -> Any:
        if (
            type(array) is not ndarray
            or array.dtype is not given_dtype
            or array.shape != given_shape
            or not given.has_loaded_shape
            or handle.value is None
            or session_handle.value is None
        ):
            return None
        try:
            given_address = addressof(_from_buffer(array))
            if out is None:
                memory = make_memory()
                made_address = addressof(memory)
            elif type(out) is ndarray and out.dtype is made_dtype and out.shape == made_shape:
                made_address = addressof(_from_buffer(out))
                if given_address < made_address + made_bytes and made_address < given_address + given_bytes:
                    return None
            else:
                return None
        except (TypeError, ValueError, BufferError):  # read-only, of no bytes, or not contiguous
            return None
        given_tensor.data = given_address
        made_tensor.data = made_address
        status = run_model(*arguments)
        if status != _OK:
            raise _ffi.error_of(status, error)
        return ndarray(made_shape, made_dtype, memory) if out is None else out

    return run


class PackedFrame(Frame):
    """A frame of a model with inputs or outputs of QSymmS4. Their arrays of int8 have the packed bytes at the front."""

    def run(self, arrays: Sequence[Any], out: Sequence[Any] | None, cancellation: Cancellation | None) -> list[Any]:
        packed = [self._pack(array, port) if port.is_packed else array for array, port in zip(arrays, self.inputs)]
        if out is not None:
            for array, port in zip(out, self.outputs):
                writable_address(array, port, self.ndarray)
            refuse_overlaps(out, self.outputs)
        results = super().run(packed, None, cancellation)
        for i, port in enumerate(self.outputs):
            if port.is_packed:
                size = (results[i].size + 1) // 2
                results[i] = _int4.unpack(results[i].reshape(-1)[:size].view("uint8"), results[i].shape)
        if out is None:
            return results
        for array, result, port in zip(out, results, self.outputs):
            if array.shape != result.shape:
                raise wrong_out_shape(port, array.shape, result.shape)
            array[...] = result
        return list(out)

    def _pack(self, given: Any, port: Port) -> Any:
        array = to_array(given, port)
        whole = self.ndarray(array.shape, port.dtype)
        packed = _int4.pack(array, port.describe())
        whole.reshape(-1)[: packed.size] = packed.view(port.dtype)
        return whole


class _Allocation:
    """Memory for outputs whose shapes only the run knows."""

    def __init__(self, ports: list[Port]) -> None:
        import numpy as np

        self._empty: Any = np.empty
        self._ports = ports
        self._out: Sequence[Any] | None = None
        self._results: list[Any] = []
        self._failure: BaseException | None = None
        # The thunk has to know this object, which has the thunk: a weak reference leaves no cycle.
        this = weakref.ref(self)

        def allocate(_self: int, index: int, info: Any) -> int | None:
            owner = this()
            return None if owner is None else owner._allocate(index, info)

        self.function = _ffi.AllocateFunction(allocate)

    def begin(self, out: Sequence[Any] | None) -> None:
        self._out = out
        self._results = [None] * len(self._ports)
        self._failure = None

    def end(self) -> tuple[list[Any], BaseException | None]:
        results, failure = self._results, self._failure
        self._out, self._results, self._failure = None, [], None
        return results, failure

    def _allocate(self, index: int, c_info: Any) -> int | None:
        try:
            port = self._ports[index]
            info = c_info.contents
            shape = tuple(info.dims[: info.rank])
            if self._out is not None:
                array = self._out[index]
                if array.shape != shape:
                    raise wrong_out_shape(port, array.shape, shape)
            else:
                array = self._empty(shape, port.dtype)
            self._results[index] = array
            address: int = array.__array_interface__["data"][0]
            return address
        except BaseException as raised:  # to be raised where the run was called
            self._failure = raised
            return None


def overlap(port: Port, given: Port) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        f"{port.describe()} was given memory that overlaps with that of input '{given.info.name}'"
    )


def refuse_overlaps(out: Sequence[Array], ports: list[Port]) -> None:
    """Raises InvalidArgumentError if two of these arrays, which are C-contiguous, share memory."""
    latest_end, latest = 0, ports[0]
    spans = [(array.__array_interface__["data"][0], array.nbytes, i) for i, array in enumerate(out) if array.nbytes]
    for begin, size, index in sorted(spans):
        if begin < latest_end:
            raise errors.InvalidArgumentError(
                f"{ports[index].describe()} was given memory that overlaps with that of output '{latest.info.name}'"
            )
        latest_end, latest = begin + size, ports[index]


def wrong_out_shape(port: Port, given: Any, needed: Any) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        f"{port.describe()} has the shape {tuple(needed)}; `out` has an array of shape {tuple(given)}"
    )


def _wrong_dtype(port: Port, given: Any, where: str = "an array") -> errors.DTypeError:
    return errors.DTypeError(
        f"{port.describe()} takes arrays of {port.dtype.name}; it was given {where} of {given.name}"
    )


def _is_accepted(dtype: Any, port: Port) -> bool:
    """Bits of BFloat16 may also be given as uint16."""
    return bool(dtype == port.dtype) or (port.info.type == "BFloat16" and dtype.name in ("uint16", "bfloat16"))


def to_array(given: Any, port: Port) -> Array:
    """An array of the port's element type in native byte order, with the memory of `given` where that has it.

    Raises:
        DTypeError: the elements are of another type.
        TypeError: it is no array.
    """
    array = as_array(given, port)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_array(given: Any, port: Port) -> Array:
    """The same with the memory of `given`, in the byte order that it has."""
    import numpy as np

    array: Array
    if isinstance(given, (np.ndarray, np.generic)):
        array = np.asarray(given)
    else:
        try:
            array = np.asarray(memoryview(given))
        except (TypeError, ValueError):
            if not hasattr(given, "__dlpack__"):
                raise TypeError(
                    f"{port.describe()} takes an array, or an object of the buffer protocol or DLPack, not "
                    f"{type(given).__name__}; numpy.asarray(values, '{port.dtype.name}') makes one"
                ) from None
            try:
                array = np.from_dlpack(given)
            except (BufferError, RuntimeError, TypeError, ValueError) as error:
                raise errors.InvalidArgumentError(
                    f"{port.describe()} cannot use the memory of the {type(given).__name__}: {error}"
                ) from error
    if not _is_accepted(array.dtype.newbyteorder("="), port):
        raise _wrong_dtype(port, array.dtype)
    return array


def writable_address(array: Any, port: Port, ndarray: type) -> int:
    """The address of an array that a run may write.

    Raises:
        DTypeError: the elements are of another type.
        InvalidArgumentError: it is read-only, not C-contiguous or not in native byte order.
        TypeError: it is no array of numpy.
    """
    if not isinstance(array, ndarray):
        raise TypeError(f"{port.describe()} needs an array of numpy in `out`, not {type(array).__name__}")
    flags = array.flags  # type: ignore[attr-defined]
    dtype = array.dtype  # type: ignore[attr-defined]
    if dtype is not port.dtype and not _is_accepted(dtype.newbyteorder("="), port):
        raise _wrong_dtype(port, dtype, "an array in `out`")
    if not flags.c_contiguous or not flags.writeable or not dtype.isnative:
        reason = "read-only" if not flags.writeable else "not C-contiguous" if dtype.isnative else "byte-swapped"
        raise errors.InvalidArgumentError(f"{port.describe()} was given an array in `out` that is {reason}")
    address: int = array.__array_interface__["data"][0]  # type: ignore[attr-defined]
    return address
