#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which public names of Arm NN (names.tsv, later.tsv) the headers of Tenon have, found by compiling a line about each.

usage: present.py --compiler g++ --include FOLDER [--include FOLDER ...] [--standard 14] [--check PERCENT] [--list]
                  [--keep FILE]

A line mentions the name as a program does: a call with the types that Arm NN's function takes, once with and once
without what has a default, whose result must be of the same type where that is a reference or a pointer (by which
overloads differ); an assignment to a field; the number of an enumerator (but for LayerType, whose numbers
differ); an override of a virtual method of a class that programs derive from. Members of a class template are those of
the instance that TEMPLATE_ARGUMENTS makes, and CONSTRUCTOR_TYPES says what a constructor template is called with. Names
whose lines do not compile are absent.

--check fails (status 1) where a name is absent without a row in absent.tsv, where a row is of names that are there,
where a header of Tenon does not compile, and where less than PERCENT of the names are there that are an aim: all but
those of AREAS and those that later releases of Arm NN removed. --list prints the absent names, --keep writes the source
that is compiled to a file.
"""
import argparse
import fnmatch
import re
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

FOLDER = Path(__file__).parent
Row = namedtuple("Row", "header kind name parameters type")
Later = namedtuple("Later", "change release header kind name parameters type")
Name = namedtuple("Name", "header kind name parameters type since until")
Absent = namedtuple("Absent", "pattern reason")
Construction = namedtuple("Construction", "types is_refused")
# Names that are no aim: shell patterns of names or headers, by what they are of.
AREAS = {
    "async execution": ("armnn/IAsyncExecutionCallback.hpp", "armnn/IWorkingMemHandle.hpp", "armnn/Threadpool.hpp",
                        "armnn::experimental::*", "armnn::IRuntime::Execute", "armnn::IRuntime::CreateWorkingMemHandle",
                        "armnn::QosExecPriority*", "armnn::EXPIRE_RATE", "*::ExecuteAsync", "*::CreateExecutionData",
                        "*::UpdateExecutionData"),
    "arm::pipe profiling": ("armnn/profiling/ArmNNProfiling.hpp", "arm::pipe::*", "*::SetProfilingService",
                            "*::m_LocalPacketHandlers", "*::IBackendProfiling*", "*::CreateBackendProfilingContext"),
    "ACL tuning": ("armnn::IGpuAccTunedParameters*", "*::m_GpuAccTunedParameters"),
    "the delegate's inside": ("ARMNN_POST_TFLITE_*", "armnnDelegate::ArmnnSubgraph", "armnnDelegate::Delegate",
                              "armnnDelegate::DelegateData", "armnnDelegate::DelegateOptionsImpl",
                              "armnnDelegate::DoPrepare"),
}
# What programs derive from, besides all classes of armnn/backends.
DERIVED = ("armnn::IStrategy", "armnn::LayerSupportBase", "armnn::LogSink", "armnn::StandardOutputSink", "armnn::StrategyBase")
# Virtual methods that Arm NN declares final.
FINAL = ("armnn::BaseWorkload::GetGuid",)
# The instance of a class template whose members are mentioned: its parameters, in their order, and their arguments.
TEMPLATE_ARGUMENTS = {
    "armnn::BaseTensor": {"MemoryType": "void*"},
    "armnn::BaseWorkload": {"QueueDescriptor": "armnn::ActivationQueueDescriptor"},
    "armnn::FirstInputTypedWorkload": {"QueueDescriptor": "armnn::ActivationQueueDescriptor",
                                       "Type": "armnn::DataType::Float32"},
    "armnn::IsHalfType": {"T": "float"},
    "armnn::IsMemorySource": {"T": "armnn::MemorySource"},
    "armnn::MakeWorkloadForType": {"WorkloadType": "armnn::CopyMemGenericWorkload"},
    "armnn::MultiTypedWorkload": {"QueueDescriptor": "armnn::ActivationQueueDescriptor",
                                  "InputDataType": "armnn::DataType::Float16",
                                  "OutputDataType": "armnn::DataType::Float32"},
    "armnn::Optional": {"T": "int"},
    "armnn::OptionalReferenceSwitch": {"IsReference": "false", "T": "int"},
    "armnn::QueueDescriptorWithParameters": {"LayerDescriptor": "armnn::ActivationDescriptor"},
    "armnn::SimpleLogger": {"Level": "armnn::LogSeverity::Info"},
    "armnn::StrategyBase": {"DefaultStrategy": "armnn::NoThrowStrategy"},
    "armnn::TransformIterator": {"Function": "float (*)(const int&)", "Iterator": "const int*",
                                 "Category": "std::random_access_iterator_tag", "T": "int",
                                 "Distance": "std::ptrdiff_t", "Pointer": "const int*", "Reference": "float"},
    "armnn::TypedWorkload": {"QueueDescriptor": "armnn::ActivationQueueDescriptor",
                             "DataTypes": "armnn::DataType::Float32"},
    "armnnUtils::IsFloatingPointIterator": {"ItType": "const float*"},
    "armnnUtils::SelectiveQuantizer": {"T": "int8_t", "DoQuantize": "true"},
}
# What constructor templates are called with. Those of BackendOptions refuse types that are no option's.
CONSTRUCTOR_TYPES = {
    "armnn::BackendOptions::Var::Var<DisallowedType>(DisallowedType)": Construction(("long long",), True),
    "armnn::BackendOptions::BackendOption::BackendOption<DisallowedType>(std::string, DisallowedType)":
        Construction(("std::string", "long long"), True),
    "armnn::OptionalReferenceSwitch::OptionalReferenceSwitch<Args>(armnn::ConstructInPlace, Args &&...)":
        Construction(("armnn::ConstructInPlace", "int"), False),
    "armnn::Optional::Optional<Args>(armnn::ConstructInPlace, Args &&...)":
        Construction(("armnn::ConstructInPlace", "int"), False),
    "armnn::ConstTensor::ConstTensor<T, ContainerArgs>(const armnn::TensorInfo&, "
    "const ContainerType<T, ContainerArgs...>&)":
        Construction(("const armnn::TensorInfo&", "const std::vector<float>&"), False),
    "armnn::ConstTensor::ConstTensor<MemoryType>(const armnn::TensorInfo&, MemoryType)":
        Construction(("const armnn::TensorInfo&", "float*"), False),
    "armnn::TypesAreEqual::TypesAreEqual<Ts>(const Ts &...)":
        Construction(("const armnn::TensorInfo&", "const armnn::TensorInfo&"), False),
    "armnn::TypeAnyOf::TypeAnyOf<Container>(const armnn::TensorInfo&, const Container&)":
        Construction(("const armnn::TensorInfo&", "std::vector<armnn::DataType>"), False),
    "armnn::BiasAndWeightsTypesCompatible::BiasAndWeightsTypesCompatible<Container>(const armnn::TensorInfo&, "
    "const Container&)":
        Construction(("const armnn::TensorInfo&", "std::vector<armnn::DataType>"), False),
}
BINARY = {"==", "!=", "<", "<=", ">", ">=", "<<", ">>", "&", "|", "^", "+", "-", "*", "/", "+=", "-=", "="}


class Failure(Exception):
    """An error, for the user."""


def area_of(name):
    """What a name that is no aim is of, or nothing."""
    for area, patterns in AREAS.items():
        if any(fnmatch.fnmatchcase(text, pattern) for pattern in patterns for text in (name.name, name.header)):
            return area
    return ""


def spelled(name):
    """A name as lists and patterns have it."""
    return name.name + name.parameters


def read_rows(path, row_type):
    rows = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Failure(f"cannot read '{path}': {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if line and not line.startswith("#"):
            cells = line.split("\t")
            if len(cells) != len(row_type._fields):
                raise Failure(f"{path}:{number} has {len(cells)} columns, not {len(row_type._fields)}")
            rows.append(row_type(*cells))
    return rows


def load_names(folder=FOLDER):
    """The names of release 23.08 with the release that removed them, if one did, then those of later releases."""
    later = read_rows(folder / "later.tsv", Later)
    removals = [row for row in later if row.change == "removed"]
    names = []
    for row in read_rows(folder / "names.tsv", Row):
        until = next((removal.release for removal in removals
                      if removal.header == row.header and fnmatch.fnmatchcase(row.name, removal.name)), "")
        names.append(Name(*row, "", until))
    names += [Name(*row[2:], row.release, "") for row in later if row.change == "added"]
    return sorted(names, key=lambda name: name.header)  # stable: names of a header stay in its order


def load_absent(path=FOLDER / "absent.tsv"):
    """(pattern, reason) of absent names; of several that fit a name the first one counts."""
    rows = read_rows(path, Absent)
    for row in rows:
        if not row.reason:
            raise Failure(f"{path}: '{row.pattern}' has no reason")
    return rows


def fits(row, name):
    """Whether a row of absent.tsv is of a name: by its name, with or without parameters, or "HEADER : NAME"."""
    header, _, pattern = row.pattern.rpartition(" : ")
    if header and not fnmatch.fnmatchcase(name.header, header):
        return False
    return pattern in (name.name, spelled(name)) or fnmatch.fnmatchcase(name.name, pattern)


def split_types(text):
    """Types between commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(text[begin:position].strip())
            begin = position + 1
    return [part for part in [*parts, text[begin:].strip()] if part]


