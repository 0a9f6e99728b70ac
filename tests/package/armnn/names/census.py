#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public names of Arm NN, read from its headers: writes names.tsv, which present.py and docs/armnn.md start from.

usage: census.py --root INCLUDE [--search FOLDER ...] [--write names.tsv]

INCLUDE is the folder `include` of a release's sources, and FOLDERs are those that its headers include others from
(third-party, profiling, src/armnnUtils), and in which the headers of INTERNAL and DELEGATE lie; those of DELEGATE include
TensorFlow Lite's. Needed for a new census alone, not by any test; it uses libclang:

    python3 -m venv venv && venv/bin/pip install libclang
    venv/bin/python census.py --root armnn-23.08/include --search armnn-23.08/third-party \\
        --search armnn-23.08/profiling --search armnn-23.08/src/armnnUtils \\
        --search armnn-23.08/src/armnn --search armnn-23.08/src/backends \\
        --search armnn-23.08/delegate/classic/include --search armnn-23.08/delegate/common/include \\
        --search tensorflow --write names.tsv

A row has a header, a kind, a name with all of its namespaces, the types of its parameters, and its type or value.
Functions have a row for each overload; `=` behind a parameter says that it has a default. Macros that a header
undefines are left out.
"""
import argparse
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

Row = namedtuple("Row", "header kind name parameters type")
HEAD = "# header\tkind\tname\tparameters\ttype or value"
# Folders of headers that programs use. armnnTestUtils is for Arm NN's own tests.
FOLDERS = ("armnn", "armnnUtils", "armnnTfLiteParser", "armnnOnnxParser", "armnnSerializer", "armnnDeserializer")
# Internal headers that backends written for Arm NN include, as its sample of a dynamic backend does.
INTERNAL = ("InternalTypes.hpp", "LayerSupportCommon.hpp", "backendsCommon/LayerSupportBase.hpp",
            "backendsCommon/LayerSupportRules.hpp", "backendsCommon/MakeWorkloadHelper.hpp",
            "backendsCommon/TensorHandleFactoryRegistry.hpp", "common/include/ProfilingGuid.hpp")
# Headers of the TensorFlow Lite delegate, which lie outside of `include`.
DELEGATE = ("DelegateOptions.hpp", "armnn_delegate.hpp")
# Headers that some internal ones do not include themselves.
BEFORE = ("", "#include <armnn/ArmNN.hpp>\n", "#include <armnn/ArmNN.hpp>\n#include <armnn/backends/Workload.hpp>\n")
# Types that a template has when nothing is said.
DEFAULTS = ("std::allocator", "std::less", "std::hash", "std::equal_to", "std::default_delete", "std::char_traits")


def qualified(cursor):
    """A declaration's name with those of the namespaces and classes around it."""
    names = []
    while cursor is not None and cursor.kind != K.TRANSLATION_UNIT:
        inline_std = cursor.spelling.startswith("__") and cursor.kind == K.NAMESPACE
        if cursor.spelling and not inline_std and cursor.kind != K.LINKAGE_SPEC:
            names.append(cursor.spelling)
        cursor = cursor.semantic_parent
    return "::".join(reversed(names))


def text_of(type_):
    """A type with all of its namespaces."""
    kind = type_.kind
    const = "const " if type_.is_const_qualified() else ""
    if kind == T.LVALUEREFERENCE:
        return text_of(type_.get_pointee()) + "&"
    if kind == T.RVALUEREFERENCE:
        return text_of(type_.get_pointee()) + "&&"
    if kind == T.POINTER and type_.get_pointee().kind != T.FUNCTIONPROTO:
        return text_of(type_.get_pointee()) + "*" + (" const" if const else "")
    if kind in (T.CONSTANTARRAY, T.INCOMPLETEARRAY):
        return text_of(type_.element_type) + "[" + (str(type_.element_count) if kind == T.CONSTANTARRAY else "") + "]"
    if kind == T.FUNCTIONPROTO:
        return text_of(type_.get_result()) + "(" + ", ".join(map(text_of, type_.argument_types())) + ")"
    if kind == T.ELABORATED:
        return const + text_of(type_.get_named_type()).removeprefix("const ")
    declaration = type_.get_declaration()
    if declaration.kind in (K.NO_DECL_FOUND, K.TEMPLATE_TEMPLATE_PARAMETER) or declaration.spelling == "":
        return type_.spelling
    name = qualified(declaration)
    if kind != T.TYPEDEF and type_.get_num_template_arguments() > 0:
        arguments = []
        for index in range(type_.get_num_template_arguments()):
            argument = type_.get_template_argument_type(index)
            arguments.append(text_of(argument) if argument.kind != T.INVALID else "?")
        while arguments and arguments[-1].startswith(DEFAULTS):
            arguments.pop()
        if "?" in arguments:
            return type_.spelling
        name += "<" + ", ".join(arguments) + ">"
    return const + name


