#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Terminal sessions in pages of docs/: runs their commands and writes their output.

usage: document_sessions.py (--write | --check) FILE [--bin FOLDER]
  --bin  the programs; default build/release/bin

A session lies between two marks of FILE: lines "    $ COMMAND", each followed by its output. Commands run one after
another in a folder with the models and labels of samples/digits, and further files that prepare() makes. --check passes
over times, the memory of benchmarks and the number of threads.
"""

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

from pages import ROOT, Failure, read_page, run_document

COMMAND = "cmake --build build/release --target generate_session_docs"
BEGIN = "<!-- session: written by generate_session_docs -->\n"
END = "<!-- end of session -->\n"
INDENT = "    "
PROMPT = INDENT + "$ "
CONTINUATION = "\\"
SECONDS = 60

DIGITS = ROOT / "samples/digits"
CONTAINERS = ROOT / "tests/golden/containers"
SHEET = ROOT / "tests/package/armnn/digits.pgm"  # the first 20 digits of the samples, one below the other
SIDE = 8

# Text with numbers that differ from run to run: a row or more for each page.
VARYING = re.compile("|".join((
    r"\b(?:load|optimize|first inference|min|median|mean|p90|p99|max|std) [\d.]+",
    r"\b\d+ threads\b",
    r"\barena [\d.]+",  # scratch memory of each thread
    r"\b(?:avg|std_dev)=[\d.]+\(us\)",
    r"\b[\d.]+ ms in place of [\d.]+ ms: [\d.]+ times as fast",
    r"^ +(?:count=|Initialized session|Inference timings|Peak memory footprint).*",
    r"^ +[a-z0-9 ]+(?:, (?:ms|MB)|inferences(?: per second)?) +[\d. -]+$",
    r"^[\d. ]+$",
    r"takes [\d.]+ times|confidence: [\d.]+ to [\d.]+, \d+ rounds",
    r"\bfirst: [\d.]+ ms, of which [\d.]+ ms",
    r"^ +[\d.]+ +[\d.]+% +[\d.]+% +[\d.]+ +[\d.]+",
)), re.MULTILINE)
# Lines of which there are more or fewer from run to run: histograms, and the word about a ratio near 1.
VARYING_LINES = re.compile(r"^ +[\d.]+ - [\d.]+ .*\n|^ +latency, ms .*\n|^ +no difference can be told\n", re.MULTILINE)


def read_sheet():
    """The digits of the sheet as bytes of 8x8 pixels."""
    text = re.sub(r"#[^\n]*", "", SHEET.read_text(encoding="ascii"))
    words = text.split()
    pixels = bytes(int(word) for word in words[4:])
    size = SIDE * SIDE
    if words[0] != "P2" or words[1] != str(SIDE) or len(pixels) % size != 0:
        raise Failure(f"'{SHEET}' is not a sheet of digits of {SIDE}x{SIDE} pixels")
    return [pixels[at : at + size] for at in range(0, len(pixels), size)]


def make_png(pixels):
    """A picture of 8-bit grey."""

    def chunk(kind, data):
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    rows = b"".join(b"\0" + pixels[at : at + SIDE] for at in range(0, len(pixels), SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def make_npy(values, shape):
    """An array of float32, as numpy.save writes it."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(values)}f", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def make_unknown_onnx():
    """An ONNX model with two operators that nobody knows."""

    def number(field, value):
        return bytes([field << 3, value])

    def message(field, content):
        content = content.encode() if isinstance(content, str) else content
        return bytes([field << 3 | 2, len(content)]) + content

    def node(operator, source, target):
        return message(1, message(1, source) + message(2, target) + message(4, operator) + message(7, "com.example"))

    size = message(1, number(1, 4))
    tensor = message(1, number(1, 1) + message(2, size))  # float32 of shape [4]
    graph = node("Sharpen", "x", "a") + node("Blur", "a", "y") + message(2, "main")
    graph += message(11, message(1, "x") + message(2, tensor)) + message(12, message(1, "y"))
    return number(1, 8) + message(2, "an exporter") + message(7, graph) + message(8, message(1, "") + number(2, 17))


