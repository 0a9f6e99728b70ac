# SPDX-License-Identifier: Apache-2.0
"""Twelve things that users of a delegate rely on, numbered."""

from __future__ import annotations

import gc
import itertools
import os
import threading

import models
import numpy as np
import pytest
from conftest import assert_equal, assert_equal_to_kernels, assert_near, random_values, run_python
from model_builder import Info, Model
from runtime import CPU, REFERENCE, WITH_XNNPACK, interpreter, load, partitions, run

import tenon

# 1


@pytest.mark.parametrize("options", [dict(CPU, logging_severity="info"), {}], ids=["with options", "without"])
def test_01_load_and_run(options):
    x = np.float32([[1, 2, -3, 4]])
    made = interpreter(models.sum_of_two(), load(**options))
    assert_equal(run(made, x), [4 * x])
    assert len(partitions(made)) == 1


def test_01_a_table_at_severity_info_and_else_no_output():
    program = """
import sys
from runtime import interpreter, load
from models import sandwich
for options in eval(sys.argv[1]):
    interpreter(sandwich("int8"), load(**options)).allocate_tensors()
"""
    assert run_python(program, [{}, dict(CPU)]) == ""
    text = run_python(program, [dict(CPU, logging_severity="info")])
    assert "3 of 4 nodes run on CpuAcc, CpuRef, in 2 partitions" in text
    assert "1 nodes  ADD" in text
    assert "2 nodes  ADD, MUL" in text
    assert "LSH_PROJECTION: " in text


# 2


@pytest.mark.parametrize(
    "options, text",
    [
        ({"colour": "red"}, "'colour'"),
        ({"number-of-threads": "many"}, "'many'"),
        ({"backends": "GpuAcc,VsiNpu"}, "none of the backends GpuAcc, VsiNpu is there; there are CpuAcc, CpuRef"),
    ],
)
def test_02_errors_have_a_text(options, text):
    with pytest.raises(ValueError) as error:
        load(**options)
    assert "TenonDelegate: " in str(error.value)
    assert text in str(error.value)
    assert str(error.value).endswith("\n")


def test_02_nobody_listens_to_errors():
    program = """
import ctypes
from runtime import LIBRARY
library = ctypes.CDLL(LIBRARY)
library.tflite_plugin_create_delegate.restype = ctypes.c_void_p
texts = ctypes.c_char_p * 1
assert library.tflite_plugin_create_delegate(texts(b"colour"), texts(b"red"), 1, None) is None
library.tflite_plugin_destroy_delegate(None)
"""
    assert "colour" in run_python(program)  # it goes to the log


# 3


@pytest.mark.parametrize("backends", ["CpuRef", "CpuAcc,CpuRef"])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int16"])
def test_03_quantized_models_are_equal_to_the_byte(kind, backends):
    content = models.classifier(kind)
    made, reference = interpreter(content, load(backends=backends)), interpreter(content)
    for seed in range(20):
        x = random_values((1, 8, 8, 3), kind, seed)
        got, want = run(made, x), run(reference, x)
        assert_equal_to_kernels(got[0], want[0])
        assert_equal_to_kernels(got[1], want[1], old_bound=1 if kind == "int16" else 0)
        assert_equal(got[2:], want[2:])
    assert len(partitions(made)) == 1


# 4


@pytest.mark.parametrize("backends", ["CpuRef", "CpuAcc,CpuRef"])
def test_04_float_models_are_near_and_equal_to_the_parser(backends):
    content = models.classifier("float32")
    made, reference = interpreter(content, load(backends=backends)), interpreter(content)
    parsed = tenon.Model(content, backends=backends.split(","), threads=1)
    for seed in range(20):
        x = random_values((1, 8, 8, 3), "float32", seed)
        got = run(made, x)
        assert_near(got, run(reference, x))
        assert_equal(got, list(parsed(x).values()))
    assert len(partitions(made)) == 1


