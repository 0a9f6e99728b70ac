# SPDX-License-Identifier: Apache-2.0
"""The wheel that scripts/make_wheel.py makes of a build that is ready. Needs TENON_LIBRARY to be that of a build."""

from __future__ import annotations

import email
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import DIGITS, ROOT, run_python

import tenon

MAKE_WHEEL = ROOT / "scripts/make_wheel.py"
FILES = ("lib/libtenon.so", "lib/libtenonDelegate.so", "bin/ExecuteNetwork")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    build = pathlib.Path(os.environ.get("TENON_LIBRARY", "")).absolute().parent.parent
    tools = pathlib.Path(sys.executable).parent
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    if not all((build / name).exists() for name in FILES):
        pytest.skip("TENON_LIBRARY is not that of a build with ExecuteNetwork and libtenonDelegate.so")
    if sys.version_info < (3, 11) or any(shutil.which(tool, path=path) is None for tool in ("patchelf", "strip")):
        pytest.skip("Python 3.11, patchelf or strip is missing")
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, MAKE_WHEEL, build, out], check=True, env=dict(os.environ, PATH=path))
    (made,) = out.iterdir()
    return made


def test_files_of_the_wheel(wheel):
    assert wheel.name.startswith(f"tenon-{tenon.__version__}-py3-none-")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = f"tenon-{tenon.__version__}.dist-info"
        record = archive.read(f"{info}/RECORD").decode()
        assert {line.rsplit(",", 2)[0] for line in record.splitlines()} == names
        licences = {
            name: archive.read(f"{info}/licenses/{name}").decode() for name in ("LICENSE", "THIRD_PARTY_LICENSES")
        }
        assert archive.getinfo("tenon/bin/ExecuteNetwork").external_attr >> 16 == 0o100755
    assert {"tenon/__init__.py", "tenon/py.typed", "tenon/enums.py", "tenon/lib/libtenonDelegate.so"} <= names
    assert not [name for name in names if "__pycache__" in name or "tests" in name]
    for name, text in licences.items():
        assert text == (ROOT / name).read_text(encoding="utf-8")


def test_metadata_of_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = email.message_from_bytes(archive.read(f"tenon-{tenon.__version__}.dist-info/METADATA"))
    assert (metadata["Name"], metadata["Version"]) == ("tenon", tenon.__version__)
    assert metadata["License-Expression"].startswith("Apache-2.0 AND ")
    assert metadata.get_all("License-File") == ["LICENSE", "THIRD_PARTY_LICENSES"]
    assert metadata["Author"] == "The Tenon authors"
    assert "inference" in metadata["Keywords"].split(",")
    assert "Programming Language :: Python :: 3.13" in metadata.get_all("Classifier")
    assert metadata.get_payload() == (ROOT / "python/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "library",
    [
        "fmt",
        "spdlog",
        "CLI11",
        "xxHash",
        "JSON for Modern C++",
        "stb_image",
        "Highway",
        "FlatBuffers",
        "protozero",
        "Eigen",
        "libc++",
        "Compiler runtime of Zig",
    ],
)
def test_licences_of_libraries_are_named(library):
    text = (ROOT / "THIRD_PARTY_LICENSES").read_text(encoding="utf-8")
    assert re.search(
        rf"^={{78}}\n{re.escape(library)}.*\n  Home: .*\n  Licence: .*\n  Found in: .*\n={{78}}$", text, re.M
    )


def test_the_description_on_an_index_runs_and_has_no_relative_link(tmp_path, monkeypatch):
    text = (ROOT / "python/README.md").read_text(encoding="utf-8")
    assert "](" not in text
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    shutil.copy(DIGITS / "digits_float.tflite", tmp_path / "model.tflite")
    monkeypatch.chdir(tmp_path)
    assert "[1, 8, 8, 1]" in run_python(program)


needs_tools = pytest.mark.skipif(
    sys.version_info < (3, 11) or any(shutil.which(tool) is None for tool in ("strip", "readelf")),
    reason="Python 3.11, strip or readelf is missing",
)


def elf(number):
    """The begin of an ELF file for the machine with a number."""
    return b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00" + bytes([number, 0])


def make_wheel(folder, files, platform="linux_x86_64"):
    """What make_wheel.py says of a build with some files; it must fail and leave nothing."""
    for name, data in {**files, "tools/patchelf": b"#!/bin/sh\n"}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o755)
    environment = dict(os.environ, PATH=f"{folder / 'tools'}{os.pathsep}{os.environ['PATH']}")
    command = [sys.executable, MAKE_WHEEL, folder, folder / "out", "--platform", platform]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 1
    assert not (folder / "out").exists() or list((folder / "out").iterdir()) == []
    return run.stderr


@needs_tools
@pytest.mark.parametrize("missing", FILES)
def test_a_build_without_a_file_is_refused(missing, tmp_path):
    said = make_wheel(tmp_path, {name: elf(62) for name in FILES if name != missing})
    assert said == (
        f"make_wheel.py: there is no {tmp_path / missing}; "
        "build the targets tenon, tenon_delegate and ExecuteNetwork first\n"
    )


@needs_tools
def test_a_build_for_another_machine_is_refused(tmp_path):
    said = make_wheel(tmp_path, {name: elf(62) for name in FILES}, "linux_aarch64")
    assert said == (
        f"make_wheel.py: {tmp_path / FILES[0]} is for x86_64, and the wheel for linux_aarch64; see --platform\n"
    )


@needs_tools
def test_a_file_that_is_no_program_is_refused(tmp_path):
    said = make_wheel(tmp_path, {name: b"text" if name == FILES[0] else elf(62) for name in FILES})
    assert said == f"make_wheel.py: {tmp_path / FILES[0]} is no ELF file for x86_64 or aarch64\n"


@needs_tools
def test_nothing_is_left_of_a_wheel_that_fails(tmp_path):
    said = make_wheel(tmp_path, {name: elf(62) for name in FILES})  # cut short
    assert said.startswith("make_wheel.py: ")
    assert str(tmp_path / FILES[0]) in said
    assert "Traceback" not in said


def test_the_wheel_is_installed_and_runs(wheel, tmp_path):
    installed = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", installed, wheel],
        check=True,
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TENON", "LD_LIBRARY"))}
    environment["PYTHONPATH"] = str(installed)
    program = """
import ctypes
import sys
import numpy as np
import tenon
assert tenon.__file__.startswith(sys.argv[1])
print(tenon.Model(sys.argv[2])(np.zeros((1, 8, 8, 1), np.float32)).shape)
print(ctypes.CDLL(tenon.delegate_path()).tflite_plugin_destroy_delegate is not None)
"""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True, check=True
        ).stdout

    assert run("-c", program, installed, DIGITS / "digits_float.tflite") == "(1, 10)\nTrue\n"
    assert tenon.__version__ in run("-m", "tenon", "--version")
    script = installed / "bin/tenon-run"
    assert tenon.__version__ in run(script, "--version")
