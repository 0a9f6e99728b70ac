#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/armnn.md: each public name of Arm NN, each option of its ExecuteNetwork and each kind of layer in its files, and
whether Tenon has it.

usage: document.py (--write | --check) FILE [--options options.tsv]

It writes what names.tsv, later.tsv, absent.tsv and differs.tsv say; the test armnn_names holds absent.tsv to what
compiles. The columns of options.tsv are long, short, argument, status, note, those of layers.tsv beside it, which has the
kinds of layers in .armnn files, kind, layer, note. --check fails (status 1) where FILE is not
what would be written.
"""
import argparse
import sys
from collections import namedtuple
from pathlib import Path

import present
from present import AREAS, FOLDER, Failure, area_of, fits, load_absent, load_names, read_rows

Option = namedtuple("Option", "long short argument status note")
Kind = namedtuple("Kind", "kind layer note")
Difference = namedtuple("Difference", "name difference")
SCOPES = ("class", "struct", "class template", "enum")
COMMAND = "cmake --build build/release --target generate_armnn_docs"

HEAD = f"""# Names and options of Arm NN in Tenon

Generated; write it anew with

    {COMMAND}

This page lists the names in the public headers of Arm NN 23.08, with the overloads and members of each, and the names
that later releases added. The test `armnn_names` compiles a line about each of them against the headers in
`include/tenon/compat`, as C++14: a name that is called present here compiles as Arm NN's programs write it. Members of a
class template are compiled with arguments of one instance. `tests/armnn`, `tests/armnn_backend` and the programs in
`tests/package/armnn` test the behaviour behind the names.

The headers of `armnnTestUtils`, with which Arm NN tests its own backends, are absent: they build layers and workloads
from Arm NN's internals.
"""

OPTIONS = """## Options of ExecuteNetwork

The options of Arm NN's program. The tests of `tests/tools/execute_network` try each of them: an option that works has the effect of Arm
NN's, an accepted one changes no results, and an explained one ends the program with a line that names the alternative.
"""
FILES = """## Files

`IDeserializer`, also as `armnnDeserializer::IDeserializer`, ExecuteNetwork (`-f armnn-binary`, or by the content alone),
the C interface and Python read networks that the serializer and the converter of Arm NN wrote (`.armnn`, releases up to
23.08). `ExecuteNetwork -m net.armnn --serialize net.tenon` converts one. Files are not written in this format.

Files need not have the identifier `ARMN`, which Arm NN's serializer leaves out: then their structure tells them. All
versions of the format's features are read: inputs and outputs that are listed by the indices of their layers
(`bindingIdsScheme` 0) or by their binding ids (1), depthwise weights as [M, I, H, W] (`weightsLayoutScheme` 0) or
[1, H, W, I * M] (1), weights in layers (`constantTensorsAsInputs` 0) or as layers of their own (1). Types of old files
become their successors: QuantisedAsymm8 is QAsymmU8, QuantisedSymm16 is QSymmS16. Layers may stand in any order, and
so may their slots, which have numbers. Inputs and outputs have the names of their layers. A scale of a tensor of floats
or Booleans is left out. A result of one element that is declared as [1] and is a scalar here, or the other way round,
keeps the declared shape: a Reshape after the layer sets it.

Each kind of layer becomes the layer of Tenon with the same meaning, with the results of the layer that `INetwork` adds;
`tests/golden/armnn` has a file for each. No kind of release 23.08 is refused. A file with layers of kinds that later
releases added is refused with the numbers of these kinds, all of them in one message. A file that is corrupt or
contradicts itself is refused with the layer and the reason, as a `.tenon` file is.
"""
STATES = ("works", "accepted", "explained")


def cell(text):
    """A text for a cell of a table."""
    return text.replace("|", "\\|")


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]


def percent(part, whole):
    """A share, never rounded up to 100."""
    return "100 %" if part == whole else f"{int(1000 * part / whole) / 10:.1f} %"


def reason_of(name, absent):
    """Why a name is absent, or nothing."""
    return next((row.reason for row in absent if fits(row, name)), "")


def scope_of(name, scopes):
    """(the class or enumeration that a name belongs to, its own name there); a name of none is its own scope."""
    parts = name.name.split("::")
    for count in range(len(parts) - 1, 0, -1):
        scope = "::".join(parts[:count])
        if scope in scopes:
            return scope, "::".join(parts[count:])
    return name.name, ""


def note_of(name):
    if name.until:
        return f" (removed in {name.until})"
    return f" (since {name.since})" if name.since else ""


def rows_of(names, absent, differences, scopes):
    """Rows of one header's table: a class or enumeration has one for what is there, and one for each reason."""
    groups = {}
    for name in names:
        if name.kind == "header":
            continue
        scope, member = scope_of(name, scopes)
        reason = reason_of(name, absent)
        members = groups.setdefault((scope, reason), {})
        key = (f"`{member}`" if member else "") + note_of(name)
        members[key] = members.get(key, 0) + 1
    rows = []
    for (scope, reason), members in groups.items():
        texts = [key + (f" ×{count}" if count > 1 else "") for key, count in members.items()]
        whole = [text.strip() for text in texts if not text.startswith("`")]
        listed = ", ".join([text for text in texts if text.startswith("`")])
        about = " ".join(text for text in whole if text)
        differ = "; ".join(row.difference if row.name == scope else f"`{row.name[len(scope) + 2:]}`: {row.difference}"
                           for row in differences if (row.name + "::").startswith(scope + "::")
                           and scope_of_text(row.name, scopes) == scope)
        state = "absent: " + reason if reason else "present" + (": " + differ if differ else "")
        rows.append([f"`{cell(scope)}`" + (f" {about}" if about else ""), cell(listed), cell(state)])
    return rows