# 5


@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_05_an_operator_that_no_layer_is_there_for(kind):
    content = models.sandwich(kind)
    x = random_values((4, 3), kind)
    want = run(interpreter(content), x)
    for limits, sizes in (
        ({}, [1, 2]),
        ({"min_nodes_per_partition": 2}, [2]),
        ({"max_delegated_partitions": 1}, [2]),
        ({"min_nodes_per_partition": 3}, []),
    ):
        made = interpreter(content, load(**CPU, **limits))
        assert len(partitions(made)) == len(sizes)
        assert_equal(run(made, x), want)


def test_05_nodes_in_a_circle_are_left():
    """The runtime tells no partitions of such a graph, but makes an interpreter of it."""
    model = Model()
    g = model.graph()
    info = Info((2,))
    x = g.input(info)
    y = g.binary("ADD", x, x, info)
    z = g.binary("MUL", y, x, info)
    g.operators[0]["inputs"][1] = z
    g.outputs = [z]
    interpreter(model.content())
    assert not partitions(interpreter(model.content(), load(**CPU)))


# 6


@pytest.mark.parametrize("signature", [True, False], ids=["free", "fixed"])
def test_06_other_input_shapes(signature, tmp_path):
    content = models.any_batch(signature)
    made = interpreter(content, load(**CPU, serialize_to_dot=tmp_path / "n.dot"))
    reference = interpreter(content)
    for batch in (1, 3, 1, 7, 0, 2):
        x = random_values((batch, 4), "float32", batch)
        assert_near(run(made, x), run(reference, x))
    assert len(partitions(made)) == 1
    assert sorted(os.listdir(tmp_path)) == ["n.dot"]  # one network was loaded


# 7


def test_07_where():
    model = Model()
    g = model.graph()
    x = g.input(Info((2, 3)))
    positive = g.op("GREATER", [x, g.constant([0.0])], Info((2, 3), "BOOL"), options="GreaterOptions")
    where = g.op("WHERE", [positive], Info((1, 2), "INT64", signature=(-1, 2)), options="WhereOptions")
    g.outputs = [
        where,
        g.op(
            "CAST",
            [where],
            Info((1, 2), signature=(-1, 2)),
            options="CastOptions",
            in_data_type="INT64",
            out_data_type="FLOAT32",
        ),
    ]
    made = interpreter(model.content(), load(**CPU))
    for values in ([[1, -1, 2], [0, 3, 0]], [[0, 0, 0], [0, 0, 0]], [[1, 1, 1], [1, 1, 1]], [[0, 0, 0], [0, 0, 5]]):
        x = np.float32(values)
        want = np.argwhere(x > 0)
        assert_equal(run(made, x), [want, want.astype(np.float32)])
    assert len(partitions(made)) == 1


def test_07_where_before_an_operator_that_is_left():
    model = Model()
    g = model.graph()
    x = g.input(Info((6,), "BOOL"))
    where = g.op("WHERE", [x], Info((1, 1), "INT64", signature=(-1, 1)), options="WhereOptions")
    hashes = g.constant([[0.1, -0.3], [0.7, 0.2], [-0.5, 0.9]])
    bits = g.op("LSH_PROJECTION", [hashes, where], Info((6,), "INT32"), options="LSHProjectionOptions", type="DENSE")
    g.outputs = [where, g.binary("ADD", bits, bits, Info((6,), "INT32"))]
    content = model.content()
    made, reference = interpreter(content, load(**CPU)), interpreter(content)
    for seed in range(1, 5):
        x = np.random.default_rng(seed).integers(0, 2, 6).astype(bool)
        assert_equal(run(made, x), run(reference, x))
    assert len(partitions(made)) == 2


