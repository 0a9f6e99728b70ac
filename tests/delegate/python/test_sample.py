# SPDX-License-Identifier: Apache-2.0
"""samples/delegate/delegate.py: what it prints, and what it says of what is missing."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest
from runtime import LIBRARY, ROOT

pytest.importorskip("PIL")

SAMPLE = ROOT / "samples/delegate/delegate.py"
DIGITS = ROOT / "samples/digits"
SEVEN = [DIGITS / "seven.png", DIGITS / "labels.txt"]


def run(*arguments, path=(), **variables):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([*map(str, path), *filter(None, sys.path)]), **variables)
    return subprocess.run(
        [sys.executable, str(SAMPLE), *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("model", ["digits_float.tflite", "digits_int8.tflite"])
def test_it_reads_a_digit(model):
    done = run("--delegate", LIBRARY, DIGITS / model, *SEVEN)
    assert done.returncode == 0, done.stderr
    line = r"7 at 0\.8\d\d, \d+\.\d us a run\n"
    assert re.fullmatch(rf"TensorFlow Lite:   {line}with the delegate: {line}", done.stdout)
    assert "10 of 10 nodes run on CpuAcc, CpuRef, in 1 partition" in done.stderr


def test_it_finds_the_delegate_of_the_package_and_takes_options():
    """The file lies beside the library that the package uses."""
    options = ["--option", "backends=CpuRef", "--option", "logging-severity=warning"]
    library = str(pathlib.Path(LIBRARY).with_name("libtenon.so"))
    done = run(*options, DIGITS / "digits_int8.tflite", SEVEN[0], path=[ROOT / "python"], TENON_LIBRARY=library)
    assert (done.returncode, "nodes run on" in done.stderr) == (0, False), done.stderr
    assert done.stdout.count("class 7 at 0.8") == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "usage: delegate.py "),
        (["missing.tflite", SEVEN[0]], "there is no file 'missing.tflite'"),
        ([DIGITS / "digits_int8.tflite", "missing.png"], "there is no file 'missing.png'"),
        ([DIGITS / "digits_int8.tflite", DIGITS / "labels.txt"], "labels.txt is no picture"),
        ([DIGITS / "digits_int8.tflite", SEVEN[0], DIGITS / "README.md"], "10 classes, and there are "),
        (["--option", "backend=CpuAcc", DIGITS / "digits_int8.tflite", SEVEN[0]], "there is no option 'backend'"),
        (["--option", "backends=VsiNpu", DIGITS / "digits_int8.tflite", SEVEN[0]], "there are CpuAcc, CpuRef"),
    ],
)
def test_what_is_refused(arguments, text):
    done = run("--delegate", LIBRARY, *arguments)
    assert done.returncode == 1
    assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("missing", "text"),
    [("PIL", "PIL is missing: pip install numpy pillow"), ("ai_edge_litert", "TensorFlow Lite is not installed")],
)
def test_it_says_which_package_is_missing(missing, text, tmp_path):
    for package in {missing, *(["tflite_runtime"] if missing == "ai_edge_litert" else [])}:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text(f"raise ImportError(name={package!r})\n")
    program = f"import runpy, sys; sys.argv = ['delegate.py']; runpy.run_path({str(SAMPLE)!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, sys.path)])),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert text in done.stderr
