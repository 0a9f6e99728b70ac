# SPDX-License-Identifier: Apache-2.0
"""execute.py, which stands in for ExecuteNetwork, and taken.py, which counts nodes."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest
from models import gather, of_a_later_release, sandwich, sum_of_two

FOLDER = pathlib.Path(__file__).resolve().parent
ENVIRONMENT = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))


def run_program(name, *arguments, **environment):
    return subprocess.run(
        [sys.executable, FOLDER / name, *map(str, arguments)],
        env=dict(ENVIRONMENT, **environment),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module", params=["alone", "by a server"])
def execute(request, tmp_path_factory):
    if request.param == "alone":
        yield lambda *arguments: run_program("execute.py", *arguments)
        return
    path = tmp_path_factory.mktemp("s") / "s"
    with subprocess.Popen([sys.executable, FOLDER / "execute.py", "--serve", path], env=ENVIRONMENT) as server:
        while not path.exists() and server.poll() is None:
            time.sleep(0.02)
        yield lambda *arguments: run_program("execute.py", *arguments, TENON_EXECUTE_SOCKET=str(path))
        server.terminate()


def test_outputs_and_statuses_of_execute(execute, tmp_path):
    model, other, x, y = (tmp_path / name for name in ("sum.tflite", "gather.tflite", "x.npy", "y.npy"))
    model.write_bytes(sum_of_two())
    other.write_bytes(gather())
    np.save(x, np.float32([[1, 2, -3, 4]]))
    for arguments in ((), ("--without-delegate",), ("--resolver", "xnnpack", "--number-of-threads", 2)):
        done = execute("-m", model, "-c", "CpuRef", "-N", "-d", x, "-w", y, *arguments)
        assert done.returncode == 0, done.stderr
        assert np.load(y).tolist() == [[4, 8, -12, 16]]
        y.unlink()
    np.save(tmp_path / "rows.npy", np.zeros((3, 2), np.float32))
    np.save(tmp_path / "index.npy", np.int32([3]))
    for arguments, status, text in (
        (["--colour"], 2, ""),
        (["-m", model, "-d", tmp_path / "missing.npy"], 3, "missing.npy"),
        (["-m", tmp_path / "missing.tflite"], 4, "TFLite alone: "),
        (["-m", other, "-d", f"{tmp_path}/rows.npy,{tmp_path}/index.npy"], 4, "TFLite alone: "),
        (["-m", model, "--option", "colour=red"], 5, "TenonDelegate: "),
    ):
        done = execute(*arguments)
        assert done.returncode == status, done.stderr
        assert text in done.stderr


def test_a_model_for_a_later_release(tmp_path):
    model, x, y = (tmp_path / name for name in ("sum.tflite", "x.npy", "y.npy"))
    model.write_bytes(of_a_later_release())
    np.save(x, np.float32([[1, 2, -3, 4]]))
    done = run_program("execute.py", "-m", model, "-d", x, "-w", y)
    assert done.returncode == 4
    assert "version '14'" in done.stderr
    assert run_program("execute.py", "-m", model, "-d", x, "-w", y, "--older-versions").returncode == 0
    assert np.load(y).tolist() == [[2, 4, -6, 8]]
    assert "refuses 1 more" in run_program("taken.py", model).stdout
    assert "| ADD | 1 | 1 |" in run_program("taken.py", "--older-versions", model).stdout


def test_a_document_gets_the_table_of_taken_nodes(tmp_path):
    model, document = tmp_path / "sandwich.tflite", tmp_path / "page.md"
    model.write_bytes(sandwich("int8"))
    document.write_text("before\n<!-- taken: begin -->\nold\n<!-- taken: end -->\nafter\n")
    (tmp_path / "broken.tflite").write_bytes(b"nothing")
    done = run_program("taken.py", "--write", document, model, model, tmp_path / "broken.tflite")
    assert done.returncode == 0, done.stderr
    assert "broken.tflite: " in done.stdout
    text = document.read_text()
    assert text.startswith("before\n<!-- taken: begin -->\n") and text.endswith("<!-- taken: end -->\nafter\n")
    assert "old" not in text
    for row in ("| ADD | 4 | 4 |  |", "| MUL | 2 | 2 |  |", "| LSH_PROJECTION | 2 | 0 | 2 x ", "| all | 8 | 6 | |"):
        assert row in text
