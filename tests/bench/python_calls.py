#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times of calls through the Python package, of the network that bench_c_interface has: Neg of one element.

usage: PYTHONPATH=python TENON_LIBRARY=build/release/lib/libtenon.so tests/bench/python_calls.py [ROUNDS]

Prints the shortest mean time of each way to call a model, in microseconds of processor time, ways taken in turns; and
the time that imports take, in milliseconds, the shortest of some processes.
"""

import subprocess
import sys
import time

import numpy as np

import tenon

CALLS = 2000
IMPORT = "import time; begin = time.perf_counter(); {}; print((time.perf_counter() - begin) * 1e3)"


def model_of(shape):
    network = tenon.Network()
    x = network.add_input("x", shape)
    negated = network.add_layer("ElementwiseUnary", x, attributes={"Operation": tenon.enums.UnaryOperation.Neg})
    network.add_output(negated, "y")
    return tenon.Model(network, threads=1)


def times_of(ways, rounds):
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, call in ways.items():
            begin = time.process_time()
            for _ in range(CALLS):
                call()
            best[name] = min(best[name], (time.process_time() - begin) / CALLS * 1e6)
    return best


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    model, any_shape = model_of((1,)), model_of((None,))
    x, out = np.ones(1, np.float32), np.zeros(1, np.float32)
    session = model.session()
    ways = {
        "bound()": model.bind(x, out=out),
        "model(x, out=out)": lambda: model(x, out=out),
        "model(x)": lambda: model(x),
        "model(x=x)": lambda: model(x=x),
        "model.run(x)": lambda: model.run(x),
        "session(x)": lambda: session(x),
        "model(x), output of unknown shape": lambda: any_shape(x),
    }
    for name, microseconds in times_of(ways, rounds).items():
        print(f"{microseconds:8.2f} us  {name}")
    for statement in ("import tenon", "from tenon import Model", "import numpy"):
        program = [sys.executable, "-c", IMPORT.format(statement)]
        took = min(float(subprocess.run(program, check=True, capture_output=True).stdout) for _ in range(10))
        print(f"{took:8.2f} ms  {statement}")


if __name__ == "__main__":
    main()