def parse_parameters(text):
    """(types, how many have no default, whether it is of a const method)."""
    inner, _, rest = text.rpartition(")")
    types = split_types(inner[1:])
    required = sum(not part.endswith(" =") for part in types)
    return [part.removesuffix(" =") for part in types], required, rest.strip() == "const"


def value_of(type_):
    """An expression of a type."""
    return f"std::declval<{type_}>()"


def calls(function, types, required):
    """Calls with all parameters, and with those alone that have no default."""
    texts = []
    for count in sorted({len(types), required}, reverse=True):
        texts.append(f"{function}({', '.join(value_of(type_) for type_ in types[:count])})")
    return texts


def operator_call(symbol, operands):
    if len(operands) == 2 and symbol in BINARY:
        return f"{operands[0]} {symbol} {operands[1]}"
    if len(operands) == 2 and symbol == "[]":
        return f"{operands[0]}[{operands[1]}]"
    if len(operands) == 1 and symbol in ("++", "--", "~", "!", "*", "-"):
        return f"{symbol}{operands[0]}"
    if len(operands) == 2 and symbol in ("++", "--"):
        return f"{operands[0]}{symbol}"
    if len(operands) == 1 and symbol == "->":
        return f"{operands[0]}.operator->()"
    return ""


def result_line(unit, call, type_):
    """A line with a call of a function that gives `type_`."""
    if type_.endswith(("&", "*")):
        return f"static_assert(std::is_same<decltype({call}), {type_}>::value, \"\");"
    return f"using {unit} = decltype({call});"


