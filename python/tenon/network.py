# SPDX-License-Identifier: Apache-2.0
"""Networks: read from files, or built layer by layer."""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from ctypes import addressof, sizeof

from . import _exit, _ffi, _int4, _log, errors, tensor_metadata
from .operators import Operator
from .runtime import Runtime, runtime_of
from .tensor_info import Quantization, TensorInfo, ports, to_c, to_dims, to_shape

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    import contextlib
    from typing import Any, Iterable, Mapping, NoReturn, Sequence, Union

    from numpy.typing import ArrayLike, DTypeLike

    from .tensor_info import ShapeLike
    from .tensor_metadata import TensorMetadata

    Source = Union[str, os.PathLike[str], bytes, bytearray, memoryview]
    """The path of a model file, .tflite, .task, .litertlm, .onnx, .armnn or .tenon, or the bytes of one."""
    ExternalData = Union[str, os.PathLike[str], Mapping[str, Union[bytes, bytearray, memoryview]], None]
    """Where an .onnx model in bytes has its external data: a folder, or bytes by the names of files."""


class Shape:
    """A shape as an attribute of a layer: ``attributes={"TargetShape": tenon.Shape((1, -1))}``. A list of sizes would
    be an attribute of integers, which is something else.

    Args:
        sizes: sizes; ``None`` or -1 for an unknown one, ``None`` as a whole for an unknown rank.

    Raises:
        InvalidArgumentError: a size is below -1 or does not fit into 63 bits.
    """

    __slots__ = ("sizes",)

    sizes: tuple[int | None, ...] | None
    """Sizes, ``None`` for unknown ones."""

    def __init__(self, sizes: ShapeLike) -> None:
        self.sizes = to_shape(sizes)

    def __repr__(self) -> str:
        return f"Shape({self.sizes!r})"


class Value:
    """An output of a layer of one network, to be the input of others. Methods of :class:`Network` make it."""

    __slots__ = ("_index", "_network")

    def __init__(self, network: Network, index: int) -> None:
        self._network = network
        self._index = index

    def __repr__(self) -> str:
        return f"<Value {self._index}>"


