#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/library_size.py, on maps as linkers write them and on a library of one function.

usage: test_library_size.py C++COMPILER STRIP
"""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "library_size.py"
sys.path.insert(0, str(SCRIPT.parent))
import library_size  # noqa: E402
from library_size import Piece  # noqa: E402

COMPILER, STRIP = sys.argv.pop(1), sys.argv.pop(1)
TILES = "src/backends/cpu/CMakeFiles/tenon_cpu.dir/gemm/Tiles.cpp.o"
GRAPH = "src/graph/CMakeFiles/tenon_graph.dir/Unity/unity_0_cxx.cxx.o"
LIB = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../x86_64-linux-gnu/crti.o"

GOLD = f"""Archive member included because of file (symbol)

/usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a(_powidf2.o)
                              {TILES} (__powidf2)

Discarded input sections

 .text          0x0000000000000000        0x0 {LIB}
 .note.GNU-stack
                0x0000000000000000        0x0 {LIB}
 .group         0x0000000000000000        0xc {GRAPH}
 .text._ZN5tenon3cpu6N_AVX214UnusedFunctionEi
                0x0000000000000000        0xb {TILES}
 .text._ZN5tenon3cpu9N_AVX3_DL3FooEi
                0x0000000000000000        0x7 {TILES}
 .text._ZN5tenon4CopyEi
                0x0000000000000000       0x20 {GRAPH}
 .text._ZN5tenon12_GLOBAL__N_14HelpEv
                0x0000000000000000        0x5 {GRAPH}
 .text._ZN5tenon12_GLOBAL__N_14HelpEv
                0x0000000000000000        0x5 {TILES}

Memory map

 ** file header
                0x0000000000000000       0x40

.dynsym         0x0000000000000228      0x258
 ** dynsym      0x0000000000000228      0x258

.init           0x0000000000000c18       0x12
 .init          0x0000000000000c18       0x12 {LIB}
                0x0000000000000c18                _init

.text           0x0000000000000d20      0x128
 .text          0x0000000000000d20        0x9 {LIB}
 .text._ZN5tenon3cpu6N_AVX23FooEi
                0x0000000000000d29       0x47 {TILES}
                0x0000000000000d29                tenon::cpu::N_AVX2::Foo(int)
 .text._ZN5tenon4CopyEi
                0x0000000000000d70       0x80 {GRAPH}
                0x0000000000000d70                tenon::Copy(int)
 ** fill        0x0000000000000df0        0x8
 .text._Z1sv    0x0000000000000df8       0x50 {TILES}
                0x0000000000000df8                s()

.rodata         0x000000000000133d       0x3e
 ** merge strings
                0x000000000000133d       0x3e

.data.rel.ro.local
                0x0000000000002da0       0x10
 .data.rel.ro.local
                0x0000000000002da0       0x10 {TILES}

.bss            0x0000000000003080      0x1b0
 .bss           0x00000000000030a0      0x190 {GRAPH}

.symtab         0x0000000000000000      0x4b0
 ** symtab      0x0000000000000000      0x4b0
"""

GNU = f"""
Merging program properties

As-needed library included to satisfy reference by file (symbol)

libgcc_s.so.1                 {TILES} (_Unwind_Resume@@GCC_3.0)

Discarded input sections

 .text          0x0000000000000000        0x0 {LIB}
 .text._ZN5tenon3cpu6N_AVX214UnusedFunctionEi
                0x0000000000000000        0xb {TILES}
 .text._ZN5tenon4CopyEi
                0x0000000000000000       0x20 {TILES}
 .text._ZN5tenon5TwiceIiEEvv
                0x0000000000000000       0x30 {TILES}
 .text._ZN5tenon5TwiceIiEEvv
                0x0000000000000000       0x30 {GRAPH}

Memory Configuration

Name             Origin             Length             Attributes
*default*        0x0000000000000000 0xffffffffffffffff

Linker script and memory map

LOAD {TILES}
                [!provide]                        PROVIDE (__executable_start = SEGMENT_START ("text-segment", 0x0))
                0x0000000000000000                . = (SEGMENT_START ("text-segment", 0x0) + SIZEOF_HEADERS)

.hash
 *(.hash)

.text           0x0000000000001040      0x100
 *(.text.unlikely .text.*_unlikely .text.unlikely.*)
 *(.text .stub .text.*)
 .text          0x0000000000001040       0x30 {LIB}
 *fill*         0x0000000000001070       0x10 
 .text._ZN5tenon3cpu6N_AVX23FooEi
                0x0000000000001080       0x40 {TILES}
                0x0000000000001080                tenon::cpu::N_AVX2::Foo(int)
 .text._ZN5tenon4CopyEi
                0x00000000000010c0       0x80 {GRAPH}
                0x00000000000010c0                tenon::Copy(int)
                [!provide]                        PROVIDE (etext = .)

