# SPDX-License-Identifier: Apache-2.0
"""The C interface (include/tenon/c/tenon.h) by ctypes: its structs, its functions, handles and errors.

The library is loaded when this module is imported: from the environment variable ``TENON_LIBRARY`` (a path), else from
the folder ``lib`` next to this file, else from where the system looks for libraries.
"""

from __future__ import annotations

import ctypes
import operator
import os
import threading
import weakref
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    addressof,
    c_char_p,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)

from . import errors

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Callable

C_MAJOR = 1
C_MINOR = 0

OK = 0
ERROR = 1
INVALID_LAYER = 5
UNSUPPORTED_PARAMETERS = 3
UNKNOWN_RANK = 0xFFFFFFFF
UNKNOWN_DIM = -1
NO_VALUE = 0xFFFFFFFF
ANY_TYPE = -1
MAX_RANK = 8

# tenon_attribute_kind
INTS, FLOATS, STRING, BYTES, BOOL, SHAPE = range(6)

# tenon_report
REPORT_ASSIGNMENT, REPORT_STATISTICS, REPORT_PLAN, REPORT_PROFILE, REPORT_TRACE = range(5)


class Text(Structure):
    """tenon_text"""

    _fields_ = [("data", c_void_p), ("capacity", c_size_t)]


class CTensorInfo(Structure):
    """tenon_tensor_info"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_int32),
        ("rank", c_uint32),
        ("dims", POINTER(c_int64)),
        ("num_bytes", c_size_t),
        ("num_scales", c_uint32),
        ("scales", POINTER(c_float)),
        ("num_zero_points", c_uint32),
        ("zero_points", POINTER(c_int32)),
        ("quantization_dim", c_int32),
        ("is_constant", c_uint8),
        ("reserved", c_uint8 * 3),
        ("quantization_block", c_size_t),
    ]


class Attribute(Structure):
    """tenon_attribute"""

    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int32),
        ("is_unknown_rank", c_uint8),
        ("count", c_size_t),
        ("values", c_void_p),
    ]


class CLayer(Structure):
    """tenon_layer, up to the last member that custom operators read"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("type", c_char_p),
        ("name", c_char_p),
        ("guid", c_uint64),
        ("num_attributes", c_size_t),
        ("attributes", POINTER(Attribute)),
        ("num_inputs", c_size_t),
        ("inputs", POINTER(POINTER(CTensorInfo))),
        ("constant_data", POINTER(c_void_p)),
        ("input_is_constant", POINTER(c_uint8)),
        ("num_outputs", c_size_t),
        ("outputs", POINTER(POINTER(CTensorInfo))),
    ]


AllocateLateFunction = CFUNCTYPE(
    c_int32, c_void_p, c_size_t, c_uint32, POINTER(c_int64), POINTER(c_void_p), POINTER(Text)
)


class LateOutputs(Structure):
    """tenon_late_outputs, without the part for devices"""

    _fields_ = [("struct_size", c_size_t), ("self", c_void_p), ("allocate", AllocateLateFunction)]


class ExecuteArgs(Structure):
    """tenon_execute_args, without the part for devices"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("num_inputs", c_size_t),
        ("inputs", POINTER(c_void_p)),
        ("num_outputs", c_size_t),
        ("outputs", POINTER(c_void_p)),
        ("scratch", c_void_p),
        ("parallel", c_void_p),
        ("late_outputs", POINTER(LateOutputs)),
    ]


class Option(Structure):
    """tenon_option"""

    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class Limits(Structure):
    """tenon_limits"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("max_tensor_bytes", c_uint64),
        ("max_total_bytes", c_uint64),
        ("max_layers", c_uint64),
        ("max_file_bytes", c_uint64),
        ("max_loop_iterations", c_uint64),
        ("max_rank", c_uint32),
        ("max_nesting", c_uint32),
    ]


