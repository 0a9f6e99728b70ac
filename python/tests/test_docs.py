# SPDX-License-Identifier: Apache-2.0
"""The examples of README.md, docs/python.md and docs/onnx.md run, and links between pages lead to files."""

from __future__ import annotations

import re
import shutil

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


def test_the_code_of_the_page_about_onnx_runs(tmp_path, monkeypatch):
    """What it prints is what its comments say."""
    text = (ROOT / "docs/onnx.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    shutil.copy(DIGITS / "digits_float.onnx", tmp_path)
    monkeypatch.chdir(tmp_path)
    said = re.findall(r"^print.*# (\([^)]*\))", program, re.M)
    assert len(said) == 3
    assert run_python(program).splitlines() == said


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
