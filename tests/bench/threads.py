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
import statistics
import sys
from types import SimpleNamespace

from perf.engines import Worker
from perf.measure import MOST_RUNS
from perf.table import number
from perf.thread_tables import make_parser, settings_of, write

HEAD = """# Speed-up by threads

Generated; write it anew with

    {command}

Speed-up of CpuAcc on {threads} threads over one thread, in interleaved rounds{machine}: medians of the ratios of {rounds} pairs of
rounds of {turn:g} ms, and ratios of the shortest times. On a shared machine the shortest times are more reliable. Use cores
that share a cache. A host may place the cores of a virtual machine on different caches: a cache line then takes 600 ns
from one core to the other instead of 130 (bench_parallel_for shows it), and models of a millisecond have a speed-up of
1.3 to 1.5 only.

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
    parser = make_parser(__doc__, rounds=10)
    parser.add_argument("--turn", type=float, default=150.0, help="milliseconds")
    args = parser.parse_args()
    settings = settings_of(parser, args, "CpuAcc")
    settings.turn = args.turn
    headings = ["model", "1 thread, ms", f"{args.threads} threads, ms", "speed-up, median", "of shortest times"]
    return write(parser, args, HEAD, headings,
                 lambda path: row(path.stem, measure(SimpleNamespace(path=path, inputs=[]), settings)),
                 ["threads", "cores", "rounds", "turn"])


if __name__ == "__main__":
    sys.exit(main())