class RuntimeOptions(Structure):
    """tenon_runtime_options"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("plugins", c_char_p),
        ("num_options", c_size_t),
        ("options", POINTER(Option)),
        ("limits", POINTER(Limits)),
    ]


class InputShape(Structure):
    """tenon_input_shape"""

    _fields_ = [("input", c_char_p), ("rank", c_uint32), ("dims", POINTER(c_int64))]


class Dimension(Structure):
    """tenon_dimension"""

    _fields_ = [("name", c_char_p), ("size", c_uint32)]


class ExternalData(Structure):
    """tenon_external_data"""

    _fields_ = [("location", c_char_p), ("data", c_char_p), ("num_bytes", c_size_t)]


class CShape(Structure):
    """tenon_shape"""

    _fields_ = [("rank", c_uint32), ("dims", c_int64 * MAX_RANK)]


InferFunction = CFUNCTYPE(c_int32, c_void_p, POINTER(CLayer), POINTER(c_void_p), POINTER(CShape), POINTER(Text))
IsSupportedFunction = CFUNCTYPE(c_int32, c_void_p, POINTER(CLayer), POINTER(Text))
RunFunction = CFUNCTYPE(c_int32, c_void_p, POINTER(CLayer), POINTER(ExecuteArgs), POINTER(Text))


class COperator(Structure):
    """tenon_operator"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("self", c_void_p),
        ("value_inputs", c_uint32),
        ("has_late_outputs", c_uint8),
        ("infer_shapes", InferFunction),
        ("is_supported", IsSupportedFunction),
        ("run", RunFunction),
        ("release", c_void_p),
    ]


class ReadOptions(Structure):
    """tenon_read_options"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("signature", c_char_p),
        ("subgraph", c_uint32),
        ("in_place", c_uint8),
        ("num_input_shapes", c_size_t),
        ("input_shapes", POINTER(InputShape)),
        ("num_operators", c_size_t),
        ("operators", POINTER(POINTER(COperator))),
        ("limits", POINTER(Limits)),
        ("num_dimensions", c_size_t),
        ("dimensions", POINTER(Dimension)),
        ("external_data_folder", c_char_p),
        ("num_external_data", c_size_t),
        ("external_data", POINTER(ExternalData)),
        ("entry", c_char_p),
    ]


class CTensorMetadata(Structure):
    """tenon_tensor_metadata"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("description", c_char_p),
        ("num_means", c_size_t),
        ("means", POINTER(c_float)),
        ("num_stds", c_size_t),
        ("stds", POINTER(c_float)),
        ("num_labels", c_size_t),
        ("labels", POINTER(c_char_p)),
        ("num_value_labels", c_size_t),
        ("value_labels", POINTER(c_char_p)),
    ]


