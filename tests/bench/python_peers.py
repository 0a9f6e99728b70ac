#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare the Python package with ai-edge-litert and onnxruntime in one run: calls, imports, threads, size.

usage: python_peers.py [--models MODEL.tflite ...] [--onnx FOLDER | MODEL=FILE.onnx ...] [--wheel FILE]
                       [--peer-wheels FOLDER] [--processes N] [--rounds N] [--turn MS] [--imports N]
                       [--json FILE] [--write docs/python.md]

Peers, and the wheels that they were installed from:
    python3 -m venv build/venv-peers
    build/venv-peers/bin/pip download -d build/peer-wheels ai-edge-litert onnxruntime numpy
    build/venv-peers/bin/pip install --no-index --find-links build/peer-wheels ai-edge-litert onnxruntime numpy
    build/venv-peers/bin/python tests/bench/python_peers.py --wheel build/dist/tenon-*_$(uname -m).whl \\
        --peer-wheels build/peer-wheels --models MODEL.tflite --write docs/python.md
A peer that is missing has no figures. Tenon is installed from --wheel into a folder of its own; without --wheel it is
the package that PYTHONPATH and TENON_LIBRARY lead to. The models of samples/digits are measured in any case. ONNX
Runtime reads no .tflite file: --onnx names twins, which performance.py says how to make.

Prints Markdown; --write puts it between the two comments in the document that name this program.
"""

import argparse
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from perf import engines, models
from perf.command import changed_options
from perf.document import Place
from perf.machine import describe_machine
from perf.measure import Figures, ratio, run_safely, turn
from perf.table import number, rows_of, shorten

ROOT = Path(__file__).resolve().parents[2]
DIGITS = [ROOT / "samples/digits" / name for name in ("digits_int8.tflite", "digits_float.tflite")]
PLACE = Place("tests/bench/python_peers.py")

TENON, LITERT, ORT = "tenon-python", "tflite-xnnpack", "onnxruntime"
HEADINGS = {TENON: "Tenon", LITERT: "ai-edge-litert", ORT: "onnxruntime"}
# What is divided by what; the headings of the last columns.
RATIOS = [(TENON, LITERT), (TENON, ORT)]
# Commands of perf/peer_worker.py, and what rows say of them.
WAYS = {"call": "a call", "bound": "a prepared call"}
NO_MODEL = "no such model"
ONE_THREAD = "one thread at a time"

# Programs for fresh processes. Each prints the milliseconds of what is between; {model} is a path.
TIMED = """import time
{before}
begin = time.perf_counter()
{timed}
print((time.perf_counter() - begin) * 1e3)
"""
IMPORTS = {
    TENON: "import tenon",
    LITERT: "from ai_edge_litert.interpreter import Interpreter",
    ORT: "import onnxruntime",
}
# `import tenon` defers most of its work; this is all of it.
WITH_LIBRARY = {**IMPORTS, TENON: "from tenon import Model"}
FIRST_RESULT = {
    TENON: """from tenon import Model
model = Model({model!r}, threads=1)
import numpy as np
model(np.zeros(model.inputs[0].shape, model.inputs[0].dtype))""",
    LITERT: """from ai_edge_litert.interpreter import Interpreter
model = Interpreter({model!r}, num_threads=1)
model.allocate_tensors()
import numpy as np
given = model.get_input_details()[0]
model.set_tensor(given["index"], np.zeros(given["shape"], given["dtype"]))
model.invoke()
model.get_tensor(model.get_output_details()[0]["index"])""",
    ORT: """import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
model = onnxruntime.InferenceSession({model!r}, options, providers=["CPUExecutionProvider"])
import numpy as np
given = model.get_inputs()[0]
kind = {{"tensor(float)": "float32", "tensor(int8)": "int8", "tensor(uint8)": "uint8"}}[given.type]
model.run(None, {{given.name: np.zeros([size if isinstance(size, int) else 1 for size in given.shape], kind)}})""",
}

HEAD = """Generated; write it anew with

    {command}

{machine}
Python {python}; {versions}. One thread, batch 1. Each package runs in a
process of its own on the same core, in interleaved rounds of about {turn:g} ms: {rounds} rounds in each of {processes}
consecutive processes. Times are medians, and ratios are medians of the ratios of consecutive rounds: below 1 Tenon
takes less. Imports are measured in fresh processes, interleaved, {imports} each.
"""

NOTES = """
- A call takes arrays and returns new ones: `model(x)` of Tenon, `set_tensor`, `invoke` and `get_tensor` of
  ai-edge-litert, `run` of onnxruntime. A prepared call reads and writes arrays that it knows: `bind`, `invoke` alone,
  and `run_with_iobinding`.
