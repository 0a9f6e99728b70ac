#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare TFLite with Tenon's delegate with Tenon's own runtime, with TFLite's XNNPACK and with TFLite alone: time of
an invoke and of loading, and the limits that these are to keep.

usage: delegate.py --exe build/release/bin/bench_serve --models FOLDER [--only REGEX] [--delegate libtenonDelegate.so]
                   [--processes N] [--rounds N] [--turn MS] [--loads N] [--check] [--json FILE]
                   [--write docs/delegate.md]

    python3 -m venv build/venv-peers
    build/venv-peers/bin/pip install numpy ai-edge-litert flatbuffers
    build/venv-peers/bin/python tests/bench/delegate.py ...
FOLDER has an index.json (see perf/models.py). Beside those models some of one small layer are made on the spot. Engines
are those of performance.py, which run in turn on the same core.

Prints Markdown; --write puts it between the two comments in the document that name this program. The exit status is 0,
and with --check 1 where a limit is missed.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from perf import engines, models
from perf.command import changed_options
from perf.document import Place
from perf.installed import copy_as_installed, delegate_beside, find_delegate
from perf.machine import describe_machine
from perf.measure import Figures, measure, ratio
from perf.table import number, refusals, rows_of

PLACE = Place("tests/bench/delegate.py")
TENON, XNNPACK, ALONE = "tenon", "tflite-xnnpack", "tflite-builtin"
ENGINES = [engines.DELEGATE, TENON, XNNPACK, ALONE]
HEADINGS = dict(zip(ENGINES, ["delegate", "Tenon", "XNNPACK", "TFLite alone"]))
# A convolutional network in each of three types, speech, detection, LSTMs, a transformer, and many small operators.
CHOSEN = (
    "^(mobilenet_v2_1_0_224|mobilenet_v2_1_0_224_int8|mobilenet_v2_1.0_224_quant|dscnn_kws_int8|traffic_model|"
    "keras_lstm_mnist_ptq|trained_lstm|bert_tiny_l4_h256_s128|movenet_single_pose_lightning_ptq)[.]tflite"
)

# An invoke may take so many times what Tenon's own run takes, and this more.
OF_TENON, MORE_US = 1.05, 5.0
# An invoke of a model of one small layer may take so much more than one of TFLite alone.
SMALL_MORE_US = 5.0
# Of an invoke beside XNNPACK, by class; others have none.
OF_XNNPACK = {"int8": 0.6, "uint8": 0.6, "float32": 1.0, "fp16-weights": 1.0}
# Of making a delegate and loading, beside loading with XNNPACK.
LOADING = 1.0

HEAD = """Generated; write it anew with

    {command}

{machine}
ai-edge-litert {version}, 1 thread, batch 1. Each engine runs in a process of its own on the same core, in interleaved
rounds: {rounds} rounds of about {turn:g} ms in each of {processes} consecutive processes. Times are medians of the rounds'
medians; ratios and differences are medians over consecutive rounds. "Delegate" is TFLite with Tenon's delegate, its
default options, and XNNPACK for the nodes that it leaves. "Tenon" is Tenon's own runtime with the same model. "TFLite
alone" has TFLite's builtin kernels without XNNPACK.

One invoke. "Above Tenon" is the time of an invoke beyond {of_tenon:g} times Tenon's run; the limit is {more:g} us.
The limits of the ratio to XNNPACK are {integers:g} for int8 and uint8, and {floats:g} for floats. The limit for models of
one small layer is {small:g} us more than TFLite alone.
"""

LOADING_HEAD = """
Loading: the delegate, the interpreter and allocation, each in a fresh process, libraries loaded already; medians of
{loads}. The first delegate of a process makes Tenon's runtime, which is part of the time. For small models, most of the
difference to XNNPACK is this runtime, Python's part of it, and code that runs for the first time. Tenon's loading is
parsing, optimizing and loading. The limit of the ratio to XNNPACK is {limit:g}. The last column is the ratio of loading and
the first invoke together.
"""


@dataclass
class Value:
    """What is compared with a limit; there may be none."""

    what: str
    measured: float | None
    limit: float | None

    @property
    def is_missed(self):
        return self.limit is not None and (self.measured is None or self.measured > self.limit)


