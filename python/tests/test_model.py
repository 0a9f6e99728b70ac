# SPDX-License-Identifier: Apache-2.0
"""Loading models and running them: names, outputs, errors, threads, sessions, reports."""

from __future__ import annotations

import asyncio
import concurrent.futures
import gc
import pathlib
import pickle
import resource
import struct
import threading
import weakref

import numpy as np
import pytest
from conftest import DATA, DIGITS, ROOT, accumulator, digit_pictures, nonzero, one_layer, two_of_two

import tenon


def expected_of(kind):
    return np.loadtxt(DIGITS / f"expected_{kind}.txt", np.float32)


def test_float_model_gives_the_expected_outputs():
    model = tenon.Model(DIGITS / "digits_float.tflite")
    for picture, expected in zip(digit_pictures(), expected_of("float")):
        result = model((picture / 255).astype(np.float32)[None])
        np.testing.assert_allclose(result[0], expected, atol=1e-5)


def test_int8_model_gives_the_expected_outputs():
    model = tenon.Model((DIGITS / "digits_int8.tflite").read_bytes())
    info = model.inputs[0]
    for picture, expected in zip(digit_pictures(), expected_of("int8")):
        stored = info.quantize((picture / 255)[None])
        np.testing.assert_array_equal(stored, (picture.astype(int) - 128)[None])
        np.testing.assert_array_equal(model(stored)[0], expected)


def test_infos_of_inputs_and_outputs():
    model = tenon.Model(DIGITS / "digits_int8.tflite")
    (image,), (scores,) = model.inputs, model.outputs
    assert (image.name, image.shape, image.dtype, image.type) == ("image", (1, 8, 8, 1), np.int8, "QAsymmS8")
    assert image.quantization == tenon.Quantization(float(np.float32(1 / 255)), -128)
    assert (scores.name, scores.shape, scores.quantization.zero_points) == ("Identity", (1, 10), (-128,))
    assert "digits_int8.tflite" in repr(model) and "QAsymmS8 [1, 8, 8, 1]" in repr(model)


def test_ways_to_give_inputs():
    model = two_of_two()
    a, b = np.array([1, 2], np.float32), np.array([10, 20], np.float32)
    for result in (
        model(a, b),
        model(a=a, b=b),
        model(b=b, a=a),
        model(a, b=b),
        model({"a": a, "b": b}),
        model({"a": a}, b=b),
        model.run(a, b),
        model.run_async(a, b).result(),
        model.session()(a, b),
    ):
        assert list(result) == ["sum", "difference"]
        assert result["sum"].tolist() == [11, 22]
        assert result["difference"].tolist() == [-9, -18]


def test_one_output_is_an_array_and_run_gives_a_dict(floor, x):
    assert isinstance(floor(x), np.ndarray)
    result = floor.run(x)
    assert list(result) == ["y"]
    np.testing.assert_array_equal(result["y"], np.floor(x))
    np.testing.assert_array_equal(floor({"x": x}), np.floor(x))


@pytest.mark.parametrize(
    ("arguments", "named", "text"),
    [
        ((), {}, "the model has 2 inputs; none was given for 'a', 'b'"),
        ((1,), {}, "none was given for 'b'"),
        ((1, 2, 3), {}, "the model has 2 inputs; 3 were given"),
        ((1, 2), {"c": 3}, "the model has no input 'c'; there are 'a', 'b'"),
        ((1,), {"a": 3}, "input 'a' was given twice"),
        (({"a": 1, 5: 2},), {}, "the model has no input '5'"),
        (({"a": 1, "b": 2},), {"a": 3}, "input 'a' was given twice"),
    ],
)
def test_wrong_names_and_numbers_of_inputs(arguments, named, text):
    with pytest.raises(tenon.InvalidArgumentError, match=text):
        two_of_two()(*arguments, **named)


