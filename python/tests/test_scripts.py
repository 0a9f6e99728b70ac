# SPDX-License-Identifier: Apache-2.0
"""Help and errors of the scripts in scripts/, as far as these need no build."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from conftest import ROOT

SCRIPTS = ROOT / "scripts"


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT)


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.sh")), ids=lambda script: script.name)
def test_scripts_print_their_help(script, option):
    done = run("bash", script, option)
    assert (done.returncode, done.stderr) == (0, "")
    lines = script.read_text(encoding="utf-8").split("\n")
    length = next(i for i, line in enumerate(lines[2:]) if not line.startswith("#"))
    assert length >= 2
    assert done.stdout == "".join(re.sub("^# ?", "", line) + "\n" for line in lines[2 : 2 + length])


@pytest.mark.parametrize(
    "command, status, expected",
    [
        (["build_sdk.sh", "--out"], 2, "build_sdk.sh: --out needs a folder; usage: scripts/build_sdk.sh [--out DIR]"),
        (["build_sdk.sh", "x"], 2, "build_sdk.sh: unknown arguments 'x'; usage: scripts/build_sdk.sh [--out DIR]"),
        (["build_wheel.sh", "--build"], 2, "build_wheel.sh: --build needs a value"),
        (
            ["build_wheel.sh", "--build", "nope"],
            1,
            "build_wheel.sh: there is no nope/lib/libtenon.so; "
            "build the targets tenon, tenon_delegate and ExecuteNetwork first",
        ),
        (
            ["document_c_api.py", "--header", "nope", "--check", "docs/c-api.md"],
            1,
            f"document_c_api.py: there is no header '{ROOT / 'nope'}'",
        ),
        (
            ["document_python_api.py", "--package", "nope", "--check", "docs/python-api.md"],
            1,
            f"document_python_api.py: there is no folder '{ROOT / 'nope'}'",
        ),
    ],
)
def test_errors_are_sentences(command, status, expected):
    program = "bash" if command[0].endswith(".sh") else sys.executable
    done = run(program, SCRIPTS / command[0], *command[1:])
    assert (done.returncode, done.stdout, done.stderr) == (status, "", expected + "\n")


def test_a_page_that_is_missing_is_not_called_stale(tmp_path):
    pytest.importorskip("griffe")
    page = tmp_path / "nope.md"
    done = run(sys.executable, SCRIPTS / "document_python_api.py", "--check", page)
    assert done.returncode == 1
    assert done.stderr.startswith(f"document_python_api.py: there is no '{page}'; write it with: ")