def prepare(folder):
    """The files that commands of sessions use."""
    for file in DIGITS.glob("*"):
        if file.suffix in (".tflite", ".onnx") or file.name in ("labels.txt", "seven.png"):
            shutil.copy(file, folder)
    pictures = folder / "pictures"
    pictures.mkdir()
    digits = read_sheet()
    for number, pixels in enumerate(digits, 1):
        (pictures / f"{number}.png").write_bytes(make_png(pixels))
    with zipfile.ZipFile(folder / "batch.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        values = [pixel / 255 for pixels in digits[:2] for pixel in pixels]
        archive.writestr("image.npy", make_npy(values, (2, SIDE, SIDE, 1)))
    models = folder / "models"
    models.mkdir()
    shutil.copy(folder / "digits_int8.tflite", models)
    for name in ("classifier.tflite", "two.task"):
        shutil.copy(CONTAINERS / name, models)
    (models / "cut.tflite").write_bytes((folder / "digits_float.tflite").read_bytes()[:1000])
    (models / "custom.onnx").write_bytes(make_unknown_onnx())
    labels = (DIGITS / "test_labels.txt").read_text(encoding="ascii").split()
    truth = [f"{number}.png {label}\n" for number, label in enumerate(labels[: len(digits)], 1)]
    (folder / "truth.txt").write_text("".join(truth), encoding="ascii")
    mixed = folder / "mixed"
    mixed.mkdir()
    for number in (1, 3):
        shutil.copy(pictures / f"{number}.png", mixed)
    (mixed / "2.png").write_bytes((pictures / "2.png").read_bytes()[:50])


def commands_of(session):
    """The commands of a session, in their lines."""
    commands = []
    continues = False
    for line in session.splitlines():
        if continues:
            commands[-1] += "\n" + line.removeprefix(INDENT)
        elif line.startswith(PROMPT):
            commands.append(line.removeprefix(PROMPT))
        continues = (continues or line.startswith(PROMPT)) and line.endswith(CONTINUATION)
    if not commands:
        raise Failure(f"a session has no line that begins with '{PROMPT}'")
    return commands


def indent(text):
    """The lines of a code block."""
    return "".join((INDENT + line).rstrip() + "\n" for line in text.splitlines())


def run(session, folder, programs):
    """The session as its commands print it today."""
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    environment.pop("TENON_ARMNN_OUTPUT", None)
    text = ""
    for command in commands_of(session):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        if done.returncode in (126, 127):
            raise Failure(f"'{command}' cannot be run: {done.stdout.decode(errors='replace').strip()}")
        text += indent("$ " + command) + indent(done.stdout.decode(errors="replace"))
    return text


def without_varying(session):
    """The session without what differs from run to run."""
    return VARYING.sub(lambda match: re.sub(r" *[\d.]+", " #", match[0]), VARYING_LINES.sub("", session))


def make_page(arguments):
    """The text of the file with the sessions of today."""
    path = arguments.write or arguments.check
    rest = read_page(path)
    page = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        while BEGIN in rest:
            before, rest = rest.split(BEGIN, 1)
            if END not in rest:
                raise Failure(f"'{path}': a session has no line '{END.strip()}'")
            session, rest = rest.split(END, 1)
            today = "\n" + run(session, folder, arguments.bin.resolve()) + "\n"
            if arguments.check and without_varying(today) == without_varying(session):
                today = session
            page += before + BEGIN + today + END
    if not page:
        raise Failure(f"'{path}' has no session: no line '{BEGIN.strip()}'")
    return page + rest


if __name__ == "__main__":
    PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    PARSER.add_argument("--bin", type=Path, default=ROOT / "build/release/bin", metavar="FOLDER")
    sys.exit(run_document(PARSER, make_page, COMMAND))