def test_other_shapes_than_at_loading(floor):
    for shape in ((1,), (7, 3), (2, 2, 2), (2, 3), (0, 3), (1, 1, 1, 1, 1, 1, 1, 1)):
        values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        result = floor(values)
        assert result.shape == shape
        np.testing.assert_array_equal(result, np.floor(values))
    assert floor(np.float32(2.5)).shape == ()
    with pytest.raises(tenon.InvalidArgumentError, match="an array of 9 dimensions; tensors have at most 8"):
        floor(np.zeros((1,) * 9, np.float32))


def test_shapes_that_do_not_fit_are_errors_that_name_the_layer():
    with pytest.raises(tenon.InvalidLayerError, match=r"Reshape.*\[3,2,2,24\]"):
        tenon.Model(DIGITS / "digits_float.tflite")(np.zeros((3, 8, 8, 1), np.float32))


def test_outputs_whose_shape_only_the_run_knows():
    model = nonzero()
    assert model.outputs[0].shape is None
    for values, places in (([0, 1, 0, 2], [[1], [3]]), ([0, 0, 0, 0], []), ([1, 1, 1, 1], [[0], [1], [2], [3]])):
        result = model(np.array(values, np.float32))
        assert result.dtype == np.int64
        assert result.tolist() == places
    out = np.zeros((2, 1), np.int64)
    assert model(np.array([5, 0, 5, 0], np.float32), out=out) is out
    assert out.tolist() == [[0], [2]]
    with pytest.raises(
        tenon.InvalidArgumentError, match=r"has the shape \(3, 1\); `out` has an array of shape \(2, 1\)"
    ):
        model(np.array([5, 5, 5, 0], np.float32), out=out)


def test_results_are_independent_of_later_runs(floor, x):
    first = floor(x)
    kept = first.copy()
    floor(x + 5)
    np.testing.assert_array_equal(first, kept)
    first[:] = 9  # a result is the caller's
    np.testing.assert_array_equal(floor(x), np.floor(x))


