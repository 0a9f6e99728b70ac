#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much faster models are on several threads, in a table.

usage: threads.py --exe build/release/bin/bench_serve [--threads 2] [--cores 1,2] [--rounds 10] [--turn 150]
                  [--table FILE] MODEL.tflite ...

Each model is loaded by one process that runs it on one thread and by another that runs it on several; they run in turn.
The speed-up is told twice: the median of the ratios of turns that follow each other, and the ratio of the shortest
times that either had. On a machine that others use too the first one says what they leave of the cores, which several
threads suffer from more than one does; the second one what the split of the work allows.
"""
import argparse
import os
import statistics
import sys
from pathlib import Path
from types import SimpleNamespace

from growth import processor
from perf.command import changed_options
from perf.engines import Worker, WorkerError
from perf.measure import MOST_RUNS
from perf.table import number, rows_of

HEAD = """# Speed-up by threads

Generated; write it anew with

    {command}

CpuAcc on {threads} threads over CpuAcc on one, in turn{machine}: medians of the ratios of {rounds} pairs of turns of
{turn:g} ms, and ratios of the shortest times of all. Where other work shares the machine the shortest ones say more.
Take cores that share a cache: a host may put a virtual machine's on different ones, where bench_parallel_for shows a
line to take 600 ns from one to the other instead of 130, and models of a millisecond then run 1.3 to 1.5 times as fast.

"""


def measure(model, settings):
    """Per number of threads the times of each turn: [[ms], ...]."""
    workers = []
    try:
        for threads in (1, settings.threads):
            workers.append(Worker("tenon", model, SimpleNamespace(**{**vars(settings), "threads": threads})))
            workers[-1].ask("load")
            workers[-1].ask("run 10 1000")
        turns = [[], []]
        for _ in range(settings.rounds):
            for times, worker in zip(turns, workers):
                times.append(worker.ask(f"run {MOST_RUNS} {settings.turn}")["ms"])
        return turns
    finally:
        for worker in workers:
            worker.close()


def row(name, turns):
    one, several = turns
    ratios = [statistics.median(a) / statistics.median(b) for a, b in zip(one, several)]
    least = [min(min(times) for times in side) for side in turns]
    return [name, *map(number, least), f"{statistics.median(ratios):.2f}", f"{least[0] / least[1]:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--exe", required=True, type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cores", help="comma-separated; those that the process may use by default")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--turn", type=float, default=150.0, help="milliseconds")
    parser.add_argument("--table", type=Path)
    args = parser.parse_args()
    cores = {int(core) for core in args.cores.split(",")} if args.cores else os.sched_getaffinity(0)
    if len(cores) < args.threads:
        parser.error(f"{args.threads} threads need as many cores; there are {len(cores)}")
    settings = SimpleNamespace(exe=args.exe, compute="CpuAcc", threads=args.threads, cores=cores, priority=True,
                               timeout=120.0, rounds=args.rounds, turn=args.turn)
    table = [["model", "1 thread, ms", f"{args.threads} threads, ms", "speed-up, median", "of shortest times"]]
    failed = False
    for path in args.models:
        try:
            table.append(row(path.stem, measure(SimpleNamespace(path=path, inputs=[]), settings)))
            print(" ".join(table[-1]), file=sys.stderr, flush=True)
        except WorkerError as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    text = rows_of(table)
    if args.table:
        options = changed_options(parser, args, ["threads", "cores", "rounds", "turn"])
        command = " ".join(["tests/bench/threads.py --exe build/release/bin/bench_serve", *options,
                            f"--table {args.table} MODEL.tflite ..."])
        head = HEAD.format(command=command, threads=args.threads, rounds=args.rounds, turn=args.turn,
                           machine=f", on {name}" if (name := processor()) else "")
        args.table.write_text(head + text, encoding="utf-8")
    else:
        print(text, end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
