#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of performance.py and bench_serve that need neither peers nor packages.

usage: test_perf.py BENCH_SERVE MODEL.tflite
"""
import argparse
import math
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import threads
from perf import classes, command, engines, installed, measure, table

EXE, MODEL = Path(sys.argv[1]), Path(sys.argv[2])
SETTINGS = SimpleNamespace(exe=EXE, compute="CpuRef", threads=1, cores=os.sched_getaffinity(0), priority=False,
                           timeout=60.0, loads=2, rounds=3, turn=1.0)


def model(path=MODEL, inputs=()):
    return SimpleNamespace(name=path.stem, path=path, kind="int8", inputs=list(inputs), onnx=None)


class Command(unittest.TestCase):
    def test_names_what_differs_from_the_defaults(self):
        parser = argparse.ArgumentParser()
        for name, default in [("only", ""), ("engines", "a,b"), ("compute", "CpuRef"), ("threads", 1), ("rounds", 9),
                              ("turn", 100.0), ("loads", 5), ("timeout", 300.0), ("models", None), ("layers", None),
                              ("random", 0), ("seed", 1), ("float_twins", None),
                              ("onnx", []), ("peers_only", False), ("priority", True), ("files", []),
                              ("table", "t.md")]:
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


class Figures(unittest.TestCase):
    def test_ratio_is_of_neighbouring_turns(self):
        mine = measure.Figures(rounds=[2.0, 20.0, 4.0])
        other = measure.Figures(rounds=[1.0, 10.0, 1.0])  # the second turn of both had a busy machine
        self.assertEqual(measure.ratio(mine, other), 2.0)
        self.assertIsNone(measure.ratio(mine, measure.Figures()))
        self.assertIsNone(measure.ratio(mine, None))

    def test_speed_up_of_threads(self):
        self.assertEqual(threads.row("m", [[[4.0, 3.0, 9.0], [8.0]], [[2.0, 2.0], [2.0, 6.0, 0.5]]]),
                         ["m", "3", "0.5", "3.00", "6.00"])
        one_and_two = threads.measure(model(), SimpleNamespace(**{**vars(SETTINGS), "threads": 2, "rounds": 2}))
        self.assertEqual([len(turns) for turns in one_and_two], [2, 2])

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
            self.assertGreater(worker.ask("memory")["peak_growth_kib"], 0)

    def test_a_copy_runs_by_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = installed.copy_as_installed(SETTINGS.exe, Path(folder) / "installed")
            settings = SimpleNamespace(**{**vars(SETTINGS), "exe": copy})
            with engines.Worker("tenon", model(), settings) as worker:
                worker.ask("load")
                maps = Path(f"/proc/{worker.process.pid}/maps").read_text()
        self.assertIn(f"{folder}/installed/lib/libtenon.so", maps)

    def test_errors_have_their_text(self):
        with tempfile.TemporaryDirectory() as folder:
            short = Path(folder) / "short.bin"
            short.write_bytes(b"1")
            for command, path, inputs, text in [
                    ("load", Path("missing.tflite"), [], "missing.tflite"),
                    ("load", MODEL, [short], "short.bin"),
                    ("load", MODEL, [short, short], "1 inputs, not 2"),
                    ("run 1 1", MODEL, [], "run before load"),
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