def test_files_that_are_none(tmp_path):
    missing = tmp_path / "missing.tflite"
    with pytest.raises(tenon.NotFoundError, match=r"missing\.tflite") as error:
        tenon.Model(missing)
    assert isinstance(error.value, FileNotFoundError)
    assert isinstance(error.value, tenon.Error)
    data = (DIGITS / "digits_float.tflite").read_bytes()
    for corrupt in (b"", b"no model at all", data[:100], data[:-20], data[:8] + bytes(len(data) - 8)):
        with pytest.raises(tenon.InvalidDataError):
            tenon.Model(corrupt)
        path = tmp_path / "corrupt.tflite"
        path.write_bytes(corrupt)
        with pytest.raises(tenon.InvalidDataError, match=r"corrupt\.tflite"):
            tenon.Model(path)
    with pytest.raises(TypeError, match="a model is a path, bytes or a tenon.Network, not int"):
        tenon.Model(7)
    with pytest.raises(tenon.InvalidArgumentError, match="null character"):
        tenon.Model("a\0b")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"backends": ["Npu"]}, tenon.Error, "Npu"),
        ({"backends": []}, tenon.InvalidArgumentError, "no backend is given"),
        ({"threads": -1}, tenon.InvalidArgumentError, "-1 threads"),
        ({"threads": 2**32}, tenon.InvalidArgumentError, "threads"),
        ({"options": {"colour": "red"}}, tenon.InvalidArgumentError, "a model has no option 'colour'"),
        ({"options": {"fp16": "yes"}}, tenon.InvalidArgumentError, "must be true or false"),
        ({"options": {"CpuAcc.CachedNetworkFilePath": "123"}}, tenon.NotFoundError, "'123'"),
        ({"options": {"fp16": None}}, TypeError, "option 'fp16' is None"),
        ({"options": ["fp16"]}, TypeError, r"options is a dict of options by names, not \['fp16'\]"),
        ({"options": {5: 1}}, TypeError, "the name of an option is a text, not 5"),
        ({"threads": "2"}, TypeError, "threads is an integer, not '2'"),
        ({"subgraph": "1"}, TypeError, "subgraph is an integer, not '1'"),
        ({"signature": 5}, TypeError, "signature is a text, not 5"),
        ({"entry": 5}, TypeError, "entry is a text, not 5"),
        ({"entry": "a"}, tenon.InvalidArgumentError, "there is no entry 'a': the file is a model"),
        ({"backends": 5}, TypeError, "backends is a list of names, not 5"),
        ({"backends": [5]}, TypeError, "the name of a backend is a text, not 5"),
        ({"runtime": 5}, TypeError, "runtime is a tenon.Runtime, not 5"),
        ({"limits": [1]}, TypeError, r"limits is a dict of limits by names, not \[1\]"),
        ({"limits": True}, TypeError, "limits is a dict of limits by names, not True"),
        ({"limits": {"max_layers": True}}, tenon.InvalidArgumentError, "limit 'max_layers' is True"),
        ({"limits": {"max_layers": "1"}}, TypeError, "limit 'max_layers' is an integer, not '1'"),
        ({"input_shapes": [(1, 8, 8, 1)]}, TypeError, "input_shapes is a dict of shapes by names"),
        ({"input_shapes": {"image": None}}, tenon.InvalidArgumentError, "the shape of 'image' needs a rank"),
        ({"input_shapes": {"image": 5}}, TypeError, "a shape is a list of integers, not 5"),
        ({"input_shapes": {"image": "18"}}, TypeError, "a size is an integer, not '1'"),
        ({"operators": tenon.Operator}, TypeError, "operators is a list of tenon.Operator"),
        ({"signature": "no"}, tenon.InvalidArgumentError, "the model has no signature 'no'"),
        ({"subgraph": 9}, tenon.InvalidArgumentError, "the model has no subgraph 9"),
        ({"input_shapes": {"nothing": (1,)}}, tenon.InvalidArgumentError, "nothing"),
        ({"operators": ["no operator"]}, TypeError, "tenon.Operator"),
        ({"limits": {"max_colours": 1}}, tenon.InvalidArgumentError, "there is no limit 'max_colours'"),
        ({"limits": {"max_layers": -1}}, tenon.InvalidArgumentError, "limit 'max_layers' is -1"),
        ({"limits": {"max_tensor_bytes": 100}}, tenon.InvalidDataError, "the limit is 100"),
    ],
)
def test_wrong_arguments_of_a_model(arguments, error, text):
    with pytest.raises(error, match=text):
        tenon.Model(DIGITS / "digits_float.tflite", **arguments)


def test_wrong_arguments_of_calls_and_networks(floor, x):
    network = tenon.Network()
    value = network.add_input("x", (1,))
    for use, text in (
        (lambda: floor(x, cancellation=1), "cancellation is a tenon.Cancellation, not 1"),
        (lambda: floor.run_async(x, cancellation=1).result(), "cancellation is a tenon.Cancellation, not 1"),
        (lambda: floor.set_threads("2"), "threads is an integer, not '2'"),
        (lambda: tenon.Runtime(limits=[1]), "limits is a dict"),
        (lambda: tenon.Network.read(b"", runtime=5), "runtime is a tenon.Runtime, not 5"),
        (lambda: network.optimize(runtime=5), "runtime is a tenon.Runtime, not 5"),
        (lambda: network.optimize(backends=5), "backends is a list of names, not 5"),
        (lambda: network.add_input(5), "name is a text, not 5"),
        (lambda: network.add_input("y", (1,), "int8", quantization=5), "quantization is a tenon.Quantization, not 5"),
        (lambda: network.add_layer(5, value), "type is a text, not 5"),
        (lambda: network.add_layer("Floor", value, attributes=[1]), "attributes is a dict"),
        (lambda: network.add_layer("Floor", value, outputs=[5]), "outputs is a number or a list of tenon.TensorInfo"),
        (lambda: network.add_layer("Floor", value, outputs=1.5), "outputs is a number or a list of tenon.TensorInfo"),
        (lambda: network.add_constant([1.0], info=5), "info is a tenon.TensorInfo, not 5"),
        (lambda: network.add_custom(5, value, outputs=[]), "custom is a tenon.Operator, not 5"),
        (lambda: network.add_if(value, 5, network), "a branch, condition or body is a tenon.Network, not 5"),
    ):
        with pytest.raises(TypeError, match=text):
            use()


