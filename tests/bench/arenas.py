#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What optimization and memory planning make of models, in a table.

usage: arenas.py --exe build/release/bin/ExecuteNetwork [--compute CpuAcc,CpuRef] [--most 1.05] [--table FILE]
                 MODEL.tflite ...

Layers count without inputs, outputs and constants, and without those of nested networks. The arena holds the
intermediate tensors and scratch memory of one run; its bound is the largest sum of bytes alive at once, which no
packing of these tensors can undercut. Prints a line a model, or writes all of it to FILE; exit 0 only if each arena is
at most --most times its bound, or proven to be the smallest there is for tensors at aligned offsets: what is padded to
whole units of the alignment counts for much where a model is tiny.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from perf.machine import describe_machine

THREADS = 1
HEAD = """# Models: what optimization and memory planning make of them

Generated; write it anew with

    {command}

Layers count without inputs, outputs and constants, and without those of nested networks. A partition is a connected
part of the network that one backend runs. The arena holds the intermediate tensors and scratch memory of one run; its
bound is the largest sum of bytes alive at once, below which no placement of these tensors can go. Tensors begin at
multiples of 64 bytes; "smallest": it is proven that no placement at such offsets needs fewer units of 64 bytes.

{machine}
Runs have {threads} thread. Scratch memory, which is part of the arena, depends on the instruction sets, because kernels
lay data out for them: on another machine some figures differ. More threads need more of it, a part for each. The arena
also has memory for the whole tensors of layers that run in tiles: a debug callback needs it, other runs do not touch it.

| model | layers before | after | partitions | arena, bytes | bound | arena / bound | smallest |
|---|---:|---:|---:|---:|---:|---:|---|
"""


def measure(exe, compute, model):
    """The report of one run, or the text of its failure."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [exe, "-m", str(model), "-c", compute, "-N", "--number-of-threads", str(THREADS), "--report-json",
                   str(report)]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return json.loads(report.read_text()) if run.returncode == 0 else run.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", required=True)
    parser.add_argument("--compute", default="CpuAcc,CpuRef")
    parser.add_argument("--most", type=float, default=1.05)
    parser.add_argument("--table", type=Path)
    parser.add_argument("models", nargs="+", type=Path)
    arguments = parser.parse_args()
    failed = False
    rows = []
    for model in sorted(arguments.models):
        figures = measure(arguments.exe, arguments.compute, model)
        if isinstance(figures, str):
            print(f"{model.name}: {figures}")
            failed = True
            continue
        arena, bound = figures["arena_bytes"], figures["arena_lower_bound_bytes"]
        ratio = arena / bound if bound else 1.0
        smallest = figures["arena_is_smallest"]
        too_much = arena > arguments.most * bound and not smallest
        layers = [figures["layers_before"], figures["layers_after"], figures["partitions"]]
        print(f"{model.name:45} {layers[0]:>5} {layers[1]:>5} {layers[2]:>4} {arena:>12} {bound:>12} {ratio:8.4f}"
              f"{' smallest' * smallest}{' ABOVE' * too_much}", flush=True)
        rows.append(f"| {model.name} | {layers[0]} | {layers[1]} | {layers[2]} | {arena} | {bound} | {ratio:.4f} | "
                    f"{'yes' if smallest else 'no'} |\n")
        failed = failed or too_much
    if arguments.table is not None:
        isa = os.environ.get("TENON_FORCE_ISA")
        command = (f"TENON_FORCE_ISA={isa} " if isa else "") + \
            f"tests/bench/arenas.py --exe build/release/bin/ExecuteNetwork --table {arguments.table} MODELS/*.tflite"
        head = HEAD.format(command=command, machine=describe_machine(), threads=THREADS)
        arguments.table.write_text(head + "".join(rows))
    sys.exit(failed)


if __name__ == "__main__":
    main()