def has_default(parameter):
    return any(token.spelling == "=" for token in parameter.get_tokens())


def parameters_of(cursor):
    """Types of a function's parameters; of a template the names of its own parameters first."""
    own = [child.spelling or "?" for child in cursor.get_children()
           if child.kind in (K.TEMPLATE_TYPE_PARAMETER, K.TEMPLATE_NON_TYPE_PARAMETER)]
    given = [child for child in cursor.get_children() if child.kind == K.PARM_DECL]
    types = [text_of(child.type) + (" =" if has_default(child) else "") for child in given]
    text = "(" + ", ".join(types) + ")"
    if cursor.kind == K.FUNCTION_TEMPLATE:
        text = "<" + ", ".join(own) + ">" + text
    if cursor.type.is_function_variadic():
        text = text[:-1] + ", ...)"
    return text + (" const" if cursor.is_const_method() else "")


class Census:
    """Rows of one release."""

    def __init__(self, root, search):
        self._root = Path(root).resolve()
        inner = subprocess.run(["g++", "-print-file-name=include"], capture_output=True, text=True, check=True)
        self._folders = [self._root, *(Path(folder).resolve() for folder in search)]
        folders = [str(self._root), *search]
        self._flags = ["-x", "c++", "-std=c++14", *(f"-I{folder}" for folder in folders),
                       "-isystem", inner.stdout.strip()]
        self.rows, self._seen = [], set()

    def read(self, header):
        """Adds what one header declares."""
        options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        for before in BEFORE:  # some of its headers do not compile alone
            source = ("census.cpp", f"{before}#include <{header}>\n")
            unit = cindex.Index.create().parse(source[0], self._flags, unsaved_files=[source], options=options)
            errors = [str(note) for note in unit.diagnostics if note.severity >= cindex.Diagnostic.Error]
            if not errors:
                break
        if errors:
            raise SystemExit(f"census.py: {header} does not compile: {errors[0]}; name the folders of what it includes "
                             "with --search")
        self._header = header
        self._add("header", header, "", "")
        path = next((folder / header for folder in self._folders if (folder / header).exists()), self._root / header)
        undefined = re.findall(r"^\s*#\s*undef\s+(\w+)", path.read_text(encoding="utf-8"), re.M)
        for cursor in unit.cursor.get_children():
            if cursor.location.file is None or Path(cursor.location.file.name).resolve() != path:
                continue
            if cursor.kind == K.MACRO_DEFINITION:
                if cursor.spelling in undefined:
                    continue
                self._add("macro", cursor.spelling, "(…)" if is_function_like(cursor) else "", "")
            else:
                self._visit(cursor)

    def _add(self, kind, name, parameters, type_):
        row = Row(self._header, kind, name, parameters, type_)
        key = (kind.removeprefix("declared "), name, parameters)
        if key not in self._seen:
            self._seen.add(key)
            self.rows.append(row)

    def _visit(self, cursor):
        kind, name = cursor.kind, qualified(cursor)
        if kind in (K.NAMESPACE, K.LINKAGE_SPEC):
            for child in cursor.get_children():
                self._visit(child)
        elif kind in (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE):
            self._class(cursor, name)
        elif kind == K.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION:
            return
        elif kind == K.ENUM_DECL:
            self._add("enum", name, "", text_of(cursor.enum_type) if cursor.enum_type else "")
            for child in cursor.get_children():
                if child.kind == K.ENUM_CONSTANT_DECL:
                    self._add("enumerator", qualified(child), "", str(child.enum_value))
        elif kind in (K.TYPEDEF_DECL, K.TYPE_ALIAS_DECL):
            self._add("alias", name, "", text_of(cursor.underlying_typedef_type))
        elif kind == K.TYPE_ALIAS_TEMPLATE_DECL:
            self._add("alias template", name, "", "")
        elif kind == K.NAMESPACE_ALIAS:
            self._add("namespace", name, "", "")
        elif kind == K.VAR_DECL:
            self._add("constant", name, "", text_of(cursor.type))
        elif kind == K.FUNCTION_DECL and qualified(cursor.semantic_parent) != "std":
            self._add("function", name, parameters_of(cursor), text_of(cursor.result_type))
        elif kind == K.FUNCTION_TEMPLATE:
            self._add("function template", name, parameters_of(cursor), cursor.result_type.spelling)

    def _class(self, cursor, name):
        if name.startswith("std::") or not cursor.spelling:
            return
        kind = {K.CLASS_DECL: "class", K.STRUCT_DECL: "struct", K.CLASS_TEMPLATE: "class template"}[cursor.kind]
        if cursor.type.get_num_template_arguments() > 0 and cursor.kind != K.CLASS_TEMPLATE:
            return  # a specialization: a name of the template
        if not cursor.is_definition():
            self._add(f"declared {kind}", name, "", "")
            return
        if ("declared " + kind, name) in {(row.kind, row.name) for row in self.rows}:
            self.rows = [row for row in self.rows if (row.kind, row.name) != ("declared " + kind, name)]
            self._seen.discard((kind, name, ""))
        self._add(kind, name, "", "")
        for child in cursor.get_children():
            access = child.access_specifier
            if access == A.PRIVATE or not child.spelling:
                continue
            self._member(child, name, "protected " if access == A.PROTECTED else "", cursor)

    def _member(self, child, owner, access, cursor):
        name = f"{owner}::{child.spelling}"
        if child.kind == K.FIELD_DECL:
            self._add(f"{access}field", name, "", text_of(child.type))
        elif child.kind == K.VAR_DECL:
            self._add(f"{access}constant", name, "", text_of(child.type))
        elif child.kind in (K.CXX_METHOD, K.CONVERSION_FUNCTION) and not is_deleted(child):
            kind = "static method" if child.is_static_method() else "method"
            if is_virtual(child):
                kind = "virtual method"
            self._add(access + kind, name, parameters_of(child), text_of(child.result_type))
        elif child.kind == K.CONSTRUCTOR and not is_deleted(child):
            if not access:
                simple = child.spelling.split("<")[0]
                self._add("constructor", f"{owner}::{simple}", parameters_of(child), "")
        elif child.kind == K.FUNCTION_TEMPLATE:
            if child.spelling.split("<")[0] == cursor.spelling:
                self._add("constructor template", f"{owner}::{cursor.spelling}", parameters_of(child), "")
            else:
                self._add(f"{access}method template", name, parameters_of(child), child.result_type.spelling)
        elif not access and child.kind in (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE, K.ENUM_DECL, K.TYPEDEF_DECL,
                                           K.TYPE_ALIAS_DECL, K.TYPE_ALIAS_TEMPLATE_DECL):
            self._visit(child)