def test_07_reshape_by_an_input():
    model = Model()
    g = model.graph()
    x, shape = g.input(Info((2, 6))), g.input(Info((2,), "INT32"))
    y = g.op("RESHAPE", [x, shape], Info((1, 1), signature=(-1, -1)), options="ReshapeOptions")
    g.outputs = [g.op("NEG", [y], Info((1, 1), signature=(-1, -1)), options="NegOptions")]
    made = interpreter(model.content(), load(**CPU))
    x = random_values((2, 6), "float32")
    for sizes in ((3, 4), (12, 1), (-1, 2), (3, 4)):
        assert_equal(run(made, x, np.int32(sizes)), [-x.reshape(sizes)])
    assert len(partitions(made)) == 1


def test_07_declared_sizes_that_are_not_true():
    """Old files and those of other programs have any size where it depends on values."""
    model = Model()
    g = model.graph()
    x, times = g.input(Info((2,))), g.input(Info((1,), "INT32"))
    y = g.op("TILE", [x, times], Info((2,)), options="TileOptions")
    g.outputs = [g.op("NEG", [y], Info((2,)), options="NegOptions")]
    made = interpreter(model.content(), load(**CPU))
    x = random_values((2,), "float32")
    for count in (3, 1, 2):
        assert_equal(run(made, x, np.int32([count])), [-np.tile(x, count)])
    assert len(partitions(made)) == 1


def test_07_other_sizes_beside_a_dynamic_output():
    """An output that has nothing to do with the dynamic one gets the sizes of a resized input."""
    model = Model()
    g = model.graph()
    x, times, z = g.input(Info((2,))), g.input(Info((1,), "INT32")), g.input(Info((1, 4)))
    tiled = g.op("TILE", [x, times], Info((2,)), options="TileOptions")
    g.outputs = [tiled, g.op("NEG", [z], Info((1, 4)), options="NegOptions")]
    made = interpreter(model.content(), load(**CPU))
    x = random_values((2,), "float32")
    for batch in (1, 500, 2):
        z = random_values((batch, 4), "float32")
        assert_equal(run(made, x, np.int32([3]), z), [np.tile(x, 3), -z])
    assert len(partitions(made)) == 1


def test_07_non_max_suppression():
    model = Model()
    g = model.graph()
    boxes, scores = g.input(Info((6, 4))), g.input(Info((6,)))
    limits = [g.constant(6, "int32"), g.constant(0.5), g.constant(0.1)]
    selected = Info((6,), "INT32")
    g.outputs = g.op(
        "NON_MAX_SUPPRESSION_V4",
        [boxes, scores, *limits],
        selected,
        Info((), "INT32"),
        options="NonMaxSuppressionV4Options",
    )
    content = model.content()
    made, reference = interpreter(content, load(**CPU)), interpreter(content)
    for seed in range(5):
        random = np.random.default_rng(seed)
        corner = random.random((6, 2))
        inputs = np.hstack([corner, corner + random.random((6, 2))]).astype(np.float32), random.random(6, np.float32)
        assert_equal(run(made, *inputs), run(reference, *inputs))
    assert len(partitions(made)) == 1


# 8


def test_08_two_interpreters_of_one_delegate_on_two_threads(delegate):
    check_threads([delegate, delegate])


def test_08_two_delegates_on_two_threads():
    check_threads([load(**CPU), load(**CPU, number_of_threads=2)])


def check_threads(delegates):
    content = models.classifier("int8")
    made = [interpreter(content, delegate) for delegate in delegates]
    inputs = [random_values((1, 8, 8, 3), "int8", seed) for seed in range(2)]
    want = [run(interpreter(content), x) for x in inputs]
    differ = []

    def repeat(number):
        run(made[number], inputs[number])
        output = made[number].get_output_details()[0]["index"]
        for _ in range(1000):
            made[number].invoke()
            if not np.array_equal(made[number].get_tensor(output), want[number][0]):
                differ.append(number)

    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not differ


