# SPDX-License-Identifier: Apache-2.0
"""Models that the tests share: those of samples/, and networks that are built."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tenon

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIGITS = ROOT / "samples/digits"
DATA = pathlib.Path(__file__).resolve().parent / "data"

FLOOR = "Floor"


def one_layer(shape, dtype="float32", type=FLOOR, attributes=None, **options):
    """A model of one layer with the input "x" and the output "y"."""
    network = tenon.Network()
    x = network.add_input("x", shape, dtype)
    network.add_output(network.add_layer(type, x, attributes=attributes), "y")
    return tenon.Model(network, threads=1, **options)


def same(shape, dtype):
    """A model that gives its input: it takes any type."""
    network = tenon.Network()
    x = network.add_input("x", shape, dtype)
    network.add_output(network.add_layer("Reshape", x, attributes={"TargetShape": tenon.Shape(shape)}), "y")
    return tenon.Model(network, threads=1)


def two_of_two():
    """Inputs "a" and "b", outputs "sum" and "difference", of any length."""
    network = tenon.Network()
    a, b = network.add_input("a", (None,)), network.add_input("b", (None,))
    for name, operation in (("sum", "Add"), ("difference", "Sub")):
        attributes = {"Operation": tenon.enums.BinaryOperation[operation]}
        network.add_output(network.add_layer("ElementwiseBinary", a, b, attributes=attributes), name)
    return tenon.Model(network, threads=1)


def accumulator():
    """y = state + x, which is the next state."""
    network = tenon.Network()
    x = network.add_input("x", (1,))
    old = network.add_layer(
        "ReadState", None, None, attributes={"Name": "sum"}, outputs=[tenon.TensorInfo((1,), "float32")]
    )
    total = network.add_layer("AddN", old, x, attributes={"NumInputs": 2})
    network.add_layer("WriteState", total, attributes={"Name": "sum"}, outputs=0)
    network.add_output(total, "y")
    return network


def nonzero():
    """The indices of elements that are not 0: only a run knows how many."""
    network = tenon.Network()
    x = network.add_input("x", (4,))
    network.add_output(network.add_layer("Where", x), "where")
    return tenon.Model(network, threads=1)


def tiny_onnx(op, *shape, domain="", external=(), metadata=()):
    """An .onnx model of one operator with the float input "x" and the output "y". A size is a number or a name.
    With `external`, a location and a number of floats, a second operand lies in a file of external data.
    """

    def varint(value):
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)

    def number(field, value):
        return varint(field << 3) + varint(value)

    def message(field, *parts):
        content = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
        return varint(field << 3 | 2) + varint(len(content)) + content

    float32 = number(1, 1)
    sizes = [message(1, number(1, size) if isinstance(size, int) else message(2, size)) for size in shape]
    node = message(1, "x") + message(2, "y") + message(4, op) + message(7, domain)
    weights = b""
    if external:
        location, count = external
        entry = message(13, message(1, "location"), message(2, location))
        weights = message(5, number(1, count), number(2, 1), message(8, "w"), entry, number(14, 1))
        node = message(1, "x") + message(1, "w") + message(2, "y") + message(4, op)
    graph = (
        message(1, node)
        + message(2, "graph")
        + weights
        + message(11, message(1, "x"), message(2, message(1, float32, message(2, *sizes))))
        + message(12, message(1, "y"), message(2, message(1, float32)))
    )
    texts = b"".join(message(14, message(1, key), message(2, text)) for key, text in metadata)
    return number(1, 8) + message(7, graph) + message(8, number(2, 17)) + texts


def digit_pictures():
    """The held-out digits, 0 to 255, by the reader of the sample."""
    sys.path.insert(0, str(ROOT / "samples/python"))
    try:
        from classify import read_png
    finally:
        sys.path.pop(0)
    sheet = read_png(DIGITS / "test_digits.png")
    return sheet.reshape(18, 8, 20, 8).transpose(0, 2, 1, 3).reshape(360, 8, 8, 1)


def run_python(code, *arguments, is_silent=True):
    """Runs a program in a process of its own, with this package. Returns what it writes to standard output."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or not is_silent
    return done.stdout


@pytest.fixture(scope="session")
def floor():
    return one_layer((2, 3))


@pytest.fixture
def x():
    return np.array([[1.5, -1.5, 0.0], [2.25, -2.25, 7.0]], np.float32)