class ModelOptions(Structure):
    """tenon_model_options"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("num_backends", c_size_t),
        ("backends", POINTER(c_char_p)),
        ("num_threads", c_uint32),
        ("num_options", c_size_t),
        ("options", POINTER(Option)),
    ]


class Tensor(Structure):
    """tenon_tensor"""

    _fields_ = [
        ("data", c_void_p),
        ("num_bytes", c_size_t),
        ("type", c_int32),
        ("rank", c_uint32),
        ("dims", c_void_p),
        ("import_id", c_uint32),
        ("reserved", c_uint32 * 3),
    ]


AllocateFunction = CFUNCTYPE(c_void_p, c_void_p, c_size_t, POINTER(CTensorInfo))


class RunOptions(Structure):
    """tenon_run_options"""

    _fields_ = [
        ("struct_size", c_size_t),
        ("session", c_void_p),
        ("cancellation", c_void_p),
        ("allocate", AllocateFunction),
        ("allocate_self", c_void_p),
    ]


LogFunction = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


def _candidates() -> list[str]:
    """Paths and names of the library, the first that there is counts."""
    given = os.environ.get("TENON_LIBRARY")
    if given:
        return [given]
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")
    packaged: list[str] = []
    if os.path.isdir(folder):
        packaged = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("libtenon."))
    return packaged or ["libtenon.so"]


def _load() -> ctypes.CDLL:
    reasons = []
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            reasons.append(f"{candidate}: {error}")
    raise errors.LibraryNotFoundError(
        "libtenon.so cannot be loaded; set TENON_LIBRARY to its path, or install the wheel. " + "; ".join(reasons)
    )


lib = _load()


def _declare(name: str, result: Any, *arguments: Any) -> None:
    try:
        function = getattr(lib, name)
    except AttributeError:
        raise errors.LibraryNotFoundError(f"{lib._name} has no {name}: it is of an older version of Tenon") from None
    function.restype = result
    function.argtypes = arguments


# Handles, and pointers to structs and to results, are c_void_p throughout: ctypes is quickest with integers.
_P = c_void_p
_S = c_int32
_declare("tenon_version", c_char_p)
_declare("tenon_c_version", None, POINTER(c_uint32), POINTER(c_uint32))
_declare("tenon_error_text", c_char_p, _P)
_declare("tenon_error_destroy", None, _P)
_declare("tenon_text_destroy", None, _P)
_declare("tenon_memory_destroy", None, _P)
_declare("tenon_log_set_function", _S, LogFunction, _P, _P)
_declare("tenon_log_set_severity", _S, c_int32, _P)
_declare("tenon_runtime_create", _S, _P, _P, _P)
_declare("tenon_runtime_destroy", None, _P)
_declare("tenon_runtime_report", _S, _P, _P, _P)
_declare("tenon_network_read_file", _S, _P, c_char_p, _P, _P, _P)
_declare("tenon_network_read_memory", _S, _P, _P, c_size_t, _P, _P, _P)
_declare("tenon_network_destroy", None, _P)
_declare("tenon_network_num_inputs", c_size_t, _P)
_declare("tenon_network_num_outputs", c_size_t, _P)
_declare("tenon_network_input", _S, _P, c_size_t, _P, _P, _P)
_declare("tenon_network_output", _S, _P, c_size_t, _P, _P, _P)
_declare("tenon_network_num_signatures", c_size_t, _P)
_declare("tenon_network_signature", _S, _P, c_size_t, _P, _P)
_declare("tenon_network_num_metadata", c_size_t, _P)
_declare("tenon_network_metadata", _S, _P, c_size_t, _P, _P, _P)
_declare("tenon_network_input_metadata", _S, _P, c_size_t, _P, _P)
_declare("tenon_network_output_metadata", _S, _P, c_size_t, _P, _P)
_declare("tenon_network_is_optimized", c_uint8, _P)
_declare("tenon_network_save", _S, _P, c_char_p, _P)
_declare("tenon_network_save_memory", _S, _P, _P, _P, _P)
_declare("tenon_network_create", _S, _P, _P)
_declare("tenon_network_add_input", _S, _P, c_char_p, _P, _P, _P)
_declare("tenon_network_add_output", _S, _P, c_char_p, c_uint32, _P)
_declare("tenon_network_add_constant", _S, _P, c_char_p, _P, _P, c_size_t, c_uint8, _P, _P)
_declare("tenon_network_add_layer", _S, _P, c_char_p, c_char_p, c_size_t, _P, c_size_t, _P, c_size_t, _P, _P, _P)
_declare("tenon_network_add_if", _S, _P, c_char_p, _P, _P, c_size_t, _P, c_size_t, _P, _P)
_declare("tenon_network_add_while", _S, _P, c_char_p, _P, _P, c_size_t, _P, _P, _P)
_declare("tenon_network_add_custom", _S, _P, c_char_p, _P, c_char_p, c_size_t, c_size_t, _P, c_size_t, _P, _P, _P)
_declare("tenon_network_optimize", _S, _P, _P, _P, _P, _P)
_declare("tenon_model_load", _S, _P, _P, _P, _P, _P)
_declare("tenon_model_destroy", None, _P)
_declare("tenon_model_num_inputs", c_size_t, _P)
_declare("tenon_model_num_outputs", c_size_t, _P)
_declare("tenon_model_input", _S, _P, c_size_t, _P, _P, _P)
_declare("tenon_model_output", _S, _P, c_size_t, _P, _P, _P)
_declare("tenon_model_set_num_threads", _S, _P, c_uint32, _P)
_declare("tenon_model_run", _S, _P, _P, c_size_t, _P, c_size_t, _P, _P)
_declare("tenon_session_create", _S, _P, _P, _P)
_declare("tenon_session_destroy", None, _P)
_declare("tenon_session_reset", _S, _P, _P)
_declare("tenon_model_reset", _S, _P, _P)
_declare("tenon_cancellation_create", _S, _P, _P)
_declare("tenon_cancellation_destroy", None, _P)
_declare("tenon_cancellation_cancel", None, _P)
_declare("tenon_cancellation_reset", None, _P)
_declare("tenon_model_report", _S, _P, c_int32, _P, _P)


def _check_version() -> None:
    major, minor = c_uint32(), c_uint32()
    lib.tenon_c_version(major, minor)
    if major.value != C_MAJOR or minor.value < C_MINOR:
        raise errors.LibraryNotFoundError(
            f"{lib._name} has version {major.value}.{minor.value} of the C interface; "
            f"this package needs {C_MAJOR}.{C_MINOR} or a later one of {C_MAJOR}"
        )


_check_version()


#: Exceptions of operators by numbers, until the error of the call is made. The library passes on texts only, and may run
#: an operator in another thread than the one that waits: its text has the number, between two of MARK.
raised: dict[int, BaseException] = {}
latest_raised = 0
MARK = "\u2063"
_raised_lock = threading.Lock()


def keep_raised(exception: BaseException) -> str:
    """Keeps the exception of an operator. Returns the mark that its text begins with."""
    global latest_raised
    with _raised_lock:
        latest_raised += 1
        raised[latest_raised] = exception
        return f"{MARK}{latest_raised}{MARK}"


def forget_raised(latest: int) -> None:
    """Drops exceptions up to this number."""
    for number in list(raised):
        if number <= latest:
            raised.pop(number, None)


def _forget_all_raised() -> None:
    """In a forked child."""
    global _raised_lock
    _raised_lock = threading.Lock()
    raised.clear()


def without_marks(text: str) -> str:
    """A text of the library as users see it."""
    if MARK not in text:
        return text
    import re

    return re.sub(f"{MARK}[0-9]+{MARK}", "", text)


def error_of(status: int, error: c_void_p) -> BaseException:
    """The exception for a status that is no success. Takes the error object, which becomes null. Exceptions of operators
    are its cause; KeyboardInterrupt and SystemExit are returned themselves."""
    pointer, error.value = error.value, None
    text = "memory ran out, also for the reason"
    if pointer is not None:
        text = lib.tenon_error_text(pointer).decode("utf-8", "replace")
        lib.tenon_error_destroy(pointer)
    made = errors._BY_STATUS.get(status, errors.Error)(without_marks(text))
    for number in text.split(MARK)[1:-1]:
        cause = raised.pop(int(number), None) if number.isdecimal() else None
        if isinstance(cause, (KeyboardInterrupt, SystemExit)):
            return cause
        if made.__cause__ is None:
            made.__cause__ = cause
    return made


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Calls a function whose last parameter is the error. Raises the exception that its status stands for."""
    error = c_void_p()
    status = function(*arguments, addressof(error))
    if status != OK:
        raise error_of(status, error)


