# SPDX-License-Identifier: Apache-2.0
"""What tables of models on one thread and on several have in common: threads.py and loads.py."""
import argparse
import os
import sys
from pathlib import Path
from types import SimpleNamespace

from growth import processor
from perf.command import changed_options
from perf.engines import WorkerError
from perf.table import rows_of


def make_parser(description, rounds):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--exe", required=True, type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cores", help="comma-separated; those that the process may use by default")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--table", type=Path)
    return parser


def settings_of(parser, args, compute):
    """What workers are started with."""
    cores = {int(core) for core in args.cores.split(",")} if args.cores else os.sched_getaffinity(0)
    if len(cores) < args.threads:
        parser.error(f"{args.threads} threads need as many cores; there are {len(cores)}")
    return SimpleNamespace(exe=args.exe, compute=compute, threads=args.threads, cores=cores, priority=True,
                           timeout=120.0, rounds=args.rounds)


def write(parser, args, head, headings, make_row, options):
    """A row of each model, printed or below `head` in args.table. Returns the exit status. `head` may name the command,
    with those of `options` that differ from their defaults, the machine and each of args."""
    table = [headings]
    failed = False
    for path in args.models:
        try:
            table.append(make_row(path))
            print(" ".join(table[-1]), file=sys.stderr, flush=True)
        except WorkerError as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    text = rows_of(table)
    if args.table:
        command = " ".join([f"tests/bench/{Path(sys.argv[0]).name} --exe build/release/bin/bench_serve",
                            *changed_options(parser, args, options), f"--table {args.table} MODEL.tflite ..."])
        text = head.format(command=command, machine=f", on {name}" if (name := processor()) else "",
                           **vars(args)) + text
        args.table.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 1 if failed else 0