class Source:
    """A source that includes all headers and has a line, or a few, for each name."""

    def __init__(self, names, arguments, constructors):
        self.lines, self._of_line = [], {}
        self._arguments, self._constructors = arguments, constructors
        self._templates = {name.name for name in names if name.kind == "class template"}
        self._with_virtual = {name.name.rpartition("::")[0] for name in names if name.kind.endswith("virtual method")}
        self._add("// Made by present.py.")
        for std in ("chrono", "cstddef", "cstdint", "functional", "iosfwd", "iterator", "map", "memory", "ostream", "string",
                    "type_traits", "unordered_map", "unordered_set", "utility", "vector"):
            self._add(f"#include <{std}>")
        for index, name in enumerate(names):
            if name.kind == "header":
                for line in (f"#if __has_include(<{name.name}>)", f"#include <{name.name}>", "#else", "#error absent",
                             "#endif"):
                    self._add(line, index)
        self.num_includes = len(self.lines)
        for index, name in enumerate(names):
            for line in self._mentions(name, index):
                self._add(line, index)

    def _add(self, line, index=None):
        self.lines.append(line)
        if index is not None:
            self._of_line[len(self.lines)] = index

    def failed(self, numbers):
        """Indices of names whose lines failed."""
        return {self._of_line[number] for number in numbers if number in self._of_line}

    def text(self):
        return "\n".join(self.lines) + "\n"

    def _instance_of(self, template):
        """The instance of a class template, as a program writes it."""
        if template not in self._arguments:
            raise Failure(f"{template} is a class template: add the arguments of an instance to TEMPLATE_ARGUMENTS")
        return f"{template}<{', '.join(self._arguments[template].values())}>"

    def _in_instance(self, template, text):
        """A text of a member of a class template as one of its instance."""
        instance, arguments = self._instance_of(template), self._arguments[template]
        text = re.sub(rf"(?<![\w:])({'|'.join(arguments)})\b", lambda found: arguments[found[1]], text)
        return re.sub(rf"(?<![\w:]){re.escape(template)}(?![\w<])", lambda found: instance, text)

    def _mentions(self, name, index):
        kind, full = name.kind.removeprefix("protected "), name.name
        owner, _, short = full.rpartition("::")
        unit = f"census{index}"
        template = next((template for template in self._templates if full.startswith(template + "::")), None)
        if kind == "constructor template":
            use = self._constructors.get(spelled(name))
            if use is None:
                raise Failure(f"{spelled(name)} is a constructor template: add the types of a call to "
                              "CONSTRUCTOR_TYPES")
            owner = self._in_instance(template, owner) if template else owner
            if use.is_refused:
                return [f"static_assert(!std::is_constructible<{', '.join((owner, *use.types))}>::value, \"\");"]
            return [f"using {unit} = decltype({call});"
                    for call in self._constructions(owner, use.types, len(use.types))]
        if template:
            full, owner = self._in_instance(template, full), self._in_instance(template, owner)
            name = name._replace(parameters=self._in_instance(template, name.parameters),
                                 type=self._in_instance(template, name.type))
        if kind == "header":
            return []
        if kind == "macro":
            return [f"#ifndef {full}", "#error absent", "#endif"]
        if kind == "namespace":
            return [f"namespace {unit} = {full};"]
        if kind.startswith("protected ") or name.kind.startswith("protected "):
            return [f"struct {unit} : {owner} {{ using {owner}::{short}; }};"]
        if kind in ("class", "struct"):
            return [f"static_assert(sizeof({full}) > 0, \"\");"]
        if kind in ("alias", "enum") or kind in ("declared class", "declared struct"):
            return [f"using {unit} = {full};"]
        if kind == "class template":
            return [f"namespace {unit} {{ using {full}; }} static_assert(sizeof({self._instance_of(full)}) > 0, \"\");"]
        if kind in ("alias template", "function template"):
            if short.startswith("operator"):
                return [f"namespace {unit} {{ using {owner}::{short}; }}"]
            return [f"namespace {unit} {{ using {full}; }}"]
        if kind == "method template" and short in ("operator==", "operator!="):
            return [f"using {unit} = decltype({value_of(f'const {owner}&')} {short[8:]} {value_of('const char*')});"]
        if kind == "method template":
            own = ", ".join(["int"] * len(split_types(name.parameters[1:name.parameters.index(">")])))
            return [f"using {unit} = decltype(&{owner}::template {short} <{own}>);"]
        if kind == "enumerator" and name.type and not full.startswith("armnn::LayerType::"):
            return [f"static_assert(static_cast<long long>({full}) == {name.type}, \"\");"]
        if kind == "enumerator":
            return [f"using {unit} = decltype({full});"]
        if kind == "constant":
            return [f"using {unit} = decltype({full});"]
        if kind == "field":
            if re.search(r"\[\d*\]$", name.type):
                return [f"using {unit} = decltype({value_of(owner + '&')}.{short}[0]);"]
            if name.type.endswith("&") or name.type.startswith("const ") and not name.type.endswith("*") or \
                    name.type.endswith("* const"):
                return [f"using {unit} = decltype({value_of(owner + '&')}.{short});"]
            return [f"using {unit} = decltype({value_of(owner + '&')}.{short} = {value_of(name.type)});"]
        return self._calls(name, kind, unit, owner, short)

    def _calls(self, name, kind, unit, owner, short):
        """Lines about a function or method; `owner` is its class, with the arguments of an instance."""
        types, required, is_const = parse_parameters(name.parameters)
        scope = name.name.rpartition("::")[0]
        is_derived = scope in DERIVED or name.header.startswith("armnn/backends/")
        if kind == "constructor":
            # Perhaps abstract, as an instance of a template for backends is: programs derive from it.
            if scope in self._with_virtual or is_derived and scope != owner:
                given = ", ".join(f"{type_} p{place}" for place, type_ in enumerate(types))
                passed = ", ".join(f"std::forward<{type_}>(p{place})" for place, type_ in enumerate(types))
                return [f"struct {unit} : {owner} {{ {unit}({given}) : {owner}({passed}) {{}} }};"]
            return [f"using {unit} = decltype({call});" for call in self._constructions(owner, types, required)]
        self_ = value_of(("const " if is_const else "") + owner + "&")
        operator = re.fullmatch(r"operator\s*(\W+)", short)
        if short.startswith("operator") and not operator:  # a conversion
            return [f"using {unit} = decltype(static_cast<{name.type}>({self_}));"]
        if operator:
            operands = list(map(value_of, types))
            text = operator_call(operator[1], operands if kind == "function" else [self_, *operands])
            return [result_line(unit, text or self_ + "." + short + "()", name.type)]
        if kind in ("function", "static method"):
            function = f"{owner}::{short}" if owner else short
            return [result_line(unit, call, name.type) for call in calls(function, types, required)]
        lines = [result_line(unit, call, name.type) for call in calls(f"{self_}.{short}", types, required)]
        if kind == "virtual method" and is_derived and name.name not in FINAL:
            constant = " const" if is_const else ""
            lines.append(f"struct {unit}o : {owner} {{ {name.type} {short}({', '.join(types)}){constant} override; }};")
        return lines

    @staticmethod
    def _constructions(owner, types, required):
        return [f"new {owner}({', '.join(value_of(type_) for type_ in types[:count])})"
                for count in sorted({len(types), required}, reverse=True)]