@dataclass
class Case:
    model: models.Model
    partitions: int
    figures: dict  # by engine

    @property
    def is_small(self):
        return self.model.kind.endswith(", layers")

    def microseconds_above(self, engine, factor):
        pairs = zip(self.figures[engines.DELEGATE].rounds, self.figures[engine].rounds)
        differences = [1e3 * (mine - factor * other) for mine, other in pairs]
        return statistics.median(differences) if differences else None

    def of_xnnpack(self, what):
        """Medians of Figures, the delegate's beside XNNPACK's."""
        mine, other = (getattr(self.figures[engine], what) for engine in (engines.DELEGATE, XNNPACK))
        return mine / other if mine and other else None

    @property
    def values(self):
        """By the headings of tables, in their order."""
        mine = self.figures[engines.DELEGATE]
        kind = self.model.kind
        return [
            Value("above Tenon, us", self.microseconds_above(TENON, OF_TENON), None if self.is_small else MORE_US),
            Value("/ XNNPACK", ratio(mine, self.figures[XNNPACK]), OF_XNNPACK.get(kind)),
            Value(
                "above TFLite alone, us", self.microseconds_above(ALONE, 1.0), SMALL_MORE_US if self.is_small else None
            ),
            Value("loading / XNNPACK", quotient(mine.median("init"), self.figures[XNNPACK].median("init")), LOADING),
        ]

    @property
    def missed(self):
        lines = [
            f"{self.model.name}: {value.what} {number(value.measured)}, asked {value.limit:g}"
            for value in self.values
            if value.is_missed
        ]
        return lines + ([f"{self.model.name}: the delegate takes no node"] if self.partitions == 0 else [])


def quotient(a, b):
    return a / b if a is not None and b else None


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", type=Path, required=True, help="bench_serve")
    parser.add_argument("--delegate", type=Path, help="libtenonDelegate.so; by default that of the build of --exe")
    parser.add_argument("--models", type=Path, required=True, help="folder with models and an index.json")
    parser.add_argument("--only", default=CHOSEN, help="regular expression for names in the folder")
    parser.add_argument("--processes", type=int, default=3, help="of each engine and model, one after the other")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each process")
    parser.add_argument("--turn", type=float, default=40.0, help="milliseconds of one engine's turn")
    parser.add_argument("--loads", type=int, default=5, help="before the turns of each process")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds that an answer may take")
    parser.add_argument("--no-priority", dest="priority", action="store_false", help="as any other process")
    parser.add_argument("--check", action="store_true", help="exit status 1 where a limit is missed")
    parser.add_argument("--json", type=Path, help="all figures")
    parser.add_argument("--write", type=Path, metavar="FILE", help="a document with the two comments, docs/delegate.md")
    arguments = parser.parse_args()
    if min(arguments.processes, arguments.rounds, arguments.loads) < 1 or arguments.turn <= 0:
        parser.error("--processes, --rounds, --loads and --turn must be positive")
    if reason := engines.missing_reason(engines.DELEGATE):
        parser.error(reason)
    find_delegate(parser, arguments)
    arguments.threads, arguments.compute = 1, "CpuAcc,CpuRef"
    arguments.cores = sorted(os.sched_getaffinity(0))[-1:]
    return parser, arguments


def collect_models(arguments, scratch):
    from perf.layers import Layer, make_layers  # here, since it needs packages that tests do without

    small = [Layer("dense", 1, 16, 16), Layer("conv", 8, 4, 8, 3)]
    chosen = models.read_index(arguments.models, arguments.only, scratch)
    return chosen + make_layers(scratch, ["float32", "int8"], small)


def measure_case(model, arguments):
    partitions = 0
    try:
        with engines.Worker(engines.DELEGATE, model, arguments) as worker:
            partitions = worker.ask("partitions")["partitions"]
    except engines.WorkerError as error:
        print(f"{model.name}: {error}", file=sys.stderr)
    # Where the memory of a process happens to lie makes one faster than the next.
    return Case(model, partitions, join(measure(model, ENGINES, arguments) for _ in range(arguments.processes)))


