#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of ONNX models: their nodes, the layers before and after Optimize(), the transposes that are left, the
layers on each backend, and how far the outputs are from those that lie beside the models.

usage: onnx_models.py --exe build/release/bin/ExecuteNetwork --models FOLDER [--compute CpuAcc,CpuRef] [--only REGEX]
                      [--write docs/onnx-models.md] [--json FILE] [--most-transposes MODEL=COUNT ...]

FOLDER has an index.json, whose entries have "file", "group", "nodes", "inputs" and "golden": a folder with in0.npy ...
and out0.npy ... Prints the document, or writes it with --write; --json has its figures. The exit status is 1 where a
model of --most-transposes, which names models by regular expressions, has more transposes left. Needs numpy.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from objects import bar, table

HEAD = """# Layers of ONNX models

Generated; write it anew with

    scripts/onnx_models.py --exe build/release/bin/ExecuteNetwork --models FOLDER{options} --write docs/onnx-models.md

Columns, for each model in the folder. Nodes: of its file, with those of its subgraphs if the index counts them. Layers:
of the network that the parser makes for the shapes of its inputs. Optimized: layers that run after Optimize(), without
Constants, inputs and outputs. Transposes: Transpose layers among these. On {first}, on CpuRef: layers by backend; control
flow (If, While) is on no backend. Reference: layers on {first} that run with a reference kernel, because it has no kernel
of its own for them, without layers that move no data (Reshape, Squeeze, ExpandDims). Error: the largest difference
between an output and the expected one in the model's folder, as a share of the output's largest value.
"""
# Those have reference kernels everywhere, since there is nothing to compute.
MOVE_NOTHING = {"Reshape", "Squeeze", "ExpandDims", "Input", "Output", "Constant"}
STATUS_UNSUPPORTED = 4
MOST_TEXT = 200


@dataclass
class Row:
    """What is known of one model. `why` has the reason where it does not run."""
    model: str
    group: str
    nodes: int
    before: int = 0
    after: int = 0
    transposes: int = 0
    backends: dict = field(default_factory=dict)
    reference: dict = field(default_factory=dict)
    error: float = 0.0
    outcome: str = "runs"
    why: str = ""


def widen(array):
    """As double precision; uint16 files have the bits of bfloat16."""
    import numpy as np
    if array.dtype == np.uint16:
        return (np.atleast_1d(array).astype(np.uint32) << 16).view(np.float32).reshape(array.shape).astype(np.float64)
    return array.astype(np.float64)


