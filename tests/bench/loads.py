#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What packing of weights costs a load, in a table: on one thread, on several, and from a file of packed weights.

usage: loads.py --exe build/release/bin/bench_serve [--threads 2] [--cores 1,2] [--rounds 15] [--table FILE]
                MODEL.tflite ...

Each load is one of a process of its own, with the first inference behind it; the three take turns. A row shows the
medians of the load on one thread and of the first inference, and medians of the ratios of rounds: below 1 the other way
takes less.
"""
import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from growth import processor
from perf.command import changed_options
from perf.engines import Worker, WorkerError
from perf.table import number, rows_of

HEAD = """# Loading: packing on several threads, and from a file

Generated; write it anew with

    {command}

Parsing, optimizing and loading by CpuAcc, each in a fresh process, in turn{machine}: medians of {rounds} loads. Beside
one thread: the same on {threads} threads, which share the layers that are to be packed, and on one from the file that
SaveCachedNetwork wrote, of which each block is compared with its checksum in place of packing it. Ratios are medians of
those of a round. The last column is load and first inference together, from the file beside packing.

No weights are packed later than at the load: what a first inference would save is what every inference after it would
wait for. Branches of If and While are packed with the network, so that none of their runs is slower than the others.

"""


def load(path, settings, threads, options):
    """Milliseconds of a load and of the first inference."""
    own = SimpleNamespace(**{**vars(settings), "threads": threads, "options": options})
    with Worker("tenon", SimpleNamespace(path=path, inputs=[]), own) as worker:
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--exe", required=True, type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cores", help="comma-separated; those that the process may use by default")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--table", type=Path)
    args = parser.parse_args()
    cores = {int(core) for core in args.cores.split(",")} if args.cores else os.sched_getaffinity(0)
    if len(cores) < args.threads:
        parser.error(f"{args.threads} threads need as many cores; there are {len(cores)}")
    settings = SimpleNamespace(exe=args.exe, compute="CpuAcc,CpuRef", threads=args.threads, cores=cores, priority=True,
                               timeout=120.0, rounds=args.rounds)
    table = [["model", "load, ms", "first inference, ms", f"load on {args.threads} threads", "load from a file",
              "and first inference"]]
    failed = False
    for path in args.models:
        try:
            table.append(row(path, settings))
            print(" ".join(table[-1]), file=sys.stderr, flush=True)
        except WorkerError as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    text = rows_of(table)
    if args.table:
        options = changed_options(parser, args, ["threads", "cores", "rounds"])
        command = " ".join(["tests/bench/loads.py --exe build/release/bin/bench_serve", *options,
                            f"--table {args.table} MODEL.tflite ..."])
        head = HEAD.format(command=command, threads=args.threads, rounds=args.rounds,
                           machine=f", on {name}" if (name := processor()) else "")
        args.table.write_text(head + text, encoding="utf-8")
    else:
        print(text, end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
