# SPDX-License-Identifier: Apache-2.0
"""The references docs/c-api.md and docs/python-api.md are current, and whatever they describe has a description."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

import tenon

PROGRAMS = {"c": ("document_c_api.py", "clang.cindex"), "python": ("document_python_api.py", "griffe")}


def run(page, *arguments):
    """Status and what is written to standard error."""
    program, reader = PROGRAMS[page]
    pytest.importorskip(reader)
    command = [sys.executable, ROOT / "scripts" / program, *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("page", PROGRAMS)
def test_the_reference_is_current(page):
    assert run(page, "--check", ROOT / f"docs/{page}-api.md") == (0, "")


@pytest.mark.parametrize("page", PROGRAMS)
def test_a_stale_reference(page, tmp_path):
    stale = tmp_path / "page.md"
    written = (ROOT / f"docs/{page}-api.md").read_text(encoding="utf-8")
    stale.write_text(written.replace("Contents", "Content"), encoding="utf-8")
    status, text = run(page, "--check", stale)
    assert status == 1
    assert f"'{stale}' is stale; write it anew with: " in text
    assert f"/{PROGRAMS[page][0]} --write docs/{page}-api.md\n" in text
    assert run(page, "--write", stale) == (0, "")
    assert stale.read_text(encoding="utf-8") == written
    assert run(page, "--write", tmp_path / "no folder/page.md")[0] == 1


def test_the_reference_has_all_exported_functions():
    exported = (ROOT / "tests/package/c_symbols.txt").read_text().splitlines()
    page = (ROOT / "docs/c-api.md").read_text(encoding="utf-8")
    names = [name for name in exported if name.startswith("tenon_")]
    assert len(names) > 50
    assert [name for name in names if f"### `{name}`\n\n```c\n" not in page] == []


def test_the_reference_has_all_public_names():
    page = (ROOT / "docs/python-api.md").read_text(encoding="utf-8")
    names = {name for name in tenon.__all__ if name not in ("enums", "errors")}
    names |= {f"enums.{name}" for name in vars(tenon.enums) if name[0].isupper() and name != "IntEnum"}
    assert {name for name in names if f"### `{name}`\n" not in page} == set()


HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
/* An interface.
 *
 * Errors. None. */
#include <stddef.h>

/* ---- Things ---- */

/* How functions are called. */
#if defined(_WIN32)
#define TENON_CALL __cdecl
#else
#define TENON_CALL
#endif
typedef struct tenon_thing tenon_thing; /* a thing */
/* Flags of things. */
typedef int tenon_flags;
enum
{
    TENON_NONE = 0, /* no flag */
    /* Of things alone. */
    TENON_HEAVY = 1 << 4 /* it is heavy */
};
/* How a thing is. */
typedef struct tenon_options
{
    size_t struct_size;
    size_t num_names;
    const char* const* names; /* its names:
                                   a, b  short ones */
    /* Gets the thing. */
    void(TENON_CALL* call)(void* self, tenon_thing* thing);
} tenon_options;
/* Called with each thing. */
typedef void(TENON_CALL* tenon_callback)(void* self, tenon_thing* thing, size_t a_number, size_t another_number);
/* Weighs a thing, see tenon_options::names and `self`.
 * - TENON_HEAVY: it is *heavy */
size_t TENON_CALL tenon_weigh(const tenon_thing* thing, const tenon_options* options, size_t a_number, size_t others);
"""

PAGE = """**Errors.** None.

## Contents

- [Things](#things): [`TENON_CALL`](#tenon_call), [`tenon_thing`](#tenon_thing), [`tenon_flags`](#tenon_flags), \
[`tenon_options`](#tenon_options), [`tenon_callback`](#tenon_callback), [`tenon_weigh`](#tenon_weigh)

## Things

### `TENON_CALL`

```c
#define TENON_CALL
```

How functions are called.

### `tenon_thing`

```c
typedef struct tenon_thing tenon_thing;
```

A thing.

### `tenon_flags`

```c
typedef int tenon_flags;
```

Flags of things.

| Name | Value | |
|---|---|---|
| `TENON_NONE` | 0 | no flag |
| | | Of things alone. |
| `TENON_HEAVY` | 16 | it is heavy |

### `tenon_options`

```c
typedef struct tenon_options
{
    size_t struct_size;
    size_t num_names;
    const char* const* names;
    void(TENON_CALL* call)(void* self, tenon_thing* thing);
} tenon_options;
```

How a thing is.

- `struct_size`: `sizeof(tenon_options)`
- `num_names`: the number of `names`
- `names`: its names:

  - `a`, `b`: short ones
- `call`: Gets the thing.

### `tenon_callback`

```c
typedef void(TENON_CALL* tenon_callback)(
    void* self,
    tenon_thing* thing,
    size_t a_number,
    size_t another_number);
```

Called with each thing.

### `tenon_weigh`

```c
size_t tenon_weigh(
    const tenon_thing* thing,
    const tenon_options* options,
    size_t a_number,
    size_t others);
```

Weighs a thing, see [`tenon_options::names`](#tenon_options) and `self`.

- [`TENON_HEAVY`](#tenon_flags): it is `*heavy`
"""


