#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/build_times.py, on a project of two sources.

usage: test_build_times.py C++COMPILER
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "build_times.py"
sys.path.insert(0, str(SCRIPT.parent))
from objects import bar, describe_object, table  # noqa: E402

COMPILER = sys.argv.pop(1)
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(Small LANGUAGES CXX)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
  message(FATAL_ERROR "ccache")
endif()
add_subdirectory(src/graph)
"""
MODULE = """add_library(graph OBJECT One.cpp Two.cpp Three.cpp)
set_target_properties(graph PROPERTIES UNITY_BUILD "${UNITE}" UNITY_BUILD_BATCH_SIZE 2)
add_executable(program main.cpp $<TARGET_OBJECTS:graph>)
"""


def run(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], capture_output=True, text=True,
                          check=False, env={**os.environ, "CXX": COMPILER})


def line_of(output, first):
    """The cells of the row of a table whose first cell is this."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines() if line[:1] == "|"]
    rows = [row for row in rows if row[0] == first]
    if len(rows) != 1:
        raise AssertionError(f"{len(rows)} rows begin with '{first}' in:\n{output}")
    return rows[0]


def entry(path, seconds, sources=1):
    return json.dumps({"object": path, "source": "x.cpp", "sources": sources, "seconds": seconds, "wall": seconds,
                       "peak_kib": 204800, "status": 0, "launcher": 0.5})