- `import tenon` loads neither the library nor numpy, which its peers load at once; "all of it" is
  `from tenon import Model`, which loads the library. The first result needs numpy in all of them.
- Two threads call one model that uses one thread a run, against one thread alone. Where a run takes some microseconds
  they wait for Python's lock. An interpreter of ai-edge-litert must not be called from two threads.
- onnxruntime reads no .tflite files: {twins}.
"""


@dataclass
class Row:
    """A line of the table: values by package, or a text in the place of one; and the ratios of RATIOS."""

    name: str
    values: dict = field(default_factory=dict)
    ratios: list = field(default_factory=lambda: [None] * len(RATIOS))
    unit: str = ""


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", type=Path, default=[], metavar="MODEL.tflite")
    parser.add_argument(
        "--onnx",
        action="append",
        default=[],
        metavar="SOURCE",
        help="ONNX twins: a folder with MODEL.onnx, or MODEL=FILE",
    )
    parser.add_argument("--wheel", type=Path, help="of Tenon")
    parser.add_argument("--peer-wheels", type=Path, metavar="FOLDER", help="the wheels of the peers")
    parser.add_argument("--processes", type=int, default=5, help="of each package and model, one after the other")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each process")
    parser.add_argument("--turn", type=float, default=20.0, help="milliseconds of one package's turn")
    parser.add_argument("--imports", type=int, default=15, help="processes for each import")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds that an answer may take")
    parser.add_argument("--no-priority", dest="priority", action="store_false", help="as any other process")
    parser.add_argument("--json", type=Path, help="all figures")
    parser.add_argument("--write", type=Path, metavar="FILE", help="a document with the two comments, docs/python.md")
    arguments = parser.parse_args()
    if min(arguments.processes, arguments.rounds, arguments.imports) < 1 or arguments.turn <= 0:
        parser.error("--processes, --rounds, --imports and --turn must be positive")
    for option, path in [("--wheel", arguments.wheel), ("--peer-wheels", arguments.peer_wheels)]:
        if path is not None and not path.exists():
            parser.error(f"{option} {path}: there is no such file or folder")
    arguments.threads = 1
    arguments.cores = sorted(os.sched_getaffinity(0))[-1:]
    return parser, arguments


def describe(parser, arguments):
    """The command that measures the same again."""
    options = ["--wheel build/dist/tenon-*_$(uname -m).whl"] if arguments.wheel else []
    options += ["--peer-wheels build/peer-wheels"] if arguments.peer_wheels else []
    options += ["--models " + " ".join(path.name for path in arguments.models)] if arguments.models else []
    options += ["--onnx TWINS"] if arguments.onnx else []
    options += changed_options(parser, arguments, ["processes", "rounds", "turn", "imports"])
    options += [] if arguments.priority else ["--no-priority"]
    return " ".join(["build/venv-peers/bin/python tests/bench/python_peers.py", *options, "--write docs/python.md"])


def prepare(cores, priority):
    """What a process does before it measures."""
    os.sched_setaffinity(0, cores)
    if priority:
        engines.raise_priority()


def time_of(program, settings):
    """The milliseconds that a program prints, in a fresh process. An installed package has its bytecode beside it; one
    in a source tree gets it by the first process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=settings.timeout,
        preexec_fn=lambda: prepare(settings.cores, settings.priority),
    )
    try:
        return float(done.stdout.split()[-1])
    except (IndexError, ValueError):
        raise engines.WorkerError((done.stderr.strip().splitlines() or ["printed no time"])[-1]) from None


def measure_in_turns(known, steps, rounds, settings):
    """Fills rounds of Figures by name; steps[name]() gives one value. One that fails has its error there."""
    for _ in range(rounds):
        for name, step in steps.items():
            if not known[name].error:
                run_safely(known[name], lambda n=name, s=step: known[n].rounds.append(s()))
                rest(settings)


def rest(settings):
    """The kernel keeps a share of each second from processes with raised priority: give it here."""
    time.sleep(1e-4 * settings.turn)


def row_of(name, figures, unit, texts=()):
    """A row of the medians of Figures by package."""
    values = {package: of.error or of.median("rounds") for package, of in figures.items()}
    ratios = [ratio(*(figures.get(package) for package in pair)) for pair in RATIOS]
    return Row(name, {**values, **dict(texts)}, ratios, unit)


