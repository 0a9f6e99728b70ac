# SPDX-License-Identifier: Apache-2.0
"""What an object file of the build is called in reports: the source that it is of, and the part of the tree. Tables."""
import re

PRECOMPILED = "precompiled headers"
_OBJECT = re.compile(r"(?:(?P<folder>.*)/)?CMakeFiles/(?P<target>[^/]+)\.dir/(?P<rest>.*)\.(?:o|obj|gch|pch)")
_UNITY = re.compile(r"Unity/unity_(\d+)_cxx\.cxx")


def describe_object(path):
    """(part, source) of an object file, whose path is relative to the build folder.

    The part is the folder of the module in src/, or of the program in tests/: ("src/graph", "src/graph/Layer.cpp").
    Sources that are compiled as one are a batch: ("src/graph", "src/graph (unity 3)").
    """
    match = _OBJECT.fullmatch(path)
    if not match:
        return "others", path
    folder, rest = match["folder"] or ".", match["rest"]
    if "cmake_pch" in rest:
        return PRECOMPILED, f"{PRECOMPILED} ({match['target'].removeprefix('tenon_precompiled_')})"
    part = folder
    unity = _UNITY.fullmatch(rest)
    if folder == "tests" and unity:  # programs of all folders of tests/ are targets of tests/CMakeLists.txt
        part = "tests/" + re.sub(r"_\d+$", "", match["target"].removeprefix("test_"))  # _14: the standard of C++
    elif folder == "tests" and "/" in rest:
        part = f"tests/{rest.split('/')[0]}"
    if unity:
        return part, f"{part} (unity {unity[1]})"
    source = rest
    while source.startswith("__/"):  # CMake's name for ../
        source, folder = source[3:], folder.rpartition("/")[0]
    return part, f"{folder}/{source}" if folder not in ("", ".") else source


def bar(value, largest, width=30):
    """A bar of up to `width` characters; a value above zero has at least one."""
    if value <= 0 or largest <= 0:
        return ""
    return "█" * max(1, round(width * value / largest))


def table(heads, rows):
    """Lines of a Markdown table that is aligned for terminals as well. Columns other than the first one and columns of
    bars, whose head is empty, are numbers, to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max([len(head), 3, *(len(row[column]) for row in cells)]) for column, head in enumerate(heads)]

    def is_number(column):
        return column > 0 and heads[column] != ""

    def line(row):
        padded = [cell.rjust(width) if is_number(column) else cell.ljust(width)
                  for column, (cell, width) in enumerate(zip(row, widths))]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * (width - 1) + ":" if is_number(column) else "-" * width for column, width in enumerate(widths)]
    return [line(heads), line(rule), *map(line, cells)]
