#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near the arenas of models come to the least that any packing of the same tensors needs.

usage: arenas.py --exe build/release/bin/ExecuteNetwork [--compute CpuAcc,CpuRef] [--most 1.05] MODEL.tflite ...

The bound is the largest sum of bytes alive at once. Prints a line a model; exit 0 only if no arena is more than --most
times its bound.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", required=True)
    parser.add_argument("--compute", default="CpuAcc,CpuRef")
    parser.add_argument("--most", type=float, default=1.05)
    parser.add_argument("models", nargs="+", type=Path)
    arguments = parser.parse_args()
    failed = False
    for model in arguments.models:
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            command = [arguments.exe, "-m", str(model), "-c", arguments.compute, "-N", "--report-json", str(report)]
            run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            if run.returncode != 0:
                print(f"{model.name}: {run.stderr.strip()}")
                failed = True
                continue
            figures = json.loads(report.read_text())
        arena, bound = figures["arena_bytes"], figures["arena_lower_bound_bytes"]
        too_much = arena > arguments.most * bound
        print(f"{model.name:45} {arena:>12} {bound:>12} {arena / bound if bound else 1:8.4f}{' ABOVE' * too_much}")
        failed = failed or too_much
    sys.exit(failed)


if __name__ == "__main__":
    main()
