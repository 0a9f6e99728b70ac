#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/onnx_models.py, on plans as ExecuteNetwork writes them.

usage: test_onnx_models.py
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "onnx_models.py"
sys.path.insert(0, str(SCRIPT.parent))
import onnx_models  # noqa: E402
from onnx_models import Row  # noqa: E402


def layer(kind, kernel, backend="CpuAcc"):
    return {"type": kind, "kernel": kernel, "backend": backend}


class Document(unittest.TestCase):
    def setUp(self):
        self.row = Row("net", "torch", 9)
        onnx_models.describe(self.row, {"layers": [
            layer("Transpose", "CpuTranspose"), layer("Softmax", "RefSoftmax"), layer("Softmax", "RefSoftmax"),
            layer("Reshape", "RefReshape"), layer("Unique", "RefUnique", "CpuRef"), layer("Constant", "")]},
                             {"layers_before": 7})
        self.refused = Row("odd", "real", 3, outcome="unsupported", why="no Frobnicate")

    def test_counts(self):
        self.assertEqual((self.row.before, self.row.after, self.row.transposes), (7, 5, 1))
        self.assertEqual(self.row.backends, {"CpuAcc": 4, "CpuRef": 1})
        self.assertEqual(self.row.reference, {"Softmax": 2})

    def test_page(self):
        text = onnx_models.document([self.row, self.refused], "CpuAcc,CpuRef", " --only 'n|o'")
        self.assertIn("--models FOLDER --only 'n|o' --write docs/onnx-models.md", text)
        self.assertIn("1 of 2 models run.", text)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
        self.assertIn(["net", "9", "7", "5", "█" * 15, "1", "4", "1", "2", "0.0e+00"], rows)
        self.assertIn(["torch", "1", "9", "7", "5", "0.56", "█" * 30], rows)
        self.assertIn(["Softmax", "2", "█" * 30], rows)
        self.assertIn("\n- Softmax: net\n", text)
        self.assertIn("\n- odd, unsupported: no Frobnicate\n", text)
        self.assertNotIn("## Layers", onnx_models.document([self.refused], "CpuAcc", ""))

    def test_limits(self):
        rows = [self.row, self.refused]
        self.assertEqual(onnx_models.complaints(rows, ["net=1"]), [])
        self.assertEqual(onnx_models.complaints(rows, ["n.t=0", "odd=9", "other=1"]),
                         ["net: 1 transposes are left, more than 0", "odd: does not run: no Frobnicate",
                          "--most-transposes other=1: no model has such a name"])

    def test_errors_lose_folders(self):
        self.assertEqual(onnx_models.shorten("error: model '/a/b.onnx': the model has operators that cannot run: X"), "X")
        self.assertLess(len(onnx_models.shorten("long " * 1000)), 250)


class Program(unittest.TestCase):
    def test_options_that_make_no_sense(self):
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder) / "empty"
            empty.mkdir()
            (empty / "index.json").write_text("[]")
            for options, text in [(["--models", folder], "index.json: there is no such file"),
                                  (["--models", empty], "no model has such a name"),
                                  (["--models", empty, "--most-transposes", "x"], "takes MODEL=COUNT")]:
                with self.subTest(text):
                    run = subprocess.run([sys.executable, SCRIPT, "--exe", "none", *options], capture_output=True,
                                         text=True, check=False)
                    self.assertEqual(run.returncode, 2)
                    self.assertIn(text, run.stderr)


if __name__ == "__main__":
    unittest.main()
