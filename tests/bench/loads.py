#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What packing of weights costs a load, in a table: on one thread, on several, and from a file of packed weights.

usage: loads.py --exe build/release/bin/bench_serve [--threads 2] [--cores 1,2] [--rounds 15] [--table FILE]
                MODEL.tflite ...

Each load is one of a process of its own, with the first inference behind it; the three take turns. A row shows the
medians of the load on one thread and of the first inference, and medians of the ratios of rounds: below 1 the other way
takes less.
"""
import statistics
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from perf.engines import Worker
from perf.table import number
from perf.thread_tables import make_parser, settings_of, write

HEAD = """# Loading: packing on several threads, and from a file

Generated; write it anew with

    {command}

Parsing, optimizing and loading by CpuAcc, each in a fresh process, in interleaved rounds{machine}: medians of {rounds} loads.
Two further columns are ratios to one thread with packing: {threads} threads, which share the packing; and one thread with a
file from SaveCachedNetwork, whose blocks are checked against their checksums instead of packed. Ratios are medians over
rounds. The last column is the ratio of load and first inference together, with the file and with packing.

All weights are packed at the load. Packing in the first inference, which runs all layers, would only move the wait.
Branches of If and While are packed with the network, so that none of their runs takes longer than the others.

"""


def load(path, settings, threads, options):
    """Milliseconds of a load and of the first inference."""
    own = SimpleNamespace(**{**vars(settings), "threads": threads, "options": options})
    with Worker("tenon", SimpleNamespace(path=path, inputs=[], shapes={}), own) as worker:
        init = worker.ask("load")["init"]
        return init, worker.ask("run 1 1000")["ms"][0]


def row(path, settings):
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "packed")
        load(path, settings, 1, ["--save-cached-network", file])
        ways = [(1, []), (settings.threads, []), (1, ["--cached-network", file])]
        rounds = [[load(path, settings, *way) for way in ways] for _ in range(settings.rounds)]
    threads, from_file = (statistics.median(times[way][0] / times[0][0] for times in rounds) for way in (1, 2))
    both = statistics.median(sum(times[2]) / sum(times[0]) for times in rounds)
    one, first = (statistics.median(times[0][i] for times in rounds) for i in (0, 1))
    return [path.stem, number(one), number(first), f"{threads:.2f}", f"{from_file:.2f}", f"{both:.2f}"]


def main():
    parser = make_parser(__doc__, rounds=15)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    settings = settings_of(parser, args, "CpuAcc,CpuRef", args.threads)
    headings = ["model", "load, ms", "first inference, ms", f"load on {args.threads} threads", "load from a file",
                "and first inference"]
    return write(parser, args, HEAD, headings, lambda path: row(path, settings), ["threads", "cores", "rounds"])


if __name__ == "__main__":
    sys.exit(main())