@pytest.mark.parametrize(
    "option, of_interpreter, wanted", [(None, None, 1), (None, 2, 2), (2, 1, 2), (1, 2, 1), (0, 2, 2)]
)
def test_08_number_of_threads(option, of_interpreter, wanted):
    """The option wins over the interpreter's. No more threads start than there are cores."""
    program = """
import os, sys
import numpy
from model_builder import Info, Model
from runtime import CPU, interpreter, load, run
option, of_interpreter = eval(sys.argv[1])
options = CPU if option is None else dict(CPU, num_threads=option)
model = Model()
g = model.graph()
x = g.input(Info((512, 512)))
weights = g.constant(numpy.ones((512, 512)))
g.outputs = [g.op("FULLY_CONNECTED", [x, weights, None], Info((512, 512)), options="FullyConnectedOptions")]
before = len(os.listdir("/proc/self/task"))
made = interpreter(model.content(), load(**options), num_threads=of_interpreter)
run(made, numpy.ones((512, 512), numpy.float32))
print(1 + len(os.listdir("/proc/self/task")) - before)
"""
    assert int(run_python(program, (option, of_interpreter))) == min(wanted, len(os.sched_getaffinity(0)))


# 9


@pytest.mark.parametrize("order", list(itertools.permutations(["delegate", "first", "second"])), ids="-".join)
def test_09_any_order_of_destruction(order):
    content = models.classifier("int8")
    x = random_values((1, 8, 8, 3), "int8")
    want = run(interpreter(content), x)
    alive = {"delegate": load(**CPU)}
    alive.update({name: interpreter(content, alive["delegate"]) for name in ("first", "second")})
    for name in order:
        del alive[name]
        gc.collect()
        for other in set(alive) - {"delegate"}:
            assert_equal(run(alive[other], x), want)


def test_09_memory_does_not_grow():
    """Of 100 delegates, each with an interpreter and a run."""
    program = """
import models
from conftest import random_values
from runtime import CPU, interpreter, load, run
content, x = models.classifier("int8"), random_values((1, 8, 8, 3), "int8")
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4
def once(): run(interpreter(content, load(**CPU)), x)
for i in range(20): once()
before = resident()
for i in range(100): once()
print(resident() - before)
"""
    assert int(run_python(program)) < 1000  # KiB


def test_09_an_interpreter_goes_after_a_failed_run():
    made = interpreter(models.gather(), load(**CPU))
    with pytest.raises(RuntimeError):
        run(made, random_values((3, 2), "float32"), np.int32([7]))
    del made
    gc.collect()


# 10


@pytest.mark.parametrize("resolver", [REFERENCE, WITH_XNNPACK])
def test_10_while_and_if(resolver, capfd, caplog):
    caplog.set_level("INFO", "tenon")  # gets the messages in a wheel, where the package and the delegate share the log
    made = interpreter(models.loop(), load(**CPU, logging_severity="info"), resolver=resolver)
    x = np.float32([[1, 2, 3, -4]])
    zero = np.int32([0])
    for turns in (0, 3, 7, 10):
        y = x * 2**turns
        assert_equal(run(made, zero, np.int32([turns]), x), [y - 1 if y[0, 0] > 100 else y + 1])
    load(logging_severity="warning")
    assert (capfd.readouterr().err + caplog.text).count("TenonDelegate: ") >= 5  # nodes of each graph were taken


def test_10_resource_variables():
    made = interpreter(models.accumulator(), load(**CPU))
    total = np.full(4, 10, np.float32)
    for seed in range(5):
        x = np.float32(np.random.default_rng(seed).integers(-9, 9, 4))
        total += x
        assert_equal(run(made, x), [2 * total])
    assert len(partitions(made)) == 2


