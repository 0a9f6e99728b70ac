#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency and throughput of models with several batches, beside other engines: a table, and a chart of it.

usage: batches.py --exe build/release/bin/bench_serve [--batches 1,8,32] [--engines tenon,tflite-xnnpack,openvino-f32]
                  [--threads 1] [--cores 0] [--rounds 6] [--turn 200] [--no-priority] [--json FILE]
                  [--table docs/performance.md] MODEL.tflite ...

Packages are those of performance.py, whose document has a place for the table (see perf/document.py); the chart stands
beside it. Each engine has a process for each batch of a model. They run in turn, so that ratios hold on a machine that
others use too. Inputs are resized, and constants that have the batch in them are rewritten (perf/batch_models.py).
"""
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from perf import batch_models, batch_tables
from perf.command import changed_options
from perf.engines import ENGINES, OTHER_BUILD, Worker, WorkerError, missing_reason
from perf.machine import describe_machine
from perf.measure import measure_in_turn
from perf.models import ModelError, add_random_inputs, single_file
from perf.thread_tables import list_of_numbers, make_parser, settings_of

HEAD = """## Batches

Written anew by

    build/venv-peers/bin/python tests/bench/batches.py --exe build/release/bin/bench_serve {options}--table docs/performance.md MODEL.tflite ...

{machine}
{threads}. Times are of whole batches, medians of {rounds} interleaved rounds of {turn:g} ms or of one run, whichever is
longer. Inputs are resized.
{constants}

![Inferences a second by batch]({image})

"""


def make_batches(path, batches, settings, scratch):
    """Models by batch, and the number of constants that have the batch in them."""
    models, constants = {}, 0
    for batch in batches:
        models[batch] = single_file(path)
        if batch != 1:
            models[batch].path, constants = batch_models.write_model(path, batch, scratch)
        with Worker("tenon", models[batch], settings) as worker:
            description = worker.ask("describe")
        models[batch].name = f"{path.stem}.{batch}"
        add_random_inputs(models[batch], description, scratch, batch)
    return models, constants


def describe_constants(results, fixed):
    if not fixed:
        return "None of the models has the batch in a constant."
    return f"{len(fixed)} of the {len(results)} models have their batch in constants, such as the shapes of Reshape, so " \
           "that engines refuse another one; these constants are written for each batch."


def parse_arguments():
    parser = make_parser(__doc__, rounds=6)
    parser.add_argument("--batches", type=list_of_numbers, default=[1, 8, 32], metavar="N,N,...")
    parser.add_argument("--engines", type=lambda text: text.split(","), metavar="NAME,...",
                        default=["tenon", "tflite-xnnpack", "openvino-f32"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turn", type=float, default=200.0, help="milliseconds")
    parser.add_argument("--json", type=Path, help="write all figures here, too")
    args = parser.parse_args()
    if min(args.threads, args.rounds) < 1 or args.turn <= 0:
        parser.error("--threads, --rounds and --turn must be positive")
    for path in args.models:
        if path.suffix != ".tflite":
            parser.error(f"{path}: the constants of .tflite models alone can be written for a batch")
    for engine in args.engines:
        if engine not in ENGINES or engine in OTHER_BUILD:
            parser.error(f"there is no engine '{engine}'; there are "
                         f"{', '.join(name for name in ENGINES if name not in OTHER_BUILD)}")
        if reason := missing_reason(engine):
            parser.error(reason)
    settings = settings_of(parser, args, "CpuAcc,CpuRef", args.threads)
    settings.cores = set(sorted(settings.cores)[-args.threads:])
    settings.turn, settings.loads, settings.timeout = args.turn, 1, 300.0
    if args.table:
        try:
            batch_tables.PLACE.fill(args.table, None)
        except (OSError, ValueError) as error:
            parser.error(f"--table: {error}")
    return parser, args, settings


def write(parser, args, results, fixed):
    image = args.table.with_name("batches.svg") if args.table else Path("batches.svg")
    options = changed_options(parser, args, ["batches", "engines", "threads", "cores", "rounds", "turn"])
    options += [] if args.priority else ["--no-priority"]
    head = HEAD.format(options="".join(option + " " for option in options), machine=describe_machine(),
                       threads="1 thread" if args.threads == 1 else f"{args.threads} threads", rounds=args.rounds,
                       turn=args.turn, constants=describe_constants(results, fixed), image=image.name)
    text = batch_tables.section(head, results, args.engines)
    if args.json:
        args.json.write_text(json.dumps({name: [{"batch": batch, "engine": engine, **asdict(known)}
                                                for (batch, engine), known in figures.items()]
                                         for name, figures in results.items()}, indent=1), encoding="utf-8")
    if args.table:
        image.write_text(batch_tables.chart(results, args.engines), encoding="utf-8")
        batch_tables.PLACE.fill(args.table, text)
    return text


def main():
    parser, args, settings = parse_arguments()
    results, fixed, failed = {}, set(), False
    with tempfile.TemporaryDirectory() as scratch:
        for done, path in enumerate(args.models):
            if sys.stderr.isatty():
                print(f"\r{done}/{len(args.models)} {path.stem:50}", end="", file=sys.stderr, flush=True)
            try:
                models, constants = make_batches(path, args.batches, settings, Path(scratch))
            except ModuleNotFoundError as missing:
                sys.exit(f"{missing.name} is not installed for {sys.executable}: the head of performance.py says what "
                         "it needs and how to run it")
            except (ModelError, WorkerError) as error:
                print(f"{path}: {error}", file=sys.stderr)
                failed = True
                continue
            fixed |= {path.stem} if constants else set()
            results[path.stem] = measure_in_turn({(batch, engine): (engine, model) for batch, model in models.items()
                                                  for engine in args.engines}, settings)
            text = write(parser, args, results, fixed)
    if sys.stderr.isatty():
        print(f"\r{'':70}\r", end="", file=sys.stderr)
    if results and not args.table:
        print(text, end="")
    failed |= any(known.error for figures in results.values() for (_, engine), known in figures.items()
                  if engine == "tenon")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
