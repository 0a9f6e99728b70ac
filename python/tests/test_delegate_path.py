# SPDX-License-Identifier: Apache-2.0
"""tenon.delegate_path(): where the file is looked for. tests/delegate has the tests of the delegate itself."""

from __future__ import annotations

import os
import pathlib
import shutil

import pytest
from conftest import ROOT, run_python

import tenon


def test_it_lies_beside_the_library_of_the_environment(tmp_path, monkeypatch):
    (tmp_path / "libtenonDelegate.so").touch()
    monkeypatch.setenv("TENON_LIBRARY", str(tmp_path / "libtenon.so"))
    assert tenon.delegate_path() == str(tmp_path / "libtenonDelegate.so")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENON_LIBRARY", os.path.join(".", "libtenon.so"))
    assert tenon.delegate_path() == str(tmp_path / "libtenonDelegate.so")  # a path that is valid in another folder, too


def test_it_lies_in_the_package_otherwise(tmp_path, monkeypatch):
    monkeypatch.delenv("TENON_LIBRARY", raising=False)
    shutil.copytree(ROOT / "python/tenon", tmp_path / "tenon", ignore=shutil.ignore_patterns("lib", "__pycache__"))
    (tmp_path / "tenon/lib").mkdir()
    file = tmp_path / "tenon/lib/libtenonDelegate.so"
    file.touch()
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tenon; print(tenon.delegate_path())"
    assert run_python(program) == f"{file}\n"  # no library was needed


def test_the_text_where_it_is_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("TENON_LIBRARY", str(tmp_path / "libtenon.so"))
    with pytest.raises(FileNotFoundError, match="the target tenon_delegate") as raised:
        tenon.delegate_path()
    assert isinstance(raised.value, tenon.NotFoundError)
    assert f"there is no '{tmp_path / 'libtenonDelegate.so'}'" in str(raised.value)
    monkeypatch.setenv("TENON_LIBRARY", "libtenon.so")
    with pytest.raises(FileNotFoundError, match="TENON_LIBRARY is 'libtenon.so', a name without a folder"):
        tenon.delegate_path()


def test_the_text_where_the_package_has_none(monkeypatch):
    monkeypatch.delenv("TENON_LIBRARY", raising=False)
    if (pathlib.Path(tenon.__file__).parent / "lib/libtenonDelegate.so").is_file():
        pytest.skip("the package is that of a wheel, which has the file")
    with pytest.raises(FileNotFoundError, match="install the wheel"):
        tenon.delegate_path()


def test_programs_may_close_the_library():
    try:
        path = tenon.delegate_path()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    program = """
import ctypes, _ctypes, sys
library = ctypes.CDLL(sys.argv[1])
create, destroy = library.tflite_plugin_create_delegate, library.tflite_plugin_destroy_delegate
create.restype, destroy.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
delegate = create(None, None, ctypes.c_size_t(0), None)
assert delegate
destroy(delegate)
_ctypes.dlclose(library._handle)
"""
    assert run_python(program, path) == ""
