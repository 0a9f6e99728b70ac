# SPDX-License-Identifier: Apache-2.0
"""What tables of models on one thread and on several, or with several batches, have in common: threads.py, loads.py and
batches.py."""
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
    parser.add_argument("--cores", help="as 0-7,16; those that the process may use by default")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--no-priority", dest="priority", action="store_false", help="as any other process")
    parser.add_argument("--table", type=Path)
    return parser


def cores_of(text):
    """The numbers in "0-7,16"."""
    cores = set()
    for word in text.split(","):
        first, _, last = word.partition("-")
        cores.update(range(int(first), int(last or first) + 1))
    return cores


def list_of_numbers(text):
    """1,4,8"""
    numbers = sorted({int(word) for word in text.split(",")})
    if not numbers or numbers[0] < 1:
        raise ValueError(text)
    return numbers


def settings_of(parser, args, compute, threads):
    """What workers are started with, of which none has more than `threads`."""
    cores = cores_of(args.cores) if args.cores else os.sched_getaffinity(0)
    if len(cores) < threads:
        parser.error(f"{threads} threads need as many cores; there are {len(cores)}")
    return SimpleNamespace(exe=args.exe, compute=compute, threads=threads, cores=cores, priority=args.priority,
                           timeout=120.0, rounds=args.rounds)


def write_text(parser, args, head, text, options):
    """Prints the text, or writes it below `head` into args.table. `head` may name the command, with those of `options`
    that differ from their defaults, the machine and each of args."""
    if not args.table:
        print(text, end="")
        return
    command = " ".join([f"tests/bench/{Path(sys.argv[0]).name} --exe build/release/bin/bench_serve",
                        *changed_options(parser, args, options), *(["--no-priority"] if not args.priority else []),
                        f"--table {args.table} MODEL.tflite ..."])
    args.table.write_text(head.format(command=command, machine=f", on {name}" if (name := processor()) else "",
                                      **vars(args)) + text, encoding="utf-8")


def write(parser, args, head, headings, make_row, options):
    """Writes a table with a row of each model. Returns the exit status."""
    table = [headings]
    failed = False
    for path in args.models:
        try:
            table.append(make_row(path))
            print(" ".join(table[-1]), file=sys.stderr, flush=True)
        except WorkerError as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = True
    write_text(parser, args, head, rows_of(table), options)
    return 1 if failed else 0
