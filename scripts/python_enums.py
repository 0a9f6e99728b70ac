#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python/tenon/enums.py: the enumerations of include/tenon/Types.hpp that descriptors of layers have, with the
attributes that they are for and the comments of their members.

usage: scripts/python_enums.py [--print]     --print: to standard output
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Written by scripts/python_enums.py; do not edit.
"""Enumerations for attributes of layers: ``{"Operation": tenon.enums.UnaryOperation.Neg}``."""

from enum import IntEnum
'''


WIDTH = 120


def uses() -> dict[str, dict[str, list[str]]]:
    """The layers that have an attribute of an enumeration, by attributes' names, by enumerations' names."""
    table = (ROOT / "include/tenon/ops.def").read_text()
    layers = {}
    for layer, descriptor in re.findall(r"^TENON_OP\((\w+),\s*(\w+)", table, re.M):
        layers.setdefault(descriptor, []).append(layer)
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted((ROOT / "include/tenon/descriptors").glob("*.hpp")):
        for descriptor, body in re.findall(r"^struct (\w+)[^;{]*\{(.*?)^\};", path.read_text(), re.M | re.S):
            for enumeration, field in re.findall(r"^    (?:std::vector<)?([A-Z]\w+)>? m_(\w+)", body, re.M):
                attributes = found.setdefault(enumeration, {})
                attributes.setdefault(field, []).extend(layers.get(descriptor, []))
    return found


def docstring(*paragraphs: str) -> str:
    """The lines of a docstring in a class."""
    if len(paragraphs) == 1 and len(paragraphs[0]) <= WIDTH - 10:
        return f'    """{paragraphs[0]}"""\n'
    text = "\n\n".join(textwrap.fill(paragraph, WIDTH - 7) for paragraph in paragraphs)
    return textwrap.indent(f'"""{text}\n"""\n', "    ")


def plain(comment: str) -> str:
    """A comment of the header as Python's users need it: fields by their names as attributes, nothing about Arm NN."""
    about_arm_nn = r"^Tenon(: |, as the following$|$)| \(Tenon\)|, as in Arm NN|; the optimizer lowers it to NHWC"
    return re.sub(r"\bm_", "", re.sub(about_arm_nn, "", comment))


def describe(comment: str, attributes: dict[str, list[str]]) -> str:
    """The docstring of an enumeration."""
    listed = [f"``{attribute}`` of {', '.join(layers)}" for attribute, layers in attributes.items()]
    use = f"Values of the attribute{'s' if len(listed) > 1 else ''} {'; '.join(listed)}."
    return docstring(*([plain(comment)] if comment else []), use)


def text() -> str:
    """The module."""
    used = uses()
    types = (ROOT / "include/tenon/Types.hpp").read_text()
    parts = [HEAD]
    for comment, name, body in re.findall(r"((?:^///[^\n]*\n)*)^enum class (\w+)[^{;]*\{(.*?)^\};", types, re.M | re.S):
        attributes = {field: layers for field, layers in used.get(name, {}).items() if layers}
        if not attributes:
            continue
        lines = ""
        for member, number, note in re.findall(r"^\s*(\w+) = (\d+),?[ \t]*(?:///< ([^\n]*))?$", body, re.M):
            lines += f"    {member} = {number}\n"
            if plain(note):
                lines += docstring(plain(note))
        head = " ".join(line.removeprefix("///").strip() for line in comment.splitlines())
        parts.append(f"class {name}(IntEnum):\n{describe(head, attributes)}\n{lines}")
    return "\n\n".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text())
    elif len(sys.argv) == 1:
        (ROOT / "python/tenon/enums.py").write_text(text())
    else:
        sys.exit(__doc__)
