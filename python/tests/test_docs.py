# SPDX-License-Identifier: Apache-2.0
"""The examples of README.md, docs/python.md and samples/python run, and links between pages lead to files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import DIGITS, ROOT, run_python


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    """All blocks, one after the other, as one program."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/python.md").read_text(), re.M | re.S)
    assert len(blocks) >= 10
    for model in ("digits_float.tflite", "digits_int8.tflite"):
        shutil.copy(DIGITS / model, tmp_path)
    monkeypatch.chdir(tmp_path)
    printed = run_python("\n".join(blocks))
    assert "takes arrays of float32; it was given an array of float64" in printed
    assert "missing.tflite" in printed


def test_the_code_of_the_readme_runs(monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    monkeypatch.chdir(ROOT)
    printed = run_python(program)
    assert re.fullmatch(r"\[\[(\s*\d\.\d+(e-\d+)?){10}\]\]\n", printed)


def test_links_between_pages_lead_to_files():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    links = []
    for page in pages:
        prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        links += [(page, link) for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose) if "://" not in link]
    assert len(links) > 50
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_comments_of_the_page_show_the_truth(tmp_path):
    page = (ROOT / "docs/python.md").read_text()
    program = """
import sys, tenon
for name in ("digits_float", "digits_int8"):
    model = tenon.Model(f"{sys.argv[1]}/{name}.tflite")
    print(model.inputs, model.outputs, model.inputs[0].quantization, sep="\\n")
"""
    lines = run_python(program, DIGITS).splitlines()
    for line in (lines[0], lines[1], lines[5]):
        assert line in page


SAMPLES = {
    "classify.py": (
        [DIGITS / "digits_int8.tflite", DIGITS / "seven.png", DIGITS / "labels.txt"],
        r"7: 0\.8\d+\n\d: 0\.\d+\n\d: 0\.\d+\n",
    ),
    "concurrent_runs.py": (
        [DIGITS / "digits_int8.tflite"],
        "threads: the same results\nfutures: the same results\nasyncio: the same results\n",
    ),
    "build_network.py": (["built.tenon"], r"built:  \[\[0\.5 0\.5\]\]\nloaded: \[\[0\.5 0\.5\]\]\n"),
}


def test_all_samples_are_run():
    assert set(SAMPLES) == {path.name for path in (ROOT / "samples/python").glob("*.py")}


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples(sample, tmp_path):
    arguments, expected = SAMPLES[sample]
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    program = [sys.executable, str(ROOT / "samples/python" / sample)]
    done = subprocess.run(
        [*program, *map(str, arguments)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(expected, done.stdout)
    without = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert without.returncode == 1
    assert f"usage: {sample}" in without.stderr