def make(function: Callable[..., int], *arguments: Any) -> int:
    """The same for a function that gives a handle or text, by the parameter before the error."""
    made = c_void_p()
    call(function, *arguments, addressof(made))
    assert made.value is not None
    return made.value


def take_text(pointer: int) -> str:
    """A text that the library made, which is given back to it."""
    try:
        return without_marks(ctypes.string_at(pointer).decode("utf-8", "replace"))
    finally:
        lib.tenon_text_destroy(pointer)


def wrong_type(argument: str, needed: str, given: Any) -> TypeError:
    """The exception for an argument of another type."""
    return TypeError(f"{argument} is {needed}, not {given!r}")


def to_integer(argument: str, value: Any) -> int:
    """An argument that is an integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise wrong_type(argument, "an integer", value) from None


def to_tuple(argument: str, needed: str, values: Any) -> tuple[Any, ...]:
    """An argument that has several values."""
    try:
        return tuple(values)
    except TypeError:
        raise wrong_type(argument, needed, values) from None


def to_pairs(argument: str, needed: str, given: Any) -> list[tuple[Any, Any]]:
    """The keys and values of an argument that is a mapping or None."""
    if given is None:
        return []
    if not hasattr(given, "items"):
        raise wrong_type(argument, needed, given)
    return list(given.items())


def path_bytes(path: str | bytes | os.PathLike[Any]) -> bytes:
    """A path for the library."""
    encoded = os.fsencode(path)
    if b"\0" in encoded:
        raise errors.InvalidArgumentError(f"the path {path!r} has a null character")
    return encoded


def text_bytes(text: str | None, argument: str = "name") -> bytes | None:
    """A text for the library."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise wrong_type(argument, "a text", text)
    if "\0" in text:
        raise errors.InvalidArgumentError(f"the text {text!r} has a null character")
    return text.encode("utf-8")