def is_function_like(cursor):
    tokens = list(cursor.get_tokens())[:2]
    return len(tokens) == 2 and tokens[1].spelling == "(" and \
        tokens[1].extent.start.offset == tokens[0].extent.end.offset


def is_deleted(cursor):
    return cursor.is_deleted_method() if hasattr(cursor, "is_deleted_method") else cursor.availability == \
        cindex.AvailabilityKind.NOT_AVAILABLE


def is_virtual(cursor):
    return cursor.is_virtual_method()


def main():
    parser = argparse.ArgumentParser(description="The public names of Arm NN, from its headers.")
    parser.add_argument("--root", type=Path, required=True, metavar="INCLUDE")
    parser.add_argument("--search", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--write", type=Path, default=Path(__file__).with_name("names.tsv"), metavar="FILE")
    arguments = parser.parse_args()
    headers = sorted(str(path.relative_to(arguments.root)) for folder in FOLDERS
                     for path in (arguments.root / folder).rglob("*.hpp"))
    if not headers:
        raise SystemExit(f"census.py: {arguments.root} has no headers of Arm NN; name the folder `include` of its "
                         "sources")
    census = Census(arguments.root, arguments.search)
    further = [*INTERNAL, *DELEGATE]
    for header in [*headers, *further]:
        census.read(header)
    rows = sorted(census.rows, key=lambda row: row.header)  # stable: names of a header stay in its order
    arguments.write.write_text("\n".join([HEAD, *("\t".join(row) for row in rows)]) + "\n", encoding="utf-8")
    print(f"{len(rows)} names of {len(headers) + len(further)} headers")


if __name__ == "__main__":
    try:
        from clang import cindex
    except ImportError:
        sys.exit("census.py: the Python package libclang is not installed; see the top of this file")
    K, T, A = cindex.CursorKind, cindex.TypeKind, cindex.AccessSpecifier
    main()
