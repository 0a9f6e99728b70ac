# SPDX-License-Identifier: Apache-2.0
"""Models for a later release of TensorFlow Lite than the one that is here: execute.py and taken.py have --older-versions,
so that the delegate gets operators whose versions the interpreter does not know."""

from __future__ import annotations

import re
import struct

REFUSAL = re.compile(r"Didn't find op for builtin opcode '(\w+)' version '(\d+)'")
# Below these versions an option that came with them is not read.
WITH_NEW_OPTIONS = {
    "CONV_2D": 8,
    "FULLY_CONNECTED": 11,
    "STRIDED_SLICE": 8,
    "TRANSPOSE_CONV": 4,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": 4,
}


def lower(content, make):
    """make(content), where an operator's version that the interpreter refuses is one less at each further try."""
    content = bytearray(content)
    while True:
        try:
            return make(bytes(content))
        except (RuntimeError, ValueError) as error:
            refusal = REFUSAL.search(str(error))
            if refusal is None:
                raise
            name, version = refusal[1], int(refusal[2])
            if version == max(1, WITH_NEW_OPTIONS.get(name, 1)):
                raise
            for field in version_fields(content):
                if struct.unpack_from("<i", content, field)[0] == version:
                    struct.pack_into("<i", content, field, version - 1)


def version_fields(content):
    """Where the versions of a model's operators are that are not 1: OperatorCode.version of Model.operator_codes."""

    def at(position):
        return position + struct.unpack_from("<I", content, position)[0]

    def field(table, number):
        entries = table - struct.unpack_from("<i", content, table)[0]
        place = 4 + 2 * number
        (size,) = struct.unpack_from("<H", content, entries)
        offset = struct.unpack_from("<H", content, entries + place)[0] if place < size else 0
        return table + offset if offset else None

    codes = at(field(at(0), 1))
    (count,) = struct.unpack_from("<I", content, codes)
    fields = [field(at(codes + 4 + 4 * i), 2) for i in range(count)]
    return [each for each in fields if each is not None]