def calls_of(model, packages, settings):
    """Rows of the calls of a model. Rounds are spread over several processes of each package: where the memory of a
    process happens to lie makes one faster than the next."""
    can = [package for package in packages if package != ORT or model.onnx]
    figures = {way: {package: Figures() for package in can} for way in WAYS}
    for _ in range(settings.processes):
        workers = {}
        try:
            for package in can:
                for known in figures.values():
                    if package not in workers and not known[package].error:
                        run_safely(known[package], lambda p=package: workers.update({p: load(p, model, settings)}))
            for way, known in figures.items():
                steps = {p: lambda p=p, w=way: 1e3 * turn(workers[p], settings.turn, w) for p in workers}
                measure_in_turns(known, steps, settings.rounds, settings)
        finally:
            for worker in workers.values():
                worker.close()
    texts = {package: NO_MODEL for package in packages if package not in can}
    return [row_of(f"{model.name}: {WAYS[way]}", known, "us", texts) for way, known in figures.items()]


def load(package, model, settings):
    worker = engines.Worker(package, model, settings)
    try:
        worker.ask("load")
        for way in WAYS:
            worker.ask(f"{way} 1000 {settings.turn}")
    except engines.WorkerError:
        worker.close()
        raise
    return worker


def threads_of(model, packages, settings):
    """The row of calls a second of two threads, beside one."""
    cores = sorted(os.sched_getaffinity(0))[-2:]
    settings = argparse.Namespace(**{**vars(settings), "cores": cores})
    row = Row(f"{model.name}: two threads on one model / one", {p: NO_MODEL for p in packages}, unit="times")
    if len(cores) < 2:
        return None
    for package in packages:
        if package == LITERT:
            row.values[package] = ONE_THREAD
        elif package != ORT or model.onnx:
            try:
                with load(package, model, settings) as worker:
                    row.values[package] = statistics.median(speed_up(worker, settings) for _ in range(settings.rounds))
            except engines.WorkerError as error:
                row.values[package] = str(error)
    return row


def speed_up(worker, settings):
    """Calls a second of two threads over those of one, which has its turns before and after."""
    rates = []
    for threads in (1, 2, 2, 1):
        rates.append(worker.ask(f"rate {threads} {settings.turn}")["calls_per_second"])
        rest(settings)
    return (rates[1] + rates[2]) / (rates[0] + rates[3])


def imports_of(packages, twin, settings):
    """Rows of imports and of the first result, each in fresh processes."""
    model = {TENON: str(DIGITS[0]), LITERT: str(DIGITS[0]), ORT: str(twin) if twin else ""}
    kinds = {
        "import": {p: TIMED.format(before="", timed=IMPORTS[p]) for p in packages},
        "import, all of it": {p: TIMED.format(before="", timed=WITH_LIBRARY[p]) for p in packages},
        "import, all of it, numpy imported before": {
            p: TIMED.format(before="import numpy", timed=WITH_LIBRARY[p]) for p in packages
        },
        f"import, load {DIGITS[0].stem}, first result": {
            p: TIMED.format(before="", timed=FIRST_RESULT[p].format(model=model[p])) for p in packages if model[p]
        },
    }
    figures = {kind: {package: Figures() for package in programs} for kind, programs in kinds.items()}
    for round_ in range(settings.imports + 1):  # the first one reads files from the disk and writes bytecode
        for kind, programs in kinds.items():
            known = figures[kind] if round_ else {package: Figures() for package in programs}
            measure_in_turns(
                known, {p: lambda t=text: time_of(t, settings) for p, text in programs.items()}, 1, settings
            )
    return [row_of(kind, of, "ms", {p: NO_MODEL for p in packages if p not in of}) for kind, of in figures.items()]


def installed_bytes(package, tenon_files):
    """Bytes of a package's files without what it depends on."""
    if package == TENON:
        folder = tenon_files
        return (
            sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and f.suffix != ".pyc") if folder else None
        )
    files = importlib.metadata.files(engines.PACKAGES[package][1]) or []
    return sum(f.locate().stat().st_size for f in files if f.suffix != ".pyc" and f.locate().is_file())


def wheel_bytes(package, settings):
    """Bytes of the wheel, None where its file was not named."""
    if package == TENON:
        return settings.wheel.stat().st_size if settings.wheel else None
    name = engines.PACKAGES[package][1].replace("-", "_")
    pattern = f"{name}-{engines.version(package)}-*.whl"
    files = sorted(settings.peer_wheels.glob(pattern)) if settings.peer_wheels else []
    return files[0].stat().st_size if files else None


