#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/c-api.md: the reference of the C interface, from include/tenon/c/tenon.h.

usage: document_c_api.py (--write | --check) FILE [--header FILE]

The header's declarations and comments become the page, and so do the types of include/tenon/backend/plugin.h that it
uses. Fails (status 1) where a declaration, a member of a struct or an enumerator has no comment, or a comment names
what does not exist; --check also where FILE is not what would be written. It uses libclang, which the environment of
scripts/test_python.sh has:

    build/venv-tests/bin/python scripts/document_c_api.py --write docs/c-api.md

The first comment of a header is its licence, the second one is about the whole header. How another one belongs to a
declaration: it ends in the line above, of a macro also above the conditions that choose its value, or begins in the
declaration's last line. Others stand between declarations; "---- Title ----" begins a section. In a comment, an empty
line begins a paragraph, "- " an item of a list, and an indented word with two spaces after it a defined term.
"""

import argparse
import re
import sys
from collections import namedtuple
from pathlib import Path

from pages import PATH, QUOTED, ROOT, Failure, code, contents, heading, link, path_link, run_document

HEADER = ROOT / "include/tenon/c/tenon.h"
COMMAND = "build/venv-tests/bin/python scripts/document_c_api.py --write docs/c-api.md"
WIDTH = 100  # of a signature in one line

# The C library's headers as far as a signature shows them: the page does not depend on the machine that writes it.
STANDARD = {
    "stddef.h": "typedef unsigned long size_t;\n#define NULL ((void*)0)\n",
    "stdint.h": "".join(
        f"typedef {kind} int{bits}_t;\ntypedef unsigned {kind} uint{bits}_t;\n"
        for kind, bits in (("char", 8), ("short", 16), ("int", 32), ("long", 64))
    )
    + "#define UINT32_MAX 0xFFFFFFFFU\n#define SIZE_MAX 0xFFFFFFFFFFFFFFFFUL\n",
}
# Macros that have no place in the page, and those that functions are shown without.
NOT_SHOWN = ("TENON_C_API", "TENON_EXTERN_C")
NOT_IN_FUNCTIONS = (*NOT_SHOWN, "TENON_CALL")
# Variables of the environment that comments name.
ENVIRONMENT = ("TENON_FORCE_ISA",)

Comment = namedtuple("Comment", "first last is_alone lines")  # lines: (indentation, text)
Item = namedtuple("Item", "name kind first last code comment members")
# value: of an enumerator; note: a comment above it, on it and those that follow
Member = namedtuple("Member", "name value comment note")

HEAD = f"""# Reference of the C interface

Generated from [tenon.h](../include/tenon/c/tenon.h); write it anew, in the environment that
`scripts/test_python.sh` makes, with

    {COMMAND}

[c.md](c.md) leads through the interface with a program that runs.
"""
SHARED = """## Types that plugins share

