# SPDX-License-Identifier: Apache-2.0
"""Calls of models and sessions, and bound runs.

A frame has the structs of one run. A model keeps a list of idle frames, so that threads do not share one and hardly any
run makes one. Taking a frame from a list and putting it back are atomic.
"""

from __future__ import annotations

import os
import threading
import weakref

from . import _ffi, _int4, errors
from ._frame import (
    Frame,
    PackedFrame,
    Port,
    as_array,
    overlap,
    refuse_overlaps,
    run_model,
    writable_address,
    wrong_out_shape,
)
from .tensor_info import TensorInfo

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from typing import Any, Mapping, NoReturn, Sequence

    import numpy as np

    from .cancellation import Cancellation

    Array = np.ndarray[Any, Any]
    """An array of numpy."""


class _ClosedHandle:
    """In the place of a handle that was closed."""

    def get(self) -> NoReturn:
        raise errors.ClosedError("the model or session was closed")


class _ClosedFrames(list[Frame]):
    """In the place of the frames of a bound run whose model was closed."""

    def pop(self, *_: object) -> NoReturn:
        raise errors.ClosedError("the model or session was closed")


class Runner:
    """The common part of models and sessions: inputs, outputs and runs. May be used from any thread, and from
    several at once; runs that share states wait for each other. The GIL is released during a run."""

    inputs: tuple[TensorInfo, ...]
    """Inputs in the model's order."""
    outputs: tuple[TensorInfo, ...]
    """Outputs in the model's order, for the shapes of inputs that the model was loaded with."""

    def __init__(
        self,
        handle: _ffi.Handle,
        session: _ffi.Handle | None,
        inputs: tuple[TensorInfo, ...],
        outputs: tuple[TensorInfo, ...],
    ) -> None:
        # A method that uses a handle keeps it in a variable: another thread may close this object meanwhile.
        self._handle: _ffi.Handle | _ClosedHandle = handle
        self._session: _ffi.Handle | _ClosedHandle | None = session
        self.inputs = inputs
        self.outputs = outputs
        self._input_index = {info.name: i for i, info in enumerate(inputs)}
        self._frames: list[Frame] = []
        self._bound: weakref.WeakSet[Bound] = weakref.WeakSet()

    def __call__(self, /, *given: Any, out: Any = None, cancellation: Cancellation | None = None, **named: Any) -> Any:
        """Runs once.

        Args:
            given: the inputs in the model's order, or one dict by names. Arrays of numpy of the model's element type
                are used in place if they are C-contiguous and of native byte order, else copied, and never cast. Other
                objects may have the buffer protocol or DLPack. Their shapes may differ from those of loading.
            named: inputs by their names.
            out: arrays that get the results: one for a model of one output, else a sequence in the model's order or a
                dict of all by names. They are writable, C-contiguous, of the output's type and shape and do not
                overlap with inputs or with each other.
            cancellation: ends the run when it is cancelled.

        Returns:
            The output of a model of one output, else a dict of outputs by names. Given `out`: that.

        Raises:
            DTypeError: an array has another element type; the text names both.
            InvalidArgumentError: an input is missing or unknown, or an array in `out` does not fit.
            InvalidLayerError: shapes or values do not fit a layer of the model.
            CancelledError: the run was cancelled.
            ClosedError: the model or session was closed.
            ForkedError: the model was loaded in a parent of this process.
            LimitExceededError, OutOfMemoryError: the tensors of these shapes need too much memory.
            TypeError: an argument is no array.
        """
        frames = self._frames
        try:
            frame = frames.pop()
        except IndexError:
            frame = self._make_frame()
        quick = frame.quick
        if quick is not None and len(given) == 1 and cancellation is None and not named:
            result = quick(given[0], out)
            if result is not None:
                frames.append(frame)
                return result
        arrays: Sequence[Any] = given
        if named or len(given) != len(self.inputs) or (given and isinstance(given[0], dict)):
            arrays = self._in_order(given, named)
        if out is None:
            results = frame.run(arrays, None, cancellation)
            frames.append(frame)
            return results[0] if len(results) == 1 else self._to_dict(results)
        is_one = type(out) is frame.ndarray and len(self.outputs) == 1
        frame.run(arrays, (out,) if is_one else self._out_in_order(out), cancellation)
        frames.append(frame)
        return out

    def run(
        self, /, *arrays: Any, out: Any = None, cancellation: Cancellation | None = None, **named: Any
    ) -> dict[str, Array]:
        """Runs once as a call does, with the same arguments and exceptions.

        Returns:
            A dict of outputs by names, whatever their number. Given `out`: its arrays.
        """
        result = self(*arrays, out=out, cancellation=cancellation, **named)
        if out is not None:
            return self._to_dict(self._out_in_order(out))
        return {self.outputs[0].name: result} if len(self.outputs) == 1 else result

    def run_async(
        self, /, *arrays: Any, out: Any = None, cancellation: Cancellation | None = None, **named: Any
    ) -> Future[Any]:
        """Runs once in a thread of a small pool that all models share.

        Arguments are as of a call. The arrays must not change until the future is done. ``future.cancel()`` works as
        long as the run has not begun, `cancellation` also later. ``asyncio.wrap_future`` makes it awaitable.

        Returns:
            A future of the result, or the exception, of a call.
        """
        return _pool().submit(self.__call__, *arrays, out=out, cancellation=cancellation, **named)

    def bind(self, /, *arrays: Any, out: Any = None, **named: Any) -> Bound:
        """Prepares a run for these arrays, for the least time per call: a call of the result reads the elements that
        the arrays have then, and writes into the same output arrays each time.

        Arguments are as of a call, but inputs must be arrays that need no copy. Without `out` arrays are made, which
        needs a model whose outputs have known shapes for those of the inputs: one that was loaded with the inputs'
        sizes, be it those of the file or those of `input_shapes` or `dimensions`.

        Raises:
            InvalidArgumentError: an input would have to be copied; an array in `out` does not fit; the shapes of outputs
                are unknown.
            DTypeError: an array has another element type.
            UnsupportedError: the model has tensors of QSymmS4, which each run packs.
        """
        return Bound(self, self._in_order(arrays, named), out)

    def close(self) -> None:
        """Gives back the memory. Runs under way go to their end; later ones, also bound ones, raise ClosedError. Sessions
        of a model stay open, and keep its memory."""
        self._handle = self._session = _ClosedHandle()
        self._frames = []
        for bound in list(self._bound):
            bound._frames = _ClosedFrames()

    def _make_frame(self) -> Frame:
        is_packed = any(info.type == _int4.NAME for info in (*self.inputs, *self.outputs))
        return PackedFrame(self) if is_packed else Frame(self)

    def _in_order(self, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> Sequence[Any]:
        """The inputs in the model's order."""
        if len(arrays) == 1 and isinstance(arrays[0], dict):
            for name in named:
                if name in arrays[0]:
                    raise errors.InvalidArgumentError(f"input '{name}' was given twice")
            named = {**arrays[0], **named}
            arrays = ()
        if len(arrays) > len(self.inputs):
            raise errors.InvalidArgumentError(f"the model has {self._count('input')}; {len(arrays)} were given")
        ordered: list[Any] = list(arrays) + [_MISSING] * (len(self.inputs) - len(arrays))
        for name, array in named.items():
            index = self._input_index.get(name)
            if index is None:
                raise errors.InvalidArgumentError(
                    f"the model has no input '{name}'; there are {_quoted(self._input_index)}"
                )
            if ordered[index] is not _MISSING:
                raise errors.InvalidArgumentError(f"input '{name}' was given twice")
            ordered[index] = array
        missing = [info.name for info, array in zip(self.inputs, ordered) if array is _MISSING]
        if missing:
            raise errors.InvalidArgumentError(
                f"the model has {self._count('input')}; none was given for {_quoted(missing)}"
            )
        return ordered

    def _out_in_order(self, out: Any) -> Sequence[Any]:
        """The arrays of `out` in the model's order."""
        if isinstance(out, dict):
            names = [info.name for info in self.outputs]
            missing = [name for name in names if name not in out]
            unknown = [name for name in out if name not in names]
            if missing or unknown:
                raise errors.InvalidArgumentError(
                    f"`out` needs an array for each of {_quoted(names)}; "
                    + (f"it has none for {_quoted(missing)}" if missing else f"it has also {_quoted(unknown)}")
                )
            return [out[name] for name in names]
        listed: Sequence[Any] = out if isinstance(out, (list, tuple)) else (out,)
        if len(listed) != len(self.outputs):
            raise errors.InvalidArgumentError(f"the model has {self._count('output')}; `out` has {len(listed)} arrays")
        return listed

    def _count(self, kind: str) -> str:
        count = len(self.inputs if kind == "input" else self.outputs)
        return f"{count} {kind}" + ("" if count == 1 else "s")

    def _to_dict(self, results: Sequence[Any]) -> dict[str, Array]:
        return {info.name: result for info, result in zip(self.outputs, results)}


_MISSING = object()


def _quoted(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)


class Bound:
    """A run with fixed arrays, which :meth:`Model.bind` makes. One thread at a time calls it."""

    __slots__ = ("__weakref__", "_frames", "inputs", "outputs")

    inputs: tuple[Array, ...]
    """The arrays that are read, in the model's order."""
    outputs: tuple[Array, ...]
    """The arrays that are written, in the model's order."""

    def __init__(self, runner: Runner, arrays: Sequence[Any], out: Any) -> None:
        frame = runner._make_frame()
        if isinstance(frame, PackedFrame):
            raise errors.UnsupportedError(
                f"a model with tensors of {_int4.NAME} is not bound: it packs them in each run"
            )
        self.inputs = tuple(self._bind_input(given, port) for given, port in zip(arrays, frame.inputs))
        is_static = frame.outputs_are_static and all(port.has_loaded_shape for port in frame.inputs)
        if out is None:
            if not is_static:
                raise errors.InvalidArgumentError(
                    "the shapes of outputs are unknown for these inputs: give arrays in `out`, load the model with the "
                    "sizes of its inputs (`input_shapes`, or `dimensions` of an .onnx model), or call it"
                )
            out = [frame.ndarray(port.shape, port.dtype) for port in frame.outputs]
        self.outputs = tuple(runner._out_in_order(out))
        for array, port in zip(self.outputs, frame.outputs):
            port.tensor.data = port.address = writable_address(array, port, frame.ndarray)
            for given in frame.inputs:
                if given.address < port.address + array.nbytes and port.address < given.address + given.num_bytes:
                    raise overlap(port, given)
            if is_static and array.shape != port.shape:
                raise wrong_out_shape(port, array.shape, port.shape)
            port.tensor.num_bytes = array.nbytes
        if len(self.outputs) > 1:
            refuse_overlaps(self.outputs, frame.outputs)
        self._frames = [frame]
        runner._bound.add(self)

    def __reduce__(self) -> NoReturn:
        import pickle

        raise pickle.PicklingError("a bound run is not copied or pickled: bind arrays to the model again")

    @staticmethod
    def _bind_input(given: Any, port: Port) -> Array:
        array = as_array(given, port)
        if not array.flags.c_contiguous or not array.dtype.isnative:
            raise errors.InvalidArgumentError(
                f"{port.describe()} needs an array that is C-contiguous and in native byte order, to be bound"
            )
        port.set_shape(array.shape)
        port.tensor.data = port.address = array.__array_interface__["data"][0]
        return array

    def __call__(self) -> None:
        """Runs once: reads :attr:`Bound.inputs` and writes :attr:`Bound.outputs`. Fails as a call of the model does.

        Raises:
            Error: another thread is in it.
            ClosedError: the model or session was closed.
        """
        frames = self._frames
        try:
            frame = frames.pop()
        except IndexError:
            raise errors.Error("a bound run is used by one thread at a time") from None
        try:
            if frame.handle.value is None or frame.session_handle.value is None:
                raise frame.lost()
            status = frame.run_with_options(None) if frame.calls_back else run_model(*frame.plain_arguments)
            if status != _ffi.OK:
                raise frame.failure(status)
        finally:  # also of an interrupt
            frames.append(frame)


_executor: ThreadPoolExecutor | None = None
_executor_lock = threading.Lock()


def _pool() -> ThreadPoolExecutor:
    """The threads of run_async."""
    global _executor
    with _executor_lock:
        if _executor is None:
            from concurrent.futures import ThreadPoolExecutor

            _executor = ThreadPoolExecutor(min(4, os.cpu_count() or 1), "tenon")
        return _executor


def _forget() -> None:
    global _executor, _executor_lock
    _executor, _executor_lock = None, threading.Lock()


_ffi.on_fork(_forget)
