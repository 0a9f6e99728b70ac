#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells which operators of models the delegate takes, by the table that it writes to the log: nodes, those taken, and the
reasons of the others.

usage: taken.py [--backends CpuAcc,CpuRef] [--older-versions] [--write docs/delegate.md] MODEL.tflite|CASES.zip ...

  --older-versions  see versions.py
  --write           puts the table between the two lines of the document that say "taken: begin" and "taken: end"

Models are loaded in ai-edge-litert, not run. Those that it refuses also without the delegate are counted apart.
"""

import argparse
import collections
import os
import pathlib
import re
import sys
import zipfile

from runtime import interpreter, load, one_line

SUMMARY = re.compile(r"TenonDelegate: (\d+) of (\d+) nodes run on ")
PARTITION = re.compile(r"  partition +\d+ +\d+ nodes  (.*)")
LEFT = re.compile(r"  +(\d+) x ([^:]+): (.*) \(nodes? [\d, ]+\)")
BEGIN, END = "<!-- taken: begin -->", "<!-- taken: end -->"


class Counts:
    def __init__(self):
        self.taken = collections.Counter()
        self.left = collections.defaultdict(collections.Counter)  # reasons by operator
        self.models = 0
        self.refused = []

    def add_log(self, text):
        """The tables of one model's graphs."""
        nodes = taken = 0
        for line in text.splitlines():
            if found := SUMMARY.search(line):
                taken += int(found[1])
                nodes += int(found[2])
            elif found := PARTITION.fullmatch(line):
                for entry in found[1].split(", "):
                    name, _, times = entry.partition(" x")
                    self.taken[name] += int(times or 1)
                    taken -= int(times or 1)
                    nodes -= int(times or 1)
            elif found := LEFT.fullmatch(line):
                self.left[found[2]][found[3]] += int(found[1])
                nodes -= int(found[1])
        assert nodes == taken == 0, text

    def table(self):
        lines = ["| operator | nodes | taken | left, and why |", "| --- | ---: | ---: | --- |"]
        for name in sorted(self.taken.keys() | self.left.keys()):
            reasons = self.left[name]
            texts = [f"{count} x {reason}" for reason, count in reasons.most_common(3)]
            if len(reasons) > 3:
                texts.append(f"{sum(reasons.values()) - sum(n for _, n in reasons.most_common(3))} for other reasons")
            why = "; ".join(texts).replace("|", "\\|")
            lines.append(f"| {name} | {self.taken[name] + sum(reasons.values())} | {self.taken[name]} | {why} |")
        taken = sum(self.taken.values())
        nodes = taken + sum(sum(reasons.values()) for reasons in self.left.values())
        lines.append(f"| all | {nodes} | {taken} | |")
        return lines


def log_of(function):
    """What is written to standard error meanwhile, also by libraries."""
    sys.stderr.flush()
    kept = os.dup(2)
    with os.fdopen(os.memfd_create("log"), "w+b") as file:
        os.dup2(file.fileno(), 2)
        try:
            function()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        return file.read().decode()


def contents(paths):
    """Names and bytes of all models."""
    for path in paths:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as cases:
                for name in sorted(cases.namelist()):
                    if name.endswith(".tflite"):
                        yield f"{path.name}/{name}", cases.read(name)
        else:
            yield path.name, path.read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backends", default="CpuAcc,CpuRef")
    parser.add_argument("--older-versions", action="store_true")
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    delegate = load(backends=given.backends, logging_severity="info")
    counts = Counts()
    for name, content in contents(given.models):
        try:
            log_of(lambda content=content: interpreter(content, older_versions=given.older_versions))
        except (RuntimeError, ValueError) as error:
            counts.refused.append(f"{name}: {one_line(error)}")
            continue
        counts.add_log(
            log_of(lambda content=content: interpreter(content, delegate, older_versions=given.older_versions))
        )
        counts.models += 1
    lines = counts.table()
    heading = f"Nodes of {counts.models} models; TensorFlow Lite refuses {len(counts.refused)} more."
    print("\n".join([*counts.refused, "", heading, "", *lines]))
    if given.write:
        before, rest = given.write.read_text().split(BEGIN)
        _, after = rest.split(END)
        text = "\n".join([BEGIN, heading, "", *lines, END])
        given.write.write_text(before + text + after)


if __name__ == "__main__":
    main()