.rodata         0x0000000000002000       0x3e
 *(.rodata .rodata.* .gnu.linkonce.r.*)
 .rodata._ZN5tenon4CopyEi.str1.1
                0x0000000000002000       0x1e {GRAPH}
                                         0x20 (size before relaxing)
 .rodata.str1.1
                0x000000000000201e       0x20 {TILES}
 .rodata.str1.1
                0x000000000000201e       0x20 {GRAPH}
 .rodata.str1.1
                0x000000000000203e       0x40 {GRAPH}

.data           0x0000000000004060       0x10 load address 0x0000000000003060
 *(.data .data.* .gnu.linkonce.d.*)
 .data.rel.local
                0x0000000000004060       0x10 {TILES}

/DISCARD/
 *(.note.GNU-stack)
OUTPUT(libtenon.so elf64-x86-64)
"""

# Of the library, whose linker gave Help() of an anonymous namespace and Foo() of AVX3_DL the code of other functions.
SYMBOLS = {"_ZN5tenon3cpu6N_AVX23FooEi", "_ZN5tenon3cpu9N_AVX3_DL3FooEi", "_ZN5tenon4CopyEi", "_Z1sv",
           "_ZN5tenon12_GLOBAL__N_14HelpEv"}


def rows(lines):
    """Rows of a table by their first cells, without bars."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:-1] for row in cells[2:]}