def test_options_may_be_numbers_of_numpy():
    tenon.Model(DIGITS / "digits_float.tflite", options={"fp16": np.True_, "profiling": np.bool_(False)})
    with pytest.raises(tenon.InvalidArgumentError, match="must be true or false"):
        tenon.Model(DIGITS / "digits_float.tflite", options={"fp16": np.int64(7)})


def test_arguments_of_a_model():
    model = tenon.Model(
        str(DIGITS / "digits_float.tflite"),
        backends="CpuRef",
        threads=2,
        options={"fp16": False, "disabled_fusions": ["ResidualAdd", "Attention"]},
        input_shapes={"image": (1, 8, 8, 1)},
        runtime=tenon.Runtime(),
    )
    assert {layer["backend"] for layer in model.assignment()} == {"CpuRef"}
    model.set_threads(1)
    assert model(np.zeros((1, 8, 8, 1), np.float32)).shape == (1, 10)
    with pytest.raises(tenon.InvalidArgumentError, match="-2 threads"):
        model.set_threads(-2)


def test_signatures():
    plain = tenon.Model(DATA / "signatures.tflite")
    assert plain.signatures == ("down", "apart")
    assert [info.name for info in (*plain.inputs, *plain.outputs)] == ["t0", "t1"]
    apart = tenon.Model(DATA / "signatures.tflite", signature="apart")
    result = apart(x=np.array([1.5, -0.5, 3], np.float32))
    assert {name: values.tolist() for name, values in result.items()} == {
        "floor": [1, -1, 3],
        "negated": [-1.5, 0.5, -3],
    }
    second = tenon.Model(DATA / "signatures.tflite", subgraph=1)
    assert [info.name for info in second.outputs] == ["t1", "t2"]


def test_entries():
    bundle = ROOT / "tests/golden/containers/two.task"
    for source in (bundle, bundle.read_bytes()):
        first = tenon.Model(source, entry="first.tflite")
        assert [info.shape for info in first.inputs] == [(2, 4)]
        assert pickle.loads(pickle.dumps(first)).inputs[0].shape == (2, 4)
        second = tenon.Network.read(source, entry="second.tflite")
        assert second.inputs[0].shape == (1, 8)
        with pytest.raises(tenon.InvalidArgumentError, match="has 2 models; .*'first.tflite', 'second.tflite'"):
            tenon.Model(source)
    with pytest.raises(tenon.InvalidArgumentError, match="are for files: a Network has its own"):
        tenon.Model(second, entry="second.tflite")


def test_metadata(caplog):
    classifier = ROOT / "tests/golden/containers/classifier.tflite"
    model, network = tenon.Model(classifier), tenon.Network.read(classifier)
    for source in (model, network, network.optimize(), pickle.loads(pickle.dumps(model))):
        assert source.metadata == {"description": "small classifier", "name": "tiny", "version": "v1"}
        (image,), (scores,) = source.input_metadata, source.output_metadata
        assert (image.name, image.mean, image.std, image.labels) == ("image", (0.0,), (255.0,), ())
        assert (scores.labels, scores.value_labels, scores.mean) == (("cat", "dog", "fünf", "last"), (), ())
        assert (image.description, scores.description) == ("the image", "probabilities")
    assert repr(scores) == f"<TensorMetadata {scores.name!r}: 4 labels>"
    assert pickle.loads(pickle.dumps(scores)).labels == scores.labels
    plain = tenon.Model(DIGITS / "digits_float.tflite")
    assert [part.name for part in plain.input_metadata + plain.output_metadata] == ["", ""]
    damaged = tenon.Model(classifier.read_bytes().replace(b"M001", b"M009"))
    assert damaged.output_metadata[0].labels == ()
    assert "the metadata (TFLITE_METADATA) are not read" in caplog.text