def to_options(options: dict[str, Any] | None) -> Any:
    """tenon_option[] of a dict. Truth values become true and false, lists texts with commas between."""

    def to_text(key: str, value: Any) -> str:
        if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a number of numpy
            value = value.item()
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float, str)):
            return str(value)
        if isinstance(value, (list, tuple)):
            return ",".join(str(part) for part in value)
        raise TypeError(f"option '{key}' is {value!r}; it must be a truth value, a number, a text or a list")

    given = to_pairs("options", "a dict of options by names", options)
    made = (Option * len(given))()
    for option, (key, value) in zip(made, given):
        option.key = text_bytes(key, "the name of an option")
        option.value = text_bytes(to_text(key, value))
    return made


def to_limits(limits: dict[str, int] | None) -> Limits:
    """tenon_limits of a dict."""
    made = Limits(struct_size=sizeof(Limits))
    known = [name for name, _ in Limits._fields_[1:]]  # type: ignore[misc]
    for name, value in to_pairs("limits", "a dict of limits by names", limits):
        if name not in known:
            raise errors.InvalidArgumentError(f"there is no limit '{name}'; there are {', '.join(known)}")
        highest = 2 ** (8 * getattr(Limits, name).size) - 1
        number = -1 if isinstance(value, bool) else to_integer(f"limit '{name}'", value)
        if not 0 <= number <= highest:
            raise errors.InvalidArgumentError(f"limit '{name}' is {value!r}; it must be a number from 0 to {highest}")
        setattr(made, name, number)
    return made


class Handle:
    """A handle of the library, destroyed with the last reference to this object, but not in a forked child."""

    __slots__ = ("__weakref__", "_destroy", "calls_back", "is_forked", "keep", "value")

    def __init__(self, value: int, destroy: Callable[[int], None], keep: Any = None, calls_back: bool = False) -> None:
        #: None once it must not be used: in a forked child; and when the garbage collector has finalized this object, but
        #: another one of the same cycle, which refers to it, runs its own finalizer.
        self.value: int | None = value
        self.is_forked = False
        self.calls_back = calls_back  # whether there are operators in Python
        self.keep = keep  # objects that the library uses as long as the handle lives
        self._destroy = destroy
        _handles.add(self)

    def get(self) -> int:
        """The handle. Raises ForkedError in a child of the process that made it."""
        if self.value is None:
            raise self.lost()
        return self.value

    def lost(self) -> errors.Error:
        """Why it must not be used."""
        if self.is_forked:
            return errors.ForkedError(
                "this object was made before os.fork(); the threads that run models do not survive a fork: load the "
                "model in the child, or start processes by 'spawn' or 'forkserver'"
            )
        return errors.ClosedError("this object was destroyed by the garbage collector")

    def __del__(self) -> None:
        value = getattr(self, "value", None)  # there is none where __init__ was not called
        if value is not None:
            self.value = None
            self._destroy(value)


_handles: weakref.WeakSet[Handle] = weakref.WeakSet()
_after_fork: list[Callable[[], None]] = []


def on_fork(function: Callable[[], None]) -> None:
    """Has `function` called in each forked child."""
    _after_fork.append(function)


def _forget() -> None:
    for handle in list(_handles):
        handle.value, handle.is_forked = None, True
    _handles.clear()
    for function in _after_fork:
        function()


on_fork(_forget_all_raised)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