class Maps(unittest.TestCase):
    def test_of_gold(self):
        link_map = library_size.read_map(GOLD, "gold.map")
        self.assertEqual(link_map.linker, "gold")
        self.assertIn(Piece(".text", ".text._ZN5tenon4CopyEi", 0x80, GRAPH), link_map.pieces)
        self.assertIn(Piece(".text", ".text._Z1sv", 0x50, TILES), link_map.pieces)
        self.assertEqual(rows(library_size.parts_table(link_map)),
                         {"src/graph": ["128", "0"], "src/backends/cpu": ["151", "16"], "other libraries": ["27", "0"],
                          "made by the linker": ["8", "62"], "all": ["314", "78"]})
        self.assertEqual(rows(library_size.sets_table(link_map)), {"any processor": ["80", "1"], "AVX2": ["71", "1"]})
        self.assertEqual(rows(library_size.sources_table(link_map)),
                         {"src/backends/cpu/gemm/Tiles.cpp": ["151", "71"], "src/graph (unity 0)": ["128", "0"]})
        # Copy() is a template instance that the other source has; both of Help() are functions of their own.
        self.assertEqual(rows(library_size.left_out_table(link_map, SYMBOLS)),
                         {"src/backends/cpu": ["23", "11", "12", "3"], "src/graph": ["5", "0", "5", "1"],
                          "all": ["28", "11", "17", "4"]})

    def test_of_gnu_ld(self):
        link_map = library_size.read_map(GNU, "ld.map")
        self.assertEqual(link_map.linker, "GNU ld")
        # Merged strings count once: 30 bytes of the graph's, 32 that both have, none of the last ones.
        self.assertEqual(rows(library_size.parts_table(link_map)),
                         {"src/graph": ["128", "62"], "src/backends/cpu": ["64", "16"], "other libraries": ["48", "0"],
                          "made by the linker": ["16", "0"], "all": ["256", "78"]})
        self.assertEqual(rows(library_size.sets_table(link_map)), {"AVX2": ["64", "1"]})
        # Twice<int>() was dropped in both sources, and is one function.
        self.assertEqual(rows(library_size.left_out_table(link_map, SYMBOLS)),
                         {"src/backends/cpu": ["59", "59", "0", "2"], "all": ["59", "59", "0", "2"]})

    def test_without_functions_that_were_left_out(self):
        link_map = library_size.read_map(GNU[GNU.index("Memory Configuration"):], "ld.map")
        self.assertEqual(library_size.left_out_table(link_map, SYMBOLS), [])

    def test_refuses_other_texts(self):
        for text in ("", "VMA LMA Size Align Out In Symbol\n  270  270  18  4 .note\n"):
            with self.assertRaisesRegex(library_size.Failure, "'m' is no map of GNU ld or gold"):
                library_size.read_map(text, "m")

    def test_instruction_sets(self):
        for name, expected in {".text._ZN5tenon3cpu6N_AVX23FooEi": "AVX2",
                               ".text._ZN5tenon3cpu9N_AVX3_DL3FooEi": "AVX3_DL",
                               ".text._ZN5tenon5Foo166N_SSE48FunctionEv": "SSE4",
                               ".text._ZN5tenon12_GLOBAL__N_13FooIN2_16N_NEON4BarEEvv": "NEON",
                               ".text._ZN5tenon12_GLOBAL__N_14HelpEv": "any processor",
                               ".text": "any processor"}.items():
            self.assertEqual(library_size.set_of(name), expected, name)

    def test_kinds_of_sections(self):
        for name, kind in {".text": "code", ".text.unlikely": "code", ".plt.got": "code", ".rodata": "data",
                           ".eh_frame_hdr": "data", ".data.rel.ro": "data", ".bss": "", ".tbss": "", ".comment": "",
                           ".symtab": "", ".dynsym": ""}.items():
            self.assertEqual(library_size.kind_of(name), kind, name)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        lib = self.build / "lib"
        lib.mkdir()
        self.library, self.map = lib / "libtenon.so", lib / "libtenon.map"
        source = self.build / "small.cpp"
        source.write_text("static int Hidden(int x) { return x * 3; }\nint (*Shown())(int) { return Hidden; }\n",
                          encoding="utf-8")
        subprocess.run([COMPILER, "-O0", "-g", "-shared", "-fPIC", "-o", self.library, source], check=True)
        self.map.write_text(GOLD, encoding="utf-8")
        facts = self.build / "CMakeFiles" / "3.25.1"
        facts.mkdir(parents=True)
        (facts / "CMakeCXXCompiler.cmake").write_text(
            'set(CMAKE_CXX_COMPILER_ID "GNU")\nset(CMAKE_CXX_COMPILER_VERSION "12.2.0")\n', encoding="utf-8")

    def run_it(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPT), "--build", str(self.build), "--strip", STRIP,
                               *map(str, arguments)], capture_output=True, text=True, check=False)

    def test_writes_the_document(self):
        document = self.build / "size.md"
        done = self.run_it("--write", document, "--check", 1)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = document.read_text(encoding="utf-8")
        stripped = self.build / "stripped.so"
        subprocess.run([STRIP, "-o", stripped, self.library], check=True)
        self.assertLess(stripped.stat().st_size, self.library.stat().st_size)
        self.assertIn(f"The stripped library has {stripped.stat().st_size:,} bytes", text)
        self.assertIn("compiled by GCC 12.2.0 and linked by gold", text)
        self.assertIn("| src/backends/cpu ", text)
        self.assertIn("Folded: ", text)
        self.assertNotIn(str(self.build), text)
        self.assertNotIn(".debug_info", text)  # its sections are of the stripped file
        self.assertLessEqual(max(len(line) for line in text.splitlines() if not line.startswith("|")), 120)
        self.assertEqual(self.run_it().stdout, text)

    def test_symbols_of_a_library(self):
        symbols = library_size.Elf(self.library).symbols()
        self.assertLessEqual({"_ZL6Hiddeni", "_Z5Shownv"}, symbols)

    def test_fails_above_the_limit(self):
        done = self.run_it("--check", 0.001)
        self.assertEqual(done.returncode, 1)
        self.assertIn("more than the limit of 0.001 MiB", done.stderr)
        self.assertIn("| src/backends/cpu ", done.stderr)
        self.assertIn("| src/graph (unity 0) ", done.stderr)
        self.assertIn("docs/size.md", done.stderr)
        self.map.unlink()  # GNU ld and gold write one; the size counts with other linkers too
        self.assertEqual(self.run_it("--check", 1).returncode, 0)
        done = self.run_it("--check", 0.001)
        self.assertEqual(done.returncode, 1)
        self.assertIn("by section: cannot read the map", done.stderr)

    def test_names_what_cannot_be_read(self):
        for path, content, text in [(self.map, None, "cannot read the map"),
                                    (self.map, b"?", "is no map of GNU ld or gold"),
                                    (self.library, None, "cannot read the library"),
                                    (self.library, b"no library", "is no complete ELF file"),
                                    (self.library, self.library.read_bytes()[:100], "is no complete ELF file")]:
            before = path.read_bytes()
            path.unlink()
            if content is not None:
                path.write_bytes(content)
            done = self.run_it()
            self.assertEqual((done.returncode, done.stdout), (2, ""), text)
            self.assertIn(f"library_size.py: {'' if content else 'cannot read'}", done.stderr)
            self.assertIn(text, done.stderr)
            path.write_bytes(before)
        done = self.run_it("--strip", self.build / "no-strip")
        self.assertEqual(done.returncode, 2)
        self.assertIn("which --strip names", done.stderr)


if __name__ == "__main__":
    unittest.main()
