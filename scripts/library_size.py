#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many bytes each part of libtenon.so has, stripped, from the linker's map.

usage: library_size.py --build build/release [--write docs/size.md] [--check MIB] [--library FILE] [--map FILE]
                       [--strip PROGRAM]

Prints tables, or writes them with --write. With --check the exit status is 1 if the stripped library has more than so
many MiB. The library and the map are lib/libtenon.so and lib/libtenon.map of the build folder unless named; the map may
be GNU ld's or gold's. The cmake target generate_size_docs writes docs/size.md.
"""
import argparse
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

from objects import bar, describe_object, table

MIB = 1 << 20
CPU_ACC = "src/backends/cpu"
LARGEST = 20
RUNTIME = "other libraries"  # and the compiler's own objects
LINKER = "made by the linker"
ANY_SET = "any processor"

HEAD = """# Bytes of libtenon.so

Generated; write it anew with

    cmake --build build/release --target generate_size_docs

{build}
The stripped library has {stripped} bytes ({mib:.2f} MiB); the test `library_size` limits it.
`cmake/SmallLibrary.cmake` and `cmake/Optimization.cmake` keep it small. Code and data below are in bytes.
"""


class Failure(Exception):
    """What went wrong, for the user."""


ElfSection = namedtuple("ElfSection", "name size is_loaded in_file")
# Of the map: the section of the library, the one of the object, its bytes, the object or "" for the linker's own.
Piece = namedtuple("Piece", "output name size object")
Map = namedtuple("Map", "linker folds pieces discarded")


class Elf:
    """Sections and names of functions of an ELF file."""

    def __init__(self, path):
        try:
            self._data = Path(path).read_bytes()
        except OSError as error:
            raise Failure(f"cannot read the library '{path}': {error.strerror}") from error
        try:
            self._read()
        except (struct.error, IndexError, ValueError) as error:
            raise Failure(f"'{path}' is no complete ELF file") from error

    def _read(self):
        data = self._data
        if data[:4] != b"\x7fELF":
            raise ValueError
        self._wide, self._order = data[4] == 2, "<" if data[5] == 1 else ">"
        self.machine = self._unpack("H", 18)[0]
        offset = self._unpack("Q", 40)[0] if self._wide else self._unpack("I", 32)[0]
        size, count, names = self._unpack("HHH", 58 if self._wide else 46)
        self._headers = [self._header(offset + i * size) for i in range(count)]
        self._names = names
        self.sections = [ElfSection(self._string(names, header[0]), header[5], bool(header[2] & 2), header[1] != 8)
                         for header in self._headers[1:]]

    def _unpack(self, form, offset):
        return struct.unpack_from(self._order + form, self._data, offset)

    def _header(self, offset):
        """Name, type, flags, address, offset, size, link."""
        return self._unpack("IIQQQQI" if self._wide else "IIIIIII", offset)

    def _string(self, section, offset):
        begin = self._headers[section][4] + offset
        return self._data[begin:self._data.index(b"\0", begin)].decode(errors="replace")

    def symbols(self):
        """Names in the symbol table, which a stripped file does not have."""
        names = set()
        for header in self._headers:
            if header[1] == 2:
                step = 24 if self._wide else 16
                for offset in range(header[4], header[4] + header[5], step):
                    names.add(self._string(header[6], self._unpack("I", offset)[0]))
        return names

    def text_of(self, section):
        """Printable text of a section, or an empty one."""
        for header in self._headers[1:]:
            if self._string(self._names, header[0]) == section:
                return self._data[header[4]:header[4] + header[5]].decode("ascii", errors="replace")
        return ""


_OUTPUT = re.compile(r"(\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?:\s+load address .*)?")
_INPUT = re.compile(r" (\*\* [^/]*?|\*fill\*|\S+)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)(?:\s(.*))?")
_HEADINGS = {"Discarded input sections": "discarded", "Memory map": "gold",
             "Linker script and memory map": "GNU ld"}


def read_map(text, name):
    """The pieces that a library has and those that the linker left out, of a map of GNU ld or gold."""
    where, linker, output, end = "", "", "", 0
    pieces, discarded, addresses = [], [], []
    waiting = ""  # a name that its figures follow on the next line
    for line in text.splitlines():
        if line in _HEADINGS:
            where, waiting = _HEADINGS[line], ""
            linker = where if where != "discarded" else linker
            continue
        if waiting and line.startswith("                "):
            line = waiting + line
        waiting = ""
        if not where or not line.strip():
            continue
        match = _INPUT.fullmatch(line)
        if match:
            piece = Piece(output, match[1], int(match[3], 16), (match[4] or "").strip())
            if where == "discarded":
                discarded.append(piece)
                continue
            address = int(match[2], 16)
            if linker == "GNU ld":
                piece = piece._replace(size=max(0, min(piece.size, end - address)))
            # GNU ld shows merged strings with the bytes that they had before; the next ones begin where they end.
            if linker == "GNU ld" and pieces and pieces[-1].output == output and address >= addresses[-1]:
                pieces[-1] = pieces[-1]._replace(size=min(pieces[-1].size, address - addresses[-1]))
            pieces.append(piece)
            addresses.append(address)
            continue
        match = _OUTPUT.fullmatch(line)
        if match:
            output, end = match[1], int(match[2], 16) + int(match[3], 16)
        elif re.fullmatch(r" ?\S+| \*\* .*", line):
            waiting = line
    if not linker:
        raise Failure(f"'{name}' is no map of GNU ld or gold")
    return Map(linker, linker == "gold", pieces, discarded)


def part_of(piece):
    """(part, source) of a piece."""
    if not piece.object:
        return LINKER, LINKER
    part, source = describe_object(piece.object)
    if part != "others":
        return part, source
    return RUNTIME, piece.object.rpartition("/")[2]


def kind_of(section):
    """What sections of libraries and of objects hold: code, data, or nothing that is in the file ("")."""
    if re.match(r"\.(text|init|fini|plt)(\.|$)", section):
        return "code"
    if re.match(r"\.(rodata|data|tdata|got|gcc_except_table|eh_frame|init_array|fini_array)(\.|_|$)", section):
        return "data"
    return ""


def set_of(section):
    """The instruction set of a function of CpuAcc, by the namespace that Highway compiles it in, such as N_AVX2."""
    for match in re.finditer(r"(\d+)(?=(N_\w+))", section):
        for digits in (match[1], match[1][-2:], match[1][-1:]):  # what is before may end with a digit
            name = match[2][:int(digits)]
            if len(name) == int(digits) and re.fullmatch(r"N_[A-Z0-9_]+", name):
                return name[2:]
    return ANY_SET


def is_function(section):
    return section.startswith(".text.")


def function_of(section):
    """The function that a section of an object has."""
    return re.sub(r"^\.text\.(unlikely\.|hot\.|startup\.|exit\.)?", "", section)


def number(value):
    return f"{value:,}"


def rows_with_bars(counts, more=lambda key: []):
    """Rows of a table from the largest to the smallest, with what `more` gives behind the bytes."""
    largest = max(counts.values(), default=0)
    return [[key, number(value), *more(key), bar(value, largest)] for key, value in counts.most_common()]


def sections_table(elf):
    """Bytes of a stripped file by section."""
    sections = Counter()
    for section in elf.sections:
        if section.in_file:
            sections[section.name if section.size >= 4096 else "sections below 4096 bytes"] += section.size
    return table(["Section", "Bytes", ""], [[f"`{row[0]}`" if row[0].startswith(".") else row[0], *row[1:]]
                                            for row in rows_with_bars(sections)])


def parts_of(link_map):
    """Bytes of code and of data by part."""
    code, data = Counter(), Counter()
    for piece in link_map.pieces:
        kind = kind_of(piece.output)
        if kind:
            (code if kind == "code" else data)[part_of(piece)[0]] += piece.size
    return code, data


def parts_table(link_map):
    code, data = parts_of(link_map)
    for part in data:
        code[part] += 0
    rows = rows_with_bars(code, lambda part: [number(data[part])])
    return table(["Part", "Code", "Data", ""],
                 [*rows, ["all", number(sum(code.values())), number(sum(data.values())), ""]])


def code_of_cpu_acc(link_map):
    return [piece for piece in link_map.pieces if kind_of(piece.output) == "code" and part_of(piece)[0] == CPU_ACC]


def sets_table(link_map):
    bytes_of, functions = Counter(), Counter()
    for piece in code_of_cpu_acc(link_map):
        bytes_of[set_of(piece.name)] += piece.size
        functions[set_of(piece.name)] += is_function(piece.name)
    return table(["Instruction set", "Code", "Functions", ""],
                 rows_with_bars(bytes_of, lambda name: [number(functions[name])]))


def sources_table(link_map):
    code, by_set = Counter(), Counter()
    for piece in link_map.pieces:
        part, source = part_of(piece)
        if kind_of(piece.output) == "code" and part not in (RUNTIME, LINKER):
            code[source] += piece.size
            by_set[source, set_of(piece.name)] += piece.size
    code = Counter(dict(code.most_common(LARGEST)))
    sets = sorted({name for source, name in by_set if source in code} - {ANY_SET})
    return table(["Source", "Code", *sets, ""],
                 rows_with_bars(code, lambda source: [number(by_set[source, name]) for name in sets]))


def left_out_table(link_map, symbols):
    """What the linker dropped and folded, by part. Maps also list template instances that another source has as well:
    they count where none of them was kept, and once. A folded function still has its name in the table of symbols."""
    kept = {piece.name for piece in link_map.pieces}
    seen, dropped, folded, functions = set(), Counter(), Counter(), Counter()
    for piece in link_map.discarded:
        if not is_function(piece.name) or piece.size == 0 or not piece.object:
            continue
        has_name = function_of(piece.name) in symbols
        if "_GLOBAL__N_" not in piece.name:  # in an anonymous namespace it is of this source alone
            if piece.name in kept or piece.name in seen or (has_name and not link_map.folds):
                continue
            seen.add(piece.name)
        part = part_of(piece)[0]
        (folded if has_name and link_map.folds else dropped)[part] += piece.size
        functions[part] += 1
    both = dropped + folded
    if not both:
        return []
    rows = rows_with_bars(both, lambda part: [number(dropped[part]), number(folded[part]), number(functions[part])])
    sums = [number(sum(counts.values())) for counts in (both, dropped, folded, functions)]
    return table(["Part", "Code", "Dropped", "Folded", "Functions", ""], [*rows, ["all", *sums, ""]])


def describe_build(build, elf, linker):
    """A sentence about the compiler, the linker and the processor."""
    compiler = "an unknown compiler"
    for facts in sorted((build / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")):
        text = facts.read_text(encoding="utf-8")
        found = [re.search(rf'set\(CMAKE_CXX_COMPILER_{what} "([^"]+)"\)', text) for what in ("ID", "VERSION")]
        if all(found):
            compiler = f"{found[0][1].replace('GNU', 'GCC')} {found[1][1]}"
    version = re.search(r"gold \d[\w.]*", elf.text_of(".note.gnu.gold-version"))
    machine = {62: "x86-64", 183: "64-bit Arm", 40: "32-bit Arm"}.get(elf.machine, f"ELF machine {elf.machine}")
    return f"Release build for {machine}, compiled by {compiler} and linked by {version[0] if version else linker}."


def make_document(build, library, stripped, stripped_bytes, link_map):
    """The text of docs/size.md."""
    lines = [HEAD.format(build=describe_build(build, library, link_map.linker), stripped=number(stripped_bytes),
                         mib=stripped_bytes / MIB)]
    lines += ["## Sections of the stripped file", "", *sections_table(stripped), ""]
    lines += ["## Code by module", "",
              "Data: constants, tables and the tables of exceptions. The linker makes tables for exceptions, calls of",
              "other libraries, gaps and, if it is gold, strings that objects share.", "", *parts_table(link_map), ""]
    lines += ["## Code of CpuAcc by instruction set", "",
              "The names are Highway's; AVX3 is AVX-512. All other code of CpuAcc is compiled once, for any processor.",
              "", *sets_table(link_map), ""]
    lines += [f"## The {LARGEST} largest sources", "", *sources_table(link_map), ""]
    left_out = left_out_table(link_map, library.symbols())
    lines += ["## Functions that the linker left out", ""]
    if left_out:
        lines += ["Dropped: unused functions. Folded: functions with the same code as another one, which",
                  "stands for both.", "", *left_out, ""]
    else:
        lines += ["The map names no function that the linker dropped or folded.", ""]
    return "\n".join(lines)


def strip(program, library, folder):
    """A stripped copy of the library."""
    stripped = Path(folder) / "stripped.so"
    try:
        done = subprocess.run([program, "-o", str(stripped), str(library)], capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failure(f"cannot run '{program}', which --strip names: {error.strerror}") from error
    if done.returncode:
        raise Failure(f"'{program}' cannot strip '{library}': {done.stderr.strip()}")
    return stripped


def load_map(path):
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Failure(f"cannot read the map '{path}': {error.strerror}; a Release build links libtenon.so with a map "
                      "where the linker can write one") from error
    return read_map(text, path)


def largest_parts(map_path, stripped):
    """Lines for whom the library has become too large: modules and sources, or sections where there is no map."""
    try:
        link_map = load_map(map_path)
    except Failure as failure:
        return [f"(by section: {failure})", "", *sections_table(stripped)]
    return [*parts_table(link_map), "", *sources_table(link_map)]


def judge(name, stripped_bytes, limit, build, largest):
    """The exit status of --check, and text on why. `largest` gives lines on the largest parts."""
    allowed = int(limit * MIB)
    if stripped_bytes <= allowed:
        print(f"{name} has {number(stripped_bytes)} bytes, stripped, of at most {number(allowed)}.")
        return 0
    print(f"{name} has {number(stripped_bytes)} bytes, stripped: {number(stripped_bytes - allowed)} more than the limit "
          f"of {limit:g} MiB. Its largest parts:\n", file=sys.stderr)
    print("\n".join(largest()), file=sys.stderr)
    print(f"\ndocs/size.md has the sizes of libtenon.so of when it was last written by\n"
          f"cmake --build {build} --target generate_size_docs", file=sys.stderr)
    return 1


def parse():
    parser = argparse.ArgumentParser(description="Bytes of libtenon.so by part, stripped.")
    parser.add_argument("--build", type=Path, required=True, metavar="FOLDER", help="a Release build folder")
    parser.add_argument("--library", type=Path, metavar="FILE", help="(default: lib/libtenon.so of the build)")
    parser.add_argument("--map", type=Path, metavar="FILE", help="the linker's map (default: lib/libtenon.map)")
    parser.add_argument("--strip", default="strip", metavar="PROGRAM", help="strip of the library's binutils")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the tables, docs/size.md for example")
    parser.add_argument("--check", type=float, metavar="MIB", help="fail if the stripped library is larger")
    return parser.parse_args()


def run(arguments):
    library_path = arguments.library or arguments.build / "lib" / "libtenon.so"
    library = Elf(library_path)
    with tempfile.TemporaryDirectory() as folder:
        stripped_path = strip(arguments.strip, library_path, folder)
        stripped, stripped_bytes = Elf(stripped_path), stripped_path.stat().st_size
    map_path = arguments.map or arguments.build / "lib" / "libtenon.map"
    if arguments.write or arguments.check is None:
        document = make_document(arguments.build, library, stripped, stripped_bytes, load_map(map_path))
        if arguments.write:
            try:
                arguments.write.write_text(document, encoding="utf-8")
            except OSError as error:
                raise Failure(f"cannot write '{arguments.write}': {error.strerror}") from error
        else:
            print(document, end="")
    if arguments.check is not None:
        return judge(library_path.name, stripped_bytes, arguments.check, arguments.build,
                     lambda: largest_parts(map_path, stripped))
    return 0


def main():
    try:
        return run(parse())
    except Failure as failure:
        print(f"library_size.py: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
