# SPDX-License-Identifier: Apache-2.0
"""Runtimes: the backends and the threads that models share."""

from __future__ import annotations

import ctypes
import os
import threading

from . import _ffi, _log

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any


class Runtime:
    """Backends and one thread pool for all models that are loaded into it. May be used from any thread.

    Models that are given none share one, see :func:`default_runtime`.

    Args:
        plugins: a folder with dynamic backends (``*_backend.so``), or one such file.
        options: of backends at their creation, ``{"<backend>.<option>": value}``.
        limits: bounds on what a model may ask for, checked before anything is allocated: ``max_tensor_bytes`` (of one
            tensor; 4 GiB by default), ``max_total_bytes`` (of all tensors of a model; 16 GiB), ``max_layers``
            (1,000,000), ``max_file_bytes`` (of a model file; 2 GiB), ``max_loop_iterations`` (of all While layers in
            one run; 10,000,000), ``max_rank`` (8, which is the most), ``max_nesting`` (of graphs and options; 32).

    Raises:
        NotFoundError: there is no ``plugins``.
        InvalidArgumentError: it cannot be read, or an option or limit is unknown.
    """

    def __init__(
        self,
        plugins: str | os.PathLike[str] | None = None,
        options: dict[str, Any] | None = None,
        limits: dict[str, int] | None = None,
    ) -> None:
        _log.follow()
        self._given = (plugins, options, limits)
        made_options = _ffi.to_options(options)
        made_limits = _ffi.to_limits(limits)
        given = _ffi.RuntimeOptions(
            struct_size=ctypes.sizeof(_ffi.RuntimeOptions),
            plugins=None if plugins is None else _ffi.path_bytes(plugins),
            num_options=len(made_options),
            options=made_options,
            limits=ctypes.pointer(made_limits),
        )
        runtime = _ffi.make(_ffi.lib.tenon_runtime_create, ctypes.addressof(given))
        self._handle = _ffi.Handle(runtime, _ffi.lib.tenon_runtime_destroy)

    def report(self) -> dict[str, Any]:
        """The version, the backends and the plugins, also those that could not be loaded, with the reason:
        ``{"version", "backends": [ids], "plugins": [{"path", "is_loaded", "backend", "reason"}]}``."""
        import json

        report: dict[str, Any] = json.loads(
            _ffi.take_text(_ffi.make(_ffi.lib.tenon_runtime_report, self._handle.get()))
        )
        return report

    @property
    def backends(self) -> tuple[str, ...]:
        """Names of the backends, for ``backends=``."""
        return tuple(self.report()["backends"])

    def __reduce__(self) -> tuple[Any, ...]:
        return (Runtime, self._given)


_lock = threading.Lock()
_default: Runtime | None = None


def default_runtime() -> Runtime:
    """The runtime of the process that models share unless they are given another one. Made when first asked for."""
    global _default
    with _lock:
        if _default is None:
            _default = Runtime()
        return _default


def runtime_of(runtime: Runtime | None) -> Runtime:
    """The runtime of an argument."""
    if runtime is None:
        return default_runtime()
    if not isinstance(runtime, Runtime):
        raise _ffi.wrong_type("runtime", "a tenon.Runtime", runtime)
    return runtime


def _renew() -> None:
    global _default, _lock
    _default, _lock = None, threading.Lock()


_ffi.on_fork(_renew)
