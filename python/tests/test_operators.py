# SPDX-License-Identifier: Apache-2.0
"""Operators that are written in Python."""

from __future__ import annotations

import gc
import pickle
import struct
import threading
import weakref

import numpy as np
import pytest
from conftest import ROOT

import tenon

SOFTSIGN = ROOT / "samples/custom_operator/softsign.tflite"


def softsign(layer, inputs, outputs):
    (gain,) = struct.unpack("<f", layer.parameters)
    (x,), (y,) = inputs, outputs
    np.divide(gain * x, 1 + np.abs(x), out=y)


def same_shape(layer):
    return layer.inputs[0].shape


def with_operator(custom, shape=(3,), dtype="float32", parameters=b"", outputs=None, **options):
    network = tenon.Network()
    x = network.add_input("x", shape, dtype)
    outputs = outputs or [tenon.TensorInfo((None,) * len(shape), dtype)]
    values = network.add_custom(custom, x, name="mine", parameters=parameters, outputs=outputs)
    for value in values if isinstance(values, tuple) else (values,):
        network.add_output(value)
    return tenon.Model(network, threads=1, **options)


def test_an_operator_of_a_tflite_model():
    model = tenon.Model(SOFTSIGN, operators=[tenon.Operator("Softsign", softsign, same_shape)])
    x = np.array([[-2, -1, 0, 1, 2]], np.float32)
    np.testing.assert_allclose(model(x), 2.5 * x / (1 + np.abs(x)), rtol=1e-6)
    with pytest.raises(tenon.Error, match="Softsign"):
        tenon.Model(SOFTSIGN)


def test_an_operator_of_a_built_network_lives_as_long_as_its_models():
    custom = tenon.Operator("Double", lambda layer, i, o: np.multiply(i[0], 2, out=o[0]), same_shape)
    watch = weakref.ref(custom)
    model = with_operator(custom)
    session = model.session()
    del custom
    gc.collect()
    assert model(np.array([1, 2, 3], np.float32)).tolist() == [2, 4, 6]
    assert model(np.array([1, 2], np.float32)).tolist() == [2, 4]
    del model
    gc.collect()
    assert session(np.array([1, 2, 3], np.float32)).tolist() == [2, 4, 6]
    del session
    gc.collect()
    assert watch() is None


def test_what_an_operator_is_given():
    seen = {}

    def infer(layer):
        seen["infer"] = (layer.name, layer.parameters, layer.inputs[0], len(layer.outputs), layer.values)
        return layer.inputs[0].shape

    def run(layer, inputs, outputs):
        seen["run"] = (layer.parameters, layer.inputs[0].shape, layer.outputs[0].shape)
        seen["flags"] = (inputs[0].flags.writeable, outputs[0].flags.writeable)
        with pytest.raises(ValueError, match="read-only"):
            inputs[0][0] = 1
        outputs[0][:] = inputs[0]

    model = with_operator(tenon.Operator("Look", run, infer), parameters=b"\0\1\xff")
    model(np.zeros(3, np.float32))
    assert seen["infer"] == ("Look", b"\0\1\xff", tenon.TensorInfo((3,)), 1, [None])
    assert seen["run"] == (b"\0\1\xff", (3,), (3,))
    assert seen["flags"] == (False, True)


def test_values_of_inputs_for_shapes():
    def infer(layer):
        return tuple(int(size) for size in layer.values[0])

    custom = tenon.Operator("Zeros", lambda layer, i, o: o[0].fill(7), infer, value_inputs=[0])
    model = with_operator(custom, (2,), "int32", outputs=[tenon.TensorInfo((None, None))])
    assert model(np.array([2, 3], np.int32)).tolist() == [[7] * 3] * 2
    assert model(np.array([0, 3], np.int32)).shape == (0, 3)


def test_several_outputs():
    def run(layer, inputs, outputs):
        outputs[0][:] = inputs[0][:1]
        outputs[1][:] = inputs[0][1:]

    custom = tenon.Operator("Split", run, lambda layer: [(1,), (layer.inputs[0].shape[0] - 1,)])
    model = with_operator(custom, outputs=[tenon.TensorInfo((None,)), tenon.TensorInfo((None,))])
    result = model(np.array([1, 2, 3], np.float32))
    assert [values.tolist() for values in result.values()] == [[1], [2, 3]]


def test_late_outputs():
    custom = tenon.Operator("Positive", lambda layer, inputs: inputs[0][inputs[0] > 0], late_outputs=True)
    model = with_operator(custom)
    for values in ([1, -1, 2], [-1, -1, -1], [1, 2, 3]):
        assert model(np.array(values, np.float32)).tolist() == [v for v in values if v > 0]
    for answer, text in (
        (lambda layer, inputs: np.zeros(1), "returned an array of float64; output 0 is of float32"),
        (lambda layer, inputs: [inputs[0], inputs[0]], "returned 2 arrays; the layer has 1 outputs"),
        (lambda layer, inputs: None, "float32"),
    ):
        with pytest.raises(tenon.Error, match=text):
            with_operator(tenon.Operator("Wrong", answer, late_outputs=True))(np.zeros(3, np.float32))


