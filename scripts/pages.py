# SPDX-License-Identifier: Apache-2.0
"""What the programs that write pages of docs/ share: code, links to headings, --write and --check."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Failure(Exception):
    """What went wrong, for the user."""


def code(text):
    """A code span."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def link_target(title):
    """The fragment of a link to a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def link(name, title):
    """A name that leads to a heading of the page."""
    return f"[{code(name)}](#{link_target(title)})"


# Parts of sentences that are code without marks: files of the public headers, and quoted names.
PATH = r"\b(?:include/)?tenon/[\w/]+(?:\.\w+\b|/)"
QUOTED = r'"[^"\s]*[_<][^"\s]*"'


def path_link(text):
    """A file or folder of the public headers."""
    path = text if text.startswith("include/") else f"include/{text}"
    if not (ROOT / path).exists():
        raise Failure(f"there is no {path}")
    return f"[{text}](../{path.rstrip('/')})"


def heading(name, level):
    """A heading that is a name."""
    return f"{'#' * level} {code(name)}"


def contents(title, names):
    """A line of a table of contents: a section and what is in it."""
    return f"- [{title}](#{link_target(title)}): {', '.join(link(name, name) for name in names)}"


def read_page(path):
    """The text of a page of which a part is written."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot read '{path}': {error.strerror}") from error


def broken_links(text):
    """Links within a page that lead to no heading."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    targets = {link_target(title) for title in re.findall(r"^#+ (.*)$", prose, re.M)}
    return sorted(set(re.findall(r"\]\(#([^)]*)\)", prose)) - targets)


def run_document(parser, make, command):
    """The exit status of a program that writes a page or checks that it is current. `make` gives the page's text for
    the arguments; `command` writes it."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE")
    what.add_argument("--check", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    try:
        text = make(arguments)
        broken = broken_links(text)
        if broken:
            raise Failure("links to no heading: " + ", ".join(broken))
        if arguments.write:
            try:
                arguments.write.write_text(text, encoding="utf-8")
            except OSError as error:
                raise Failure(f"cannot write '{arguments.write}': {error.strerror}") from error
        elif not arguments.check.is_file():
            raise Failure(f"there is no '{arguments.check}'; write it with: {command}")
        elif arguments.check.read_text(encoding="utf-8") != text:
            raise Failure(f"'{arguments.check}' is stale; write it anew with: {command}")
    except Failure as failure:
        print(f"{Path(sys.argv[0]).name}: {failure}", file=sys.stderr)
        return 1
    return 0
