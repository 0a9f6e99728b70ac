# SPDX-License-Identifier: Apache-2.0
"""tests/bench/python_peers.py measures the package, also where no peer is installed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest
from conftest import ROOT

PROGRAM = ROOT / "tests/bench/python_peers.py"
BEGIN = "<!-- tests/bench/python_peers.py writes the lines from here -->"
END = "<!-- tests/bench/python_peers.py writes the lines to here -->"
QUICK = ["--processes", "1", "--rounds", "2", "--turn", "1", "--imports", "1", "--no-priority"]


def measure(*options):
    return subprocess.run(
        [sys.executable, PROGRAM, *QUICK, *map(str, options)], capture_output=True, text=True, check=False
    )


def test_a_document_gets_the_table(tmp_path):
    document, figures = tmp_path / "page.md", tmp_path / "figures.json"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    done = measure("--write", document, "--json", figures)
    assert done.returncode == 0, done.stderr
    text = document.read_text()
    assert text.startswith(f"before\n{BEGIN}\n") and text.endswith(f"\n{END}\nafter\n")
    assert "\nold\n" not in text
    if importlib.util.find_spec("ai_edge_litert") is None:
        assert "ai-edge-litert is not installed" in text
    rows = {row["name"]: row["values"].get("tenon-python") for row in json.loads(figures.read_text())}
    for model in ("digits_int8", "digits_float"):
        assert 0 < rows[f"{model}: a call"] < 1e5
        assert 0 < rows[f"{model}: a prepared call"] < 1e5
        assert f"\n| {model}: a call, us | " in text
    assert 0 < rows["import"] < rows["import, all of it"] < rows["import, load digits_int8, first result"]


@pytest.mark.parametrize("model", ["missing.tflite", "README.md"])
def test_models_that_cannot_be_measured(model):
    path = ROOT / model
    done = measure("--models", path)
    if path.exists():  # its cells say why, other rows go on
        assert done.returncode == 0, done.stderr
        row = next(line for line in done.stdout.splitlines() if line.startswith(f"| {path.stem}: a call"))
        assert "InvalidDataError" in row
    else:
        assert done.returncode == 1
        assert "there is no such model" in done.stderr