def join(several):
    """Figures by engine, of several processes as those of one; of none where one of them failed."""
    joined = {engine: Figures() for engine in ENGINES}
    for by_engine in several:
        for engine, figures in by_engine.items():
            known = joined[engine]
            known.error = known.error or figures.error
            for values, more in [
                (known.rounds, figures.rounds),
                (known.init, figures.init),
                (known.first, figures.first),
            ]:
                values.extend(more)
    return {engine: Figures(error=known.error) if known.error else known for engine, known in joined.items()}


def times_table(cases):
    headings = [value.what for value in cases[0].values[:3]]
    table = [["model", "class", "partitions", *(f"{HEADINGS[e]}, ms" for e in ENGINES), *headings]]
    for case in cases:
        times = [number(case.figures[engine].median("rounds")) for engine in ENGINES]
        table.append([case.model.name, case.model.kind, str(case.partitions), *times, *map(cell, case.values[:3])])
    return rows_of(table)


def loading_table(cases):
    table = [["model", *(f"{HEADINGS[e]}, ms" for e in ENGINES[:3]), cases[0].values[3].what, "with the first invoke"]]
    for case in cases:
        times = [number(case.figures[engine].median("init")) for engine in ENGINES[:3]]
        table.append([case.model.name, *times, cell(case.values[3]), number(case.of_xnnpack("ready"))])
    return rows_of(table)


def cell(value):
    text = number(value.measured)
    return f"**{text}**" if value.is_missed else text


def make_text(command, version, cases, arguments):
    head = HEAD.format(
        command=command,
        machine=describe_machine(),
        version=version,
        rounds=arguments.rounds,
        processes=arguments.processes,
        turn=arguments.turn,
        of_tenon=OF_TENON,
        more=MORE_US,
        integers=OF_XNNPACK["int8"],
        floats=OF_XNNPACK["float32"],
        small=SMALL_MORE_US,
    )
    loading = LOADING_HEAD.format(loads=arguments.processes * arguments.loads, limit=LOADING)
    missed = [line for case in cases for line in case.missed]
    verdict = "Missed (bold):\n\n" + "\n".join(f"- {line}" for line in missed) if missed else "All are kept."
    text = f"{head}\n{times_table(cases)}{loading}\n{loading_table(cases)}\n{verdict}\n"
    return text + refusals(
        (case.model.name, HEADINGS[engine], figures.error)
        for case in cases
        for engine, figures in case.figures.items()
        if figures.error
    )


def describe(parser, arguments):
    """The command that measures the same again."""
    options = changed_options(parser, arguments, ["only", "processes", "rounds", "turn", "loads"])
    options += [] if arguments.priority else ["--no-priority"]
    start = "build/venv-peers/bin/python tests/bench/delegate.py --exe build/release/bin/bench_serve --models MODELS"
    return " ".join([start, *options, "--write docs/delegate.md"])


def main():
    parser, arguments = parse_arguments()
    if arguments.write:
        PLACE.fill(arguments.write, None)  # before it takes minutes
    with tempfile.TemporaryDirectory() as scratch:
        is_of_build = arguments.delegate == delegate_beside(arguments.exe)
        arguments.exe = copy_as_installed(arguments.exe, Path(scratch) / "build")
        if is_of_build:
            arguments.delegate = delegate_beside(arguments.exe)
        cases = []
        for model in collect_models(arguments, Path(scratch)):
            cases.append(measure_case(model, arguments))
            figures = [f"{HEADINGS[e]} {number(cases[-1].figures[e].median('rounds'))}" for e in ENGINES]
            values = [f"{value.what} {number(value.measured)}" for value in cases[-1].values]
            print(f"{model.name}: {', '.join([*figures, *values])}", file=sys.stderr, flush=True)
    if arguments.json:
        found = [
            {
                "model": c.model.name,
                "partitions": c.partitions,
                "values": [asdict(v) for v in c.values],
                "engines": {e: asdict(f) for e, f in c.figures.items()},
            }
            for c in cases
        ]
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    text = make_text(describe(parser, arguments), engines.version(engines.DELEGATE), cases, arguments)
    if arguments.write:
        PLACE.fill(arguments.write, text)
    else:
        print(text, end="")
    missed = [line for case in cases for line in case.missed]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, models.ModelError) as error:
        sys.exit(f"delegate.py: {error}")
