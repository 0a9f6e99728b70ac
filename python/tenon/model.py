# SPDX-License-Identifier: Apache-2.0
"""Models that are loaded, and sessions with states of their own."""

from __future__ import annotations

import os
from ctypes import addressof

from . import _ffi, _log, errors, tensor_metadata
from ._runner import Runner
from .network import Network, call_back, model_options, read, signatures, to_threads
from .runtime import Runtime, runtime_of
from .tensor_info import ports

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Iterable, Mapping, NoReturn, Sequence

    from .network import ExternalData, Source
    from .operators import Operator
    from .tensor_metadata import TensorMetadata


class Model(Runner):
    """A model, loaded: ``tenon.Model("m.tflite")(x)``.

    Args:
        source: the path of a .tflite, .task, .litertlm, .onnx, .armnn or .tenon file, the bytes of one, or a
            :class:`tenon.Network`.
        backends: in order of preference: each layer goes to the first that takes it; ``None``: CpuAcc, then CpuRef. An
            optimized network or file has its backends already, and takes none here.
        threads: the most that loading, and one run, use; 0: as many as there are cores.
        options: ``fp16`` and ``bf16`` (true: floats are computed in 16 bits where a backend does; bf16: and faster),
            ``expanded_dims`` (true: declared shapes may differ by sizes of 1), ``profiling`` (true: runs are profiled),
            ``disabled_fusions`` (a list of names), and options of backends, ``"CpuAcc.FastMathEnabled"``.
        entry: of a .task or .litertlm file that holds several models: the one that is run, by name; ``None``: the only one.
        signature: of a .tflite file: the signature that is run; ``None``: the subgraph is.
        subgraph: of a .tflite file, without a signature.
        input_shapes: of a .tflite or .onnx file: shapes by inputs' names in place of those in the file. Runs of a .tflite
            model may have others, too; those of an .onnx model where the file leaves them open.
        dimensions: of an .onnx file: sizes of dimensions that it leaves open, by their names in the file; a dimension
            without a name goes by "<input>.<its number>".
        external_data: of an .onnx file in bytes: the folder of the files in which it keeps weights, or the bytes of these
            files by the names that it has for them.
        runtime: ``None``: the default one, see :func:`tenon.default_runtime`.
        operators: custom operators that the model may have.
        limits: bounds on the file, by the names that :class:`tenon.Runtime` lists.

    Raises:
        NotFoundError: there is no such file.
        InvalidDataError: it is corrupt, of no known format, or exceeds one of `limits`.
        UnsupportedError: layers that no backend takes; the text names all of them with the reasons.
        InvalidArgumentError: there is no such backend, option, entry, signature, subgraph or input; the file holds several
            models and no `entry` is given.
        LimitExceededError: the model asks for more than a limit of the runtime allows.
        TypeError: an argument is of another type; the text names it.

    A model may be used from any thread, and from several at once. It is pickled as its path or bytes with its
    arguments, and loaded anew where it is unpickled; states are not taken along. A forked child cannot use it. As a
    context manager it closes itself.

    A file is mapped: as long as the model lives it may be replaced, but not written to. The bytes of a file,
    ``pathlib.Path(path).read_bytes()``, give a model that is independent of it.
    """

    def __init__(
        self,
        source: Source | Network,
        *,
        backends: Iterable[str] | None = None,
        threads: int = 0,
        options: dict[str, Any] | None = None,
        entry: str | None = None,
        signature: str | None = None,
        subgraph: int = 0,
        input_shapes: Mapping[str, Sequence[int]] | None = None,
        dimensions: Mapping[str, int] | None = None,
        external_data: ExternalData = None,
        runtime: Runtime | None = None,
        operators: Iterable[Operator] = (),
        limits: dict[str, int] | None = None,
    ) -> None:
        _log.follow()
        if backends is not None:
            backends = (
                (backends,) if isinstance(backends, str) else _ffi.to_tuple("backends", "a list of names", backends)
            )
        operators = _ffi.to_tuple("operators", "a list of tenon.Operator", operators)
        if isinstance(source, (bytearray, memoryview)):
            source = bytes(source)
        elif isinstance(source, (str, os.PathLike)):
            source = os.path.abspath(source)
        elif not isinstance(source, (bytes, Network)):
            raise TypeError(f"a model is a path, bytes or a tenon.Network, not {type(source).__name__}")
        self._arguments = {
            "backends": backends,
            "threads": threads,
            "options": options,
            "entry": entry,
            "signature": signature,
            "subgraph": subgraph,
            "input_shapes": input_shapes,
            "dimensions": dimensions,
            "external_data": external_data,
            "runtime": runtime,
            "operators": operators,
            "limits": limits,
        }
        self._source = source
        used = runtime_of(runtime)
        made = model_options(backends, threads, options)
        if isinstance(source, Network):
            for_files = (input_shapes, dimensions, external_data, operators, limits)
            if entry is not None or signature is not None or subgraph != 0 or any(for_files):
                raise errors.InvalidArgumentError(
                    "entry, signature, subgraph, input_shapes, dimensions, external_data, operators and limits are for "
                    "files: a Network has its own"
                )
            with source._locked():
                self._load(used, source._handle, made)
        else:
            self._load(
                used,
                read(
                    source,
                    used,
                    entry=entry,
                    signature=signature,
                    subgraph=subgraph,
                    input_shapes=input_shapes,
                    dimensions=dimensions,
                    external_data=external_data,
                    operators=operators,
                    limits=limits,
                ),
                made,
            )

    def _load(self, runtime: Runtime, network: _ffi.Handle, options: _ffi.ModelOptions) -> None:
        self._signatures = signatures(network)
        self._metadata = tensor_metadata.texts(network)
        self._input_metadata = tensor_metadata.of_ports(network, "input")
        self._output_metadata = tensor_metadata.of_ports(network, "output")
        model = call_back(network, _ffi.lib.tenon_model_load, runtime._handle.get(), network.get(), addressof(options))
        handle = _ffi.Handle(model, _ffi.lib.tenon_model_destroy, network.keep, network.calls_back)
        super().__init__(handle, None, ports(model, "model_input"), ports(model, "model_output"))

    @property
    def signatures(self) -> tuple[str, ...]:
        """Names of the signatures of the .tflite file; none of another model."""
        return self._signatures

    @property
    def metadata(self) -> dict[str, str]:
        """Texts that the model file has about itself: an .onnx file by keys that its exporter chose, such as names of
        classes; a .tflite file "author", "description", "license", "name" and "version" of TFLite's metadata, as far as it
        has them. None of another model.
        """
        return dict(self._metadata)

    @property
    def input_metadata(self) -> tuple[TensorMetadata, ...]:
        """TFLite's metadata of each input, in the order of :attr:`inputs`: how pictures become values, and the like. Empty
        ones of a model that has none, or is of another format.
        """
        return self._input_metadata

    @property
    def output_metadata(self) -> tuple[TensorMetadata, ...]:
        """TFLite's metadata of each output, in the order of :attr:`outputs`: labels of classes, and the like. Empty ones of
        a model that has none, or is of another format.
        """
        return self._output_metadata

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def session(self) -> Session:
        """States that begin with their initial values, apart from the model's own and those of other sessions.

        Raises:
            ClosedError: the model was closed.
        """
        return Session(self)

    def reset(self) -> None:
        """Gives the model's own states their initial values again, after the run under way if there is one.

        Raises:
            ClosedError: the model was closed.
        """
        handle = self._handle
        _ffi.call(_ffi.lib.tenon_model_reset, handle.get())

    def set_threads(self, threads: int) -> None:
        """Sets the maximum number of threads of a run from now on. Where it rises, the next run takes longer: it
        plans memory anew.

        Args:
            threads: how many; 0: as many as there are cores.

        Raises:
            InvalidArgumentError: the number is negative or does not fit into 32 bits.
            ClosedError: the model was closed.
        """
        number = to_threads(threads)
        handle = self._handle
        _ffi.call(_ffi.lib.tenon_model_set_num_threads, handle.get(), number)

    def assignment(self) -> list[dict[str, Any]]:
        """The backend of each layer, and the reason: ``[{"layer", "type", "backend", "reason", ...}]``."""
        assignment: list[dict[str, Any]] = self._report(_ffi.REPORT_ASSIGNMENT)
        return assignment

    def statistics(self) -> dict[str, Any]:
        """Bytes of memory and numbers of workloads: ``{"arena_bytes", "arenas", "workloads", "contexts"}``."""
        statistics: dict[str, Any] = self._report(_ffi.REPORT_STATISTICS)
        return statistics

    def plan(self) -> dict[str, Any]:
        """How the model runs with the shapes of its latest run, or of its loading: kernels, threads and places in
        memory. It is planned anew for this, which takes as long as at first."""
        plan: dict[str, Any] = self._report(_ffi.REPORT_PLAN)
        return plan

    def profile(self) -> dict[str, Any]:
        """Times of runs since loading by layer, in microseconds, in the form of Arm NN's profiler.

        Raises:
            InvalidArgumentError: the model was loaded without ``options={"profiling": True}``.
        """
        profile: dict[str, Any] = self._report(_ffi.REPORT_PROFILE)
        return profile

    def trace(self) -> dict[str, Any]:
        """The times of :meth:`Model.profile` as events, for Perfetto and chrome://tracing once ``json.dump`` has written
        them to a file.

        Raises:
            InvalidArgumentError: the model was loaded without ``options={"profiling": True}``.
        """
        trace: dict[str, Any] = self._report(_ffi.REPORT_TRACE)
        return trace

    def _report(self, report: int) -> Any:
        import json

        handle = self._handle
        return json.loads(_ffi.take_text(_ffi.make(_ffi.lib.tenon_model_report, handle.get(), report)))

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._source, Network):
            import pickle

            raise pickle.PicklingError("a model of a tenon.Network is not pickled: save the network, and load the file")
        return (_load, (self._source, self._arguments))

    def __repr__(self) -> str:
        source = repr(self._source) if isinstance(self._source, str) else type(self._source).__name__
        return f"<tenon.Model {source}: {list(self.inputs)} -> {list(self.outputs)}>"


def _load(source: Any, arguments: dict[str, Any]) -> Model:
    return Model(source, **arguments)


class Session(Runner):
    """States of a model from run to run, see :meth:`Model.session`. As a context manager it closes itself.

    It is called and run as the model is, whose inputs and outputs it has; runs of different sessions do not wait for
    each other. It keeps the model's memory alive.

    Args:
        model: the model whose layers it runs.

    Raises:
        ClosedError: the model was closed.
    """

    def __init__(self, model: Model) -> None:
        handle = model._handle
        session = _ffi.make(_ffi.lib.tenon_session_create, handle.get())
        super().__init__(
            handle,  # type: ignore[arg-type]
            _ffi.Handle(session, _ffi.lib.tenon_session_destroy, handle),
            model.inputs,
            model.outputs,
        )

    def reset(self) -> None:
        """Gives its states their initial values again, after the run under way if there is one.

        Raises:
            ClosedError: the session was closed.
        """
        session = self._session
        assert session is not None
        _ffi.call(_ffi.lib.tenon_session_reset, session.get())

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        import pickle

        raise pickle.PicklingError("a session is not copied or pickled: make another one of the model")