def read(
    source: Source,
    runtime: Runtime,
    *,
    entry: str | None = None,
    signature: str | None = None,
    subgraph: int = 0,
    input_shapes: Mapping[str, Sequence[int]] | None = None,
    dimensions: Mapping[str, int] | None = None,
    external_data: ExternalData = None,
    operators: Iterable[Operator] = (),
    limits: dict[str, int] | None = None,
) -> _ffi.Handle:
    """A network of a model file or of its bytes. The handle keeps alive the objects that the library uses."""
    listed = _ffi.to_tuple("operators", "a list of tenon.Operator", operators)
    for custom in listed:
        if not isinstance(custom, Operator):
            raise _ffi.wrong_type("operators", "a list of tenon.Operator", listed)
    pointers = (ctypes.POINTER(_ffi.COperator) * len(listed))(*(ctypes.pointer(custom._c) for custom in listed))
    made_limits = _ffi.to_limits(limits)
    pairs = _ffi.to_pairs("input_shapes", "a dict of shapes by names", input_shapes)
    shapes = (_ffi.InputShape * len(pairs))()
    for made, (name, shape) in zip(shapes, pairs):
        sizes = to_shape(shape)
        if sizes is None:
            raise errors.InvalidArgumentError(
                f"input_shapes: the shape of '{name}' needs a rank; () is that of a scalar"
            )
        made.input = _ffi.text_bytes(name, "the name of an input")
        made.rank = len(sizes)
        made.dims = to_dims(sizes)
    if not 0 <= _ffi.to_integer("subgraph", subgraph) < 2**32:
        raise errors.InvalidArgumentError(f"there is no subgraph {subgraph}")
    sizes_by_name = _ffi.to_pairs("dimensions", "a dict of sizes by names", dimensions)
    sizes_made = (_ffi.Dimension * len(sizes_by_name))()
    for dimension, (name, size) in zip(sizes_made, sizes_by_name):
        dimension.name = _ffi.text_bytes(name, "the name of a dimension")
        if not 0 <= _ffi.to_integer("the size of a dimension", size) < 2**32:
            raise errors.InvalidArgumentError(f"dimensions: '{name}' cannot be {size}")
        dimension.size = operator.index(size)
    folder = None
    files: list[tuple[Any, bytes]] = []
    if isinstance(external_data, (str, os.PathLike)):
        folder = _ffi.path_bytes(external_data)
    else:
        needed = "a folder or a dict of bytes by locations"
        for name, content in _ffi.to_pairs("external_data", needed, external_data):
            if not isinstance(content, (bytes, bytearray, memoryview)):
                raise _ffi.wrong_type("external_data", needed, external_data)
            files.append((name, bytes(content)))
    buffers = (_ffi.ExternalData * len(files))()
    for buffer, (name, content) in zip(buffers, files):
        buffer.location = _ffi.text_bytes(name, "the location of external data")
        buffer.data = content
        buffer.num_bytes = len(content)
    options = _ffi.ReadOptions(
        struct_size=sizeof(_ffi.ReadOptions),
        signature=_ffi.text_bytes(signature, "signature"),
        subgraph=subgraph,
        in_place=1,
        num_input_shapes=len(shapes),
        input_shapes=shapes,
        num_operators=len(listed),
        operators=pointers,
        limits=ctypes.pointer(made_limits),
        num_dimensions=len(sizes_made),
        dimensions=sizes_made,
        external_data_folder=folder,
        num_external_data=len(buffers),
        external_data=buffers,
        entry=_ffi.text_bytes(entry, "entry"),
    )
    handle = runtime._handle
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
        network = _ffi.make(_ffi.lib.tenon_network_read_memory, handle.get(), address, len(data), addressof(options))
        return _ffi.Handle(network, _ffi.lib.tenon_network_destroy, [data, files, listed], bool(listed))
    network = _ffi.make(_ffi.lib.tenon_network_read_file, handle.get(), _ffi.path_bytes(source), addressof(options))
    return _ffi.Handle(network, _ffi.lib.tenon_network_destroy, [files, listed], bool(listed))


def model_options(backends: Iterable[str] | None, threads: int, options: dict[str, Any] | None) -> _ffi.ModelOptions:
    """tenon_model_options, which keep alive all that they point to."""
    if isinstance(backends, str):
        backends = (backends,)
    listed = () if backends is None else _ffi.to_tuple("backends", "a list of names", backends)
    names = [_ffi.text_bytes(name, "the name of a backend") for name in listed]
    if backends is not None and not names:
        raise errors.InvalidArgumentError("no backend is given; there are CpuAcc and CpuRef")
    number = to_threads(threads)
    made = _ffi.to_options(options)
    return _ffi.ModelOptions(
        struct_size=sizeof(_ffi.ModelOptions),
        num_backends=len(names),
        backends=(ctypes.c_char_p * len(names))(*names),
        num_threads=number,
        num_options=len(made),
        options=made,
    )


def to_threads(threads: int) -> int:
    """The number of threads of an argument."""
    number = _ffi.to_integer("threads", threads)
    if not 0 <= number < 2**32:
        raise errors.InvalidArgumentError(f"a model cannot use {threads} threads; 0 stands for all cores")
    return number


