# SPDX-License-Identifier: Apache-2.0
"""The wheel that scripts/make_wheel.py makes of a build that is ready. Needs TENON_LIBRARY to be that of a build."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import DIGITS, ROOT

import tenon


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    build = pathlib.Path(os.environ.get("TENON_LIBRARY", "")).absolute().parent.parent
    tools = pathlib.Path(sys.executable).parent
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    if not (build / "lib/libtenon.so").exists() or not (build / "bin/ExecuteNetwork").exists():
        pytest.skip("TENON_LIBRARY is not that of a build with ExecuteNetwork")
    if sys.version_info < (3, 11) or any(shutil.which(tool, path=path) is None for tool in ("patchelf", "strip")):
        pytest.skip("Python 3.11, patchelf or strip is missing")
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, ROOT / "scripts/make_wheel.py", build, out], check=True, env=dict(os.environ, PATH=path)
    )
    (made,) = out.glob("*.whl")
    return made


def test_files_of_the_wheel(wheel):
    assert wheel.name.startswith(f"tenon-{tenon.__version__}-py3-none-")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = f"tenon-{tenon.__version__}.dist-info"
        record = archive.read(f"{info}/RECORD").decode()
        assert {line.rsplit(",", 2)[0] for line in record.splitlines()} == names
        assert f"Name: tenon\nVersion: {tenon.__version__}\n" in archive.read(f"{info}/METADATA").decode()
        assert archive.getinfo("tenon/bin/ExecuteNetwork").external_attr >> 16 == 0o100755
    assert {"tenon/__init__.py", "tenon/py.typed", "tenon/enums.py", f"{info}/licenses/LICENSE"} <= names
    assert not [name for name in names if "__pycache__" in name or "tests" in name]


def test_the_wheel_is_installed_and_runs(wheel, tmp_path):
    installed = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", installed, wheel],
        check=True,
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TENON", "LD_LIBRARY"))}
    environment["PYTHONPATH"] = str(installed)
    program = """
import sys
import numpy as np
import tenon
assert tenon.__file__.startswith(sys.argv[1])
print(tenon.Model(sys.argv[2])(np.zeros((1, 8, 8, 1), np.float32)).shape)
"""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert run("-c", program, installed, DIGITS / "digits_float.tflite") == "(1, 10)\n"
    assert tenon.__version__ in run("-m", "tenon", "--version")
    script = installed / "bin/tenon-run"
    assert tenon.__version__ in run(script, "--version")
