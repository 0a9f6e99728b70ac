# SPDX-License-Identifier: Apache-2.0
"""The structs of tenon._ffi are those of the headers."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess

import pytest
from conftest import ROOT

from tenon import _ffi

STRUCTS = {
    made.__doc__.split(",")[0]: made
    for made in vars(_ffi).values()
    if isinstance(made, type) and issubclass(made, ctypes.Structure) and made is not ctypes.Structure
}


@pytest.fixture(scope="module")
def layouts(tmp_path_factory):
    """What a C compiler makes of the header: sizes of structs by name, and places and sizes of their members."""
    lines = []
    for name, made in STRUCTS.items():
        lines.append(f'    printf("{name} sizeof %zu 0\\n", sizeof({name}));')
        lines += [
            f'    printf("{name} {field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));'
            for field, _ in made._fields_
        ]
    folder = tmp_path_factory.mktemp("structs")
    program = "#include <stdio.h>\n#include <tenon/c/tenon.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n}\n"
    (folder / "structs.c").write_text(program)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, f"-I{ROOT}/include", "structs.c", "-o", "structs"], cwd=folder, check=True)
    printed = subprocess.run([folder / "structs"], capture_output=True, text=True, check=True).stdout
    found: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in STRUCTS}
    for name, field, *numbers in map(str.split, printed.splitlines()):
        found[name][field] = (int(numbers[0]), int(numbers[1]))
    return found


def test_there_are_structs():
    assert {"tenon_tensor_info", "tenon_tensor", "tenon_operator", "tenon_run_options"} <= set(STRUCTS)


@pytest.mark.parametrize("name", STRUCTS)
def test_members_are_where_c_has_them(layouts, name):
    made = STRUCTS[name]
    size, _ = layouts[name].pop("sizeof")
    assert layouts[name] == {
        field: (getattr(made, field).offset, getattr(made, field).size) for field, _ in made._fields_
    }
    is_whole = "," not in made.__doc__  # else it says which members are left out
    assert ctypes.sizeof(made) == size if is_whole else ctypes.sizeof(made) < size
