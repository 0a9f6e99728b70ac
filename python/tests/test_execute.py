# SPDX-License-Identifier: Apache-2.0
"""execute.py, which stands in for ExecuteNetwork."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import DATA, DIGITS

PROGRAM = pathlib.Path(__file__).resolve().parent / "execute.py"


@pytest.fixture(scope="module", params=["alone", "by a server"])
def run(request, tmp_path_factory):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    server = None
    if request.param == "by a server":
        path = str(tmp_path_factory.mktemp("s") / "s")
        server = subprocess.Popen([sys.executable, PROGRAM, "--serve", path], env=environment)
        environment["TENON_EXECUTE_SOCKET"] = path
        while not os.path.exists(path) and server.poll() is None:
            time.sleep(0.02)

    def call(*arguments, cwd):
        return subprocess.run(
            [sys.executable, PROGRAM, *map(str, arguments)],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    yield call
    if server is not None:
        server.terminate()
        server.wait()


def test_outputs_are_written(run, tmp_path):
    np.save(tmp_path / "x.npy", np.array([1.5, -1.5], np.float32))
    done = run("-m", DATA / "signatures.tflite", "-c", "CpuRef", "-N", "-d", "x.npy", "-w", "y.npy", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert np.load(tmp_path / "y.npy").tolist() == [1, -2]
    assert run("-m", DIGITS / "digits_int8.tflite", cwd=tmp_path).returncode == 0


def test_statuses(run, tmp_path):
    np.save(tmp_path / "x.npy", np.array([1.5, -1.5]))
    for arguments, status, text in (
        (["--colour"], 2, ""),
        (["-m", "missing.tflite"], 3, "missing.tflite"),
        (["-m", DATA / "signatures.tflite", "-d", "missing.npy"], 3, "missing.npy"),
        (["-m", DATA / "signatures.tflite", "-d", "x.npy"], 5, "takes arrays of float32"),
    ):
        done = run(*arguments, cwd=tmp_path)
        assert done.returncode == status, done.stderr
        assert text in done.stderr