def relisted(data, subgraph, **lists):
    """A .tflite model with other lists of inputs and outputs of a subgraph, which are put at its end."""
    made = bytearray(data)

    def number(form, at):
        return struct.unpack_from(form, made, at)[0]

    def field(table, index):
        return table + number("<H", table - number("<i", table) + 4 + 2 * index)

    subgraphs = field(number("<I", 0), 2)
    entry = subgraphs + number("<I", subgraphs) + 4 + 4 * subgraph
    for index, name in ((1, "inputs"), (2, "outputs")):
        made += bytes(-len(made) % 4)
        at = field(entry + number("<I", entry), index)
        struct.pack_into("<I", made, at, len(made) - at)
        made += struct.pack(f"<{1 + len(lists[name])}i", len(lists[name]), *lists[name])
    return bytes(made)


def test_a_tensor_may_be_listed_twice():
    data = relisted((DATA / "signatures.tflite").read_bytes(), 1, inputs=[0, 0], outputs=[1, 2, 1])
    network = tenon.Network.read(data, signature="apart")
    for source in (network, network.optimize()):
        model = tenon.Model(source)
        assert [info.name for info in model.inputs] == ["x", "x_1"]
        x, x_1 = np.array([7, 8], np.float32), np.array([1.5, -0.5], np.float32)
        expected = {"floor": [1, -1], "negated": [-1.5, 0.5], "floor_1": [1, -1]}  # the last input counts
        assert {name: values.tolist() for name, values in model(x, x_1).items()} == expected
        assert {name: values.tolist() for name, values in model(x_1=x_1, x=x).items()} == expected
        out = {name: np.empty(2, np.float32) for name in expected}
        model(x, x_1, out=out)
        assert {name: values.tolist() for name, values in out.items()} == expected


def test_reports():
    model = one_layer((4,), options={"profiling": True})
    model(np.zeros(4, np.float32))
    assert model.assignment()[0]["backend"] == "CpuAcc"
    assert model.statistics()["workloads"] >= 1
    assert model.plan()["max_threads"] == 1
    assert "Floor" in str(model.profile())
    assert model.trace()["traceEvents"]
    silent = one_layer((4,))
    for report in (silent.profile, silent.trace):
        with pytest.raises(tenon.InvalidArgumentError, match="load it with the option 'profiling'"):
            report()


def test_runtime():
    runtime = tenon.Runtime()
    assert set(runtime.backends) == {"CpuAcc", "CpuRef"}
    assert runtime.report()["version"] == tenon.__version__
    assert tenon.default_runtime() is tenon.default_runtime()
    with pytest.raises(tenon.NotFoundError):
        tenon.Runtime(plugins="/no/such/folder")
    with pytest.raises(tenon.InvalidArgumentError, match="there is no option 'x'"):
        tenon.Runtime(options={"x": 1})


def test_many_threads_run_one_model():
    model = one_layer((64,))
    failures = []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(100):
            values = random.normal(size=int(random.integers(1, 65))).astype(np.float32)
            if not np.array_equal(model(values), np.floor(values)):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_runs_in_threads_of_a_pool(floor, x):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for i, result in enumerate(pool.map(lambda i: floor(x + i), range(50))):
            np.testing.assert_array_equal(result, np.floor(x + i))


def test_run_async(floor, x):
    futures = [floor.run_async(x + i) for i in range(20)]
    for i, future in enumerate(futures):
        np.testing.assert_array_equal(future.result(), np.floor(x + i))
    with pytest.raises(tenon.DTypeError):
        floor.run_async(x.astype(np.float64)).result()
    out = np.zeros_like(x)
    assert floor.run_async(x, out=out).result() is out

    async def wait():
        return await asyncio.wrap_future(floor.run_async(x))

    np.testing.assert_array_equal(asyncio.run(wait()), np.floor(x))