def errors_of(text, compiler, includes, standard, path):
    """Standard error of a compilation."""
    path.write_text(text, encoding="utf-8")
    command = [compiler, "-fsyntax-only", f"-std=c++{standard}", "-pedantic-errors", "-Darmnn=tenon",
               *(f"-I{include}" for include in includes), str(path)]
    try:
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
        # Errors are counted where lines are, not where the macro armnn is defined.
        command[1:1] = ["-ferror-limit=0"] if "clang" in version else ["-fmax-errors=0", "-ftrack-macro-expansion=0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failure(f"cannot run the compiler '{compiler}': {error.strerror}") from error
    if done.returncode and not re.search(r"error: ", done.stderr):
        raise Failure(f"'{compiler}' failed: {done.stderr.strip()[:2000]}")
    return done.stderr


def find_absent(names, compiler, includes, standard, keep=None, arguments=None, constructors=None):
    """Names that do not compile, in their order, and errors of headers."""
    source = Source(names, arguments or TEMPLATE_ARGUMENTS, constructors or CONSTRUCTOR_TYPES)
    if keep:
        keep.write_text(source.text(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "present.cpp"
        here = re.escape(str(path))
        # What fails with the headers alone is their fault; of the rest, what their templates make of a line is its.
        headers = errors_of("\n".join(source.lines[:source.num_includes]) + "\n", compiler, includes, standard, path)
        others = [line for line in headers.splitlines() if "error: " in line and not re.match(here, line)]
        errors = errors_of(source.text(), compiler, includes, standard, path)
    found = re.findall(rf"^{here}:(\d+):(?:\d+:)? (?:(?:fatal )?error: |\s+required (?:from|by)|note: in instantiation)", errors, re.M)
    failed = source.failed(map(int, found))
    return [names[index] for index in sorted(failed)], others


def judge(names, absent, rows):
    """Complaints about absent.tsv."""
    complaints, used = [], {id(row): False for row in rows}
    absent_set = set(absent)
    for name in names:
        row = next((row for row in rows if fits(row, name)), None)
        if row is None:
            if name in absent_set:
                complaints.append(f"{name.header}: {name.kind} {spelled(name)} is absent: add it to Tenon, or a row "
                                  "with the reason to absent.tsv")
            continue
        used[id(row)] = True
        if name not in absent_set:
            complaints.append(f"{name.header}: {name.kind} {spelled(name)} is there: remove or narrow the row "
                              f"'{row.pattern}' of absent.tsv")
    complaints += [f"absent.tsv: no name needs the row '{row.pattern}'" for row in rows if not used[id(row)]]
    return complaints


def share(names, absent):
    """How many names are an aim, and how many of them are there."""
    aims = [name for name in names if not area_of(name) and not name.until]
    absent = set(absent)
    return len(aims), sum(name not in absent for name in aims)


def run(arguments):
    names = load_names()
    absent, others = find_absent(names, arguments.compiler, arguments.include, arguments.standard, arguments.keep)
    aims, there = share(names, absent)
    print(f"C++{arguments.standard}: {len(names) - len(absent)} of {len(names)} names; "
          f"{there} of {aims} ({100 * there / aims:.1f} %) that are not of {', '.join(AREAS)} or removed since")
    if arguments.list:
        for name in absent:
            print(f"{name.header}\t{name.kind}\t{spelled(name)}\t{name.type}")
    complaints = [f"a header of Tenon does not compile: {line}" for line in others]
    if arguments.check is not None:
        complaints += judge(names, absent, load_absent())
        if 100 * there < arguments.check * aims:
            complaints.append(f"less than {arguments.check} % of the names that are an aim are there")
    for line in complaints:
        print(line, file=sys.stderr)
    return 1 if complaints else 0


def main():
    parser = argparse.ArgumentParser(description="Which public names of Arm NN Tenon's headers have.")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", action="append", required=True, metavar="FOLDER")
    parser.add_argument("--standard", type=int, default=14, choices=(14, 17, 20))
    parser.add_argument("--check", type=float, metavar="PERCENT")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    try:
        return run(parser.parse_args())
    except Failure as failure:
        print(f"present.py: {failure}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
