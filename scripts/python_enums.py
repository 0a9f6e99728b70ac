#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python/tenon/enums.py: the enumerations of include/tenon/Types.hpp that descriptors of layers have.

usage: scripts/python_enums.py [--print]     --print: to standard output
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Written by scripts/python_enums.py; do not edit.
"""Enumerations for attributes of layers: ``{"Operation": tenon.enums.UnaryOperation.Neg}``."""

from enum import IntEnum
'''


def text() -> str:
    """The module."""
    descriptors = "".join(path.read_text() for path in sorted((ROOT / "include/tenon/descriptors").glob("*.hpp")))
    used = set(re.findall(r"\b([A-Z]\w+) m_", descriptors))
    types = (ROOT / "include/tenon/Types.hpp").read_text()
    parts = [HEAD]
    for name, body in re.findall(r"enum class (\w+)[^{;]*\{(.*?)\};", types, re.S):
        members = re.findall(r"^\s*(\w+) = (\d+)", body, re.M)
        if name in used:
            lines = "".join(f"    {member} = {number}\n" for member, number in members)
            parts.append(f'class {name}(IntEnum):\n    """tenon::{name}"""\n\n{lines}')
    return "\n\n".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text())
    elif len(sys.argv) == 1:
        (ROOT / "python/tenon/enums.py").write_text(text())
    else:
        sys.exit(__doc__)