The types of [plugin.h](../include/tenon/backend/plugin.h), the interface of backends in shared objects, that the
functions above take or give."""


class Header:
    """The declarations of one header, with their comments."""

    def __init__(self, path, cursors, tokens):
        self.path = path
        self._source = path.read_text(encoding="utf-8").split("\n")
        self._comments = [self._comment(token) for token in tokens if token.kind.name == "COMMENT"]
        self._ranges = [self._range(token) for token in tokens if token.kind.name == "COMMENT"]
        self._used = set()
        self.head = self._comments[1].lines if len(self._comments) > 1 else []
        self._used.update((0, 1))
        guard = re.search(r"#ifndef (\w+)", "\n".join(self._source))
        self.items = self._items([cursor for cursor in cursors if cursor.spelling != (guard and guard[1])])
        # Sections and what else stands between declarations.
        self.between = [comment for i, comment in enumerate(self._comments) if i not in self._used and comment.is_alone]

    def _range(self, token):
        begin, end = token.extent.start, token.extent.end
        return begin.line - 1, begin.column - 1, end.line - 1, end.column - 1

    def _comment(self, token):
        first, column, last, _ = self._range(token)
        body = token.spelling[2:-2]
        lines = []
        for number, line in enumerate(body.split("\n")):
            if number == 0:
                text = line.strip()
                lines.append((0, text))
                continue
            starred = re.match(r"\s*\* ?(.*)", line)
            text = starred[1] if starred else line[column + 3 :] if not line[: column + 3].strip() else line.lstrip()
            lines.append((len(text) - len(text.lstrip()), text.strip()))
        while lines and not lines[-1][1]:
            lines.pop()
        return Comment(first, last, not self._source[first][:column].strip(), lines)

    def _take_both(self, cursor):
        """The comments above and behind a declaration, each or nothing."""
        first, last = cursor.extent.start.line - 1, cursor.extent.end.line - 1
        if cursor.kind.name == "MACRO_DEFINITION":  # one of several definitions
            while re.match(rf"#\s*(if|el|define {cursor.spelling}\b)", self._source[first - 1]):
                first -= 1
        above = behind = None
        for i, comment in enumerate(self._comments):
            if comment.is_alone and comment.last == first - 1 and not section_of(comment):
                above = comment.lines
            elif not comment.is_alone and comment.first == last:
                behind = comment.lines
            else:
                continue
            self._used.add(i)
        return above, behind

    def _take(self, cursor):
        """The comment of a declaration, or nothing."""
        above, behind = self._take_both(cursor)
        return above or behind

    def _member(self, cursor):
        above, behind = self._take_both(cursor)
        value = str(cursor.enum_value) if cursor.kind.name == "ENUM_CONSTANT_DECL" else None
        return Member(cursor.spelling, value, behind or above, above if behind else None)

    def _code(self, cursor):
        """The text of a declaration without its comments."""
        begin, end = cursor.extent.start, cursor.extent.end
        lines = [list(line) for line in self._source]
        for first, column, last, end_column in self._ranges:
            for line in range(first, last + 1):
                a, b = column if line == first else 0, end_column if line == last else len(lines[line])
                lines[line][a:b] = " " * (b - a)
        text = "\n".join("".join(line) for line in lines[begin.line - 1 : end.line])
        kept = [line.rstrip() for line in text.split("\n")]
        return "\n".join(line for line in kept if line)

    def _items(self, cursors):
        items, structs = [], {}
        for cursor in cursors:
            first, last = cursor.extent.start.line - 1, cursor.extent.end.line - 1
            kind, name = cursor.kind.name, cursor.spelling
            if kind == "MACRO_DEFINITION":
                if name not in NOT_SHOWN:
                    items.append(Item(name, "macro", first, last, self._code(cursor), self._take(cursor), []))
            elif kind == "FUNCTION_DECL":
                text = re.sub(rf"\b({'|'.join(NOT_IN_FUNCTIONS)})\b", "", self._code(cursor))
                items.append(Item(name, "function", first, last, wrapped(text), self._take(cursor), []))
            elif (
                kind == "TYPEDEF_DECL" and last > first and cursor.underlying_typedef_type.spelling == f"struct {name}"
            ):
                structs[name] = cursor  # typedef struct {...} name;
            elif kind == "STRUCT_DECL" and cursor.is_definition():
                struct, cursor = cursor, structs.get(name, cursor)
                last = cursor.extent.end.line - 1
                fields = [field for field in struct.get_children() if field.kind.name == "FIELD_DECL"]
                members = [self._member(field) for field in fields]
                items.append(Item(name, "struct", first, last, self._code(cursor), self._take(cursor), members))
            elif kind == "ENUM_DECL" and items and items[-1].last == first - 1:
                members = [self._member(value) for value in cursor.get_children()]
                items[-1] = items[-1]._replace(kind="enumeration", last=last, members=members)
            elif kind == "TYPEDEF_DECL":
                kind = "handle" if re.match(r"typedef struct \w+ \w+;", self._source[first]) else "type"
                items.append(Item(name, kind, first, last, wrapped(self._code(cursor)), self._take(cursor), []))
        defined = {item.name for item in items if item.kind == "struct"}
        return [item for item in items if item.kind != "handle" or item.name not in defined]


def section_of(comment):
    """The title of the section that a comment begins, or nothing."""
    match = re.fullmatch(r"-{4} (.*) -{4}", comment.lines[0][1]) if len(comment.lines) == 1 else None
    return match and match[1]


def wrapped(text):
    """A declaration of a function or a type, in one line or with a line for each parameter."""
    text = re.sub(r"\s+", " ", text).strip().rstrip(";") + ";"
    match = re.fullmatch(r"(typedef .*?\([^()]*\*\s*\w+\)|.*?\w)\((.*)\);", text)
    if len(text) <= WIDTH or not match:
        return text
    parameters, depth = [""], 0
    for character in match[2]:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parameters.append("")
        else:
            parameters[-1] += character
    return f"{match[1]}(\n    " + ",\n    ".join(parameter.strip() for parameter in parameters) + ");"


def parse(path):
    """The header and plugin.h."""
    try:
        from clang import cindex
    except ImportError as error:
        raise Failure("needs libclang: pip install libclang") from error

    include = ROOT / "include"
    folder = Path("/standard")
    files = [(str(folder / name), text) for name, text in STANDARD.items()]
    unit = cindex.Index.create().parse(
        str(path),
        ["-x", "c", "-std=c99", "-nostdinc", f"-isystem{folder}", f"-I{include}", "-target", "x86_64-linux-gnu"],
        unsaved_files=files,
        options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD,
    )
    errors = [str(note) for note in unit.diagnostics if note.severity >= cindex.Diagnostic.Error]
    if errors:
        raise Failure("\n".join(errors))
    headers = []
    for name in (path, include / "tenon/backend/plugin.h"):
        file = unit.get_file(str(name))
        if file is None:
            continue
        end = len(name.read_bytes())
        extent = cindex.SourceRange.from_locations(
            cindex.SourceLocation.from_offset(unit, file, 0), cindex.SourceLocation.from_offset(unit, file, end)
        )
        cursors = [
            cursor
            for cursor in unit.cursor.get_children()
            if cursor.location.file is not None and cursor.location.file.name == str(name)
        ]
        cursors.sort(key=lambda cursor: cursor.extent.start.offset)
        headers.append(Header(name, cursors, list(unit.get_tokens(extent=extent))))
    return headers


def words(text):
    return set(re.findall(r"\b[A-Za-z_]\w+\b", text))


def texts_of(item):
    """All that is said about a declaration."""
    comments = [item.comment or [], *(member.comment or [] for member in item.members)]
    return " ".join(text for lines in comments for _, text in lines)


def shared_items(own, other):
    """Declarations of plugin.h that those of the header use, and those that these use."""
    by_name = {item.name: item for item in other.items}
    used = set()
    comments = " ".join(text for comment in own.between for _, text in comment.lines)
    waiting = words(" ".join(item.code + " " + texts_of(item) for item in own.items) + comments) & set(by_name)
    while waiting:
        item = by_name[waiting.pop()]
        used.add(item.name)
        macros = {name for name in words(texts_of(item)) & set(by_name) if by_name[name].kind == "macro"}
        waiting |= (words(item.code) & set(by_name) | macros) - used
    return [item for item in other.items if item.name in used]


def names_of(item):
    """Names that a comment may refer to a declaration by."""
    members = [member.name for member in item.members]
    return [item.name, *(members if item.kind == "enumeration" else [f"{item.name}::{name}" for name in members])]


class Page:
    """Turns comments to Markdown."""

    def __init__(self, headers, shown):
        self._links = {name: item.name for item in shown for name in names_of(item)}
        self._declared = {name for header in headers for item in header.items for name in names_of(item)}
        self._declared.update(NOT_SHOWN, ENVIRONMENT)
        self.unknown = []

    def name(self, text):
        """A name in a text, as a link if the page has it."""
        name = re.match(r"\w*(?:::\w+)?", text)[0]
        if re.fullmatch(r"(tenon|TENON)_\w+(::\w+)?", text) and name not in self._declared:
            self.unknown.append(text)
        return link(text, self._links[name]) if name in self._links else code(text)

    def inline(self, text):
        """A sentence: names and code become code and links."""
        result, at = [], 0
        pattern = re.compile(
            r"`(?P<code>[^`]+)`"
            r'|(?P<json>\[?\{")'
            rf"|(?P<path>{PATH})|(?P<quoted>{QUOTED})"
            r"|(?P<name>(?<![\w<])(?:\*\w+(?:\.\w+)?|\w+->\w+|m_\b|[A-Za-z]*_[\w<>]+(?:::\w+)?(?:\(\)|\[\w+\])?))"
            r"|(?P<mark>[*<>\[\]|\\])"
        )
        while match := pattern.search(text, at):
            result.append(text[at : match.start()])
            at = match.end()
            if match["code"]:
                result.append(self.name(match["code"]))
            elif match["json"]:
                at = balanced_end(text, match.start())
                result.append(code(text[match.start() : at]))
            elif match["path"]:
                result.append(path_link(match["path"]))
            elif match["quoted"]:
                result.append(code(match["quoted"]))
            elif match["name"]:
                result.append(self.name(match["name"]))
            else:
                result.append("\\" + match["mark"])
        return "".join(result) + text[at:]

    def blocks(self, lines):
        """Paragraphs and lists of a comment, each a text with its indentation."""
        blocks, is_new = [], True
        for indentation, text in lines:
            term = re.fullmatch(r"(\S+(?:, \S+)*)\s{2,}(\S.*)", text) if indentation >= 2 else None
            if not text:
                is_new = True
            elif text.startswith("- "):
                blocks.append(["- ", text[2:]])
                is_new = False
            elif term:
                names = ", ".join(code(name) for name in term[1].split(", "))
                blocks.append(["- ", f"{names}: {term[2]}"])
                is_new = False
            elif is_new or (blocks[-1][0] and indentation == 0):
                blocks.append(["", text])
                is_new = False
            else:
                blocks[-1][1] += " " + text
        return [(mark, self.inline(text)) for mark, text in blocks]

    def text(self, lines, indentation=""):
        """A comment as Markdown."""
        result, before = [], ""
        for mark, text in self.blocks(lines):
            if result and not (mark and before):
                result.append("")
            result.append(f"{indentation}{mark}{text}")
            before = mark
        return result

    def member(self, item, member):
        """A line on a member of a struct."""
        comment = member.comment
        counted = member.name.removeprefix("num_")
        if comment is None and member.name == "struct_size":
            return [f"- `struct_size`: `sizeof({item.name})`"]
        if comment is None and counted != member.name and any(other.name == counted for other in item.members):
            return [f"- `{member.name}`: the number of `{counted}`"]
        text = self.text(comment, "  ")
        note = ["", *self.text(member.note), ""] if member.note else []
        return [*note, f"- `{member.name}`: {text[0].lstrip()}", *text[1:]]

    def item(self, item):
        text = self.text(item.comment)
        text[0] = text[0][0].upper() + text[0][1:]
        if len(text) == 1 and text[0][-1] not in ".:":
            text[0] += "."
        lines = [heading(item.name, 3), "", "```c", item.code, "```", "", *text, ""]
        if item.kind == "struct":
            for member in item.members:
                lines += self.member(item, member)
            lines.append("")
        elif item.kind == "enumeration":
            lines += ["| Name | Value | |", "|---|---|---|"]
            for member in item.members:
                note, text = (
                    " ".join(text for _, text in self.blocks(part or [])) for part in (member.note, member.comment)
                )
                lines += [f"| | | {note} |"] if note else []
                lines.append(f"| `{member.name}` | {member.value} | {text} |")
            lines.append("")
        return lines


def balanced_end(text, begin):
    """Where the brackets that begin at `begin` are closed."""
    depth = 0
    for i in range(begin, len(text)):
        depth += (text[i] in "[{") - (text[i] in "]}")
        if depth == 0:
            return i + 1
    raise Failure(f"a bracket is not closed: {text[begin:]}")


def without_comment(item):
    """Names of an item that lack a comment."""
    missing = [] if item.comment else [item.name]
    names = {member.name for member in item.members}
    for member in item.members:
        is_plain = member.name == "struct_size" or (
            member.name.startswith("num_") and member.name.removeprefix("num_") in names
        )
        if not member.comment and not (item.kind == "struct" and is_plain):
            missing.append(f"{item.name}::{member.name}")
    return missing


def document(header=HEADER):
    """The text of the page."""
    if not header.is_file():
        raise Failure(f"there is no header '{header}'")
    headers = parse(header)
    own = headers[0]
    shared = shared_items(own, headers[1]) if len(headers) > 1 else []
    missing = [name for item in (*own.items, *shared) for name in without_comment(item)]
    if missing:
        raise Failure("without a comment: " + ", ".join(missing))
    page = Page(headers, [*own.items, *shared])

    sections = [(section_of(comment), comment.last) for comment in own.between if section_of(comment)]
    if not sections or (own.items and own.items[0].first < sections[0][1]):
        raise Failure(f"{own.path}: a declaration stands before the first section, /* ---- Title ---- */")
    lines = [HEAD]
    body = []
    toc = []
    for number, (title, begin) in enumerate(sections):
        end = sections[number + 1][1] if number + 1 < len(sections) else len(own.path.read_text().split("\n"))
        parts = [(item.first, item) for item in own.items if begin < item.first < end]
        toc.append(contents(title, [item.name for _, item in parts]))
        parts += [(note.first, note) for note in own.between if begin < note.first < end and not section_of(note)]
        body += [f"## {title}", ""]
        for _, part in sorted(parts, key=lambda part: part[0]):
            body += page.item(part) if isinstance(part, Item) else [*page.text(part.lines), ""]
    if shared:
        toc.append(contents("Types that plugins share", [item.name for item in shared]))
        body += [SHARED, ""]
        for item in shared:
            body += page.item(item)

    for line in page.text(own.head):
        lines.append(re.sub(r"^([A-Z]\w+)\. ", r"**\1.** ", line))
    text = "\n".join([*lines, "", "## Contents", "", *toc, "", *body]).rstrip() + "\n"
    if page.unknown:
        raise Failure("comments name what does not exist: " + ", ".join(page.unknown))
    return text


def main():
    parser = argparse.ArgumentParser(description="docs/c-api.md, from the header of the C interface.")
    parser.add_argument("--header", type=Path, default=HEADER, metavar="FILE")
    return run_document(parser, lambda arguments: document(arguments.header.resolve()), COMMAND)


if __name__ == "__main__":
    sys.exit(main())