class Names(unittest.TestCase):
    def test_of_objects(self):
        for path, expected in {
                "src/backends/cpu/CMakeFiles/tenon_cpu.dir/gemm/kernels/int8/MicrokernelsInt8.cpp.o":
                    ("src/backends/cpu", "src/backends/cpu/gemm/kernels/int8/MicrokernelsInt8.cpp"),
                "src/optimizer/CMakeFiles/tenon_optimizer.dir/Unity/unity_12_cxx.cxx.o":
                    ("src/optimizer", "src/optimizer (unity 12)"),
                "tests/CMakeFiles/test_ops.dir/ops/Add.cpp.o": ("tests/ops", "tests/ops/Add.cpp"),
                "tests/CMakeFiles/test_ops.dir/Unity/unity_3_cxx.cxx.o": ("tests/ops", "tests/ops (unity 3)"),
                "tests/CMakeFiles/test_armnn_backend_14.dir/Unity/unity_0_cxx.cxx.o":
                    ("tests/armnn_backend", "tests/armnn_backend (unity 0)"),
                "tests/harness/CMakeFiles/tenon_harness.dir/Unity/unity_0_cxx.cxx.o":
                    ("tests/harness", "tests/harness (unity 0)"),
                "tests/docs/CMakeFiles/operator_docs.dir/__/parsers/Models.cpp.o":
                    ("tests/docs", "tests/parsers/Models.cpp"),
                "CMakeFiles/tenon_precompiled_tests.dir/cmake_pch.hxx.gch":
                    ("precompiled headers", "precompiled headers (tests)"),
                "/usr/lib/crti.o": ("others", "/usr/lib/crti.o")}.items():
            self.assertEqual(describe_object(path), expected)

    def test_tables_and_bars(self):
        self.assertEqual(table(["Part", "Seconds", ""], [["a", "1.0", "█"], ["longer", 22, ""]]),
                         ["| Part   | Seconds |     |", "| ------ | ------: | --- |", "| a      |     1.0 | █   |",
                          "| longer |      22 |     |"])
        self.assertEqual([bar(value, 10, 4) for value in (10, 5, 0.1, 0)], ["████", "██", "█", ""])


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.log = Path(self.folder.name) / "log.jsonl"

    def write(self, *lines):
        self.log.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def test_prints_parts_and_the_dearest_sources(self):
        self.write(entry("src/graph/CMakeFiles/tenon_graph.dir/Unity/unity_1_cxx.cxx.o", 6.0, 8),
                   entry("src/graph/CMakeFiles/tenon_graph.dir/Layer.cpp.o", 2.0),
                   entry("src/tools/execute_network/CMakeFiles/tenon_execute_network.dir/main.cpp.o", 1.0),
                   entry("src/tools/execute_network/CMakeFiles/tenon_execute_network.dir/main.cpp.o", 2.0),  # compiled again
                   json.dumps({"build": {"targets": ["digits"], "jobs": 2, "cores": 4, "wall": 7.0,
                                         "processor": 13.5}}))
        json_file = self.log.with_suffix(".json")
        done = run("--report", self.log, "--top", 2, "--json", json_file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # 13.5 s less 10 s of compiling and 3 times half a second of the script
        self.assertIn("digits: 12 s of processor time, 10 s to compile and 2 s to link and generate; 7 s of wall time "
                      "with 2 jobs on 4 cores.", done.stdout)
        self.assertEqual(line_of(done.stdout, "src/graph"), ["src/graph", "8.0", "80.0 %", "9", "2", "█" * 30])
        self.assertEqual(line_of(done.stdout, "src/tools/execute_network"), ["src/tools/execute_network", "2.0", "20.0 %", "1", "1", "█" * 8])
        self.assertEqual(line_of(done.stdout, "src/graph (unity 1)"),
                         ["src/graph (unity 1)", "6.0", "8", "200", "█" * 30])
        self.assertIn("The dearest 2 of 3", done.stdout)
        self.assertNotIn("src/tools/execute_network/main.cpp", done.stdout)
        self.assertEqual(json.loads(json_file.read_text(encoding="utf-8"))["others"], 2.0)

    def test_refuses_what_is_no_log(self):
        done = run("--report", self.log)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot read the log", done.stderr)
        for line in ("{", "3", "[]", '{"object": "a.o"}', '{"build": {}}', '{"build": 1}'):
            self.write(entry("a.o", 1.0), line)
            done = run("--report", self.log)
            self.assertEqual((done.returncode, done.stdout), (2, ""), line)
            self.assertIn(f"{self.log}:2: this line is not of a log", done.stderr)
        self.write()
        done = run("--report", self.log)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no compilations", done.stderr)


class Launcher(unittest.TestCase):
    def test_notes_what_a_compilation_takes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source, log = folder / "small.cpp", folder / "log.jsonl"
            source.write_text("int value = 3;\n", encoding="utf-8")
            done = run("--launch", log, COMPILER, "-o", folder / "small.o", "-c", source)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue((folder / "small.o").is_file())
            logged = json.loads(log.read_text(encoding="utf-8"))
            self.assertEqual([logged[key] for key in ("object", "source", "sources", "status")],
                             [str(folder / "small.o"), str(source), 1, 0])
            self.assertGreater(logged["seconds"], 0)
            self.assertGreater(logged["peak_kib"], 1000)

            source.write_text("int value = ;\n", encoding="utf-8")
            done = run("--launch", log, COMPILER, "-o", folder / "small.o", "-c", source)
            self.assertEqual(done.returncode, 1)
            self.assertIn("error", done.stderr)
            self.assertEqual(json.loads(log.read_text(encoding="utf-8").splitlines()[1])["status"], 1)

    def test_passes_statuses_on(self):
        with tempfile.TemporaryDirectory() as name:
            log = Path(name) / "log.jsonl"
            self.assertEqual(run("--launch", log, "true").returncode, 0)
            self.assertEqual(run("--launch", log, "sh", "-c", "exit 7").returncode, 7)
            self.assertEqual(run("--launch", log, "sh", "-c", "kill -9 $$").returncode, 137)
            missing = run("--launch", log, str(Path(name) / "no-such-compiler"))
            self.assertEqual(missing.returncode, 127)
            self.assertIn("cannot run the compiler", missing.stderr)
            # None of these is a compilation; `sh -c` has no object.
            self.assertFalse(log.exists())


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "project"
        self.build = Path(folder.name) / "times"
        module = self.source / "src" / "graph"
        module.mkdir(parents=True)
        presets = {"version": 6, "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "unused"}]}
        (self.source / "CMakePresets.json").write_text(json.dumps(presets), encoding="utf-8")
        (self.source / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        (module / "CMakeLists.txt").write_text(MODULE, encoding="utf-8")
        for name in ("One", "Two", "Three"):
            (module / f"{name}.cpp").write_text(f"int {name}() {{ return 1; }}\n", encoding="utf-8")
        self.main = module / "main.cpp"
        self.main.write_text("int main() {}\n", encoding="utf-8")

    def times(self, *arguments):
        return run("--source", self.source, "--build", self.build, "--targets", "program", "--jobs", 1, *arguments)

    def test_measures_a_build(self):
        done = self.times("-D", "UNITE=ON")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("wall time with 1 jobs", done.stdout)
        part = line_of(done.stdout, "src/graph")
        self.assertEqual(part[2:5], ["100.0 %", "4", "3"])
        self.assertEqual(line_of(done.stdout, "src/graph (unity 0)")[2], "2")
        self.assertEqual(line_of(done.stdout, "src/graph/main.cpp")[2], "1")
        again = self.times("-D", "UNITE=OFF")  # from nothing: there is no unity build left
        self.assertEqual(line_of(again.stdout, "src/graph")[3:5], ["4", "4"])
        printed = run("--report", self.build / "build_times.jsonl")
        self.assertEqual(printed.returncode, 0)
        self.assertTrue(again.stdout.endswith(printed.stdout))

    def test_ends_with_the_status_of_a_build_that_fails(self):
        self.main.write_text("int main() { return missing; }\n", encoding="utf-8")
        done = self.times()
        self.assertEqual(done.returncode, 1)
        self.assertIn("'missing'", done.stdout.replace("‘", "'").replace("’", "'"))  # the compiler's text, by ninja
        self.assertIn("build_times.py: the build of program failed (ninja's status is 1)", done.stderr)
        self.assertNotIn("dearest", done.stdout)
        printed = run("--report", self.build / "build_times.jsonl")
        self.assertIn("The build was not finished", printed.stdout)
        self.assertEqual(line_of(printed.stdout, "src/graph/main.cpp")[2], "1")
        (self.source / "CMakeLists.txt").write_text("message(FATAL_ERROR broken)\n", encoding="utf-8")
        done = self.times()
        self.assertEqual(done.returncode, 1)
        self.assertIn("cmake cannot configure", done.stderr)

    def test_deletes_no_folder_of_others(self):
        self.build.mkdir()
        (self.build / "precious").write_text("", encoding="utf-8")
        done = self.times()
        self.assertEqual(done.returncode, 2)
        self.assertIn("was not made by this script", done.stderr)
        self.assertTrue((self.build / "precious").is_file())

    def test_names_what_is_missing(self):
        done = subprocess.run([sys.executable, str(SCRIPT), "--build", str(self.build)], capture_output=True, text=True,
                              check=False, env={"PATH": str(self.source)})
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no cmake; scripts/setup.sh", done.stderr)
        done = run("--source", self.build, "--build", self.build)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no CMakePresets.json", done.stderr)
        self.assertEqual(run("--jobs", 0).returncode, 2)


if __name__ == "__main__":
    unittest.main()