def endless():
    """A model that runs until it is cancelled."""
    condition = tenon.Network()
    a = condition.add_input("a", (1,))
    equal = {"Operation": tenon.enums.ComparisonOperation.Equal}
    condition.add_output(condition.add_layer("Comparison", a, a, attributes=equal))
    body = tenon.Network()
    body.add_output(body.add_layer("Floor", body.add_input("a", (1,))))
    network = tenon.Network()
    network.add_output(network.add_while(condition, body, network.add_input("x", (1,))))
    return tenon.Model(network, runtime=tenon.Runtime(limits={"max_loop_iterations": 2**64 - 1}))


def test_cancelling():
    model = endless()
    cancellation = tenon.Cancellation()
    future = model.run_async(np.ones(1, np.float32), cancellation=cancellation)
    threading.Timer(0.05, cancellation.cancel).start()
    with pytest.raises(tenon.CancelledError):
        future.result(timeout=60)
    with pytest.raises(tenon.CancelledError):
        model(np.ones(1, np.float32), cancellation=cancellation)
    cancellation.reset()
    other = one_layer((1,))
    assert other(np.ones(1, np.float32), cancellation=cancellation).tolist() == [1]


def test_limit_of_iterations():
    condition = tenon.Network()
    a = condition.add_input("a", (1,))
    condition.add_output(
        condition.add_layer("Comparison", a, a, attributes={"Operation": tenon.enums.ComparisonOperation.Equal})
    )
    body = tenon.Network()
    body.add_output(body.add_layer("Floor", body.add_input("a", (1,))))
    network = tenon.Network()
    network.add_output(network.add_while(condition, body, network.add_input("x", (1,))))
    model = tenon.Model(network, runtime=tenon.Runtime(limits={"max_loop_iterations": 10}))
    with pytest.raises(tenon.LimitExceededError):
        model(np.ones(1, np.float32))


def test_a_future_that_has_not_begun_is_cancelled():
    model = endless()
    cancellation = tenon.Cancellation()
    x = np.ones(1, np.float32)
    futures = [model.run_async(x, cancellation=cancellation) for _ in range(8)]
    assert futures[-1].cancel()
    cancellation.cancel()
    for future in futures[:-1]:
        assert isinstance(future.exception(timeout=60), tenon.CancelledError)


def test_states():
    model = tenon.Model(accumulator())
    one, five = np.ones(1, np.float32), np.full(1, 5, np.float32)
    assert [model(one)[0], model(one)[0]] == [1, 2]
    with model.session() as session:
        assert [session(five)[0], session.run(five)["y"][0]] == [5, 10]
        assert model(one)[0] == 3
        session.reset()
        assert session(five)[0] == 5
    with pytest.raises(tenon.ClosedError):
        session(five)
    with pytest.raises(tenon.ClosedError):
        session.reset()
    model.reset()
    assert model(one)[0] == 1
    bound = model.bind(one)
    assert model(one)[0] == 2  # binding is no run
    bound()
    assert bound.outputs[0][0] == 3


def test_a_session_outlives_its_model():
    session = tenon.Model(accumulator()).session()
    assert session(np.ones(1, np.float32))[0] == 1


def test_closing(x):
    model = one_layer((2, 3))
    session, bound = model.session(), model.bind(x)
    model.close()
    model.close()
    for use in (lambda: model(x), model.reset, model.session, model.assignment, lambda: model.bind(x)):
        with pytest.raises(tenon.ClosedError):
            use()
    with pytest.raises(tenon.ClosedError):
        bound()
    np.testing.assert_array_equal(session(x), np.floor(x))
    bound = session.bind(x)
    bound()
    session.close()
    with pytest.raises(tenon.ClosedError):
        bound()
    with one_layer((2, 3)) as model:
        np.testing.assert_array_equal(model(x), np.floor(x))
    with pytest.raises(tenon.ClosedError):
        model(x)