def scope_of_text(name, scopes):
    """The scope of a name of differs.tsv."""
    return name if name in scopes else scope_of(present.Name("", "", name, "", "", "", ""), scopes)[0]


def document(options):
    names, absent = load_names(), load_absent()
    kinds = read_rows(FOLDER.parent / "layers.tsv", Kind)[1:]  # behind the columns' names
    differences = read_rows(FOLDER / "differs.tsv", Difference)
    known = {name.name for name in names}
    for row in differences:
        if row.name not in known:
            raise Failure(f"differs.tsv: there is no name '{row.name}'")
    scopes = {name.name for name in names if name.kind in SCOPES}
    lines = [HEAD, "## Totals", ""]

    def total(text, counted):
        there = sum(not reason_of(name, absent) for name in counted)
        return [text, str(len(counted)), str(there), percent(there, len(counted))]

    aims = [name for name in names if not area_of(name) and not name.until]
    rows = [total("**Names that are an aim**", aims), total("of release 23.08", [name for name in aims if not name.since]),
            total("of later releases", [name for name in aims if name.since])]
    for area in AREAS:
        rows.append(total(f"No aim: {area}", [name for name in names if area_of(name) == area]))
    gone = [name for name in names if name.until and not area_of(name)]
    if gone:
        rows.append(total("No aim: others that later releases removed", gone))
    lines += table(["", "Names", "Present", ""], rows)

    headers = sorted({name.header for name in names})
    by_header = {header: [name for name in names if name.header == header] for header in headers}
    lines += ["", "## By header", ""]
    rows = []
    for header in headers:
        there = sum(not reason_of(name, absent) for name in by_header[header])
        rows.append([f"`{header}`", str(len(by_header[header])), str(there)])
    lines += table(["Header", "Names", "Present"], rows)
    for header in headers:
        lines += ["", f"### {header}", ""]
        own = next((name for name in by_header[header] if name.kind == "header"), None)
        rows = rows_of(by_header[header], absent, differences, scopes)
        if own is not None and reason_of(own, absent):
            lines += [f"The header is absent: {reason_of(own, absent)}.", ""]
        if rows:
            lines += table(["Name", "Members", ""], rows)
        else:
            lines.pop()
            lines += ["", "Includes others."]

    lines += ["", OPTIONS]
    rows = []
    for option in options:
        if option.status not in STATES:
            raise Failure(f"the state '{option.status}' of option {option.long} is none of {', '.join(STATES)}")
        rows.append([f"`{option.long}`", f"`{option.short}`" if option.short else "", cell(option.argument),
                     option.status, cell(option.note)])
    lines += table(["Option", "", "Argument", "State", ""], rows)
    lines += ["", FILES]
    lines += table(["Kind", "Layer", ""], [[f"`{kind.kind}`", f"`{kind.layer}`", cell(kind.note)] for kind in kinds])
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="docs/armnn.md, from the lists in this folder.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--check", type=Path, metavar="FILE")
    parser.add_argument("--options", type=Path, default=FOLDER.parent / "options.tsv", metavar="FILE")
    arguments = parser.parse_args()
    try:
        options = read_rows(arguments.options, Option)
        text = document(options[options[:1] == [Option._fields]:])  # the first line may be the columns' names
        if arguments.write:
            arguments.write.write_text(text, encoding="utf-8")
        elif not arguments.check.exists() or arguments.check.read_text(encoding="utf-8") != text:
            raise Failure(f"'{arguments.check}' is stale; write it anew with: {COMMAND}")
    except Failure as failure:
        print(f"document.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