def test_10_states_of_layers():
    content = models.svdf()
    made, reference = interpreter(content, load(**CPU)), interpreter(content)
    for each in (made, reference):
        each.allocate_tensors()
    firsts = []
    for _ in range(2):
        for seed in range(5):
            x = random_values((2, 3), "float32", seed)
            got = []
            for each in (made, reference):
                each.set_tensor(each.get_input_details()[0]["index"], x)
                each.invoke()
                got.append([each.get_tensor(each.get_output_details()[0]["index"])])
            assert_near(*got)
            if seed == 0:
                firsts.append(got[0])
        for each in (made, reference):
            each.reset_all_variables()
    assert_equal(*firsts)
    assert len(partitions(made)) == 1


# 11


def test_11_signatures(delegate):
    made = interpreter(models.signatures(), delegate)
    x = np.float32([[1, 2, -3, 4]])
    for _ in range(2):
        both, one, other = (made.get_signature_runner(name) for name in ("both", "one", "other"))
        got = both(x=x)
        assert_equal([got["sum"], got["product"]], [x + 1, (x + 1) * x])
        assert_equal([one(x=2 * x)["product"]], [(2 * x + 1) * 2 * x])
        assert_equal([other(u=x)["v"]], [1 - x])


def test_11_all_tensors_are_kept():
    content = models.classifier("int8")
    x = random_values((1, 8, 8, 3), "int8")
    made = interpreter(content, load(**CPU), experimental_preserve_all_tensors=True)
    reference = interpreter(content, experimental_preserve_all_tensors=True)
    assert_equal(run(made, x), run(reference, x))


@pytest.mark.parametrize("resolver", [REFERENCE, WITH_XNNPACK])
@pytest.mark.parametrize("limit", [0, 1])
def test_11_beside_xnnpack(resolver, limit):
    content = models.sandwich("float32")
    made = interpreter(content, load(**CPU, max_delegated_partitions=limit), resolver=resolver)
    x = random_values((4, 3), "float32")
    assert_near(run(made, x), run(interpreter(content, resolver=resolver), x))


# 12


def test_12_failure_where_nothing_may_be_left():
    content = models.sandwich("int8")
    made = load(**CPU, disable_tflite_runtime_fallback=True)
    with pytest.raises(RuntimeError) as error:
        interpreter(content, made)
    assert "TenonDelegate: disable-tflite-runtime-fallback" in str(error.value)
    assert "LSH_PROJECTION" in str(error.value)
    x = random_values((4, 3), "int8")
    assert_equal(run(interpreter(content, load(**CPU)), x), run(interpreter(content), x))
    whole = models.sum_of_two()
    x = np.float32([[1, 2, -3, 4]])
    assert_equal(run(interpreter(whole, made), x), [4 * x])


def test_12_shapes_that_do_not_fit():
    model = Model()
    g = model.graph()
    info = Info((1, 4))
    a, b = g.input(info), g.input(info)
    g.outputs = [g.binary("ADD", a, b, info)]
    made = interpreter(model.content(), load(**CPU))
    x = np.float32([[1, 2, -3, 4]])
    with pytest.raises(RuntimeError) as error:
        run(made, x, np.zeros((1, 3), np.float32))
    assert "TenonDelegate: " in str(error.value)
    assert_equal(run(made, x, x), [2 * x])


def test_12_failure_of_a_run():
    made = interpreter(models.gather(), load(**CPU))
    x = random_values((3, 2), "float32")
    assert_equal(run(made, x, np.int32([2])), [2 * x[2:]])
    with pytest.raises(RuntimeError) as error:
        run(made, x, np.int32([7]))
    assert "TenonDelegate: " in str(error.value)
    assert "7" in str(error.value)
    assert_equal(run(made, x, np.int32([1])), [2 * x[1:2]])


def test_12_tensors_above_the_limits_are_left():
    model = Model()
    g = model.graph()
    huge = Info((5, 1 << 28))  # 5 GiB
    x = g.input(huge)
    g.outputs = [g.binary("ADD", x, x, huge)]
    assert not partitions(interpreter(model.content(), load(**CPU)))
