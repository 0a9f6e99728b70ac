#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads an ONNX model of some gigabytes with external data, and says what that takes.

usage: large_onnx.py --exe build/release/bin/bench_serve [--folder FOLDER] [--gigabytes 3] [--loads 3] [--threads N]
                     [--rows 2] [--most-ms 1000] [--most-share 0.1] [--json FILE]

Makes the model in FOLDER, or in one that is removed afterwards: an embedding, and products of --rows rows, whose
weights lie in one file of external data. It needs no packages. The file is read once, so that it is in the page cache; each load
is in a process of its own. Anonymous memory is memory that no file backs: weights that are copied or packed are in it,
those that are used where the file is mapped are not. The exit status is 1 where the fastest load takes more than
--most-ms, or where anonymous memory grows by more than a share --most-share of the weights, loading and running.
"""
import argparse
import json
import os
import random
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from perf.engines import Worker, WorkerError

WIDTH, HIDDEN = 2048, 8192
FLOAT, INT64 = 1, 7
DATA = "large.onnx.data"
BLOCK = 1 << 24  # bytes of random weights, which the file repeats
ALIGNMENT = 4096


def varint(value):
    """A number as protobuf writes it."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """A field of a message: a number, or text or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name, element, sizes):
    shape = b"".join(field(1, field(1, size)) for size in sizes)
    return field(1, name) + field(2, field(1, field(1, element) + field(2, shape)))


def node(kind, inputs, output):
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, kind)


class Graph:
    """A graph whose initializers lie in a file of external data."""

    def __init__(self):
        self.nodes, self.initializers, self.bytes = [], [], 0

    def add(self, kind, inputs, output):
        self.nodes.append(node(kind, inputs, output))
        return output

    def weight(self, name, rows, columns):
        size = 4 * rows * columns
        entries = {"location": DATA, "offset": str(self.bytes), "length": str(size)}
        external = b"".join(field(13, field(1, key) + field(2, value)) for key, value in entries.items())
        self.initializers.append(field(1, rows) + field(1, columns) + field(2, FLOAT) + field(8, name) + external +
                                 field(14, 1))
        self.bytes += -(-size // ALIGNMENT) * ALIGNMENT
        return name

    def model(self, inputs, outputs):
        graph = b"".join(field(1, text) for text in self.nodes) + field(2, "large")
        graph += b"".join(field(5, text) for text in self.initializers)
        graph += b"".join(field(11, text) for text in inputs) + b"".join(field(12, text) for text in outputs)
        return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def make(folder, gigabytes, rows):
    """Writes the model; gives its path and the bytes of its weights."""
    graph = Graph()
    total = int(gigabytes * 1e9)
    words = total // 4 // (4 * WIDTH)  # a quarter of the weights
    state = graph.add("Gather", [graph.weight("words", words, WIDTH), "ids"], "x0")
    layer = 0
    while graph.bytes < total:
        wide = graph.add("MatMul", [state, graph.weight(f"up{layer}", WIDTH, HIDDEN)], f"h{layer}")
        wide = graph.add("Relu", [wide], f"r{layer}")
        narrow = graph.add("MatMul", [wide, graph.weight(f"down{layer}", HIDDEN, WIDTH)], f"d{layer}")
        state = graph.add("Add", [state, narrow], f"x{layer + 1}")
        layer += 1
    path = folder / "large.onnx"
    path.write_bytes(graph.model([value_info("ids", INT64, [rows])], [value_info(state, FLOAT, [rows, WIDTH])]))
    block = random_floats()
    with open(folder / DATA, "wb") as file:
        for i, begin in enumerate(range(0, graph.bytes, BLOCK)):
            file.write(block[4 * i:4 * i + min(BLOCK, graph.bytes - begin)])  # equal weights would become one
    return path, graph.bytes


def random_floats():
    """Floats between 2^-7 and 2^-6 in magnitude, of both signs: the bytes of their mantissas are random. Enough for a
    thousand blocks, of which each begins one float later."""
    data = bytearray(random.Random(1).randbytes(BLOCK + 4096))
    data[3::4] = bytes((byte & 0x80) | 0x3C for byte in data[3::4])
    data[2::4] = bytes(byte & 0x7F for byte in data[2::4])
    return bytes(data)


def warm(file):
    with open(file, "rb", buffering=0) as stream:
        while stream.read(BLOCK):
            pass


def measure(path, settings):
    """Milliseconds of a load and of the first run, and the growth of anonymous memory after each, in MiB."""
    with Worker("tenon", SimpleNamespace(path=path, inputs=[], shapes={}), settings) as worker:
        load = worker.ask("load")["init"]
        loaded = worker.ask("memory")
        first = worker.ask("run 1 0")["ms"][0]
        ran = worker.ask("memory")
    return {"load_ms": load, "first_ms": first, "peak_mib": loaded["peak_growth_kib"] / 1024,
            "anonymous_mib": loaded["anonymous_growth_kib"] / 1024,
            "anonymous_after_run_mib": ran["anonymous_growth_kib"] / 1024}


def complain(figures, weights, arguments):
    """What is above its limit."""
    fastest = min(one["load_ms"] for one in figures)
    most = max(one["anonymous_after_run_mib"] for one in figures)
    limit = arguments.most_share * weights / (1 << 20)
    return ([f"the fastest load takes {fastest:.0f} ms, more than {arguments.most_ms:g}"] * (fastest > arguments.most_ms)
            + [f"anonymous memory grows by {most:.0f} MiB, more than {limit:.0f}: weights are copied"] * (most > limit))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", type=Path, required=True, help="bench_serve")
    parser.add_argument("--folder", type=Path, help="where the model is made and left")
    parser.add_argument("--gigabytes", type=float, default=3.0)
    parser.add_argument("--rows", type=int, default=2, help="of each product")
    parser.add_argument("--loads", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compute", default="CpuAcc,CpuRef")
    parser.add_argument("--most-ms", type=float, default=1000.0)
    parser.add_argument("--most-share", type=float, default=0.1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.gigabytes <= 0 or min(arguments.loads, arguments.rows) < 1:
        parser.error("--gigabytes, --loads and --rows must be positive")
    settings = SimpleNamespace(exe=arguments.exe, compute=arguments.compute, threads=arguments.threads, timeout=600.0,
                               cores=os.sched_getaffinity(0), priority=False)
    with tempfile.TemporaryDirectory(dir=arguments.folder and arguments.folder.parent) as scratch:
        folder = arguments.folder or Path(scratch)
        folder.mkdir(exist_ok=True)
        path, weights = make(folder, arguments.gigabytes, arguments.rows)
        warm(folder / DATA)
        try:
            figures = [measure(path, settings) for _ in range(arguments.loads)]
        except WorkerError as error:
            sys.exit(f"{path.name}: {error}")
    print(f"{weights / 1e9:.2f} GB of weights")
    for one in figures:
        print("load {load_ms:.0f} ms, first run {first_ms:.0f} ms; resident memory grows by {peak_mib:.1f} MiB while it "
              "is loaded, anonymous memory by {anonymous_mib:.1f} MiB, after the run by {anonymous_after_run_mib:.1f} MiB"
              .format(**one))
    if arguments.json:
        arguments.json.write_text(json.dumps({"weights_bytes": weights, "loads": figures}, indent=1), encoding="utf-8")
    found = complain(figures, weights, arguments)
    for text in found:
        print(text, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
