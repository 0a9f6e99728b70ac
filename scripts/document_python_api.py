#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/python-api.md: the reference of the Python package, from the docstrings and annotations of python/tenon.

usage: document_python_api.py (--write | --check) FILE [--package FOLDER]

Fails (status 1) where a public name has no docstring, a docstring describes other parameters than the signature has, or
refers to a name that does not exist; --check also where FILE is not what would be written. It reads the sources by
griffe, which the environment of scripts/test_python.sh has; the package is not imported and needs no library:

    build/venv-tests/bin/python scripts/document_python_api.py --write docs/python-api.md

Docstrings are of Google's style. In them ``code`` is code, `name` a parameter, and :class:`tenon.Model` a link; members
of the same class are named without it. A function whose parameters are not listed speaks of its arguments in the text.
"""

import argparse
import logging
import re
import sys
import textwrap
from pathlib import Path

from pages import PATH, QUOTED, ROOT, Failure, code, contents, heading, link, path_link, run_document

PACKAGE = ROOT / "python/tenon"
COMMAND = "build/venv-tests/bin/python scripts/document_python_api.py --write docs/python-api.md"
WIDTH = 100  # of a signature in one line

# Which name is in which section of the page. Each public name is in one.
SECTIONS = {
    "Models": ("Model", "Session", "Bound", "Cancellation"),
    "Tensors": ("TensorInfo", "Quantization", "TensorMetadata"),
    "Networks": ("Network", "Value", "Shape"),
    "Operators": ("Operator", "Layer"),
    "Runtimes": ("Runtime", "default_runtime"),
    "TensorFlow Lite": ("delegate_path",),
    "Exceptions": ("errors",),
    "Enumerations": ("enums",),
}
TYPES = "Types in signatures"

HEAD = f"""# Reference of the Python package

Generated from [the package](../python/tenon); write it anew, in the environment that
`scripts/test_python.sh` makes, with

    {COMMAND}