def test_an_exception_in_run_is_the_cause_of_the_error():
    class Mine(Exception):
        pass

    fails = [True]

    def run(layer, inputs, outputs):
        if fails[0]:
            raise Mine("out of order äöü")
        outputs[0][:] = inputs[0]

    model = with_operator(tenon.Operator("Fails", run, same_shape))
    x = np.ones(3, np.float32)
    for use in (lambda: model(x), lambda: model.run_async(x).result(), model.bind(x)):
        with pytest.raises(tenon.Error, match="custom operator 'Fails': run failed: Mine: out of order äöü") as error:
            use()
        assert isinstance(error.value.__cause__, Mine)
        assert "run" in [frame.name for frame in _frames(error.value.__cause__)]
    fails[0] = False
    assert model(x).tolist() == [1, 1, 1]


def _frames(error):
    import traceback

    return traceback.extract_tb(error.__traceback__)


def test_exceptions_in_infer():
    def infer(layer):
        raise KeyError("nothing")

    with pytest.raises(tenon.InvalidLayerError, match="KeyError: 'nothing'") as error:
        with_operator(tenon.Operator("Fails", lambda *_: None, infer))
    assert isinstance(error.value.__cause__, KeyError)
    for answer, text in (
        (7, "infer\\(\\) returned 7"),
        ((None,), "all sizes must be known"),
        ([(1,), (2,)], "returned 2 shapes; the layer has 1 outputs"),
        ((1,) * 9, "at most 8"),
        ((-5,), "size -5"),
        (("a",), "TypeError"),
    ):
        with pytest.raises(tenon.InvalidLayerError, match=text):
            with_operator(tenon.Operator("Fails", lambda *_: None, lambda layer, answer=answer: answer))


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_exceptions_that_end_programs_are_raised_themselves(kind):
    def fail(*_):
        raise kind(3)

    model = with_operator(tenon.Operator("Ends", fail, same_shape))
    x = np.ones(3, np.float32)
    for use in (lambda: model(x), model.bind(x), lambda: with_operator(tenon.Operator("Ends", fail, fail))):
        with pytest.raises(kind) as error:
            use()
        assert error.value.args == (3,)


def test_a_cause_is_the_exception_of_the_same_call():
    def refuse(layer):
        raise ValueError("some")

    def fail(layer, inputs, outputs):
        raise LookupError("some more, ValueError: some")

    x = np.ones(3, np.float32)
    with pytest.raises(tenon.UnsupportedError, match="ValueError: some; .*ValueError: some$") as error:
        with_operator(tenon.Operator("Refuses", fail, same_shape, is_supported=refuse))
    assert isinstance(error.value.__cause__, ValueError)
    with pytest.raises(tenon.Error, match="LookupError: some more") as error:
        with_operator(tenon.Operator("Fails", fail, same_shape))(x)
    assert type(error.value.__cause__) is LookupError


def test_causes_in_threads():
    def fail(layer, inputs, outputs):
        raise ValueError(float(inputs[0][0]))

    model = with_operator(tenon.Operator("Fails", fail, same_shape))
    wrong = []

    def work(seed):
        for i in range(100):
            value = float(seed * 1000 + i)
            with pytest.raises(tenon.Error, match=f"ValueError: {value}$") as error:
                model(np.full(3, value, np.float32))
            if error.value.__cause__.args != (value,):
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert tenon._ffi.raised == {}


def test_exceptions_of_operators_do_not_stay_in_memory():
    class Large(Exception):
        pass

    kept = []

    def refuse(layer):
        error = Large()
        kept.append(weakref.ref(error))
        raise error

    for _ in range(3):
        with pytest.raises(tenon.UnsupportedError):
            with_operator(tenon.Operator("Refuses", softsign, same_shape, is_supported=refuse))
    # An exception that is no part of an error: the layer runs on the second backend.
    answers = iter([Large(), None])

    def refuse_once(layer):
        answer = next(answers)
        if answer is not None:
            kept.append(weakref.ref(answer))
            raise answer

    model = with_operator(
        tenon.Operator("Once", lambda layer, i, o: o[0].fill(1), same_shape, is_supported=refuse_once)
    )
    assert model(np.zeros(3, np.float32)).tolist() == [1, 1, 1]
    assert "Large" in str(model.assignment())
    assert tenon._ffi.MARK not in str(model.assignment())
    del answers
    gc.collect()
    assert len(kept) >= 4
    assert [reference() for reference in kept] == [None] * len(kept)


