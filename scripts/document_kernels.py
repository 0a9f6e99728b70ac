#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of int8 microkernels in docs/kernels.md, from src/backends/cpu/gemm/kernels/int8/int8_kernels.def.

usage: document_kernels.py (--write | --check) FILE

The table lies between two marks of FILE; what is outside of them stays. Fails (status 1) where a row of the .def file
has a word that this program does not know; --check also where FILE is not what would be written.
"""

import argparse
import re
import sys

from pages import ROOT, Failure, code, read_page, run_document

KERNELS = ROOT / "src/backends/cpu/gemm/kernels/int8/int8_kernels.def"
COMMAND = "cmake --build build/release --target generate_kernel_docs"
BEGIN = "<!-- int8 microkernels: written by generate_kernel_docs -->\n"
END = "<!-- end of int8 microkernels -->\n"

# The columns of a row before its functions; `heights` has four numbers.
COLUMNS = [
    *("targets", "id", "needs", "role", "data", "weights", "min_weights", "bias", "layout"),
    *("height1", "height2", "height3", "height4", "row_unit", "group_unit", "column_groups", "epilogues"),
]
TARGETS = {
    "Avx3": "AVX-512",
    "Avx2": "AVX2",
    "Neon64": "64-bit Arm",
    "Sse4OrAvx2": "SSE4, AVX2",
    "X86": "SSE4, AVX2, AVX-512",
    "All": "all",
}
FEATURES = {
    "f.m_Avx512Vnni": "VNNI",
    "f.m_AmxInt8": "AMX",
    "f.m_HasSparePorts": "spare vector ports",
    "f.m_AvxVnni": "AVX-VNNI",
    "f.m_I8mm": "i8mm",
    "f.m_DotProd": "dotprod",
    "dots": "dot products of bytes",
}
TYPES = {"S8": "int8", "U8": "uint8", "S16": "int16", "U4": "4 bits"}
MIN_WEIGHTS = {"Any": "any", "Two": "two of eight", "None": "none"}
EPILOGUES = {
    "Sums": "",
    "Rq": "requantize",
    "RqRow": "requantize with row corrections",
    "Ig": "implicit GEMM, requantize",
    "Dq": "dequantize",
    "IgDq": "implicit GEMM, dequantize",
    "Blocks": "scales per block",
}


def word(table, key, column):
    """What the page says for a word of the .def file."""
    if key not in table:
        raise Failure(f"{KERNELS.name}: {column} '{key}' is not known; add it to scripts/document_kernels.py")
    return table[key]


def arguments_of(text):
    """The arguments of a macro that begins with `text`, split at commas outside of brackets."""
    found, depth = [""], 0
    for c in text:
        if c in ")}]" and depth == 0:
            return [argument.strip() for argument in found]
        depth += (c in "({[") - (c in ")}]")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    raise Failure(f"{KERNELS.name}: a row has no end")


def read_rows(text):
    """The rows as dictionaries. Template arguments of functions, which have commas, come after the last column."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    rows = []
    for begin in re.finditer(r"\bTENON_INT8_KERNEL\(", text):
        values = arguments_of(text[begin.end() :])
        if len(values) <= len(COLUMNS):
            raise Failure(f"{KERNELS.name}: a row has {len(values)} columns: {', '.join(values)}")
        rows.append(dict(zip(COLUMNS, values)))
    if not rows:
        raise Failure(f"{KERNELS.name} has no rows")
    return rows


def describe_needs(needs):
    """A condition in words: "with VNNI, without AMX or spare vector ports"."""
    have, lack = [], []
    for term in needs.split("&&"):
        name = term.strip()
        negated = name.startswith("!")
        (lack if negated else have).append(word(FEATURES, name[negated:], "condition"))
    return ", ".join(["with " + " and ".join(have)] * bool(have) + ["without " + " or ".join(lack)] * bool(lack))


def describe(row):
    """A line of the table."""
    epilogues = [word(EPILOGUES, name.strip(), "epilogue") for name in row["epilogues"].split("|")]
    cells = [
        code(row["id"]),
        f"{word(TARGETS, row['targets'], 'target')}; {describe_needs(row['needs'])}",
        f"{word(TYPES, row['data'], 'type')} x {word(TYPES, row['weights'], 'type')}",
        word(MIN_WEIGHTS, row["min_weights"], "min weights"),
        row["layout"],
        "; ".join(epilogue for epilogue in epilogues if epilogue),
    ]
    return "| " + " | ".join(cells) + " |\n"


def make_page(arguments):
    """The text of the file with the table of today."""
    path = arguments.write or arguments.check
    page = read_page(path)
    begin, end = page.find(BEGIN), page.find(END)
    if begin < 0 or end < begin:
        raise Failure(f"'{path}' has no place for the table between '{BEGIN.strip()}' and '{END.strip()}'")
    table = "| `variant` | instruction set | data x weights | weights of -128 | layout | epilogues |\n"
    table += "|---|---|---|---|---|---|\n"
    table += "".join(map(describe, read_rows(KERNELS.read_text(encoding="utf-8"))))
    return page[: begin + len(BEGIN)] + table + page[end:]


if __name__ == "__main__":
    sys.exit(run_document(argparse.ArgumentParser(description=__doc__.splitlines()[0]), make_page, COMMAND))
