#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare Tenon with other engines on models, or with another build of Tenon: time, loading, memory. Writes a table,
e.g. docs/performance.md.

usage: performance.py --exe build/release/bin/bench_serve --models FOLDER [--table docs/performance.md] [--threads N]
                      [--only REGEX] [--engines A,B] [--rounds N] [--turn MS] [--loads N] [--quick]
                      [--layers [KINDS] [--random COUNT [--seed N]]] [--float-twins REGEX]
                      [--onnx FOLDER | MODEL=FILE.onnx ...] [--at-least MS] [--json FILE]
                      [MODEL.tflite | MODEL.onnx ...]
       performance.py --exe NEW/bench_serve --other-exe OLD/bench_serve [--labels NEW,OLD] [--mean-limit 1.01]
                      [--model-limit 1.05] [the options above]

Peers are optional; without one its columns are left out and the table says so:
    python3 -m venv build/venv-peers
    build/venv-peers/bin/pip install numpy ai-edge-litert openvino onnxruntime flatbuffers
    build/venv-peers/bin/python tests/bench/performance.py ...
FOLDER has an index.json (see perf/models.py). .onnx models run on ONNX Runtime and OpenVINO beside Tenon; Tenon and
OpenVINO are told sizes that such a model leaves open when they load it, tenon-open (where --engines names it) and ONNX
Runtime with each run. Means of time, of loading with the first run and of memory are taken over all of them and over
those that take ONNX Runtime --at-least so many milliseconds. --layers adds models of one layer that are made on the spot
(perf/layers.py and perf/operators.py; needs ai-edge-litert and flatbuffers), with --random of random sizes. Each engine
has the model in a process of its own, all on the same core (or cores, for --threads), which run in turn, A B A B. With
--peers-only no build of Tenon is needed.
tenon-fast is Tenon with CpuAcc's FastMathEnabled, tflite-tenon TFLite with Tenon's delegate, --delegate, and XNNPACK for
what that leaves; they run where --engines names them. delegate.py compares the latter with limits.

--other-exe compares two builds of Tenon alone, in turns A B B A and B A A B: the report, on standard output and in
--table and --json, has new / old of each model, the slowest first, and their geometric mean. A model above
--model-limit is measured again, after all others and in new processes, and so are all models where their geometric mean
is above --mean-limit. The exit status is 0 where no model and no mean stays above its limit, 1 where the new build is
slower or refuses a model that the old one runs; loading and memory are reported and not judged.
`--engines tenon,tenon-bf16` compares both ways. With a peer in --engines the tables are the ordinary ones, in which
tenon-other (tenon-bf16-other, tenon-fast-other) is the other build.

ONNX twins of .tflite models are made by tf2onnx (PyPI; it needs tensorflow-cpu), in an environment of its own:
    python -m tf2onnx.convert --opset 18 --tflite MODEL.tflite --output MODEL.onnx
"""
import argparse
import json
import os
import re
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from perf import builds
from perf import engines as engine_list
from perf import models as model_list
from perf.batch_tables import PLACE
from perf.command import describe
from perf.installed import are_same_build, copy_as_installed, find_delegate
from perf.machine import describe_machine
from perf.measure import measure, ratio
from perf.onnx_table import ONNX_PEERS, beside_peers
from perf.table import markdown, number, onnx_summary

HEAD = """# Performance compared with other engines

Generated; write it anew with

    {command}

{machine}
{threads} batch 1. Each engine runs in a process of its own on the same core, in interleaved rounds (A B A B): {rounds}
rounds of about {turn:g} ms. Times are medians of the rounds' medians. Ratios are medians of the ratios of consecutive rounds;
on a noisy machine, and from machine to machine, they vary less than times. Below 1 the first one of the two is faster.
`–`: refused, or not measured. In the column Tenon bf16 / OpenVINO bf16, models that compute in integers have Tenon's
usual time: bf16 changes nothing for them. σ is the standard deviation of the rounds.

{peers}

