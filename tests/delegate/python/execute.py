#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the place of ExecuteNetwork in programs that compare its outputs: runs a model in ai-edge-litert with
libtenonDelegate.so; see runtime.py.

usage: execute.py -m MODEL [-c BACKENDS] [-N] [-d a.npy,b.npy] [-w x.npy,y.npy] [--number-of-threads N]
                  [--resolver reference|optimized|xnnpack] [--option NAME=VALUE ...] [--without-delegate]
                  [--older-versions]
       execute.py --serve SOCKET [ARGUMENT ...]     see python/tests/execute_server.py

  --resolver          what runs the nodes that the delegate leaves: TFLite's reference kernels (the default), its
                      optimized ones, or these and its XNNPACK delegate
  --option            a further option of the delegate
  --without-delegate  tells faults of TFLite from those of the delegate
  --older-versions    see versions.py

Files are .npy; BFloat16 is written as uint16. The exit status is that of ExecuteNetwork: 2 arguments, 3 an input, 4 what
TFLite cannot run without the delegate either, 5 a failure. A server runs each call in a process of its own.
"""

import argparse
import os
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "python/tests"))
import execute_server  # pylint: disable=wrong-import-position


def load_packages():
    """What a server loads once."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import ctypes

    import runtime

    if os.path.exists(runtime.LIBRARY):
        ctypes.PyDLL(runtime.LIBRARY)


def parse(arguments):
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("-m", required=True)
    parser.add_argument("-c", default="CpuAcc,CpuRef")
    parser.add_argument("-N", action="store_true")
    parser.add_argument("-d", default="")
    parser.add_argument("-w", default="")
    parser.add_argument("--number-of-threads", type=int)
    parser.add_argument("--resolver", default="reference", choices=["reference", "optimized", "xnnpack"])
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--without-delegate", action="store_true")
    parser.add_argument("--older-versions", action="store_true")
    return parser.parse_args(arguments)


def paths(text, folder):
    return [os.path.join(folder, path) for path in text.split(",") if path]


def run(given, folder, inputs, with_delegate):
    """The outputs of the model."""
    import numpy as np
    import runtime

    delegates = []
    if with_delegate:
        options = {"backends": given.c, **dict(option.split("=", 1) for option in given.option)}
        if given.number_of_threads:
            options["number-of-threads"] = given.number_of_threads
        delegates = [runtime.load(**options)]
    made = runtime.interpreter(
        os.path.join(folder, given.m),
        *delegates,
        resolver=runtime.RESOLVERS[given.resolver],
        older_versions=given.older_versions,
        num_threads=given.number_of_threads,
    )
    if inputs is None:
        inputs = [np.zeros(detail["shape"], detail["dtype"]) for detail in made.get_input_details()]
    return runtime.run(made, *inputs)


def execute(arguments, folder):
    """Runs one command line. Returns exit status and text."""
    import numpy as np
    import runtime

    try:
        given = parse(arguments)
    except (argparse.ArgumentError, SystemExit) as error:
        return 2, str(error)
    try:
        inputs = [np.load(path) for path in paths(given.d, folder)] if given.d else None
    except (OSError, ValueError) as error:
        return 3, str(error)
    try:
        outputs = run(given, folder, inputs, not given.without_delegate)
    except (RuntimeError, ValueError, OSError) as error:
        if given.without_delegate:
            return 4, runtime.one_line(error)
        try:
            run(given, folder, inputs, False)
        except (RuntimeError, ValueError) as alone:
            return 4, f"TFLite alone: {runtime.one_line(alone)}"
        return 5, runtime.one_line(error)
    for path, result in zip(paths(given.w, folder), outputs):
        np.save(path, result.view(np.uint16) if result.dtype.name == "bfloat16" else result)
    return 0, ""


if __name__ == "__main__":
    sys.exit(execute_server.main(execute, execute_server.Processes, load_packages))