def sizes_of(packages, tenon_files, settings):
    """Rows of the sizes, in MB."""
    rows = []
    for name, bytes_of in [
        ("wheel", lambda p: wheel_bytes(p, settings)),
        ("installed, without dependencies", lambda p: installed_bytes(p, tenon_files)),
    ]:
        values = {p: 1e-6 * count for p in packages if (count := bytes_of(p)) is not None}
        ratios = [values[a] / values[b] if a in values and b in values else None for a, b in RATIOS]
        rows.append(Row(name, values, ratios, "MB"))
    return rows


def install(wheel, folder):
    """Has later processes take Tenon from the wheel."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run([*command, "--target", folder, wheel], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"--wheel {wheel} cannot be installed: {done.stderr.strip()}")
    os.environ["PYTHONPATH"] = str(folder)
    os.environ.pop("TENON_LIBRARY", None)


def tenon_version():
    done = subprocess.run(
        [sys.executable, "-c", "import tenon; print(tenon.__version__)"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        sys.exit(
            f"the package tenon cannot be used: {reason}; name a wheel by --wheel, or set PYTHONPATH and TENON_LIBRARY"
        )
    return done.stdout.strip()


def cell(value):
    """A number, a text or nothing."""
    return shorten(value) if isinstance(value, str) else number(value)


def make_table(rows, packages):
    """Markdown of the rows."""
    pairs = [(i, pair) for i, pair in enumerate(RATIOS) if pair[1] in packages]
    table = [["", *(HEADINGS[p] for p in packages), *(f"{HEADINGS[a]} / {HEADINGS[b]}" for _, (a, b) in pairs)]]
    for row in rows:
        name = f"{row.name}, {row.unit}" if row.unit != "times" else row.name
        table.append([name, *(cell(row.values.get(p)) for p in packages), *(cell(row.ratios[i]) for i, _ in pairs)])
    return rows_of(table)


def make_text(parser, arguments, packages, versions, rows, has_twins):
    head = HEAD.format(
        command=describe(parser, arguments),
        machine=describe_machine(),
        python=".".join(map(str, sys.version_info[:3])),
        versions=", ".join(versions),
        turn=arguments.turn,
        rounds=arguments.rounds,
        processes=arguments.processes,
        imports=arguments.imports,
    )
    twins = "it has twins of these models that tf2onnx made" if has_twins else "it has no figures for these models"
    return head + "\n" + make_table(rows, packages) + NOTES.format(twins=twins)


def measure_all(arguments, packages, tenon_files):
    """All rows. Prints each on standard error as it is done."""
    rows = []

    def add(more):
        for row in more:
            rows.append(row)
            figures = [cell(value) for value in (*row.values.values(), *row.ratios)]
            print(f"{row.name}, {row.unit}: {', '.join(figures)}", file=sys.stderr, flush=True)

    chosen = [models.single_file(path) for path in (*arguments.models, *DIGITS)]
    models.add_twins(chosen, arguments.onnx)
    for model in chosen:
        add(calls_of(model, packages, arguments))
    add(row for model in chosen if (row := threads_of(model, packages, arguments)))
    add(imports_of(packages, next(m.onnx for m in chosen if m.path == DIGITS[0]), arguments))
    add(sizes_of(packages, tenon_files, arguments))
    return rows, any(model.onnx for model in chosen)


def main():
    parser, arguments = parse_arguments()
    if arguments.write:
        PLACE.fill(arguments.write, None)  # before hours are spent
    with tempfile.TemporaryDirectory() as folder:
        if arguments.wheel:
            install(arguments.wheel, Path(folder))
        versions = [f"Tenon {tenon_version()}"]
        packages = [TENON]
        for package in (LITERT, ORT):
            reason = engines.missing_reason(package)
            packages += [] if reason else [package]
            versions.append(reason or f"{HEADINGS[package]} {engines.version(package)}")
        try:
            rows, has_twins = measure_all(arguments, packages, Path(folder) if arguments.wheel else None)
        except models.ModelError as error:
            sys.exit(str(error))
    text = make_text(parser, arguments, packages, versions, rows, has_twins)
    if arguments.json:
        arguments.json.write_text(json.dumps([vars(row) for row in rows], indent=1), encoding="utf-8")
    if arguments.write:
        PLACE.fill(arguments.write, text)
    else:
        print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"python_peers.py: {error}")
