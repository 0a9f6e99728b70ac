#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of performance.py, growth.py, python_peers.py, delegate.py, batches.py and bench_serve that need neither peers
nor packages.

usage: test_perf.py BENCH_SERVE MODEL.tflite
"""
import argparse
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

import batches
import delegate
import python_peers
from perf import (batch_models, batch_tables, builds, classes, command, engines, installed, measure, models, onnx_table,
                  table)

EXE, MODEL = Path(sys.argv[1]), Path(sys.argv[2])
SETTINGS = SimpleNamespace(exe=EXE, compute="CpuRef", threads=1, cores=os.sched_getaffinity(0), priority=False,
                           timeout=60.0, loads=2, rounds=3, turn=1.0)


def model(path=MODEL, inputs=()):
    return SimpleNamespace(name=path.stem, path=path, kind="int8", inputs=list(inputs), onnx=None, shapes={},
                           is_onnx=False)


class Command(unittest.TestCase):
    def test_names_what_differs_from_the_defaults(self):
        parser = argparse.ArgumentParser()
        for name, default in [("only", ""), ("engines", "a,b"), ("compute", "CpuRef"), ("threads", 1), ("rounds", 9),
                              ("turn", 100.0), ("loads", 5), ("timeout", 300.0), ("models", None), ("layers", None),
                              ("random", 0), ("seed", 1), ("float_twins", None),
                              ("onnx", []), ("peers_only", False), ("priority", True), ("files", []),
                              ("table", "t.md"), ("other_exe", None), ("labels", "new,old"), ("mean_limit", 1.01),
                              ("model_limit", 1.05)]:
            parser.add_argument("--" + name, default=default)
        start = "build/venv-peers/bin/python tests/bench/performance.py "
        plain = parser.parse_args([])
        self.assertEqual(command.describe(parser, plain),
                         start + "--exe build/release/bin/bench_serve --table t.md")
        other = SimpleNamespace(**{**vars(plain), "models": "m", "layers": "int8", "random": 7, "float_twins": "v1", "onnx": ["o"], "only": "^a|b",
                                   "engines": "b", "rounds": 12, "turn": 30.0, "loads": 11, "peers_only": True,
                                   "priority": False, "files": ["f"]})
        self.assertEqual(command.describe(parser, other),
                         start + "--models MODELS --layers int8 --random 7 --float-twins v1 --onnx TWINS --only '^a|b' --engines b --rounds 12 "
                         "--turn 30 --loads 11 --peers-only --no-priority --table t.md MODEL.tflite ...")
        builds_of = SimpleNamespace(**{**vars(plain), "other_exe": "o", "labels": "a,b", "mean_limit": 1.02})
        self.assertEqual(command.describe(parser, builds_of),
                         start + "--exe build/release/bin/bench_serve --other-exe OTHER/bin/bench_serve --labels a,b "
                         "--mean-limit 1.02 --table t.md")


class Figures(unittest.TestCase):
    def test_ratio_is_of_neighbouring_turns(self):
        mine = measure.Figures(rounds=[2.0, 20.0, 4.0])
        other = measure.Figures(rounds=[1.0, 10.0, 1.0])  # the second turn of both had a busy machine
        self.assertEqual(measure.ratio(mine, other), 2.0)
        self.assertIsNone(measure.ratio(mine, measure.Figures()))
        self.assertIsNone(measure.ratio(mine, None))

    def test_sums_of_loading_and_first_inference(self):
        self.assertEqual(measure.Figures(init=[1.0, 10.0, 2.0], first=[5.0, 1.0, 5.0]).ready, 7.0)

    def test_classes(self):
        names = ["uint8 per-tensor", "int8 per-channel; int8 per-tensor", "float32", "int16x8 per-channel",
                 "float32 compute, fp16 weights (DEQUANTIZE)", "boolean"]
        self.assertEqual([classes.classify(name) for name in names],
                         ["uint8", "int8", "float32", "16x8", "fp16-weights", "other"])

    def test_means_are_geometric_and_by_class(self):
        ratios = [(SimpleNamespace(kind=kind), [value]) for kind, value in
                  [("int8", 0.5), ("int8", 2.0), ("float32", 4.0), ("uint8", None), ("16x8, layers", 9.0)]]
        rows = {row[0]: row[1] for row in table.means(ratios)}
        self.assertEqual(rows["int8 (2)"], "1")
        self.assertEqual(rows["float32 (1)"], "4")
        self.assertEqual(rows["uint8 (1)"], "–")
        self.assertEqual(rows["16x8, layers (1)"], "9")
        self.assertEqual(rows["largest of any model"], "4")
        self.assertTrue(math.isclose(float(rows["**all models** (4)"]), 4 ** (1 / 3), rel_tol=0.01))


    def test_onnx_models_have_a_summary(self):
        def one(name, mine, other, is_onnx=True):
            figures = {"tenon": measure.Figures([mine], [1.0], [1.0], [100]),
                       "onnxruntime": measure.Figures([other], [7.0], [1.0], [400])}
            return SimpleNamespace(name=name, kind="onnx torch", is_onnx=is_onnx), figures

        results = [one("a", 0.5, 1.0), one("b", 0.1, 0.2), one("c", 2.0, 1.0), one("twin", 9.0, 1.0, False)]
        results[1][1]["tenon"].error = "no"
        slow, every = onnx_table.summarize(results, 0.3)
        self.assertEqual([row["count"] for row in (slow, every)], [2, 2])
        self.assertAlmostEqual(slow["time"]["mean"], 1.0)
        self.assertEqual((slow["time"]["worst"], slow["time"]["model"]), (2.0, "c"))
        self.assertAlmostEqual(slow["ready"]["mean"], 0.25)
        self.assertAlmostEqual(every["memory"]["worst"], 0.25)
        text = table.markdown("head", results, ["tenon", "onnxruntime"])
        self.assertIn("| ONNX Runtime takes 0.3 ms or more (2) | Tenon / ONNX Runtime | 1 | 2 | 0.25 | 0.25 | 0.25 | "
                      "0.25 | c |", text)
        self.assertEqual(table.onnx_summary(results[3:], 0.3), "")

    def test_errors_lose_folders(self):
        self.assertEqual(table.shorten("cannot read '/home/me/a b/m.onnx' (/src/x.h:31) 1/2"),
                         "cannot read 'a b/m.onnx' (x.h:31) 1/2")
        self.assertLess(len(table.shorten("long " * 1000)), 200)


class Workers(unittest.TestCase):
    def test_commands(self):
        with engines.Worker("tenon", model(), SETTINGS) as worker:
            inputs = worker.ask("describe")["inputs"]
            self.assertEqual(len(inputs), 1)
            self.assertEqual(inputs[0]["type"], "QAsymmS8")
            answer = worker.ask("load")
            self.assertAlmostEqual(answer["init"], answer["parse"] + answer["optimize"] + answer["load"], places=3)
            self.assertEqual(len(worker.ask("run 5 60000")["ms"]), 5)
            self.assertEqual(len(worker.ask("run 5 0")["ms"]), 1)
            self.assertEqual(len(worker.ask("run 2 60000 1")["ms"]), 2)
            self.assertGreater(worker.ask("rate 2 1")["calls_per_second"], 0)
            self.assertGreater(worker.ask("memory")["peak_growth_kib"], 0)

    def test_shapes_of_inputs(self):
        with engines.Worker("tenon", model(), SETTINGS) as worker:
            [given] = worker.ask("describe")["inputs"]
        other = model()
        other.shapes = {given["name"]: given["shape"]}
        with engines.Worker("tenon", other, SETTINGS) as worker:
            worker.ask("load")
            self.assertEqual(len(worker.ask("run 1 0")["ms"]), 1)
        wide = [2, *given["shape"][1:]]  # which the model's own Reshape refuses: when it is loaded, or when it is run
        other.shapes = {given["name"]: wide}
        with engines.Worker("tenon", other, SETTINGS) as worker:
            self.assertEqual(worker.ask("describe")["inputs"][0]["shape"], wide)
            self.assertRaisesRegex(engines.WorkerError, "Reshape.*of shape .2,", worker.ask, "load")
        with engines.Worker("tenon-open", other, SETTINGS) as worker:
            self.assertEqual(worker.ask("describe")["inputs"][0]["shape"], given["shape"])
            worker.ask("load")
            self.assertRaisesRegex(engines.WorkerError, "Reshape.*of shape .2,", worker.ask, "run 1 0")
        other.shapes = {"nobody": wide}
        with engines.Worker("tenon", other, SETTINGS) as worker:
            self.assertRaisesRegex(engines.WorkerError, "nobody", worker.ask, "load")

    def test_a_copy_runs_by_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = installed.copy_as_installed(SETTINGS.exe, Path(folder) / "installed")
            settings = SimpleNamespace(**{**vars(SETTINGS), "exe": copy})
            with engines.Worker("tenon", model(), settings) as worker:
                worker.ask("load")
                maps = Path(f"/proc/{worker.process.pid}/maps").read_text()
        self.assertIn(f"{folder}/installed/lib/libtenon.so", maps)

    def test_a_build_that_was_moved_runs_with_its_own_library(self):
        """Whose program leads to the library of the place where it was linked."""
        with tempfile.TemporaryDirectory() as folder:
            copy = installed.copy_as_installed(SETTINGS.exe, Path(folder) / "installed")
            environment = installed.environment_of(copy)
            self.assertEqual(environment["LD_LIBRARY_PATH"].split(os.pathsep)[0], f"{folder}/installed/lib")
            self.assertTrue(installed.are_same_build(copy, SETTINGS.exe))
            library = max(installed.libraries_of(copy), key=lambda path: path.stat().st_size)
            library.write_bytes(library.read_bytes() + b"1")
            self.assertFalse(installed.are_same_build(copy, SETTINGS.exe))
            self.assertIsNone(installed.environment_of(Path(folder) / "alone/bin/program"))
            tells = make_program(copy, "#!/bin/sh\nread line; echo '{\"path\": \"'$LD_LIBRARY_PATH'\"}'\n")
            settings = SimpleNamespace(**{**vars(SETTINGS), "other_exe": tells})
            with engines.Worker("tenon-other", model(), settings) as worker:
                self.assertEqual(worker.ask("describe")["path"].split(os.pathsep)[0], f"{folder}/installed/lib")

    def test_programs_that_are_no_bench_serve(self):
        engines.check_answers("tenon", SETTINGS)
        for text, error in [("#!/bin/sh\nexit 3\n", "ended with status 3"),
                            ("#!/bin/sh\necho no library >&2; exit 127\n", "ended with status 127: no library"),
                            ("#!/bin/sh\nread line; echo '{}'\n", "takes 'hello' for a command"),
                            ("#!/bin/sh\nread line; echo '{'\n", "no JSON"),
                            ("#!/bin/sh\nexec sleep 60\n", "no answer to 'hello'"),
                            ("not a program", "cannot be started")]:
            with self.subTest(error), tempfile.TemporaryDirectory() as folder:
                program = make_program(Path(folder) / "bench_serve", text)
                settings = SimpleNamespace(**{**vars(SETTINGS), "other_exe": program, "timeout": 1.0})
                self.assertRaisesRegex(engines.WorkerError, re.escape(error), engines.check_answers, "tenon-other",
                                       settings)

    def test_errors_have_their_text(self):
        with tempfile.TemporaryDirectory() as folder:
            short = Path(folder) / "short.bin"
            short.write_bytes(b"1")
            for command, path, inputs, text in [
                    ("load", Path("missing.tflite"), [], "missing.tflite"),
                    ("load", MODEL, [short], "short.bin"),
                    ("load", MODEL, [short, short], "1 inputs, not 2"),
                    ("run 1 1", MODEL, [], "run before load"),
                    ("rate 1 1", MODEL, [], "run before load"),
                    ("rate 0 1", MODEL, [], "from 1 to 1024 callers, not 0"),
                    ("rate 4000000000 1", MODEL, [], "from 1 to 1024 callers"),
                    ("dance", MODEL, [], "unknown command: dance")]:
                with self.subTest(text), engines.Worker("tenon", model(path, inputs), SETTINGS) as worker:
                    self.assertRaisesRegex(engines.WorkerError, re.escape(text), worker.ask, command)

    def test_silence_is_an_error(self):
        with engines.Worker("tenon", model(), SETTINGS) as worker:
            worker.ask("load")
            worker.timeout = 0.01
            self.assertRaisesRegex(engines.WorkerError, "no answer", worker.ask, "run 1000000000 1e9")

    def test_measuring_and_the_table(self):
        refused = {"tenon-bf16": measure.Figures(error="not today")}
        figures = measure.measure(model(), ["tenon"], SETTINGS)
        self.assertEqual([len(figures["tenon"].rounds), len(figures["tenon"].init)], [3, 2])
        text = table.markdown("head", [(model(), {**figures, **refused})], ["tenon", "tenon-bf16"])
        self.assertIn(f"- {MODEL.stem}, Tenon bf16: not today", text)
        rows = [line for line in text.splitlines() if line.startswith(f"| {MODEL.stem} |")]
        self.assertEqual(len(rows), 3)  # times, loading, memory; no ratios without a peer

    def test_a_refused_model_is_reported(self):
        figures = measure.measure(model(Path("missing.tflite")), ["tenon"], SETTINGS)
        self.assertIn("missing.tflite", figures["tenon"].error)
        self.assertEqual(figures["tenon"].rounds, [])


# A stand-in for bench_serve that speaks its protocol. TIMES[NAME] is [a, n, b]: model NAME takes a ms in its first n
# loads and b ms in later ones. Other models take 1 ms. In place of a time, "refuse" and "die" name what happens.
SERVE = """#!{python} -SE
import sys
TIMES = {times}
name = sys.argv[1].split("/")[-1].split(".")[0]
first, loads, later = TIMES.get(name, [1.0, 0, 1.0])
for line in sys.stdin:
    word = line.split()[0]
    with open({folder!r} + name + ".loads", "a+") as file:
        file.seek(0)
        done = len(file.read())
        file.write("+" if word == "load" else "")
    ms = first if done + (word == "load") <= loads else later
    if word == "describe":
        answer = dict(inputs=[])
    elif word == "load":
        if ms == "refuse":
            sys.exit(name + ": no such operator")
        answer = dict(init={init})
    elif word == "run":
        if ms == "die":
            sys.exit(139)
        answer = dict(ms=[9.0 * ms, ms, ms, ms])
    elif word == "memory":
        answer = dict(peak_growth_kib=1000)
    else:
        sys.exit("unknown command: " + line.strip())
    print(str(answer).replace("'", '"'), flush=True)