[python.md](python.md) leads through the package with examples.
"""


def is_public(name):
    return not name.startswith("_") and name != "TYPE_CHECKING"


def is_field(member):
    """Whether a member of a class is an attribute that is no property."""
    return member.is_attribute and "property" not in member.labels


def target_of(item):
    return item.final_target if item.is_alias else item


def in_one_line(text):
    return " ".join(text.split())


def parameters_of(function):
    return [parameter for parameter in function.parameters if parameter.name not in ("self", "cls")]


class Page:
    """The page of one package."""

    def __init__(self, package):
        self._package = package
        self._problems = []
        self._sections = self._find_sections()
        self._shown = {item.path for _, _, objects in self._sections for item in objects}
        self._headings = self._find_headings()  # of all names that a docstring may refer to
        self._described = {}  # headings of members that are described already, by their paths
        self._aliases = {}  # types in signatures that the package defines, by their names

    def text(self):
        lines, toc = [], []
        for title, text, objects in self._sections:
            toc.append(contents(title, map(self._title, objects)))
            lines += [f"## {title}", "", *self._text(text, title)]
            for item in objects:
                lines += self._object(item, title)
        if self._aliases:
            aliases = [self._aliases[name] for name in sorted(self._aliases)]
            toc.append(contents(TYPES, [item.name for item in aliases]))
            lines += [f"## {TYPES}", ""]
            for item in aliases:
                lines += self._begin(item.name, f"{item.name} = {item.value}") + self._description(item)
        head = [HEAD, *self._description(self._package), *self._field(self._package.members["__version__"]), ""]
        if self._problems:
            raise Failure("\n".join(self._problems))
        return "\n".join([*head, "## Contents", "", *toc, "", *lines]).rstrip() + "\n"

    # What there is.

    def _find_sections(self):
        """(title, text below it, classes and functions) of each section."""
        exported = set(self._package.exports or ())
        missing = exported - {name for names in SECTIONS.values() for name in names}
        sections = []
        for title, names in SECTIONS.items():
            text, objects = "", []
            for name in sorted(exported & set(names), key=names.index):
                item = target_of(self._package[name])
                if item.is_module:
                    text = self._docstring(item)
                    objects += [part for part in item.members.values() if is_public(part.name) and not part.is_alias]
                else:
                    objects.append(item)
            missing -= {item.name for item in objects}
            if objects:
                sections.append((title, text, objects))
        if missing:
            raise Failure(f"SECTIONS has no place for {', '.join(sorted(missing))}")
        return sections

    def _find_headings(self):
        headings = {"enums": "Enumerations", "errors": "Exceptions"}
        for _, _, objects in self._sections:
            for item in objects:
                headings[item.name] = headings[self._title(item)] = self._title(item)
                for member, _ in self._members(item) if item.is_class else ():
                    name = f"{item.name}.{member.name}"
                    headings[name] = item.name if is_field(member) else name
        return headings

    def _title(self, item):
        """A name as users write it behind `tenon.`."""
        return f"enums.{item.name}" if item.parent.name == "enums" else item.name

    def _members(self, item):
        """Public members of a class and of its bases that are not public: (member, whether it is a base's)."""
        members = {}
        for base in reversed(item.mro()):
            if base.path not in self._shown:
                members.update({name: (member, True) for name, member in base.members.items()})
        members.update({name: (member, False) for name, member in item.members.items()})
        return [
            (member, is_of_base)
            for name, (member, is_of_base) in members.items()
            if is_public(name) or (name.startswith("__") and name != "__init__" and member.docstring is not None)
        ]

    # Docstrings.

    def _docstring(self, item):
        text = item.docstring.value.strip() if item.docstring is not None else ""
        if not text:
            self._problems.append(f"{item.path} has no docstring")
        return text

    def _name(self, name, place):
        """A link to a name that a docstring refers to."""
        name = name.removeprefix("tenon.")
        in_class = f"{place.split('.')[-2]}.{name}" if "." in place else name
        found = next((known for known in (name, in_class) if known in self._headings), None)
        if found is None:
            self._problems.append(f"{place} refers to '{name}', which does not exist")
            return code(name)
        return link(found, self._headings[found])

    def _error(self, name):
        return link(name, self._headings[name]) if name in self._headings else code(name)

    def _inline(self, text, place):
        """A text of a docstring as Markdown."""
        text = in_one_line(text)
        result, at = [], 0
        pattern = re.compile(
            r":(?:class|func|meth|attr|mod|exc):`(?P<target>[^`]+)`"
            r"|``(?P<code>[^`]+)``"
            r"|`(?P<name>[^`]+)`"
            rf"|(?P<path>{PATH})|(?P<quoted>{QUOTED})"
            r"|(?<![\w.*])(?P<error>[A-Z]\w+Error)\b"
            r"|(?<!\w)(?P<word>[a-z]\w*_\w+)\b"
            r"|(?P<mark>[*<>\[\]|\\])"
        )
        while match := pattern.search(text, at):
            result.append(text[at : match.start()])
            at = match.end()
            if match["target"]:
                result.append(self._name(match["target"], place))
            elif match["path"]:
                result.append(path_link(match["path"]))
            elif match["error"]:
                result.append(self._error(match["error"]))
            elif match["mark"]:
                result.append("\\" + match["mark"])
            else:
                result.append(code(match["code"] or match["name"] or match["quoted"] or match["word"]))
        return "".join(result) + text[at:]

    def _text(self, text, place):
        """Paragraphs; indented ones are code."""
        lines = []
        for paragraph in re.split(r"\n\s*\n", text) if text else ():
            if paragraph.startswith("    "):
                lines += ["```python", *textwrap.dedent(paragraph).splitlines(), "```", ""]
            else:
                lines += [self._inline(paragraph, place), ""]
        return lines

    def _description(self, item, parameters=()):
        """A docstring as Markdown."""
        text = self._docstring(item)
        if not text:
            return []
        lines, is_listed = [], "rguments" in text
        for section in item.docstring.parse("google", warnings=False, returns_named_value=False):
            kind = section.kind.value
            if kind == "text":
                lines += self._text(section.value, item.path)
            elif kind == "returns":
                # griffe takes what is before a colon for a type.
                returned = re.search(r"^Returns:\n +((?:.+\n?)+)", text, re.M)
                lines += [f"Returns: {self._inline(returned[1][0].lower() + returned[1][1:], item.path)}", ""]
            elif kind in ("parameters", "attributes", "raises"):
                lines += [{"parameters": "Parameters:", "attributes": "Attributes:", "raises": "Raises:"}[kind], ""]
                for entry in section.value:
                    lines.append(f"- {self._entry(kind, entry)}: {self._inline(entry.description, item.path)}")
                lines.append("")
            else:
                self._problems.append(f"{item.path}: '{kind}' is no section of a docstring here")
            if kind == "parameters":
                is_listed = True
                self._compare(item, [entry.name for entry in section.value], parameters)
        if item.is_function and parameters and not is_listed:
            self._problems.append(f"{item.path} does not describe its parameters")
        return lines

    def _entry(self, kind, entry):
        """What an entry of a list is about."""
        if kind == "raises":
            return ", ".join(self._error(name.strip()) for name in str(entry.annotation).strip("()").split(","))
        if kind == "attributes" and entry.annotation is not None:
            self._note_aliases(entry.annotation)
            return code(f"{entry.name}: {entry.annotation}")
        return code(entry.name)

    def _compare(self, item, described, parameters):
        there = [parameter.name for parameter in parameters]
        if sorted(described) != sorted(there):
            self._problems.append(
                f"{item.path} describes the parameters {', '.join(described)}; there are {', '.join(there) or 'none'}"
            )

    # Signatures.

    def _signature(self, name, function, has_result=True):
        """A signature as in Python's source, in one line or with a line for each parameter."""
        parts, before = [], ""
        for parameter in parameters_of(function):
            kind = parameter.kind.value
            if before == "positional-only" and kind != before:
                parts.append("/")
            if kind == "keyword-only" and before not in (kind, "variadic positional"):
                parts.append("*")
            before = kind
            star = {"variadic positional": "*", "variadic keyword": "**"}.get(kind, "")
            text = f"{star}{parameter.name}"
            if parameter.annotation is not None:
                self._note_aliases(parameter.annotation)
                text += f": {parameter.annotation}"
            if parameter.default is not None and not star:
                default = str(parameter.default) or "()"  # griffe writes an empty tuple so
                text += " = " + re.sub(r"^(b?)'([^'\"\\]*)'$", r'\1"\2"', default)
            parts.append(text)
        end = ""
        if has_result and function.returns is not None:
            self._note_aliases(function.returns)
            end = f" -> {function.returns}"
        line = f"{name}({', '.join(parts)}){end}"
        if len(line) <= WIDTH:
            return line
        return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"

    def _note_aliases(self, annotation):
        """Remembers the names of types in an annotation that the package defines."""
        for part in annotation.iterate() if hasattr(annotation, "iterate") else ():
            path = getattr(part, "canonical_path", "")
            if path.startswith(self._package.path + "."):
                item = target_of(self._package[path.removeprefix(self._package.path + ".")])
                if item.is_attribute:
                    self._aliases[item.name] = item

    # Parts of the page.

    def _begin(self, title, declaration, level=3):
        return [heading(title, level), "", "```python", declaration, "```", ""]

    def _object(self, item, section):
        if item.is_function:
            return self._begin(item.name, self._signature(item.name, item)) + self._description(
                item, parameters_of(item)
            )
        if not item.is_class:
            raise Failure(f"{item.path} is neither a class nor a function")
        if section == "Enumerations":
            return self._enumeration(item)
        if section == "Exceptions":
            return self._exception(item)
        return self._class(item)

    def _enumeration(self, item):
        members = [member for member in item.members.values() if is_public(member.name)]
        texts = [self._inline(member.docstring.value, member.path) if member.docstring else "" for member in members]
        lines = [heading(self._title(item), 3), "", *self._description(item)]
        lines += ["| Name | Value | |", "|---|---|---|"] if any(texts) else ["| Name | Value |", "|---|---|"]
        for member, text in zip(members, texts):
            cell = f" {text} |".replace("  ", " ") if any(texts) else ""
            lines.append(f"| `{member.name}` | {member.value} |{cell}")
        return [*lines, ""]

    def _exception(self, item):
        bases = ", ".join(str(base) for base in item.bases)
        lines = self._begin(item.name, f"class {item.name}({bases})") + self._description(item)
        for member, _ in self._members(item):
            value = code(f"{member.name} = {member.value}")
            inherited = any(member.name in base.members for base in item.mro())
            lines += [f"- {value}" if inherited else f"- {value}: {self._inline(self._docstring(member), member.path)}"]
        return [*lines, ""] if lines[-1] else lines

    def _class(self, item):
        init = item.members.get("__init__")
        declaration = f"class {item.name}"
        if init is not None and "Args:" in self._docstring(item):
            declaration = self._signature(declaration, init, has_result=False)
        lines = self._begin(item.name, declaration)
        description = self._description(item, parameters_of(init) if init is not None else ())
        lines += description
        shared, fields, others = [], [], []
        for member, is_of_base in self._members(item):
            title = f"{item.name}.{member.name}"
            if is_of_base and member.path in self._described:
                shared.append((member.name, self._described[member.path]))
                continue
            self._described[member.path] = item.name if is_field(member) else title
            if not is_field(member):
                others += self._method(title, member)
            elif "Attributes:" not in description:
                fields += self._field(member)
        if shared:
            first = shared[0][1].split(".")[0]
            names = ", ".join(link(name, place) for name, place in shared)
            lines += [f"As of {link(first, first)}: {names}.", ""]
        if fields:
            lines += ["Attributes:", "", *fields, ""]
        return lines + others

    def _field(self, member):
        self._note_aliases(member.annotation)
        text = self._inline(self._docstring(member), member.path)
        return [f"- {code(f'{member.name}: {member.annotation}')}: {text}"]

    def _method(self, title, member):
        if member.is_attribute:
            self._note_aliases(member.annotation)
            return self._begin(title, f"{member.name}: {member.annotation}", 4) + self._description(member)
        decorator = next((f"@{kind}\n" for kind in ("classmethod", "staticmethod") if kind in member.labels), "")
        declaration = decorator + self._signature(member.name, member)
        return self._begin(title, declaration, 4) + self._description(member, parameters_of(member))


def document(package=PACKAGE):
    """The text of the page."""
    if not package.is_dir():
        raise Failure(f"there is no folder '{package}'")
    try:
        import griffe
    except ImportError as error:
        raise Failure("needs griffe: pip install griffe") from error

    logging.getLogger("griffe").setLevel(logging.ERROR)
    loaded = griffe.load(package.name, search_paths=[str(package.parent)], resolve_aliases=True, allow_inspection=False)
    return Page(loaded).text()


def main():
    parser = argparse.ArgumentParser(description="docs/python-api.md, from the docstrings of the package.")
    parser.add_argument("--package", type=Path, default=PACKAGE, metavar="FOLDER")
    return run_document(parser, lambda arguments: document(arguments.package.resolve()), COMMAND)


if __name__ == "__main__":
    sys.exit(main())
