#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare Tenon's CpuRef with TFLite's reference kernels, and Tenon's loading with TFLite's, in one run.

usage: compare_tflite.py --exe build/release/bin/ExecuteNetwork [--rounds N] [--iterations N] MODEL.tflite ...

Needs `ai-edge-litert` and numpy from PyPI, e.g. in a virtual environment:
    python3 -m venv build/venv-peers && build/venv-peers/bin/pip install ai-edge-litert numpy
Peers are run in turn, A B A B, one thread each; medians over the rounds, and their ratio, which holds on a noisy machine
where the times themselves do not.
  kernels   one inference: Tenon CpuRef / TFLite with its reference op resolver
  loading   Tenon: parse + optimize + load, and what the first inference takes more than later ones (a difference of
            medians: one inference varies by more than that)
            TFLite: interpreter + allocation with XNNPACK
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType


def tenon(exe, model, iterations):
    with tempfile.TemporaryDirectory() as tmp:
        report = Path(tmp) / "report.json"
        command = [exe, "-m", model, "-c", "CpuRef", "-N", "-I", str(iterations + 1), "--number-of-threads", "1",
                   "--report-json", str(report)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        r = json.loads(report.read_text())
    return r["inference_ms"]["median"], r["load_ms"] + r["optimize_ms"], r["first_inference_ms"]


def tflite_reference(model, iterations):
    interpreter = Interpreter(model_path=model, num_threads=1,
                              experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], np.zeros(detail["shape"], detail["dtype"]))
    interpreter.invoke()
    times = []
    for _ in range(iterations):
        start = time.perf_counter()
        interpreter.invoke()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def tflite_load(model):
    start = time.perf_counter()
    Interpreter(model_path=model, num_threads=1).allocate_tensors()
    return 1e3 * (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("models", nargs="+")
    args = parser.parse_args()
    print(f"{'model':44}{'CpuRef ms':>11}{'TFLite ref ms':>15}{'ratio':>8}{'load ms':>10}{'TFLite load ms':>16}"
          f"{'ratio':>8}")
    for model in args.models:
        columns = [[], [], [], [], []]
        for done in range(args.rounds):
            if sys.stderr.isatty():
                print(f"\r{Path(model).name}: round {done + 1} of {args.rounds}", end="\r", file=sys.stderr)
            run, load, first = tenon(args.exe, model, args.iterations)
            for column, value in zip(columns, (run, tflite_reference(model, args.iterations), load,
                                               tflite_load(model), first)):
                column.append(value)
        run, reference, load, peer_load, first = (statistics.median(c) for c in columns)
        load += max(0.0, first - run)
        print(f"{Path(model).name[:43]:44}{run:11.2f}{reference:15.2f}{run / reference:8.2f}{load:10.2f}"
              f"{peer_load:16.2f}{load / peer_load:8.2f}", flush=True)


if __name__ == "__main__":
    main()