def document_header(folder, text):
    header, page = folder / "thing.h", folder / "page.md"
    header.write_text(text, encoding="utf-8")
    status, error = run("c", "--header", header, "--write", page)
    return page.read_text(encoding="utf-8") if status == 0 else error


def test_a_header_as_a_page(tmp_path):
    text = document_header(tmp_path, HEADER)
    assert text[text.index("**Errors") :] == PAGE


@pytest.mark.parametrize(
    "old, new, expected",
    [
        (" /* a thing */", "", "without a comment: tenon_thing"),
        (" /* no flag */", "", "without a comment: tenon_flags::TENON_NONE"),
        ("    /* Gets the thing. */\n", "", "without a comment: tenon_options::call"),
        ("/* How a thing is. */\n", "", "without a comment: tenon_options"),
        ("num_names", "num_others", "without a comment: tenon_options::num_others"),
        ("/* How functions are called. */\n", "", "without a comment: TENON_CALL"),
        ("*heavy */\n", "*heavy */\n\n", "without a comment: tenon_weigh"),
        ("see tenon_options", "see tenon_option", "comments name what does not exist: tenon_option::names"),
        ("::names and", "::name and", "comments name what does not exist: tenon_options::name"),
        ("- TENON_HEAVY", "- TENON_HAEVY", "comments name what does not exist: TENON_HAEVY"),
        ("An interface", "As include/tenon/No.hpp", "there is no include/tenon/No.hpp"),
        ("/* ---- Things ---- */", "", "a declaration stands before the first section"),
        ("size_t a_number, size_t others", "number a_number", "unknown type name 'number'"),
    ],
)
def test_headers_that_lack_something(tmp_path, old, new, expected):
    assert old in HEADER
    text = document_header(tmp_path, HEADER.replace(old, new, 1))
    assert text.startswith("document_c_api.py: ")
    assert expected in text


PACKAGE = '''"""A package."""

__version__: str
"""Its version."""
__all__ = ["Model", "default_runtime"]


class _Base:
    """Common parts."""

    def close(self) -> None:
        """Closes it, see :meth:`tenon.Model.run`."""


class Model(_Base):
    """A model.

    Args:
        path: of a file.

    Raises:
        OSError: there is no such file.
    """

    size: int
    """Its size in bytes, with `path`."""

    def __init__(self, path: str = "") -> None:
        self.size = 0

    def renew(self) -> None:
        """Makes it new, see :meth:`run`."""

    def run(self, /, x: int, *, y: tuple[int, ...] = ()) -> int:
        """Runs it.

        Args:
            x: a number
                of two lines.
            y: numbers.

        Returns:
            The sum: of all.
        """
        return x


def default_runtime() -> None:
    """Makes a runtime."""
'''

PACKAGE_PAGE = """## Models

### `Model`

```python
class Model(path: str = "")
```

A model.

Parameters:

- `path`: of a file.

Raises:

- `OSError`: there is no such file.

Attributes:

- `size: int`: Its size in bytes, with `path`.

#### `Model.close`

```python
close() -> None
```

Closes it, see [`Model.run`](#modelrun).

#### `Model.renew`

```python
renew() -> None
```

Makes it new, see [`Model.run`](#modelrun).

#### `Model.run`

```python
run(x: int, *, y: tuple[int, ...] = ()) -> int
```

Runs it.

Parameters:

- `x`: a number of two lines.
- `y`: numbers.

Returns: the sum: of all.

## Runtimes

### `default_runtime`

```python
default_runtime() -> None
```

Makes a runtime.
"""


def document_package(folder, text):
    package, page = folder / "tenon", folder / "page.md"
    package.mkdir()
    (package / "__init__.py").write_text(text, encoding="utf-8")
    status, error = run("python", "--package", package, "--write", page)
    return page.read_text(encoding="utf-8") if status == 0 else error


def test_a_package_as_a_page(tmp_path):
    text = document_package(tmp_path, PACKAGE)
    assert text[text.index("## Models") :] == PACKAGE_PAGE
    assert "\n- `__version__: str`: Its version.\n" in text


@pytest.mark.parametrize(
    "old, new, expected",
    [
        ('    """Makes a runtime."""', "    pass", "tenon.default_runtime has no docstring"),
        ('        """Closes it, see :meth:`tenon.Model.run`."""', "        pass", "tenon._Base.close has no docstring"),
        ('    """Its size in bytes, with `path`."""', "", "tenon.Model.size has no docstring"),
        ('"""Its version."""', "", "tenon.__version__ has no docstring"),
        ('"""A package."""', "", "tenon has no docstring"),
        ("y: numbers.", "z: numbers.", "tenon.Model.run describes the parameters x, z; there are x, y"),
        ("path: of a file.", "file: of a file.", "tenon.Model describes the parameters file; there are path"),
        ("default_runtime()", "default_runtime(x: int)", "tenon.default_runtime does not describe its parameters"),
        ("`tenon.Model.run`", "`tenon.Model.ran`", "tenon._Base.close refers to 'Model.ran', which does not exist"),
        ('"default_runtime"]', '"default_runtime", "_Base"]', "SECTIONS has no place for _Base"),
    ],
)
def test_packages_that_lack_something(tmp_path, old, new, expected):
    assert old in PACKAGE
    assert f"document_python_api.py: {expected}\n" == document_package(tmp_path, PACKAGE.replace(old, new, 1))