def test_texts_of_exceptions_that_are_odd():
    class Silent(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    x = np.ones(3, np.float32)
    for raised, text in (
        (Silent(), "Silent: without a text, as str\\(\\) of it raises RuntimeError$"),
        (ValueError("a\0b"), "ValueError: a\ufffdb$"),
        (ValueError("a\u2063999\u2063b"), "ValueError: a999b$"),
    ):

        def fail(layer, inputs, outputs, raised=raised):
            raise raised

        with pytest.raises(tenon.Error, match=text) as error:
            with_operator(tenon.Operator("Fails", fail, same_shape))(x)
        assert error.value.__cause__ is raised


def test_long_texts_are_cut():
    def run(layer, inputs, outputs):
        raise ValueError("ä" * 100_000)

    with pytest.raises(tenon.Error, match="ValueError: ää") as error:
        with_operator(tenon.Operator("Fails", run, same_shape))(np.ones(3, np.float32))
    assert isinstance(error.value.__cause__, ValueError)


def test_a_layer_may_be_refused():
    reason = ["not on Sundays"]
    custom = tenon.Operator(
        "Refuses", lambda layer, i, o: o[0].fill(1), same_shape, is_supported=lambda layer: reason[0]
    )
    with pytest.raises(tenon.UnsupportedError, match="not on Sundays"):
        with_operator(custom)
    reason[0] = None
    assert with_operator(custom)(np.zeros(3, np.float32)).tolist() == [1, 1, 1]


def test_incomplete_operators():
    for arguments in (("", print, print), ("Name", print)):
        with pytest.raises(tenon.InvalidArgumentError, match="needs a name, `run` and"):
            tenon.Operator(*arguments)
    with pytest.raises(tenon.InvalidArgumentError, match="inputs from 0 to 31"):
        tenon.Operator("Name", print, print, value_inputs=[32])


def test_truth_values_of_is_supported():
    for answer in (None, True, np.True_):
        custom = tenon.Operator(
            "Asked", lambda layer, i, o: o[0].fill(1), same_shape, is_supported=lambda layer, answer=answer: answer
        )
        assert with_operator(custom)(np.zeros(3, np.float32)).tolist() == [1, 1, 1]
    for answer in (False, np.False_):
        custom = tenon.Operator("Asked", print, same_shape, is_supported=lambda layer, answer=answer: answer)
        with pytest.raises(tenon.UnsupportedError, match=r"is_supported\(\) gave no reason"):
            with_operator(custom)


@pytest.mark.parametrize(
    ("arguments", "named", "text"),
    [
        ((5, print, print), {}, "name is a text, not 5"),
        (("A", None, print), {}, "operator 'A': run is a function, not None"),
        (("A", 5, print), {}, "operator 'A': run is a function, not 5"),
        (("A", print, 5), {}, "operator 'A': infer is a function, not 5"),
        (("A", print, print), {"is_supported": True}, "operator 'A': is_supported is a function, not True"),
        (("A", print, print), {"value_inputs": 0}, "value_inputs is a list of the numbers of inputs, not 0"),
        (("A", print, print), {"value_inputs": ["a"]}, "a number in value_inputs is an integer, not 'a'"),
    ],
)
def test_wrong_types_of_arguments(arguments, named, text):
    with pytest.raises(TypeError, match=text):
        tenon.Operator(*arguments, **named)


def test_operators_in_threads():
    custom = tenon.Operator("Double", lambda layer, i, o: np.multiply(i[0], 2, out=o[0]), same_shape)
    model = with_operator(custom)
    failures = []

    def work(seed):
        for i in range(100):
            x = np.full(3, seed * 1000 + i, np.float32)
            if not np.array_equal(model(x), 2 * x):
                failures.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_an_operator_that_runs_a_model():
    inner = tenon.Network()
    inner.add_output(inner.add_layer("Floor", inner.add_input("x", (3,))))
    inner = tenon.Model(inner, threads=1)

    def run(layer, inputs, outputs):
        inner(inputs[0].copy(), out=outputs[0])

    model = with_operator(tenon.Operator("Inner", run, same_shape))
    assert model(np.array([1.5, -1.5, 2], np.float32)).tolist() == [1, -2, 2]


def test_operators_are_pickled_with_their_functions():
    custom = tenon.Operator("Softsign", softsign, same_shape)
    model = pickle.loads(pickle.dumps(tenon.Model(SOFTSIGN, operators=[custom])))
    x = np.array([[-2, -1, 0, 1, 2]], np.float32)
    np.testing.assert_allclose(model(x), 2.5 * x / (1 + np.abs(x)), rtol=1e-6)


def test_texts_may_have_the_marks_of_exceptions(tmp_path):
    """A path of a user may have the character by which the package finds exceptions."""
    for name in ("a\u2063b\u2063c", "\u2063", "\u20637"):
        with pytest.raises(tenon.Error, match=name):
            tenon.Model(tmp_path / name)