class Network:
    """A graph of layers, empty at first. ``tenon.Model(network)`` loads it.

    Layers are those of include/tenon/ops.def by their names there, their attributes the fields of their descriptors
    (include/tenon/descriptors/) without ``m_``. Shapes and types are checked when the network is optimized or loaded.
    May be used from any thread, by one at a time: others wait. It is not pickled.
    """

    def __init__(self) -> None:
        self._begin(_ffi.Handle(_ffi.make(_ffi.lib.tenon_network_create), _ffi.lib.tenon_network_destroy, []))

    def _begin(self, handle: _ffi.Handle) -> None:
        self._handle = handle
        self._lock = threading.RLock()

    def _locked(self, *others: Network) -> contextlib.ExitStack:
        """Keeps other threads from these networks. A forked child has no use for them, and maybe no owner of locks."""
        import contextlib

        stack = contextlib.ExitStack()
        for network in others:
            if not isinstance(network, Network):
                raise _ffi.wrong_type("a branch, condition or body", "a tenon.Network", network)
        for network in sorted((self, *others), key=id):
            network._handle.get()
            stack.enter_context(network._lock)
        return stack

    @classmethod
    def _of(cls, handle: _ffi.Handle) -> Network:
        made = cls.__new__(cls)
        made._begin(handle)
        return made

    @classmethod
    def read(
        cls,
        source: Source,
        *,
        entry: str | None = None,
        signature: str | None = None,
        subgraph: int = 0,
        input_shapes: Mapping[str, Sequence[int]] | None = None,
        dimensions: Mapping[str, int] | None = None,
        external_data: ExternalData = None,
        operators: Iterable[Operator] = (),
        limits: dict[str, int] | None = None,
        runtime: Runtime | None = None,
    ) -> Network:
        """Reads a network without loading it: it can be optimized and saved, and is an argument of
        :class:`tenon.Model`, which describes the arguments. It takes no further layers.

        Raises:
            NotFoundError: there is no such file.
            InvalidDataError: it is corrupt, of no known format, or exceeds one of `limits`.
            InvalidArgumentError: the model does not have the entry, signature, subgraph, input or dimension; it holds
                several models and no `entry` is given; one of the arguments is for models of another format.
            UnsupportedError: it has an operator that `operators` does not have; an .onnx model has operators that no
                layer computes, which the text lists.
            BackendUnavailableError: it is an optimized network for a backend that the runtime does not have.
        """
        _log.follow()
        return cls._of(
            read(
                source,
                runtime_of(runtime),
                entry=entry,
                signature=signature,
                subgraph=subgraph,
                input_shapes=input_shapes,
                dimensions=dimensions,
                external_data=external_data,
                operators=operators,
                limits=limits,
            )
        )

    @property
    def inputs(self) -> tuple[TensorInfo, ...]:
        """Inputs in the order in which they were added, or of the model file."""
        with self._locked():
            return ports(self._handle.get(), "network_input")

    @property
    def outputs(self) -> tuple[TensorInfo, ...]:
        """Outputs; shapes of a network that was built are known once it is loaded."""
        with self._locked():
            return ports(self._handle.get(), "network_output")

    @property
    def signatures(self) -> tuple[str, ...]:
        """Names of the signatures of the .tflite file that it was read from; none of another network."""
        with self._locked():
            return signatures(self._handle)

    @property
    def metadata(self) -> dict[str, str]:
        """Texts that the model file has about itself, as :attr:`tenon.Model.metadata`."""
        with self._locked():
            return tensor_metadata.texts(self._handle)

    @property
    def input_metadata(self) -> tuple[TensorMetadata, ...]:
        """The metadata of the inputs, as :attr:`tenon.Model.input_metadata`."""
        with self._locked():
            return tensor_metadata.of_ports(self._handle, "input")

    @property
    def output_metadata(self) -> tuple[TensorMetadata, ...]:
        """The metadata of the outputs, as :attr:`tenon.Model.output_metadata`."""
        with self._locked():
            return tensor_metadata.of_ports(self._handle, "output")

    @property
    def is_optimized(self) -> bool:
        """Whether the optimizer has run over it; it takes no further layers then."""
        with self._locked():
            return bool(_ffi.lib.tenon_network_is_optimized(self._handle.get()))

    def add_input(
        self,
        name: str | None = None,
        shape: ShapeLike = None,
        dtype: DTypeLike | str = "float32",
        *,
        quantization: Quantization | None = None,
    ) -> Value:
        """Adds an input.

        Args:
            name: that no other input has; ``None``: "input_<index>".
            shape: sizes, ``None`` for unknown ones; ``None`` as a whole for an unknown rank.
            dtype: element type, see :class:`tenon.TensorInfo`.
            quantization: of quantized types.

        Raises:
            InvalidArgumentError: the name is taken, or there is no such type.
        """
        info = to_c(TensorInfo(shape, dtype, quantization=quantization))
        return self._add_value(_ffi.lib.tenon_network_add_input, _ffi.text_bytes(name), addressof(info))

    def add_constant(
        self,
        values: ArrayLike,
        name: str | None = None,
        *,
        info: TensorInfo | None = None,
        quantization: Quantization | None = None,
    ) -> Value:
        """Adds a tensor that never changes.

        Args:
            values: an array, which is copied unless it is read-only and needs no other order. Python's numbers become
                float32, int32 or bool.
            name: of the layer.
            info: type and shape where they are not those of `values`: QSymmS4 of an array of int8.
            quantization: of an array of int8, uint8 or int16.

        Raises:
            InvalidArgumentError: there is no such element type, or another number of bytes is needed.
        """
        import numpy as np

        array = np.asarray(values)
        if not hasattr(values, "dtype") and array.dtype in (np.float64, np.int64):
            array = array.astype(np.float32 if array.dtype == np.float64 else np.int32)
        # Not by ascontiguousarray, which makes an array of no dimension one of one.
        native = array.dtype.newbyteorder("=")
        if array.dtype != native or not array.flags.c_contiguous:
            array = array.astype(native, order="C")
        if array.flags.writeable:
            array = array.copy()
            array.flags.writeable = False
        if info is not None and not isinstance(info, TensorInfo):
            raise _ffi.wrong_type("info", "a tenon.TensorInfo", info)
        if info is not None and info.type == _int4.NAME and array.dtype == np.int8:
            array = _int4.pack(array, "a constant")
        if info is None:
            info = TensorInfo(array.shape, array.dtype, quantization=quantization)
        c_info = to_c(info)
        with self._locked():
            value = self._add_value(
                _ffi.lib.tenon_network_add_constant,
                _ffi.text_bytes(name),
                addressof(c_info),
                array.__array_interface__["data"][0],
                array.nbytes,
                1,
            )
            self._handle.keep.append(array)
        return value

    def add_layer(
        self,
        type: str,
        *inputs: Value | None,
        name: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        outputs: int | Sequence[TensorInfo | None] = 1,
    ) -> Any:
        """Adds a layer.

        Args:
            type: a name of include/tenon/ops.def, "Convolution2d".
            inputs: by input slot, ``None`` where none is connected.
            name: of the layer.
            attributes: those that have not their defaults. Truth values, texts, bytes, numbers and lists of numbers
                are themselves; enumerators are those of :mod:`tenon.enums` or their names; shapes are of
                :class:`tenon.Shape`.
            outputs: how many there are, or an info for each, ``None`` where it is to be inferred. Outputs that cannot
                be (quantized ones of most layers) must be given; their shape may be unknown.

        Returns:
            The output of a layer of one output, else a tuple of them.

        Raises:
            InvalidArgumentError: there is no such type or attribute, an attribute is of another kind, a value is of
                another network, there are more inputs than the type has, or the number of outputs is another.
        """
        made, _values = _to_attributes(_ffi.to_pairs("attributes", "a dict of values by names", attributes))
        with self._locked():
            return self._add_layer(
                outputs,
                inputs,
                lambda c_inputs, count, infos, c_outputs, error: _ffi.lib.tenon_network_add_layer(
                    self._handle.get(),
                    _ffi.text_bytes(type, "type"),
                    _ffi.text_bytes(name),
                    len(made),
                    addressof(made),
                    len(inputs),
                    c_inputs,
                    count,
                    infos,
                    c_outputs,
                    error,
                ),
            )

    def add_custom(
        self,
        custom: Operator,
        *inputs: Value | None,
        name: str | None = None,
        parameters: bytes = b"",
        outputs: Sequence[TensorInfo],
    ) -> Any:
        """Adds a layer of an operator of the application.

        Args:
            custom: the operator.
            inputs: by input slot, ``None`` where none is connected.
            name: of the layer.
            parameters: bytes that the operator finds in ``layer.parameters``.
            outputs: an info for each output, with its type; the shape may be unknown.

        Returns:
            The output of a layer of one output, else a tuple of them.

        Raises:
            InvalidArgumentError: a value is of another network, or the network was read or optimized.
        """
        if not isinstance(custom, Operator):
            raise _ffi.wrong_type("custom", "a tenon.Operator", custom)
        if not isinstance(parameters, bytes):
            raise _ffi.wrong_type("parameters", "bytes", parameters)
        with self._locked():
            values = self._add_layer(
                outputs,
                inputs,
                lambda c_inputs, count, infos, c_outputs, error: _ffi.lib.tenon_network_add_custom(
                    self._handle.get(),
                    _ffi.text_bytes(name),
                    addressof(custom._c),
                    parameters,
                    len(parameters),
                    len(inputs),
                    c_inputs,
                    count,
                    infos,
                    c_outputs,
                    error,
                ),
            )
            self._handle.keep.append(custom)
            self._handle.calls_back = True
        return values

    def add_if(
        self,
        condition: Value,
        then_network: Network,
        else_network: Network,
        *inputs: Value,
        name: str | None = None,
        outputs: int = 1,
    ) -> Any:
        """Adds a layer that runs one of two networks, which are copied.

        Args:
            condition: a bool of one element.
            then_network: runs where it is true.
            else_network: runs where it is not. It has as many outputs as the other one.
            inputs: those of both networks.
            name: of the layer.
            outputs: how many the networks have.

        Returns:
            The output of a layer of one output, else a tuple of them.

        Raises:
            InvalidArgumentError: a value is of another network, one of the networks is optimized, there are more inputs
                than the networks have, or the number of outputs is another.
        """
        with self._locked(then_network, else_network):
            values = self._add_layer(
                outputs,
                (condition, *inputs),
                lambda c_inputs, count, _infos, c_outputs, error: _ffi.lib.tenon_network_add_if(
                    self._handle.get(),
                    _ffi.text_bytes(name),
                    then_network._handle.get(),
                    else_network._handle.get(),
                    1 + len(inputs),
                    c_inputs,
                    count,
                    c_outputs,
                    error,
                ),
            )
            self._keep_nested(then_network, else_network)
        return values

    def add_while(self, condition: Network, body: Network, *inputs: Value, name: str | None = None) -> Any:
        """Adds a layer that runs `body` as long as output 0 of `condition`, a bool, is true. Both are copied.

        Args:
            condition: its inputs are the loop variables.
            body: its inputs are the loop variables, its outputs their next values.
            inputs: first values of the loop variables.
            name: of the layer.

        Returns:
            The last value of the loop variable, or a tuple of them.

        Raises:
            InvalidArgumentError: a value is of another network, one of the networks is optimized, there are more inputs
                than the networks have, or the number of outputs is another.
        """
        with self._locked(condition, body):
            values = self._add_layer(
                len(inputs),
                inputs,
                lambda c_inputs, count, _infos, c_outputs, error: _ffi.lib.tenon_network_add_while(
                    self._handle.get(),
                    _ffi.text_bytes(name),
                    condition._handle.get(),
                    body._handle.get(),
                    count,
                    c_inputs,
                    c_outputs,
                    error,
                ),
            )
            self._keep_nested(condition, body)
        return values

    def add_output(self, value: Value, name: str | None = None) -> None:
        """Makes a value an output.

        Args:
            value: of a layer of this network.
            name: that no other output has; ``None``: "output_<index>".

        Raises:
            InvalidArgumentError: the name is taken, or the value is of another network.
        """
        index = self._index_of(value)
        with self._locked():
            _ffi.call(_ffi.lib.tenon_network_add_output, self._handle.get(), _ffi.text_bytes(name), index)

    def optimize(
        self,
        *,
        backends: Iterable[str] | None = None,
        options: dict[str, Any] | None = None,
        runtime: Runtime | None = None,
    ) -> Network:
        """Validates and simplifies the network and gives each layer to a backend: a new, optimized network, which is
        saved and loaded without the optimizer's time. It is loaded into one model at most.

        Args:
            backends: in order of preference; ``None``: CpuAcc, then CpuRef.
            options: as of :class:`tenon.Model`.
            runtime: whose backends there are; ``None``: the default one.

        Raises:
            InvalidGraphError, InvalidLayerError: the network, or a layer of it, is malformed; the text names it.
            UnsupportedError: no backend takes layers; the text names all of them with the reasons.
            InvalidArgumentError: there is no such backend or option, or the network is optimized already.
            LimitExceededError: the network asks for more than a limit of the runtime allows.
        """
        _log.follow()
        made = model_options(backends, 0, options)
        handle = runtime_of(runtime)._handle
        with self._locked():
            optimized = call_back(
                self._handle, _ffi.lib.tenon_network_optimize, handle.get(), self._handle.get(), addressof(made)
            )
            return Network._of(
                _ffi.Handle(optimized, _ffi.lib.tenon_network_destroy, [self._handle.keep], self._handle.calls_back)
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a .tenon file, weights included. A file that is there is replaced at the end, when all went well.

        Args:
            path: of the file.

        Raises:
            InvalidArgumentError: the name ends with .armnn, .litertlm, .onnx, .task or .tflite, whose formats are not
                written; something other than a regular file is in the place.
            InvalidGraphError: the network is malformed.
            UnsupportedError: a layer holds data that no file can hold.
            Error: the file cannot be written.
        """
        with self._locked():
            _ffi.call(_ffi.lib.tenon_network_save, self._handle.get(), _ffi.path_bytes(path))

    def to_bytes(self) -> bytes:
        """What :meth:`save` writes, for :class:`tenon.Model` and :meth:`read`, which take bytes.

        Raises:
            InvalidGraphError: the network is malformed.
            UnsupportedError: a layer holds data that no file can hold.
        """
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self._locked():
            _ffi.call(_ffi.lib.tenon_network_save_memory, self._handle.get(), addressof(data), addressof(size))
        try:
            return bytes((ctypes.c_char * size.value).from_address(data.value or 0))
        finally:
            _ffi.lib.tenon_memory_destroy(data)

    def __reduce__(self) -> NoReturn:
        import pickle

        raise pickle.PicklingError("a network is not pickled: save it, and pickle a Model of the file")

    def _keep_nested(self, *networks: Network) -> None:
        """Has the handle keep the objects that copies of these networks use."""
        for network in networks:
            self._handle.keep.append(network._handle.keep)
            self._handle.calls_back |= network._handle.calls_back

    def _index_of(self, value: Value | None) -> int:
        if value is None:
            return _ffi.NO_VALUE
        if not isinstance(value, Value):
            raise TypeError(f"an input of a layer is a Value, or None, not {type(value).__name__}")
        if value._network is not self:
            raise errors.InvalidArgumentError(f"{value!r} is of another network")
        return value._index

    def _add_value(self, function: Any, *arguments: Any) -> Value:
        """Calls a function that gives one value."""
        value = ctypes.c_uint32()
        with self._locked():
            _ffi.call(function, self._handle.get(), *arguments, addressof(value))
        return Value(self, value.value)

    def _add_layer(self, outputs: int | Sequence[TensorInfo | None], inputs: Sequence[Value | None], add: Any) -> Any:
        """Calls ``add(inputs, count, infos, outputs, error)``, where all but the count are addresses."""
        listed: Sequence[TensorInfo | None] = (
            [None] * outputs
            if isinstance(outputs, int)
            else _ffi.to_tuple("outputs", "a number or a list of tenon.TensorInfo", outputs)
        )
        for info in listed:
            if info is not None and not isinstance(info, TensorInfo):
                raise _ffi.wrong_type("outputs", "a number or a list of tenon.TensorInfo", outputs)
        infos = [None if info is None else to_c(info) for info in listed]
        pointer = ctypes.POINTER(_ffi.CTensorInfo)
        c_infos = (pointer * len(infos))(*(pointer() if info is None else ctypes.pointer(info) for info in infos))
        c_inputs = (ctypes.c_uint32 * len(inputs))(*(self._index_of(value) for value in inputs))
        c_outputs = (ctypes.c_uint32 * len(infos))()
        _ffi.call(add, addressof(c_inputs), len(infos), addressof(c_infos), addressof(c_outputs))
        values = tuple(Value(self, index) for index in c_outputs)
        return values[0] if len(values) == 1 else values


def signatures(network: _ffi.Handle) -> tuple[str, ...]:
    """Names of the signatures of a network."""
    name = ctypes.c_char_p()
    names = []
    for index in range(_ffi.lib.tenon_network_num_signatures(network.get())):
        _ffi.call(_ffi.lib.tenon_network_signature, network.get(), index, addressof(name))
        names.append((name.value or b"").decode("utf-8", "replace"))
    return tuple(names)


def call_back(network: _ffi.Handle, function: Any, *arguments: Any) -> int:
    """A function that gives a handle and may call the operators of a network."""
    with _exit.Call(calls_back=network.calls_back):
        return _ffi.make(function, *arguments)


def _to_attributes(attributes: list[tuple[Any, Any]]) -> tuple[Any, list[Any]]:
    """tenon_attribute[], and the memory that has to live as long as it does."""
    made = (_ffi.Attribute * len(attributes))()
    keep = []
    for attribute, (name, value) in zip(made, attributes):
        attribute.name = _ffi.text_bytes(name, "the name of an attribute")
        attribute.kind, values, attribute.count = _to_values(name, value)
        attribute.is_unknown_rank = isinstance(value, Shape) and value.sizes is None
        keep.append(values)
        attribute.values = addressof(values)
    return made, keep


def _to_values(name: str, value: Any) -> tuple[int, Any, int]:
    """Kind, memory and number of the values of an attribute."""
    if isinstance(value, Shape):
        dims = to_dims(value.sizes or ())
        return _ffi.SHAPE, dims, len(dims)
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return _ffi.BOOL, ctypes.c_uint8(bool(value)), 1
    if isinstance(value, str):
        text = _ffi.text_bytes(value) or b""
        return _ffi.STRING, ctypes.create_string_buffer(text), len(text)
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        return _ffi.BYTES, ctypes.create_string_buffer(data), len(data)
    try:
        listed = _flat(value)
        try:
            integers = [operator.index(part) for part in listed]
        except TypeError:
            floats = [float(part) for part in listed]
            return _ffi.FLOATS, (ctypes.c_double * len(floats))(*floats), len(floats)
    except (TypeError, ValueError):
        raise TypeError(
            f"attribute '{name}' is {value!r}; it must be a truth value, a number, a text, bytes, a Shape or a list of "
            "numbers"
        ) from None
    if any(not -(2**63) <= integer < 2**63 for integer in integers):
        raise errors.InvalidArgumentError(f"attribute '{name}': {value!r} is out of its range")
    return _ffi.INTS, (ctypes.c_int64 * len(integers))(*integers), len(integers)


def _flat(value: Any) -> list[Any]:
    """Numbers of a number, a list, or a list of pairs."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return [value]
    return [number for part in value for number in (part if isinstance(part, (list, tuple)) else [part])]
