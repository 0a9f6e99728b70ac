# SPDX-License-Identifier: Apache-2.0
"""The place of a program's table in a document that people or another program write: between two comments, which name
the program. Used by python_peers.py, delegate.py and batches.py."""


class Place:
    def __init__(self, program):
        self.begin = f"<!-- {program} writes the lines from here -->"
        self.end = f"<!-- {program} writes the lines to here -->"

    def lines(self, text):
        """Those between the two comments of a document."""
        return text[text.index(self.begin) : text.index(self.end)].splitlines()[1:]

    def replace(self, text, new, name):
        """The document with other lines between the two comments."""
        if text.count(self.begin) != 1 or text.count(self.end) != 1 or text.index(self.begin) > text.index(self.end):
            raise ValueError(f"{name}: needs these two lines, once and in this order: {self.begin} and {self.end}")
        head = text[: text.index(self.begin) + len(self.begin)]
        return f"{head}\n\n{new.strip()}\n\n" + text[text.index(self.end) :]

    def cut_out(self, path):
        """The place as it is in the document, for one that will stand there instead; empty where it is not."""
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        return f"\n{self.begin}{text.partition(self.begin)[2].partition(self.end)[0]}{self.end}\n" \
            if self.begin in text and self.end in text else ""

    def fill(self, path, new):
        """Writes these lines into the file. None: looks only whether there is a place for them."""
        text = self.replace(path.read_text(encoding="utf-8"), new or "", path)
        if new is not None:
            path.write_text(text, encoding="utf-8")
