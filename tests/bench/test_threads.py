#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of threads.py that need neither peers nor packages.

usage: test_threads.py BENCH_SERVE MODEL.tflite
"""
import json
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

import threads
from perf import thread_callers, thread_chart, thread_tables, thread_trace, thread_turns
from test_perf import EXE, MODEL, SETTINGS, model


class Times(unittest.TestCase):
    def test_lists_of_cores_and_threads(self):
        self.assertEqual(thread_tables.cores_of("0-2,7"), {0, 1, 2, 7})
        self.assertEqual(threads.list_of_numbers("8,1,4"), [1, 4, 8])
        with self.assertRaises(ValueError):
            threads.list_of_numbers("0,1")

    def test_workers_take_turns(self):
        settings = SimpleNamespace(**{**vars(SETTINGS), "rounds": 2})
        commands = {"a": (("tenon", 1), "run 2 60000"), "b": (("tenon", 1), "rate 2 1"), "c": (("tenon", 2), "run 1 0 1")}
        answers, errors = thread_turns.take_turns(model(), commands, settings)
        self.assertEqual(errors, {})
        self.assertEqual([len(answers[name]) for name in "abc"], [2, 2, 2])
        self.assertEqual([len(answer["ms"]) for answer in answers["a"]], [2, 2])
        answers, errors = thread_turns.take_turns(model(Path("missing.tflite")), commands, settings)
        self.assertEqual((answers, list(errors)), ({}, ["tenon"]))

    def test_speed_up_of_threads(self):
        one, two = [[4.0, 3.0, 9.0], [8.0]], [[2.0, 2.0], [2.0, 6.0, 0.5]]
        self.assertEqual(threads.speed_up(one, two), "3.00 (6.00)")
        turns = {("tenon", 1): one, ("tenon", 2): two, ("tflite-xnnpack", 1): one}
        self.assertEqual(
            list(threads.rows_of_times(model(Path("m.tflite")), turns, ["tenon", "tflite-xnnpack"], [1, 2])),
            [["m", "1", "6", "1.00 (1.00)", "6", "1.00 (1.00)", "1.00"],
             ["m", "2", "2", "3.00 (6.00)", "–", "–", "–"]])
        settings = SimpleNamespace(**{**vars(SETTINGS), "rounds": 2})
        turns, errors = threads.measure(model(), ["tenon"], [1, 2], settings)
        self.assertEqual({key: len(rounds) for key, rounds in turns.items()}, {("tenon", 1): 2, ("tenon", 2): 2})
        self.assertEqual(errors, {})
        _, errors = threads.measure(model(Path("missing.tflite")), ["tenon"], [1, 2], settings)
        self.assertEqual(list(errors), ["tenon"])

    def test_bfloat16_by_float32_and_by_peers(self):
        turns = {("tenon", 1): [[4.0]], ("tenon-bf16", 1): [[3.0]], ("openvino-bf16", 1): [[2.0]], ("tenon", 2): [[2.0]]}
        self.assertEqual(list(threads.rows_of_bf16(model(Path("m.tflite")), turns, ["openvino-bf16"], [1, 2])),
                         [["m", "1", "3", "0.75", "2", "1.50"], ["m", "2", "–", "–", "–", "–"]])

    def test_thread_time_is_told_by_kind(self):
        def event(name, start, stop, thread, args=None, category=thread_trace.RUN):
            return {"name": name, "cat": category, "ts": start, "dur": stop - start, "tid": thread, "args": args or {}}

        layer = {"layer": "conv", "guid": 1}
        events = [
            event(thread_trace.RUN, 0, 100, 0),
            event("Conv_Execute", 10, 90, 0, layer),
            event("loop", 20, 80, 0, {"loop": 0, "threads": 2, "max_threads": 4}, "loops"),
            event("share", 20, 70, 0, {"loop": 0, "chunks": 2, "work": 45}, "loops"),
            event("share", 30, 80, 1, {"loop": 0, "chunks": 1, "work": 50}, "loops"),
        ]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.json"
            file.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
            trace = thread_trace.read(file, 4)
        [layer] = trace.layers
        self.assertEqual(layer.threads, {"work": 20 + 45 + 50, "serial": 3 * 20, "between": 0, "absent": 2 * 60,
                                         "late": 10, "gaps": 5, "end": 10})
        self.assertEqual(layer.wall, 80)
        self.assertAlmostEqual(layer.imbalance, 50 / 47.5)
        shares = trace.shares()
        self.assertAlmostEqual(shares["between"], 0.2)
        self.assertAlmostEqual(sum(shares.values()), 1)

    def test_traces_of_a_network(self):
        settings = SimpleNamespace(**{**vars(SETTINGS), "compute": "CpuAcc,CpuRef", "threads": 2})
        trace = threads.trace(model(), 2, settings)
        self.assertEqual(trace.runs, threads.TRACED_RUNS)
        self.assertAlmostEqual(sum(trace.shares().values()), 1)
        self.assertTrue(all(time > -1e-6 * trace.wall for layer in trace.layers for time in layer.threads.values()))
        rows = list(threads.rows_of_trace(model(), trace, 1.0, 2))
        self.assertEqual({len(row) for row in rows}, {12})

    def test_chart_has_a_line_for_each_model_and_engine(self):
        times = {1: 8.0, 4: 4.0}
        image = thread_chart.chart({"a<b": {"tenon": times}, "c": {"tenon": times}}, ["tenon"], [1, 4])
        self.assertEqual(image.count('class="model"'), 2)
        self.assertIn("a&lt;b: 1.00 on 1, 2.00 on 4", image)
        xml.etree.ElementTree.fromstring(image)


class CallersAndRests(unittest.TestCase):
    def test_throughput_of_callers(self):
        settings = SimpleNamespace(**{**vars(SETTINGS), "rounds": 2})
        callers = thread_callers.Callers(["tenon"], [1, 3], settings)
        rates, errors = callers.add(model())
        self.assertEqual((list(rates["tenon"]), errors), ([1, 3], {}))
        self.assertEqual([row[:2] for row in callers.rows], [["model", "callers"], [MODEL.stem, "1"], [MODEL.stem, "3"]])
        self.assertEqual(callers.rows[1][3], "1.00")
        rates, errors = callers.add(model(Path("missing.tflite")))
        self.assertEqual((rates, list(errors)), ({}, ["tenon"]))
        self.assertEqual(callers.rows[-1], ["missing", "3", "–", "–"])

    def test_throughput_beside_peers(self):
        answers = {("tenon", 1): [10.0], ("tenon", 2): [18.0], ("tflite-xnnpack", 1): [5.0], ("tflite-xnnpack", 2): [6.0],
                   ("openvino-f32", 1): [8.0]}
        told = {key: [{"calls_per_second": rate} for rate in rates] for key, rates in answers.items()}
        engines_of = ["tenon", "tflite-xnnpack", "openvino-f32"]
        callers = thread_callers.Callers(engines_of, [1, 2], SETTINGS)
        with mock.patch.object(thread_callers, "take_turns", return_value=(told, {})):
            callers.add(model(Path("m.tflite")))
        self.assertEqual(callers.rows[1:], [["m", "1", "10", "1.00", "5", "1.00", "8", "1.00", "1.25"],
                                            ["m", "2", "18", "1.80", "6", "1.20", "–", "–", "3.00"]])

    def test_callers_of_peers(self):
        made = []

        class Interpreter:
            def __init__(self, **_):
                made.append(self)
                self.runs = 0

            def allocate_tensors(self):
                pass

            def get_input_details(self):
                return []

            get_output_details = get_input_details

            def invoke(self):
                self.runs += 1

        api = ModuleType("ai_edge_litert.interpreter")
        api.Interpreter = Interpreter
        api.OpResolverType = SimpleNamespace(AUTO="auto")
        package = ModuleType("ai_edge_litert")
        package.interpreter = api
        modules = {"ai_edge_litert": package, "ai_edge_litert.interpreter": api, "numpy": ModuleType("numpy")}
        with mock.patch.dict(sys.modules, modules):
            from perf import peer_worker
            with mock.patch.object(peer_worker, "read_inputs", return_value=[]):
                engine = peer_worker.ENGINES["tflite-xnnpack"]()
                engine.load("m", 1, [])
                engine.bind([])
                calls = engine.callers(3)
                self.assertEqual(len(made), 3)
                self.assertGreater(peer_worker.rate(calls, 1.0), 0)
                self.assertTrue(all(interpreter.runs > 1 for interpreter in made))
                self.assertEqual(len(peer_worker.run_repeatedly(engine.run, 2, 1e6, 1.0)), 2)
                with self.assertRaises(ZeroDivisionError):
                    peer_worker.rate([engine.run, lambda: 1 / 0], 1.0)

    def test_crowds_and_rests(self):
        settings = SimpleNamespace(**{**vars(SETTINGS), "rounds": 2})
        crowd = thread_callers.Crowd(["tenon"], 2, settings)
        self.assertEqual(crowd.add(model()), {})
        self.assertEqual(crowd.rows[0], ["model", "Tenon: two callers", "4 threads"])
        self.assertEqual(len(crowd.rows[1]), 3)
        self.assertEqual(list(crowd.add(model(Path("missing.tflite")))), ["tenon"])
        self.assertEqual(crowd.rows[2], ["missing", "–", "–"])
        rests = thread_callers.Rests(["tenon"], [1, 2], 1.0, settings)
        rested, errors = rests.add(model())
        self.assertEqual((list(rested["tenon"]), errors), ([1, 2], {}))
        self.assertEqual([len(row) for row in rests.rows], [5, 5, 5])

    def test_tables_of_threads_and_callers(self):
        with tempfile.TemporaryDirectory() as folder:
            text, figures = Path(folder) / "t.md", Path(folder) / "t.json"
            words = ["threads.py", "--exe", str(EXE), "--threads", "1", "--callers", "1,2,3", "--rest", "1", "--rounds", "2",
                     "--turn", "1", "--layers", "0", "--no-priority", "--json", str(figures), "--table", str(text), str(MODEL)]
            with mock.patch.object(sys, "argv", words):
                self.assertEqual(threads.main(), 0)
            written = text.read_text()
            for part in ["--callers 1,2,3 --rest 1 --no-priority", "## Callers with one thread each", "t-callers.svg",
                         "*2 threads*: the time", "one after 1 ms of sleep", f"| {MODEL.stem} | 3 |"]:
                self.assertIn(part, re.sub(r"\s+", " ", written))
            self.assertIn("as many times as callers", (Path(folder) / "t-callers.svg").read_text())
            self.assertEqual(set(json.loads(figures.read_text())),
                             {"milliseconds", "calls_per_second", "milliseconds_after_rest"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