def test_closing_gives_the_memory_back_that_bound_runs_have(x):
    model = one_layer((2, 3))
    bound = model.bind(x)
    bound()
    model(x)
    handle = weakref.ref(model._handle)
    model.close()
    gc.collect()
    assert handle() is None
    np.testing.assert_array_equal(bound.outputs[0], np.floor(x))


def test_closing_while_threads_run(x):
    for _ in range(20):
        model = one_layer((2, 3))

        def work(model=model):
            try:
                for _ in range(1000):
                    model(x)
            except tenon.ClosedError:
                return "closed"
            return "done"

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(work) for _ in range(2)]
            model.close()
            assert {future.result() for future in futures} <= {"closed", "done"}


def test_memory_does_not_grow(x):
    """100,000 calls: good ones, of other shapes, and ones that fail."""
    model = one_layer((2, 3))
    wrong = x.astype(np.float64)

    def calls(count):
        for i in range(count):
            model(x)
            model(x[: 1 + i % 2])
            try:
                model(wrong)
            except tenon.DTypeError:
                pass
            try:
                model(np.zeros((0,) * 3, np.float32), out=x)
            except tenon.InvalidArgumentError:
                pass

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    calls(2000)
    before = resident()
    calls(25000)
    assert resident() - before < 2 * 2**20


def test_exceptions_are_gone_without_the_garbage_collector(x):
    def fail_in_the_allocator(model=nonzero()):
        model(np.ones(4, np.float32), out=np.zeros((2, 1), np.int64))

    def fail_in_the_operator():
        network = tenon.Network()
        value = network.add_custom(
            tenon.Operator("Fails", lambda *_: 1 / 0, lambda layer: (1,)),
            network.add_input("x", (1,)),
            outputs=[tenon.TensorInfo((1,))],
        )
        network.add_output(value)
        return tenon.Model(network)

    failing = fail_in_the_operator()
    for fail in (fail_in_the_allocator, lambda: failing(np.ones(1, np.float32)), lambda: failing(x.astype(np.float64))):
        kept = []
        gc.disable()
        try:
            fail()
        except tenon.Error as error:
            kept.append(weakref.ref(error))
        finally:
            gone = kept and kept[0]() is None
            gc.enable()
        assert gone


def test_loading_gives_memory_back():
    data = (DIGITS / "digits_float.tflite").read_bytes()

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def load(count):
        for _ in range(count):
            model = tenon.Model(data, threads=1)
            model(np.zeros((1, 8, 8, 1), np.float32))
            model.session()(np.zeros((1, 8, 8, 1), np.float32))

    load(20)
    before = resident()
    load(100)
    assert resident() - before < 8 * 2**20


def test_use_in_a_finalizer_of_the_same_cycle(x):
    """The garbage collector may finalize the model before an object that uses it."""
    seen = []

    class Last:
        def __del__(self):
            for use in (lambda: self.model(x), self.bound, lambda: self.session(x), self.model.reset):
                try:
                    use()
                    seen.append("used")
                except tenon.ClosedError:
                    seen.append("closed")

    for _ in range(2):
        last = Last()
        model = one_layer((2, 3))
        model.last = last
        last.model, last.bound, last.session = model, model.bind(x), model.session()
        del last, model
        gc.collect()
    assert len(seen) == 8


def test_paths_are_taken_in_all_forms(tmp_path, monkeypatch):
    data = (DIGITS / "digits_float.tflite").read_bytes()
    path = tmp_path / "m ödel.tflite"
    path.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    for source in (path, str(path), pathlib.Path("m ödel.tflite"), "m ödel.tflite", bytearray(data), memoryview(data)):
        assert tenon.Model(source).inputs[0].name == "image"