"""

LOADS = 2


def make_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Builds(unittest.TestCase):
    """Two builds in turn."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def serve(self, build, times, init=3.0):
        """A program of a build of its own."""
        folder = self.folder / build
        folder.mkdir()
        return make_program(folder / "bin/bench_serve",
                            SERVE.format(python=sys.executable, times=times, folder=f"{folder}/", init=init))

    def compare(self, new, old, names, *options):
        """Runs performance.py: its exit status, its standard output and error, and the JSON that it wrote."""
        files = [self.folder / f"{name}.tflite" for name in names]
        for file in files:
            file.touch()
        report = self.folder / "report.json"
        run = subprocess.run([sys.executable, Path(__file__).with_name("performance.py"), "--exe", new, "--other-exe",
                              old, "--rounds", "2", "--loads", str(LOADS), "--turn", "1", "--no-priority", "--json",
                              report, *options, *files], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout, run.stderr, json.loads(report.read_text()) if report.is_file() else None

    def test_ratios_are_new_to_old(self):
        status, out, err, found = self.compare(self.serve("new", {"half": [0.5, 0, 0.5], "same": [1.0, 0, 1.0]}, 6.0),
                                               self.serve("old", {}), ["same", "half"], "--labels", "mine,theirs")
        self.assertEqual((status, found["passed"]), (0, True), out + err)
        self.assertEqual([(m["model"], m["ratio"], m["again"]) for m in found["models"]],
                         [("same", 1.0, None), ("half", 0.5, None)])  # the slowest first
        self.assertAlmostEqual(found["means"]["models"]["time"], 0.5 ** 0.5)
        self.assertAlmostEqual(found["means"]["models"]["loading"], 2.0)
        self.assertAlmostEqual(found["means"]["models"]["memory"], 1.0)
        self.assertEqual([len(found["models"][0]["new"][what]) for what in ("rounds", "init")], [4, LOADS])
        self.assertIn("\nNo slower.\n", out)
        self.assertIn("| half | other | 1 | 0.5 | 0.500 | 0.500 to 0.500 | 2.000 | 1.000 |", out)
        self.assertIn("| model | class | theirs, ms | mine, ms | mine / theirs |", out)
        self.assertIn("| **models** (2) | 0.707 | 1.01 | 2.000 | 1.000 |", out)
        self.assertIn("--other-exe OTHER/bin/bench_serve --rounds 2 --turn 1 --loads 2 --labels mine,theirs", out)
        self.assertEqual(err.splitlines(), ["same: 1.000", "half: 0.500"])

    def test_a_model_that_stays_slower_fails(self):
        slow = {"slow": [1.2, LOADS, 1.1], "fast": [0.5, 0, 0.5]}
        status, out, err, found = self.compare(self.serve("new", slow), self.serve("old", {}), ["fast", "slow"])
        self.assertEqual((status, found["passed"]), (1, False), out + err)
        self.assertEqual(found["complaints"], ["slow is 1.200, above 1.05; again 1.100"])
        self.assertIn("| slow | 1.200 | 1.100 | stays |", out)
        self.assertEqual(err.splitlines(), ["fast: 0.500", "slow: 1.200", "slow, again: 1.100"])

    def test_a_model_that_is_slower_once_passes(self):
        times = {"slow": [1.2, LOADS, 1.0], "fast": [0.5, 0, 0.5]}
        status, out, err, found = self.compare(self.serve("new", times), self.serve("old", {}), ["fast", "slow"])
        self.assertEqual((status, found["complaints"]), (0, []), out + err)
        self.assertEqual([(m["ratio"], m["again"], m["stays_above"]) for m in found["models"]],
                         [(1.2, 1.0, False), (0.5, None, False)])
        self.assertIn("| slow | 1.200 | 1.000 | does not stay |", out)

    def test_limits(self):
        times = {name: [1.03, 0, 1.03] for name in ("a", "b")}
        new, old = self.serve("new", times), self.serve("old", {})
        status, out, _, found = self.compare(new, old, ["a", "b"])
        self.assertEqual((status, found["complaints"]), 
                         (1, ["the geometric mean of models is 1.030, above 1.01; again 1.030"]))
        self.assertEqual([m["again"] for m in found["models"]], [1.03, 1.03])
        self.assertIn("Slower:\n\n- the geometric mean of models is 1.030, above 1.01; again 1.030\n", out)
        self.assertIn("| **models** (2) | 1.030 | 1.030 | 1.01 |", out)
        self.assertEqual(self.compare(new, old, ["a", "b"], "--mean-limit", "1.04")[0], 0)
        self.assertEqual(self.compare(new, old, ["a", "b"], "--mean-limit", "1.04", "--model-limit", "1.02")[0], 1)

    def test_options_that_make_no_sense(self):
        new, old = self.serve("new", {}), self.serve("old", {})
        for option, value in [("--mean-limit", "0"), ("--model-limit", "nan"), ("--labels", "new"),
                              ("--labels", "a,a"), ("--engines", "tenon-bf17"), ("--engines", "tenon,onnxruntime")]:
            with self.subTest(value):
                status, _, err, _ = self.compare(new, old, ["a"], option, value)
                self.assertEqual(status, 2)
                self.assertIn(option, err.splitlines()[-1])

    def test_a_mean_that_is_above_the_limit_once_passes(self):
        times = {"a": [1.04, LOADS, 1.0], "b": [1.0, 0, 1.0]}
        status, _, _, found = self.compare(self.serve("new", times), self.serve("old", {}), ["a", "b"])
        self.assertEqual((status, found["means"]["models"]["again"]), (0, 1.0))
        self.assertAlmostEqual(found["means"]["models"]["time"], 1.04 ** 0.5)

    def test_what_one_build_refuses(self):
        refuses, runs = {"odd": ["refuse", 9, "refuse"]}, {}
        both = ["even", "odd"]
        status, out, _, found = self.compare(self.serve("a", refuses), self.serve("b", runs), both)
        self.assertEqual((status, found["complaints"]),
                         (1, ["odd fails in the new build alone: odd: no such operator"]))
        self.assertIn("- odd, new: odd: no such operator\n", out)
        self.assertIsNone(found["models"][1]["ratio"])
        self.assertEqual(self.compare(self.serve("c", runs), self.serve("d", refuses), both)[0], 0)
        self.assertEqual(self.compare(self.serve("e", refuses), self.serve("f", refuses), both)[0], 0)
        status, _, _, found = self.compare(self.serve("g", refuses), self.serve("h", refuses), ["odd"])
        self.assertEqual((status, found["complaints"]), (1, ["nothing could be compared"]))

    def test_a_new_build_that_dies_when_it_is_measured_again_fails(self):
        times = {"slow": [1.2, LOADS, "die"], "fast": [0.5, 0, 0.5]}
        status, _, _, found = self.compare(self.serve("new", times), self.serve("old", {}), ["slow", "fast"])
        self.assertEqual(status, 1)
        self.assertEqual(found["complaints"], ["slow is 1.200, above 1.05; again –",
                                               "slow fails in the new build alone: ended with status 139"])

    def test_a_program_that_cannot_be_compared(self):
        new = self.serve("new", {})
        silent = make_program(self.folder / "silent/bin/bench_serve", "#!/bin/sh\nexit 0\n")
        for other, text in [(self.folder / "none/bench_serve", "there is no such program; build the target "
                                                               "bench_serve"),
                            (self.folder, "there is no such program"),
                            (silent, "does not answer as bench_serve does (ended with status 0)")]:
            status, out, err, _ = self.compare(new, other, ["a"])
            self.assertEqual((status, out), (2, ""))
            self.assertIn(f"--other-exe {other}: {text}", err.splitlines()[-1])

    def test_ways_and_the_same_program(self):
        new = self.serve("new", {})
        status, out, err, found = self.compare(new, new, ["m"], "--engines", "tenon,tenon-bf16")
        self.assertEqual(status, 0, out + err)
        self.assertEqual([(m["model"], m["group"]) for m in found["models"]],
                         [("m", "models"), ("m, bf16", "models, bf16")])
        self.assertIn("Both are the same program", out)

    def test_each_build_is_second_as_often_as_first(self):
        order = "".join(builds.in_turns("AB", 2)) + "".join(builds.in_turns("AB", 1, 3))
        self.assertEqual(order, "ABBABAABBAAB")

    def test_layers_are_a_group_of_their_own(self):
        kinds = [SimpleNamespace(name=kind, kind=kind) for kind in ("int8", "int8, layers")]
        cases = builds.cases_of(kinds, ["tenon", "tenon-bf16"], SETTINGS)
        self.assertEqual([case.group for case in cases], ["models", "layers made on the spot"])  # bf16: no floats
        halves = [builds.Comparison(case, [measure.Figures(rounds=[ms] * 2) for ms in (new, 1.0)])
                  for case, new in zip(cases, (0.5, 1.02))]
        self.assertEqual(builds.Verdict(halves, builds.Limits()).complaints,
                         ["the geometric mean of layers made on the spot is 1.020, above 1.01; again –"])

    def test_a_terminal_has_one_line_of_progress(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        progress = builds.Progress(builds.Limits(), terminal)
        case = builds.Case("m", "int8", "models", None)
        slow = builds.Comparison(case, [measure.Figures(rounds=[ms]) for ms in (1.2, 1.0)])
        progress.show([], "1 of 2: m")
        progress.show([slow], "2 of 2: n")
        progress.finish([slow])
        self.assertNotIn("\n", terminal.getvalue())
        self.assertRegex(terminal.getvalue(),
                         r"\[0:00\] 1 of 2: m\r.*\[0:00, geometric mean 1.200, above 1.05: 1\] 2 of 2: n\r")

    def test_ordinary_tables_have_the_other_build(self):
        old = self.serve("old", {})
        settings = SimpleNamespace(**{**vars(SETTINGS), "exe": self.serve("new", {MODEL.stem: [2.0, 0, 2.0]}),
                                      "other_exe": old})
        both = ["tenon", "tenon-other"]
        text = table.markdown("head", [(model(), measure.measure(model(), both, settings))], both)
        self.assertIn(f"| model | Tenon / Tenon (other build) |\n|---|---:|\n| {MODEL.stem} | 2 |", text)


# bench_load as far as growth.py asks it.
LOAD = """#!/bin/sh
for option; do
    case $option in --benchmark_filter=*) name=${{option#*^}};; esac
done
case $name in {missing}*) echo "Failed to match any benchmarks" >&2; exit 1;; esac
echo '{{"benchmarks": [{{"run_type": "iteration", "per_layer": {nanoseconds}e-9, "run_name": "'${{name%?}}'"}}]}}'
"""


class Growth(unittest.TestCase):
    def compare(self, *builds_of):
        with tempfile.TemporaryDirectory() as folder:
            programs = [make_program(Path(folder) / str(i) / "bin/bench_load",
                                     LOAD.format(nanoseconds=nanoseconds, missing=missing))
                        for i, (nanoseconds, missing) in enumerate(builds_of)]
            run = subprocess.run([sys.executable, Path(__file__).with_name("growth.py"), "--exe", programs[0],
                                  "--other-exe", programs[1], "--repetitions", "1"], capture_output=True, text=True,
                                 check=False)
        return run.returncode, run.stdout

    def test_two_builds(self):
        status, out = self.compare((500.0, "none"), (500.0, "none"))
        self.assertEqual(status, 0, out)
        self.assertIn("| **large networks** (15) | 1.000 | 1.01 |", out)
        self.assertIn("| chain of activations, 100,000 layers | TenonChain | 500 | 500 | 1.000 |", out)
        status, out = self.compare((600.0, "none"), (500.0, "none"))
        self.assertEqual(status, 1)
        self.assertIn("- chain of activations, 1,000 layers is 1.200, above 1.05; again 1.200\n", out)

    def test_a_network_that_the_new_build_lacks(self):
        status, out = self.compare((500.0, "TenonJoins"), (500.0, "none"))
        self.assertEqual(status, 1)
        self.assertIn("1,000 layers fails in the new build alone: ended with status 1: Failed to match any benchmarks",
                      out)


class PythonPeers(unittest.TestCase):
    """python_peers.py, without any package."""
    FIGURES = {python_peers.TENON: measure.Figures(rounds=[1.0, 2.0]),
               python_peers.LITERT: measure.Figures(rounds=[4.0, 4.0]),
               python_peers.ORT: measure.Figures(error="not /today/today.py")}

    def test_rows(self):
        packages = list(self.FIGURES)
        row = python_peers.row_of("m: a call", self.FIGURES, "us")
        lines = python_peers.make_table([row], packages).splitlines()
        self.assertEqual(lines[0], "|  | Tenon | ai-edge-litert | onnxruntime | Tenon / ai-edge-litert | "
                                   "Tenon / onnxruntime |")
        self.assertEqual(lines[2], "| m: a call, us | 1.5 | 4 | not today.py | 0.375 | – |")
        alone = python_peers.make_table([python_peers.row_of("m", self.FIGURES, "us", {python_peers.TENON: "no"})],
                                        packages[:1]).splitlines()
        self.assertEqual([alone[0], alone[2]], ["|  | Tenon |", "| m, us | no |"])

    def test_documents(self):
        place = python_peers.PLACE
        text = f"a\n{place.begin}\nold\n{place.end}\nb\n"
        new = place.replace(text, "new", "d.md")
        self.assertEqual(new, f"a\n{place.begin}\n\nnew\n\n{place.end}\nb\n")
        self.assertEqual(place.replace(new, "new", "d.md"), new)
        self.assertEqual(place.lines(new), ["", "new", ""])
        for wrong in ["", text + text, f"{place.end}\n{place.begin}"]:
            self.assertRaisesRegex(ValueError, "^d.md: needs these two lines", place.replace, wrong, "", "d.md")

    def test_the_page_has_the_table_in_this_form(self):
        page = (python_peers.ROOT / "docs/python.md").read_text(encoding="utf-8")
        lines = [line for line in python_peers.PLACE.lines(page) if line.startswith("|")]
        self.assertEqual(lines[:2], python_peers.make_table([], list(self.FIGURES)).splitlines())
        names = [line.split("|")[1].strip() for line in lines[2:]]
        for model in python_peers.DIGITS:
            for what in ("a call, us", "a prepared call, us", "two threads on one model / one"):
                self.assertIn(f"{model.stem}: {what}", names)
        for name in ["import, ms", "wheel, MB"]:
            self.assertIn(name, names)
        for line in lines[2:]:  # Tenon has a figure everywhere, and all ratios are numbers
            cells = [cell.strip() for cell in line.split("|")[2:-1]]
            for cell in (cells[0], *cells[3:]):
                self.assertRegex(cell, r"^(\d+(\.\d+)?(e-\d+)?|–)$", line)
            self.assertNotEqual(cells[0], "–", line)

    def test_options_that_make_no_sense(self):
        for options, text in [(["--rounds", "0"], "--turn must be positive"),
                              (["--wheel", "/none.whl"], "--wheel /none.whl: there is no such file"),
                              (["--write", "/none.md"], "/none.md"),
                              (["--write", __file__], "needs these two lines")]:
            with self.subTest(text):
                run = subprocess.run([sys.executable, Path(__file__).with_name("python_peers.py"), *options],
                                     capture_output=True, text=True, check=False)
                self.assertNotEqual(run.returncode, 0)
                self.assertIn(text, run.stderr.splitlines()[-1])


class Batches(unittest.TestCase):
    """batches.py, with stand-ins for TensorFlow Lite's object tree and for models."""
    SCHEMA = SimpleNamespace(BuiltinOperator=SimpleNamespace(RESHAPE=1, TRANSPOSE_CONV=2, STRIDED_SLICE=3),
                             TensorType=SimpleNamespace(INT32=2), BufferT=SimpleNamespace)
    RESULTS = {"a<b": {(1, "tenon"): measure.Figures(rounds=[2.0]), (8, "tenon"): measure.Figures(rounds=[20.0]),
                       (1, "openvino-f32"): measure.Figures(rounds=[4.0]),
                       (8, "openvino-f32"): measure.Figures(error="no such batch")}}

    def content(self, code, sizes, shape=(1, 6), options=None):
        """A model of two operators with the same constant: a known one, and one whose constants are no shapes."""
        data = b"".join(size.to_bytes(4, "little", signed=True) for size in sizes)
        tensors = [SimpleNamespace(shape=list(shape), type=0, buffer=0),
                   SimpleNamespace(shape=[len(sizes)], type=2, buffer=1)]
        inputs = {1: [0, 1], 2: [1, -1, 0], 3: [0, 1, 1, 1]}[code]
        operators = [SimpleNamespace(opcodeIndex=i, inputs=list(inputs), builtinOptions=options) for i in (0, 1)]
        return SimpleNamespace(buffers=[SimpleNamespace(data=None), SimpleNamespace(data=data)],
                               operatorCodes=[SimpleNamespace(builtinCode=code), SimpleNamespace(builtinCode=99)],
                               subgraphs=[SimpleNamespace(tensors=tensors, operators=operators)])

    def test_constants_with_the_batch(self):
        for code, given, expected in [(1, [1, 2, 3], [-1, 2, 3]), (1, [1, -1], [8, -1]),
                                      (2, [1, 4, 4, 2], [8, 4, 4, 2]), (3, [1, 1, 6], [8, 1, 6])]:
            with self.subTest((code, given)):
                options = SimpleNamespace(newShape=given)
                content = self.content(code, given, options=options)
                self.assertEqual(batch_models.set_batch(content, 8, self.SCHEMA), 1)
                [graph] = content.subgraphs
                changed, other = graph.operators
                operand = batch_models.SHAPES[{1: "RESHAPE", 2: "TRANSPOSE_CONV", 3: "STRIDED_SLICE"}[code]]
                for operator, sizes in [(changed, expected), (other, given)]:
                    self.assertEqual(batch_models.sizes_of(graph, content.buffers, operator.inputs[operand], 2), sizes)
                self.assertEqual(options.newShape, expected)

    def test_constants_without_the_batch(self):
        for content in [self.content(1, [6]), self.content(1, [1, 6], shape=(3, 2)), self.content(1, []),
                        self.content(1, [1, 6], shape=())]:
            self.assertEqual(batch_models.set_batch(content, 8, self.SCHEMA), 0)

    def test_table_and_chart(self):
        engine_names = ["tenon", "openvino-f32"]
        text = batch_tables.section("head\n", self.RESULTS, engine_names)
        rows = [line for line in text.splitlines() if line.startswith("| a<b |")]
        self.assertEqual(rows, ["| a<b | 1 | 2 | 500 | 1 | 4 | 250 | 1 | 0.5 |",
                                "| a<b | 8 | 20 | 400 | 1.25 | refused | – | – | – |"])
        self.assertIn("### What engines refused\n- a<b with batch 8, OpenVINO f32: no such batch", text)
        image = batch_tables.chart(self.RESULTS, engine_names)
        self.assertEqual(image.count('class="bar"'), 4)
        self.assertIn("Tenon, batch 8: 400 inferences/s", image)
        xml.etree.ElementTree.fromstring(image)

    def test_each_batch_has_its_turn(self):
        with engines.Worker("tenon", model(), SETTINGS) as worker:
            [given] = worker.ask("describe")["inputs"]
        cases = {}
        for batch in (1, 2):
            cases[batch, "tenon"] = ("tenon", model())
            cases[batch, "tenon"][1].shapes = {given["name"]: [batch, *given["shape"][1:]]}
        figures = measure.measure_in_turn(cases, SETTINGS)
        self.assertEqual(len(figures[1, "tenon"].rounds), SETTINGS.rounds)
        self.assertRegex(figures[2, "tenon"].error, "Reshape.*of shape .2,")  # which has the batch in a constant

    def test_inputs_have_the_batch(self):
        description = {"inputs": [{"name": "x", "type": "Float32", "shape": [1, 3]},
                                  {"name": "y", "type": "Signed32", "shape": [None, 2]}]}
        written = []
        with mock.patch.object(models, "random_array", lambda dtype, shape, seed: (dtype, shape)), \
                mock.patch.object(models, "write_inputs", lambda arrays, *_: written.extend(arrays) or ["f", "g"]):
            resized = models.Model("m", Path("m.tflite"), "other")
            models.add_random_inputs(resized, description, Path("."), 8)
        self.assertEqual(written, [("float32", [8, 3]), ("int32", [8, 2])])
        self.assertEqual(resized.shapes, {"x": (8, 3), "y": (8, 2)})

    def test_a_document_that_is_written_anew_keeps_the_place(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "p.md"
            self.assertEqual(batch_tables.PLACE.cut_out(page), "")
            page.write_text("old")
            self.assertEqual(batch_tables.PLACE.cut_out(page), "")
            place = f"{batch_tables.PLACE.begin}\n\nrows\n\n{batch_tables.PLACE.end}\n"
            page.write_text(f"old\n\n{place}")
            self.assertEqual(batch_tables.PLACE.cut_out(page), f"\n{place}")

    def test_options_that_make_no_sense(self):
        for options, text in [(["--batches", "0,8"], "--batches"),
                              (["--engines", "tenon-other"], "no engine 'tenon-other'"),
                              (["--threads", "1000"], "1000 threads need as many cores"),
                              (["--table", "/none.md"], "/none.md"), (["--table", __file__], "needs these two lines"),
                              (["--exe", "/none"], "cannot be started"), (["--rounds", "0"], "must be positive"),
                              (["m.onnx"], "m.onnx: the constants of .tflite")]:
            with self.subTest(text):
                command = [sys.executable, batches.__file__, "--exe", EXE, "--engines", "tenon", *options, MODEL]
                run = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertNotEqual(run.returncode, 0)
                self.assertIn(text, run.stderr.splitlines()[-1])


class Delegate(unittest.TestCase):
    """TFLite with Tenon's delegate, and delegate.py, with stand-ins for the packages."""
    SETTINGS = SimpleNamespace(processes=2, rounds=3, turn=1.0, loads=4)

    def test_the_worker_is_told_the_library(self):
        with tempfile.TemporaryDirectory() as folder:
            tells = Path(folder) / "worker.py"
            tells.write_text("import json, sys\nfor _ in sys.stdin: print(json.dumps({'argv': sys.argv[1:]}), flush=True)\n")
            settings = SimpleNamespace(**{**vars(SETTINGS), "delegate": Path("/a b/libd.so")})
            with mock.patch.object(engines, "WORKER", tells):
                for engine, first in [(engines.DELEGATE, "tflite-tenon=/a b/libd.so"),
                                      ("tflite-builtin", "tflite-builtin")]:
                    with engines.Worker(engine, model(inputs=["i.bin"]), settings) as worker:
                        self.assertEqual(worker.ask("load")["argv"], [first, str(MODEL), "1", "i.bin"])

    def test_the_worker_makes_the_delegate(self):
        calls = []

        class Interpreter:
            def __init__(self, model_path, num_threads, experimental_delegates, experimental_op_resolver_type):
                calls.append((model_path, num_threads, experimental_delegates, experimental_op_resolver_type))

            def get_input_details(self):
                return [{"index": 7, "shape": [1, 3]}]

            def resize_tensor_input(self, index, shape):
                calls.append((index, shape))

            def allocate_tensors(self):
                calls.append("allocate")

            def _get_ops_details(self):
                return [{"op_name": name} for name in ("ADD", "MUL", "DELEGATE")]

        api = ModuleType("ai_edge_litert.interpreter")
        api.Interpreter = Interpreter
        api.OpResolverType = SimpleNamespace(AUTO="auto", BUILTIN_WITHOUT_DEFAULT_DELEGATES="builtin")
        api.load_delegate = lambda library: calls.append("make " + library) or "delegate"
        package = ModuleType("ai_edge_litert")
        package.interpreter = api
        modules = {"ai_edge_litert": package, "ai_edge_litert.interpreter": api, "numpy": ModuleType("numpy")}
        with mock.patch.dict(sys.modules, modules), mock.patch("ctypes.CDLL", lambda path: calls.append("open " + path)):
            from perf import peer_worker
            for engine, given, expected in [
                    ("tflite-tenon", ["l.so"], ["open l.so", "make l.so", ("m", 2, ["delegate"], "auto"), "allocate"]),
                    ("tflite-xnnpack", [], [("m", 2, None, "auto"), "allocate"]),
                    ("tflite-builtin", [], [("m", 2, None, "builtin"), "allocate"])]:
                with self.subTest(engine):
                    calls.clear()
                    worker = peer_worker.ENGINES[engine](*given)
                    worker.load("m", 2, [])
                    self.assertEqual(calls, expected)
            for files, resized in [(["i.bin"], []), (["i.bin:1,3"], []), (["i.bin:8,3"], [(7, (8, 3))])]:
                calls.clear()
                worker.load("m", 2, files)
                self.assertEqual(calls[1:], [*resized, "allocate"])
            self.assertEqual(worker.partitions("m", 1), 1)

    def test_the_library_is_that_of_the_build(self):
        parser = argparse.ArgumentParser()
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder).resolve() / "lib/libtenonDelegate.so"
            library.parent.mkdir()
            library.touch()
            for given, exe in [(None, Path(folder) / "bin/bench_serve"), (library, None)]:
                arguments = SimpleNamespace(delegate=given, exe=exe)
                installed.find_delegate(parser, arguments)
                self.assertEqual(arguments.delegate, library)
            program = make_program(Path(folder) / "bin/bench_serve", "#!/bin/sh\n")
            self.assertTrue(installed.delegate_beside(installed.copy_as_installed(program, Path(folder) / "copy")).exists())
            library.unlink()
            for given, exe, text in [(library, None, "there is no such file"), (None, None, "is missing")]:
                with mock.patch.object(parser, "error", side_effect=ValueError) as error:
                    self.assertRaises(ValueError, installed.find_delegate, parser,
                                      SimpleNamespace(delegate=given, exe=exe))
                self.assertIn(text, error.call_args.args[0])

    def case(self, kind, mine, tenon, xnnpack, alone, init=1.0, partitions=1):
        """Of milliseconds; XNNPACK loads in 2."""
        rounds = [(mine, init), (tenon, 1.0), (xnnpack, 2.0), (alone, 1.0)]
        figures = [measure.Figures(rounds=[ms] * 3, init=[load] * 3, first=[1.0] * 3) for ms, load in rounds]
        return delegate.Case(SimpleNamespace(name="m", kind=kind), partitions, dict(zip(delegate.ENGINES, figures)))

    def test_limits(self):
        for case, missed in [
                (self.case("int8", 1.054, 1.0, 2.0, 3.0), []),
                (self.case("int8", 1.056, 1.0, 2.0, 3.0), ["above Tenon, us 6, asked 5"]),
                (self.case("uint8", 0.7, 0.7, 1.0, 3.0), ["/ XNNPACK 0.7, asked 0.6"]),
                (self.case("float32", 1.0, 1.0, 1.0, 3.0), []),
                (self.case("float32", 1.1, 1.1, 1.0, 3.0), ["/ XNNPACK 1.1, asked 1"]),
                (self.case("16x8", 1.1, 1.1, 1.0, 3.0), []),
                (self.case("int8, layers", 0.0059, 0.0001, 0.0001, 0.001), []),
                (self.case("int8, layers", 0.0061, 0.0001, 0.0001, 0.001), ["above TFLite alone, us 5.1, asked 5"]),
                (self.case("float32", 1.0, 1.0, 2.0, 3.0, init=2.1), ["loading / XNNPACK 1.05, asked 1"]),
                (self.case("float32", 1.0, 1.0, 2.0, 3.0, partitions=0), ["the delegate takes no node"])]:
            with self.subTest(missed):
                self.assertEqual(case.missed, [f"m: {line}" for line in missed])

    def test_an_engine_that_refuses_misses_limits(self):
        case = self.case("int8", 1.0, 1.0, 2.0, 3.0)
        case.figures[engines.DELEGATE] = measure.Figures(error="no")
        self.assertEqual(case.missed, ["m: above Tenon, us –, asked 5", "m: / XNNPACK –, asked 0.6",
                                       "m: loading / XNNPACK –, asked 1"])
        text = delegate.make_text("c", "1", [case], self.SETTINGS)
        self.assertIn("| m | int8 | 1 | – | 1 | 2 | 3 | **–** | **–** | – |", text)
        self.assertIn("- m, delegate: no\n", text)

    def test_processes_are_joined(self):
        def measured(ms, error=""):
            return {engine: measure.Figures([ms], [ms], [ms], [1], error) for engine in delegate.ENGINES}

        joined = delegate.join([measured(1.0), measured(2.0)])
        self.assertEqual(list(joined), delegate.ENGINES)
        self.assertEqual([joined["tenon"].rounds, joined["tenon"].init, joined["tenon"].first], [[1.0, 2.0]] * 3)
        self.assertEqual(delegate.join([measured(1.0), measured(2.0, "no"), measured(3.0)])["tenon"],
                         measure.Figures(error="no"))

    def test_the_text(self):
        cases = [self.case("int8", 1.1, 1.0, 2.0, 3.0), self.case("float32, layers", 0.5, 1.0, 2.0, 0.5)]
        text = delegate.make_text("the command", "1.2", cases, self.SETTINGS)
        self.assertIn("\n    the command\n", text)
        self.assertRegex(text, r"medians of\s8\. ")
        self.assertIn("| m | int8 | 1 | 1.1 | 1 | 2 | 3 | **50** | 0.55 | -1900 |\n", text)
        self.assertIn("| m | float32, layers | 1 | 0.5 | 1 | 2 | 0.5 | -550 | 0.25 | 0 |\n", text)
        self.assertIn("| m | 1 | 1 | 2 | 0.5 | 0.667 |\n", text)
        self.assertTrue(text.endswith("\nMissed (bold):\n\n- m: above Tenon, us 50, asked 5\n"), text)
        self.assertTrue(delegate.make_text("c", "1", cases[1:], self.SETTINGS).endswith(
            "\nAll are kept.\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