Loading: Tenon's is parsing, optimizing and loading; TFLite's is the delegate, the interpreter and allocation;
OpenVINO's is reading and compiling, and ONNX Runtime's the session. Each in a fresh process, libraries loaded already;
medians of {loads} for Tenon, TFLite XNNPACK and all engines of an ONNX model, one for the others. Outputs are the application's memory
for Tenon, which is touched before the time counts, and the engine's for others, for which it does. Tenon and OpenVINO
are told sizes that an ONNX model leaves open when they load it, ONNX Runtime sees them when it runs. Memory: how much
the peak of the resident set grows from just before loading to after ten inferences, measured inside the process itself.
Tenon's program and library are copies, as installed ones are: the linker's own output had 3 MB more of resident memory.
"""

HOW_BUILDS_RUN = """{threads} batch 1. Both builds have the model on the same core, each in {loads} processes of its
own, one after the other, which share {rounds} rounds of four turns of about {turn:g} ms: A B B A, B A A B. Loading compares
the shortest loads, memory the growth of the peak of the resident set."""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", type=Path, help="bench_serve")
    builds.add_options(parser, "bench_serve")
    parser.add_argument("--models", type=Path, help="folder with models and an index.json")
    parser.add_argument("--only", default="", help="regular expression for names in the folder")
    parser.add_argument("--layers", nargs="?", const="hybrid,16x8", metavar="KINDS",
                        help="add models of one layer: of hybrid,16x8, or of these kinds (also int8_int4, float32, "
                             "int8, uint8, operators)")
    parser.add_argument("--random", type=int, default=0, metavar="COUNT",
                        help="so many layers of random sizes (perf/random_layers.py) in each kind of --layers, in "
                             "place of those that models are made of")
    parser.add_argument("--seed", type=int, default=1, help="of --random: others have other sizes")
    parser.add_argument("--float-twins", metavar="REGEX",
                        help="of quantized models with such names, add the float models that they stand for")
    parser.add_argument("--onnx", action="append", default=[], metavar="SOURCE",
                        help="ONNX twins: a folder with MODEL.onnx, or MODEL=FILE")
    parser.add_argument("--at-least", type=float, default=0.3, metavar="MS",
                        help="milliseconds of ONNX Runtime from which on an ONNX model counts")
    parser.add_argument("--engines", help=f"of {', '.join(engine_list.ENGINES)}; by default "
                        f"{','.join(engine_list.DEFAULT_ENGINES)}, and tenon with --other-exe")
    parser.add_argument("--peers-only", action="store_true", help="leave Tenon out")
    parser.add_argument("--compute", default="CpuAcc,CpuRef", help="Tenon's backends; the delegate has its default ones")
    parser.add_argument("--delegate", type=Path, metavar="LIBRARY",
                        help="of tflite-tenon; by default libtenonDelegate.so of the build that --exe is of")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--turn", type=float, default=100.0, help="milliseconds of one engine's turn")
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="3 rounds of 40 ms, 2 loads")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds that an answer may take")
    parser.add_argument("--no-priority", dest="priority", action="store_false", help="as any other process")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--json", type=Path, help="all figures")
    parser.add_argument("files", nargs="*", type=Path, metavar="MODEL")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.turn, arguments.loads = 3, 40.0, 2
    cores = sorted(os.sched_getaffinity(0))
    if not 1 <= arguments.threads <= len(cores):
        parser.error(f"--threads {arguments.threads}: there are {len(cores)} cores")
    if min(arguments.rounds, arguments.loads) < 1 or arguments.turn <= 0:
        parser.error("--rounds, --loads and --turn must be positive")
    builds.check_options(parser, arguments)
    # The last ones: the first core has most of the interrupts.
    arguments.cores = cores[-arguments.threads:]
    if arguments.random < 0 or (arguments.random > 0 and not arguments.layers):
        parser.error("--random takes a number of layers, and --layers says of which kinds")
    if not arguments.models and not arguments.files and not arguments.layers:
        parser.error("nothing to measure: name --models FOLDER, --layers or .tflite or .onnx files")
    return parser, arguments


def choose_engines(parser, arguments):
    """The engines that can run here, and what is to be said of the others and of versions."""
    default = engine_list.DEFAULT_ENGINES if arguments.other_exe is None else ["tenon"]
    wanted = default if arguments.engines is None else [name for name in arguments.engines.split(",") if name]
    unknown = [name for name in wanted if name not in engine_list.ENGINES]
    if unknown:
        parser.error(f"--engines: {', '.join(unknown)}; there are {', '.join(engine_list.ENGINES)}")
    if arguments.peers_only:
        wanted = [name for name in wanted if name in engine_list.PEERS]
        if arguments.other_exe is not None:
            parser.error("--peers-only leaves out Tenon, whose other build --other-exe is")
    others = [name for name in wanted if name in engine_list.OTHER_BUILD]
    if others and arguments.other_exe is None:
        parser.error(f"--engines {others[0]}: --other-exe is missing, the path of the other build's bench_serve")
    if any(name not in engine_list.PEERS for name in wanted) and arguments.exe is None:
        parser.error("--exe is missing: the path of bench_serve (or give --peers-only)")
    if arguments.other_exe is not None and not others and any(name in engine_list.PEERS for name in wanted):
        parser.error("to compare with peers as well as --other-exe, add tenon-other to --engines, or leave the peers out")
    usable, notes = [], {}
    for name in wanted:
        reason = engine_list.missing_reason(name)
        if name == engine_list.DELEGATE and reason is None:
            find_delegate(parser, arguments)
        if reason is None:
            usable.append(name)
        if name in engine_list.PEERS:
            notes.setdefault(engine_list.PEERS[name][1], reason or engine_list.version(name))
    if not usable:
        parser.error("none of the engines can run here: " + "; ".join(notes.values()))
    return usable, notes


def collect_models(arguments, scratch):
    models = model_list.read_index(arguments.models, arguments.only, scratch) if arguments.models else []
    for path in arguments.files:
        models.append(model_list.single_file(path))
        if arguments.exe is not None:
            try:
                with engine_list.Worker("tenon", models[-1], arguments) as worker:
                    model_list.add_random_inputs(models[-1], worker.ask("describe"), scratch)
            except engine_list.WorkerError as error:
                print(f"{path}: {error}", file=sys.stderr)
    if arguments.float_twins:
        from perf import float_twins  # here, since it needs packages that nothing else does
        models += [float_twins.make_float_twin(m, scratch) for m in models
                   if m.kind in ("int8", "uint8") and re.search(arguments.float_twins, m.name)]
    if arguments.layers:
        from perf import layers, operators, random_layers  # likewise
        kinds = arguments.layers.split(",")
        known = [*layers.KINDS, operators.KIND]
        unknown = [kind for kind in kinds if kind not in known]
        if unknown:
            raise model_list.ModelError(f"--layers: {', '.join(unknown)}; there are {', '.join(known)}")
        chosen = random_layers.pick_layers(arguments.random, arguments.seed) if arguments.random else layers.LAYERS
        made = layers.make_layers(scratch, [kind for kind in kinds if kind != operators.KIND], chosen)
        if operators.KIND in kinds:
            made += operators.make_operators(scratch)
        models += [m for m in made if re.search(arguments.only, m.name)]
    if not models:
        raise model_list.ModelError(f"--only {arguments.only}: no model has such a name")
    model_list.add_twins(models, arguments.onnx)
    return models


def copy_programs(parser, arguments, scratch):
    """Puts copies in the place of the programs: in folders of equal length, as the lengths of a program's path and of
    its environment move its stack. Says whether both builds are the same."""
    same = None not in (arguments.exe, arguments.other_exe) and are_same_build(arguments.exe, arguments.other_exe)
    for option, engine, folder in [("exe", "tenon", "build-a"), ("other_exe", "tenon-other", "build-b")]:
        program = getattr(arguments, option)
        if program is None:
            continue
        setattr(arguments, option, copy_as_installed(program, scratch / folder))
        try:
            engine_list.check_answers(engine, arguments)
        except engine_list.WorkerError as error:
            parser.error(f"--{option.replace('_', '-')} {program}: does not answer as bench_serve does ({error}); name "
                         "the program of that target, with the libraries of its build in ../lib")
    return same


def compare_builds(parser, arguments, models, ways, same):
    """Measures, reports and gives the exit status."""
    labels = arguments.labels.split(",")
    limits = builds.Limits(arguments.mean_limit, arguments.model_limit)
    how = HOW_BUILDS_RUN.format(threads=describe_threads(arguments), loads=arguments.loads, rounds=arguments.rounds,
                                turn=arguments.turn)
    head = builds.make_head(labels, limits, describe(parser, arguments), describe_machine(), how, same)
    return builds.run(builds.cases_of(models, ways, arguments), limits, labels, head, arguments)


def describe_threads(arguments):
    return "1 thread," if arguments.threads == 1 else f"{arguments.threads} threads,"


def make_head(parser, arguments, notes):
    """What stands above the tables."""
    peers = [f"{package} {note}" if note[0].isdigit() else note for package, note in notes.items()]
    return HEAD.format(command=describe(parser, arguments), machine=describe_machine(), rounds=arguments.rounds,
                       turn=arguments.turn, loads=arguments.loads, peers=f"Peers: {'; '.join(peers) or 'none'}.",
                       threads=describe_threads(arguments))


def write_results(parser, arguments, results, usable, notes):
    head = make_head(parser, arguments, notes)
    if arguments.table is not None:
        batches = PLACE.cut_out(arguments.table)
        arguments.table.write_text(markdown(head, results, usable, arguments.at_least) + batches)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(
            [{"model": model.name, "class": model.kind, "engines": {e: asdict(f) for e, f in figures.items()},
              **({"tenon_beside": {peer: beside_peers(figures, peer) for peer in ONNX_PEERS if peer in figures}}
                 if model.is_onnx else {})} for model, figures in results], indent=1))


def print_line(model, figures):
    """What is known of a model, in short: ms of each engine, and the ratio to TFLite XNNPACK, or of an ONNX model to
    ONNX Runtime."""
    texts = []
    base = "onnxruntime" if model.is_onnx else "tflite-xnnpack"
    for engine, known in figures.items():
        text = f"{engine} " + ("refused" if known.error else number(known.median("rounds")))
        share = ratio(known, figures.get(base)) if engine != base else None
        texts.append(text + (f" ({share:.2f})" if share is not None else ""))
    print(f"{model.name} [{model.kind}]: {', '.join(texts)}", flush=True)
    for engine, known in figures.items():
        if known.error:
            print(f"  {engine}: {known.error}", file=sys.stderr, flush=True)


def main():
    parser, arguments = parse_arguments()
    usable, notes = choose_engines(parser, arguments)
    with tempfile.TemporaryDirectory() as scratch:
        same = copy_programs(parser, arguments, Path(scratch))
        try:
            models = collect_models(arguments, Path(scratch))
        except ModuleNotFoundError as missing:
            sys.exit(f"{missing.name} is not installed for {sys.executable}: the head of performance.py says what it "
                     "needs and how to run it")
        except (model_list.ModelError, ImportError) as error:
            sys.exit(str(error))
        if arguments.other_exe is not None and not notes:  # which tell of peers
            ways = list(dict.fromkeys(engine_list.OTHER_BUILD.get(name, name) for name in usable))
            sys.exit(compare_builds(parser, arguments, models, ways, same))
        if not any(model.onnx for model in models) and "onnxruntime" in usable:
            usable.remove("onnxruntime")
            notes["onnxruntime"] = "onnxruntime has no twin of these models (--onnx)"
        results = []
        for model in models:
            results.append((model, measure(model, [e for e in usable if engine_list.can_run(e, model)], arguments)))
            print_line(*results[-1])
            write_results(parser, arguments, results, usable, notes)
        print(onnx_summary(results, arguments.at_least), end="", flush=True)
    sys.exit(any(f.error for _, figures in results for e, f in figures.items() if e in engine_list.TENON))


if __name__ == "__main__":
    main()
