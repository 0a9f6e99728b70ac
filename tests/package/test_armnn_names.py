#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/package/armnn/names: what counts as present, on a header of a few names, and what is complained of.

usage: test_armnn_names.py C++COMPILER
"""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "armnn" / "names"))
import document  # noqa: E402
import present  # noqa: E402
from present import Absent, Construction, Name  # noqa: E402

COMPILER = sys.argv.pop(1)
HEADER = """
#define GIVEN(x) x
namespace armnn
{
enum class Color { Red = 1, Blue = 3 };
struct Point
{
    Point(int x, int y = 0) : m_X(x + y) {}
    int GetX() const { return m_X; }
    void Move(int by) { m_X += by; }
    int m_X;
};
struct Sum final
{
    template <typename T, typename U> Sum& Add(T value, U other) { m_Sum += value + other; return *this; }
    double m_Sum;
};
template <typename T> struct Box
{
    template <typename... Args> explicit Box(T value, Args...) : m_Value(value) {}
    T Get(T other = T()) const { return m_Value + other; }
    T m_Value;
};
class LogSink
{
public:
    virtual ~LogSink() = default;
    virtual void Consume(const char*) = 0;
};
int Double(int value);
template <typename T> void MustBeInt() { static_assert(sizeof(T) == sizeof(int), ""); }
using Number = int;
}
"""


def name(kind, text, parameters="", type_="", header="armnn/A.hpp"):
    return Name(header, kind, "armnn::" + text if kind not in ("header", "macro") else text, parameters, type_, "", "")


THERE = [
    name("header", "armnn/A.hpp"), name("macro", "GIVEN", "(…)"),
    name("enum", "Color", "", "int"), name("enumerator", "Color::Blue", "", "3"),
    name("struct", "Point"), name("constructor", "Point::Point", "(int, int =)"),
    name("method", "Point::GetX", "() const", "int"), name("field", "Point::m_X", "", "int"),
    name("method template", "Sum::Add", "<T, U>(T, U)", "Sum &"),
    name("class template", "Box"), name("method", "Box::Get", "(T =) const", "T"), name("field", "Box::m_Value", "", "T"),
    name("constructor", "Box::Box", "(const armnn::Box&)"), name("constructor template", "Box::Box", "<Args>(T, Args)"),
    name("constructor template", "Point::Point", "<T>(T)"), name("class", "LogSink"),
    name("virtual method", "LogSink::Consume", "(const char*)", "void"),
    name("function", "Double", "(int)", "int"), name("alias", "Number", "", "int"),
]
ABSENT = [
    name("header", "armnn/B.hpp", header="armnn/B.hpp"), name("macro", "MISSING"),
    name("enumerator", "Color::Red", "", "2"),  # another number
    name("constructor", "Point::Point", "(int, int, int)"), name("constructor", "Point::Point", "()"),
    name("method", "Point::Move", "(int) const", "void"),  # of a constant one
    name("method", "Point::GetY", "() const", "int"), name("field", "Point::m_X", "", "const char*"),
    name("method template", "Sum::Take", "<T>(T)", "Sum &"), name("constructor", "Pair::Pair", "(int)"),
    name("class template", "Bag"), name("method", "Bag::Get", "()", "int"),
    name("method", "Box::Put", "(T)", "void"), name("method", "Box::Get", "(const T*) const", "T"),
    name("field", "Box::m_Other", "", "T"), name("constructor", "Box::Box", "(int*)"),
    name("constructor template", "Box::Box", "<T>(T)"), name("constructor template", "Box::Box", "<T>(T, bool)"),
    name("virtual method", "LogSink::Consume", "(int)", "void"), name("function", "Double", "(int, int)", "int"),
    name("function", "Triple", "(int =)", "int"), name("alias", "Text", "", "int"),
]


ARGUMENTS = {"armnn::Box": {"T": "int"}, "armnn::Bag": {"T": "int"}}
CONSTRUCTORS = {
    "armnn::Box::Box<Args>(T, Args)": Construction(("int", "bool"), False),
    "armnn::Point::Point<T>(T)": Construction(("const char*",), True),
    "armnn::Box::Box<T>(T)": Construction(("const char*",), False),
    "armnn::Box::Box<T>(T, bool)": Construction(("long", "bool"), True),  # is not refused
}


class Compiled(unittest.TestCase):
    """Names of HEADER."""

    def find_absent(self, names, header=HEADER):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "armnn").mkdir()
            (Path(folder) / "armnn" / "A.hpp").write_text(header, encoding="utf-8")
            return present.find_absent(names, COMPILER, [folder], 14, None, ARGUMENTS, CONSTRUCTORS)

    def test_present_names_are_found(self):
        self.assertEqual(self.find_absent(THERE), ([], []))

    def test_absent_names_are_found(self):
        names = [THERE[0], *ABSENT]
        self.assertEqual(self.find_absent(names), (ABSENT, []))

    def test_templates_without_arguments_are_named(self):
        with self.assertRaisesRegex(present.Failure, "armnn::Bin .* TEMPLATE_ARGUMENTS"):
            self.find_absent([name("class template", "Bin")])
        with self.assertRaisesRegex(present.Failure, "armnn::Point::Point<U>.* CONSTRUCTOR_TYPES"):
            self.find_absent([name("constructor template", "Point::Point", "<U>(U)")])

    def test_errors_within_a_header_are_its_own(self):
        _, others = self.find_absent(THERE, HEADER + "int broken = nothing;\n")
        self.assertEqual(len(others), 1)
        self.assertIn("nothing", others[0])

    def test_unusable_compilers_are_named(self):
        with self.assertRaisesRegex(present.Failure, "no-such-compiler"):
            present.find_absent(THERE, "no-such-compiler", [], 14, None, ARGUMENTS, CONSTRUCTORS)


class Judged(unittest.TestCase):
    """Rows of absent.tsv."""

    def test_complaints(self):
        names, absent = THERE + ABSENT, ABSENT
        rows = [Absent("armnn/B.hpp : *", "why"), Absent("MISSING", "why"), Absent("armnn::Color::Red", "why"),
                Absent("armnn::Point::Point(int, int, int)", "why"), Absent("armnn::Point::Point()", "why"),
                Absent("armnn::Point::Move", "why"), Absent("armnn::Point::GetY", "why"),
                Absent("armnn::Sum::Take", "why"), Absent("armnn::Pair::Pair", "why"),
                Absent("armnn::Bag*", "why"),
                Absent("armnn::Box::Put", "why"), Absent("armnn::Box::Get(const T*) const", "why"),
                Absent("armnn::Box::m_Other", "why"), Absent("armnn::Box::Box(int*)", "why"),
                Absent("armnn::Box::Box<T>(T)", "why"), Absent("armnn::Box::Box<T>(T, bool)", "why"), Absent("armnn::LogSink::Consume(int)", "why"),
                Absent("armnn::Double(int, int)", "why"), Absent("armnn::Text", "why")]
        complaints = present.judge(names, absent, rows)
        self.assertEqual(len(complaints), 2)
        self.assertIn("armnn::Point::m_X is absent", complaints[0])
        self.assertIn("armnn::Triple(int =) is absent", complaints[1])
        rows += [Absent("armnn::Point::m_X", "why"), Absent("armnn::Triple", "why"), Absent("armnn::Gone", "why")]
        complaints = present.judge(names, absent, rows)
        self.assertEqual(len(complaints), 2)
        self.assertIn("armnn::Point::m_X is there", complaints[0])
        self.assertIn("no name needs the row 'armnn::Gone'", complaints[1])

    def test_reasons_are_required(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "absent.tsv"
            path.write_text("armnn::Gone\t\n", encoding="utf-8")
            with self.assertRaisesRegex(present.Failure, "'armnn::Gone' has no reason"):
                present.load_absent(path)
            path.write_text("armnn::Gone\n", encoding="utf-8")
            with self.assertRaisesRegex(present.Failure, "1 columns, not 2"):
                present.load_absent(path)

    def test_share_is_of_aims(self):
        names = [name("function", "Double", "(int)"), name("function", "Triple", "(int)"),
                 name("enum", "QosExecPriority"), name("function", "Old")._replace(until="25.02")]
        self.assertEqual(present.share(names, [names[1]]), (2, 1))

    def test_names_know_later_releases(self):
        names = {each.name: each for each in present.load_names()}
        self.assertEqual(names["armnn::INetwork::AddScatterNdLayer"].since, "24.05")
        self.assertEqual(names["armnn::IRuntime::ClearImportedInputs"].until, "25.02")
        self.assertEqual(names["armnn::experimental::Threadpool"].until, "25.02")
        self.assertEqual(names["armnn::IRuntime::EnqueueWorkload"].until, "")


class Documented(unittest.TestCase):
    """Tables of docs/armnn.md."""

    def test_rows_have_states(self):
        rows = document.rows_of(THERE + ABSENT[2:5], [Absent("armnn::Color::Red", "it is another red")],
                                [document.Difference("armnn::Point::GetX", "is an int")],
                                {"armnn::Color", "armnn::Point", "armnn::Box", "armnn::LogSink"})
        self.assertIn(["`armnn::Color`", "`Blue`", "present"], rows)
        self.assertIn(["`armnn::Color`", "`Red`", "absent: it is another red"], rows)
        self.assertIn(["`armnn::Point`", "`Point` ×4, `GetX`, `m_X`", "present: `GetX`: is an int"], rows)

    def test_shares_are_not_rounded_up(self):
        self.assertEqual(document.percent(1999, 2000), "99.9 %")
        self.assertEqual(document.percent(2000, 2000), "100 %")


if __name__ == "__main__":
    unittest.main()
