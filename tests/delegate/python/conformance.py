#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs operator cases through the delegate in one process for each operator, which is faster than execute.py and has
several interpreters of one delegate.

usage: conformance.py [--compute CpuAcc,CpuRef] [--resolver reference|optimized|xnnpack] [--older-versions]
                      [--without-delegate] [--only REGEX] [--jobs N] [--json FILE] FOLDER

FOLDER has .zip files of cases, and the run.py that compares outputs and tells what a case is. A form that TensorFlow
Lite alone cannot run, or whose outputs Python cannot read, is counted apart when it fails with the delegate, too. The
exit status is 0 if none of the others fails or crashes.
"""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import zipfile
from multiprocessing import connection

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np
import runtime

TIMEOUT = 120  # seconds in which no form of those that run comes to its end

# Forms that differ, and why.
KNOWN = {
    (
        "SelectOpTest.MixedFlatSizeOneInputsWithScalarInputConditionTensor.0 runtime",
        "shape",
    ): "of operands of one element TensorFlow Lite keeps the rank that the file declares"
}


def forms(case, meta):
    """The models of a case with the inputs that they are fed."""
    constant = [meta["inputs"][i] for i in meta.get("const_model_inputs", [])]
    for form, file, fed in (("runtime", "model_static", meta["inputs"]), ("const", "model_const", constant)):
        path = case / f"{file}.tflite"
        if path.exists():
            yield form, path.read_bytes(), [np.load(case / tensor["file"]) for tensor in fed]


def run_form(content, inputs, meta, case, delegates, given):
    """Outcome and reason."""
    options = {"resolver": runtime.RESOLVERS[given.resolver], "older_versions": given.older_versions}
    try:
        outputs = runtime.run(runtime.interpreter(content, *delegates, **options), *inputs)
    except (RuntimeError, ValueError) as error:
        if not delegates:
            return "unsupported", runtime.one_line(error)
        try:
            runtime.run(runtime.interpreter(content, **options), *inputs)
        except (RuntimeError, ValueError) as alone:
            return "unsupported", runtime.one_line(alone)
        return "error", runtime.one_line(error)
    if len(outputs) != len(meta["outputs"]):
        return "error", f"{len(outputs)} outputs in place of {len(meta['outputs'])}"
    for tensor, got in zip(meta["outputs"], outputs):
        what, why = given.compare(got, np.load(case / tensor["file"]), meta, tensor["type"])
        if what != "pass":
            return what, f"output {tensor['i']}: {why}"
    return "pass", ""


def run_operator(cases, given, pipe):
    """Sends the name of each form, and then its outcome."""
    delegates = [] if given.without_delegate else [runtime.load(backends=given.compute)]
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(cases) as archive:
            archive.extractall(folder)
        for path in sorted(pathlib.Path(folder).rglob("meta.json")):
            meta = json.loads(path.read_text())
            for form, content, inputs in forms(path.parent, meta):
                pipe.send(f"{path.parent.name} {form}")
                pipe.send(run_form(content, inputs, meta, path.parent, delegates, given))
    pipe.close()


def run_all(operators, given):
    """(operator, form, outcome, reason) of all forms."""
    waiting, running, results = list(operators), {}, []
    while waiting or running:
        while waiting and len(running) < given.jobs:
            pipe, other = multiprocessing.Pipe(duplex=False)
            cases = waiting.pop(0)
            process = multiprocessing.Process(target=run_operator, args=(cases, given, other))
            process.start()
            other.close()
            running[pipe] = [cases.stem, process, None]
        ready = connection.wait(list(running), timeout=TIMEOUT)
        if not ready:
            for _, process, _ in running.values():
                process.kill()
        for pipe in ready:
            operator, process, name = running[pipe]
            try:
                received = pipe.recv()
            except EOFError:
                process.join()
                if process.exitcode != 0:
                    results.append((operator, str(name), "crash", f"exit status {process.exitcode}"))
                del running[pipe]
                continue
            if isinstance(received, str):
                running[pipe][2] = received
            else:
                results.append((operator, name, *received))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compute", default="CpuAcc,CpuRef")
    parser.add_argument("--resolver", default="reference", choices=list(runtime.RESOLVERS))
    parser.add_argument("--older-versions", action="store_true")
    parser.add_argument("--without-delegate", action="store_true")
    parser.add_argument("--only", default="", help="of names of operators")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    sys.path.append(str(given.folder))
    given.compare = __import__("run").compare
    multiprocessing.set_start_method("fork")
    results = run_all([path for path in sorted(given.folder.glob("*.zip")) if re.search(given.only, path.stem)], given)
    if given.json:
        given.json.write_text(json.dumps(results, indent=0))
    counts = collections.Counter(outcome for _, _, outcome, _ in results)
    failed = 0
    for operator, name, outcome, why in results:
        if outcome not in ("pass", "unsupported"):
            known = KNOWN.get((name, outcome))
            failed += known is None
            print(f"{outcome}: {operator} {name} {why}" + (f" (known: {known})" if known else ""))
    print("  ".join(f"{outcome} {count}" for outcome, count in counts.most_common()))
    print(f"{counts['pass']} of {len(results)} forms pass; {counts['unsupported']} fail without the delegate, too")
    return 1 if failed or not counts["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())
