#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the place of ExecuteNetwork in programs that compare its outputs: runs a model through the Python package.

usage: execute.py -m MODEL [-c BACKENDS] [-N] [-d a.npy,b.npy] [-w x.npy,y.npy]
       execute.py --serve SOCKET     runs the command lines of other calls, which set TENON_EXECUTE_SOCKET=SOCKET

With a server a call does not load Python's packages anew. Files are .npy; BFloat16 is written as uint16. The exit status
is that of ExecuteNetwork: 2 arguments, 3 the model or an input, 4 unsupported, 5 a failure while running.
"""

import argparse
import os
import sys

import execute_server


def execute(arguments, folder):
    """Runs one command line. Returns exit status and text."""
    import numpy as np

    import tenon

    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("-m", required=True)
    parser.add_argument("-c", default="CpuAcc,CpuRef")
    parser.add_argument("-N", action="store_true")
    parser.add_argument("-d", default="")
    parser.add_argument("-w", default="")

    def paths(text):
        return [os.path.join(folder, path) for path in text.split(",") if path]

    try:
        given = parser.parse_args(arguments)
    except (argparse.ArgumentError, SystemExit) as error:
        return 2, str(error)
    try:
        model = tenon.Model(os.path.join(folder, given.m), backends=given.c.split(","))
        inputs = [np.load(path) for path in paths(given.d)]
        if not given.d:
            inputs = [np.zeros([size or 1 for size in info.shape or ()], info.dtype) for info in model.inputs]
    except tenon.UnsupportedError as error:
        return 4, str(error)
    except (tenon.Error, OSError, ValueError) as error:
        return 3, str(error)
    try:
        results = model(*inputs)
        results = list(results.values()) if isinstance(results, dict) else [results]
        for path, result in zip(paths(given.w), results):
            np.save(path, result.view(np.uint16) if result.dtype.name == "bfloat16" else result)
    except tenon.UnsupportedError as error:
        return 4, str(error)
    except (tenon.Error, TypeError, OSError) as error:
        return 5, str(error)
    return 0, ""


if __name__ == "__main__":
    sys.exit(execute_server.main(execute))