def largest_error(got, want):
    """The largest difference as a share of the largest value; infinite where shapes, NaNs or infinities differ."""
    import numpy as np
    if got.shape != want.shape or got.dtype != want.dtype:
        return float("inf")
    got, want = widen(got), widen(want)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True) or not np.isfinite(got[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    return float(np.abs(got[finite] - want[finite]).max() / max(np.abs(want[finite]).max(), 1e-6))


def shorten(text):
    """The end of an error, without the folders of this machine."""
    text = re.sub(r"(?<![\w.])(?:/[^\s/'\":]+)+/", "", text)
    text = re.sub(r"^error: (model '[^']*'[^:]*: )?(the model has operators that cannot run: )?", "", text)
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + " ..."


def run_model(entry, arguments, scratch):
    """The row of one model."""
    row = Row(entry["file"].removesuffix(".onnx"), entry["group"], entry["nodes"])
    golden = arguments.models / entry["golden"]
    inputs = [str(golden / f"in{i}.npy") for i in range(len(entry["inputs"]))]
    wanted = sorted(golden.glob("out*.npy"), key=lambda file: int(file.stem[3:]))
    outputs = [scratch / file.name for file in wanted]
    plan, report = scratch / "plan.json", scratch / "report.json"
    command = [arguments.exe, "-m", arguments.models / entry["file"], "-c", arguments.compute, "-N", "--plan-json", plan,
               "--report-json", report, *(["-d", ",".join(inputs)] if inputs else []),
               "-w", ",".join(map(str, outputs))]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=arguments.timeout, check=False)
    except subprocess.TimeoutExpired:
        row.outcome, row.why = "timeout", f"no end within {arguments.timeout:g} s"
        return row
    if done.returncode != 0:
        row.outcome = "unsupported" if done.returncode == STATUS_UNSUPPORTED else f"status {done.returncode}"
        row.why = shorten((done.stderr.strip().splitlines() or [""])[-1])
        return row
    describe(row, json.loads(plan.read_text()), json.loads(report.read_text()))
    import numpy as np
    row.error = max((largest_error(np.load(a), np.load(b)) for a, b in zip(outputs, wanted)), default=0.0)
    return row


def describe(row, plan, report):
    """Counts of the layers of a plan."""
    layers = [layer for layer in plan["layers"] if layer["type"] not in ("Input", "Output", "Constant")]
    row.before = report["layers_before"]
    row.after = len(layers)
    row.transposes = sum(layer["type"] == "Transpose" for layer in layers)
    row.backends = dict(Counter(layer["backend"] for layer in layers))
    row.reference = dict(Counter(layer["type"] for layer in layers if layer["backend"] != "CpuRef" and
                                 layer["kernel"].startswith("Ref") and layer["type"] not in MOVE_NOTHING))


def document(rows, compute, options):
    """The whole document."""
    first = compute.split(",")[0]
    ran = [row for row in rows if not row.why]
    text = HEAD.format(first=first, options=options) + f"\n{len(ran)} of {len(rows)} models run.\n"
    if ran:
        text += "\n## Layers before and after Optimize()\n\n" + lines(groups_table(ran))
        for group in dict.fromkeys(row.group for row in ran):
            chosen = [row for row in ran if row.group == group]
            text += f"\n### Models of the group {group}\n\n" + lines(models_table(chosen, first))
        text += reference_kernels(ran, first)
    if len(ran) < len(rows):
        text += "\n## Models that do not run\n\n" + lines(f"- {row.model}, {row.outcome}: {row.why}" for row in rows
                                                         if row.why)
    return text


def lines(texts):
    return "\n".join(texts) + "\n"


def models_table(chosen, first):
    most = max(row.after for row in chosen)
    return table(["Model", "Nodes", "Layers", "Optimized", "", "Transposes", f"On {first}", "On CpuRef", "Reference",
                  "Error"],
                 [[row.model, row.nodes, row.before, row.after, bar(row.after, most, 15), row.transposes,
                   row.backends.get(first, 0), row.backends.get("CpuRef", 0), sum(row.reference.values()),
                   f"{row.error:.1e}"] for row in chosen])


def reference_kernels(ran, first):
    """Which layers have one in which models; empty where none has."""
    kinds = sum((Counter(row.reference) for row in ran), Counter())
    if not kinds:
        return ""
    most = max(kinds.values())
    return (f"\n## Layers on {first} that have a reference kernel\n\n" +
            lines(table(["Layer", "Count", ""], [[kind, count, bar(count, most)] for kind, count in kinds.most_common()]))
            + "\n" + lines(f"- {kind}: {', '.join(row.model for row in ran if kind in row.reference)}"
                           for kind, _ in kinds.most_common()))


def groups_table(ran):
    groups = {name: [row for row in ran if row.group == name] for name in dict.fromkeys(row.group for row in ran)}
    largest = max(share(rows) for rows in groups.values())
    return table(["Group", "Models", "Nodes", "Layers", "Optimized", "Optimized / nodes", ""],
                 [[name, len(rows), *(sum(getattr(row, what) for row in rows) for what in ("nodes", "before", "after")),
                   f"{share(rows):.2f}", bar(share(rows), largest)] for name, rows in groups.items()])


def share(rows):
    return sum(row.after for row in rows) / max(1, sum(row.nodes for row in rows))


def complaints(rows, limits):
    """Models that have more transposes left than a limit says; limits that fit no model that runs."""
    found = []
    for limit in limits:
        pattern, _, count = limit.rpartition("=")
        fitting = [row for row in rows if re.search(pattern, row.model)]
        found += [f"{row.model}: {row.transposes} transposes are left, more than {count}" for row in fitting
                  if not row.why and row.transposes > int(count)]
        found += [f"{row.model}: does not run: {row.why}" for row in fitting if row.why]
        if not fitting:
            found.append(f"--most-transposes {limit}: no model has such a name")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", type=Path, required=True, help="ExecuteNetwork")
    parser.add_argument("--models", type=Path, required=True, help="folder with models and an index.json")
    parser.add_argument("--compute", default="CpuAcc,CpuRef", help="backends in order of preference")
    parser.add_argument("--only", default="", help="regular expression for names of models")
    parser.add_argument("--write", type=Path, help="the document")
    parser.add_argument("--json", type=Path, help="its figures")
    parser.add_argument("--most-transposes", action="append", default=[], metavar="MODEL=COUNT")
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds of one model")
    arguments = parser.parse_args()
    if any(not re.fullmatch(r".+=\d+", limit) for limit in arguments.most_transposes):
        parser.error("--most-transposes takes MODEL=COUNT")
    index = arguments.models / "index.json"
    if not index.is_file():
        parser.error(f"--models: {index}: there is no such file")
    entries = [entry for entry in json.loads(index.read_text()) if re.search(arguments.only, entry["file"])]
    if not entries:
        parser.error(f"--only {arguments.only}: no model has such a name")
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for entry in entries:
            rows.append(run_model(entry, arguments, Path(scratch)))
            print(f"{len(rows)} of {len(entries)}: {rows[-1].model}: {rows[-1].why or rows[-1].outcome}",
                  file=sys.stderr, flush=True)
    options = f" --only '{arguments.only}'" if arguments.only else ""
    options += f" --compute {arguments.compute}" if arguments.compute != parser.get_default("compute") else ""
    text = document(rows, arguments.compute, options)
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    found = complaints(rows, arguments.most_transposes)
    for complaint in found:
        print(complaint, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
