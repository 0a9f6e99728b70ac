# SPDX-License-Identifier: Apache-2.0
"""Models of this repository with the delegate and without: the digits of the samples, and layers that have states."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import assert_equal_to_kernels, assert_near, random_values
from model_builder import Info, Model
from runtime import CPU, ROOT, interpreter, load, outputs, partitions, run, set_inputs

STATES = sorted((ROOT / "tests/golden/states").glob("*.tflite"))


@pytest.mark.parametrize("backends", ["CpuRef", "CpuAcc,CpuRef"])
@pytest.mark.parametrize("name", ["digits_int8", "digits_float"])
def test_digits(name, backends):
    path = ROOT / f"samples/digits/{name}.tflite"
    made, reference = interpreter(path, load(backends=backends)), interpreter(path)
    detail = made.get_input_details()[0]
    for seed in range(50):
        x = random_values(tuple(detail["shape"]), detail["dtype"], seed)
        got, want = run(made, x), run(reference, x)
        if name == "digits_int8":
            assert_equal_to_kernels(*got, *want)
        else:
            assert_near(got, want)
    assert len(partitions(made)) == 1


@pytest.mark.parametrize("operator", ["FLOOR_DIV", "FLOOR_MOD"])
def test_floored_operators_of_stored_integers(operator):
    """TensorFlow Lite's kernels do not look at scales and zero points."""
    model = Model()
    g = model.graph()
    x = g.input(Info((1, 16), "INT8", 0.5, 3), "x")
    y = g.input(Info((1, 16), "INT8", 0.25, -7), "y")
    g.outputs = [g.op(operator, [x, y], Info((1, 16), "INT8", 0.125, 5))]
    made, reference = interpreter(model.content(), load(**CPU)), interpreter(model.content())
    assert len(partitions(made)) == 1
    random = np.random.default_rng(3)
    a = random.integers(-128, 128, (1, 16)).astype(np.int8)
    b = random.integers(1, 20, (1, 16)).astype(np.int8) * random.choice(np.array([-1, 1], np.int8), (1, 16))
    for each in (made, reference):
        (got,) = run(each, a, b)
        np.testing.assert_array_equal(got, a // b if operator == "FLOOR_DIV" else a % b)


def steps_of(path):
    """The inputs of each step, as texts. See tests/golden/make_states.py."""
    steps = path.with_suffix(".txt").read_text().split("step\n")[1:]
    return [[line.split()[3:] for line in step.splitlines() if line.startswith("in ")] for step in steps]


def array(texts, detail):
    return np.array([float(text) for text in texts]).astype(detail["dtype"]).reshape(detail["shape"])


@pytest.mark.parametrize("path", STATES, ids=lambda path: path.stem)
def test_states(path):
    """Four steps, and after a reset the same again."""
    made, reference = interpreter(path, load(**CPU)), interpreter(path)
    for each in (made, reference):
        each.allocate_tensors()
    for _ in range(2):
        for inputs in steps_of(path):
            results = []
            for each in (made, reference):
                details = each.get_input_details()
                set_inputs(each, [array(values, detail) for values, detail in zip(inputs, details)])
                each.invoke()
                results.append(outputs(each))
            assert_near(*results)
        for each in (made, reference):
            each.reset_all_variables()
