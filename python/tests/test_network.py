# SPDX-License-Identifier: Apache-2.0
"""Networks that are built by hand, saved and read."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
from conftest import DIGITS, ROOT, accumulator, one_layer, run_python

import tenon
from tenon import enums


def fully_connected():
    network = tenon.Network()
    x = network.add_input("x", (None, 3))
    weights = network.add_constant(np.array([[1, 2, 3], [4, 5, 6]], np.float32), "weights")
    bias = network.add_constant([0.5, -0.5])
    y = network.add_layer(
        "FullyConnected", x, weights, bias, attributes={"TransposeWeightMatrix": True, "BiasEnabled": True}
    )
    network.add_output(y, "y")
    return network


def test_a_network_is_built_saved_and_loaded(tmp_path):
    x = np.array([[1, 0, 1], [0, 2, 0]], np.float32)
    expected = x @ np.array([[1, 4], [2, 5], [3, 6]]) + [0.5, -0.5]
    network = fully_connected()
    assert [info.name for info in (*network.inputs, *network.outputs)] == ["x", "y"]
    np.testing.assert_array_equal(tenon.Model(network)(x), expected)
    network.save(tmp_path / "plain.tenon")
    optimized = network.optimize(backends=["CpuRef"], options={"fp16": False})
    with pytest.raises(tenon.InvalidArgumentError, match="optimized already: backends"):
        tenon.Model(optimized, backends=["CpuAcc"])
    assert (network.is_optimized, optimized.is_optimized) == (False, True)
    optimized.save(tmp_path / "optimized.tenon")
    for name in ("plain", "optimized"):
        path = tmp_path / f"{name}.tenon"
        np.testing.assert_array_equal(tenon.Model(path)(x), expected)
        np.testing.assert_array_equal(tenon.Model(path.read_bytes())(x), expected)
        assert (network if name == "plain" else optimized).to_bytes() == path.read_bytes()
        read = tenon.Network.read(path)
        assert read.is_optimized == (name == "optimized")
        np.testing.assert_array_equal(tenon.Model(read)(x), expected)
    np.testing.assert_array_equal(tenon.Model(optimized)(x), expected)
    with pytest.raises(tenon.InvalidArgumentError, match="was taken by a load before"):
        tenon.Model(optimized)
    with pytest.raises(tenon.InvalidArgumentError, match="which went into a model"):
        optimized.to_bytes()
    with pytest.raises(tenon.InvalidArgumentError, match="a network that was optimized takes no further layers"):
        optimized.add_input("more", (1,))
    with pytest.raises(tenon.InvalidArgumentError, match="is optimized already"):
        tenon.Network.read(tmp_path / "optimized.tenon").optimize()


def test_a_tflite_model_becomes_a_tenon_file(tmp_path):
    network = tenon.Network.read(DIGITS / "digits_float.tflite")
    assert network.inputs[0].name == "image"
    network.save(tmp_path / "digits.tenon")
    x = np.random.default_rng(0).random((1, 8, 8, 1), np.float32)
    expected = tenon.Model(DIGITS / "digits_float.tflite")(x)
    np.testing.assert_array_equal(tenon.Model(tmp_path / "digits.tenon")(x), expected)


def test_a_network_of_arm_nn_is_read(tmp_path):
    golden = ROOT / "tests/golden/armnn/Activation_without_identifier.armnn"
    x = np.array([[-1, 0, 1], [-0.125, 0.25, 2]], np.float32)
    expected = np.clip(x, -0.25, 0.5)
    network = tenon.Network.read(golden)
    assert [info.name for info in (*network.inputs, *network.outputs)] == ["in0", "out0"]
    network.save(tmp_path / "net.tenon")
    for source in (network, golden, golden.read_bytes(), tmp_path / "net.tenon"):
        np.testing.assert_array_equal(tenon.Model(source)(x), expected)


def test_a_constant_keeps_its_values_when_the_array_changes():
    network = tenon.Network()
    values = np.array([1.5, 2.5], np.float32)
    network.add_output(network.add_layer("Floor", network.add_constant(values)))
    network.add_output(network.add_layer("Floor", network.add_input("x", (1,))))
    values[:] = 9
    model = tenon.Model(network)
    del network, values
    assert model(np.ones(1, np.float32))["output_0"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [(1.5, "Float32"), ([1, 2], "Signed32"), (True, "Boolean"), (np.int64(3), "Signed64"), ([[1.0]], "Float32")],
)
def test_constants_of_python_numbers(values, dtype):
    network = tenon.Network()
    network.add_output(network.add_constant(values), "c")
    model = tenon.Model(network)
    assert model.outputs[0].type == dtype
    assert model().tolist() == np.asarray(values).tolist()


@pytest.mark.parametrize("order", ["C", "F", "swapped", "read-only"])
def test_constants_of_any_order(order):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    given = values.copy(order="F") if order == "F" else values.copy()
    if order == "swapped":
        given = values.astype(">f4")
    given.flags.writeable = order != "read-only"
    network = tenon.Network()
    network.add_output(network.add_constant(given))
    np.testing.assert_array_equal(tenon.Model(network)(), values)


def test_constants_with_infos():
    network = tenon.Network()
    info = tenon.TensorInfo((3,), "QSymmS4", quantization=tenon.Quantization(1.0))
    for values in (np.array([0x21, 0x0F], np.uint8), np.array([1, 2, -1], np.int8)):
        network = tenon.Network()
        network.add_output(network.add_constant(values, info=info))
        assert tenon.Model(network)().tolist() == [1, 2, -1]
    with pytest.raises(tenon.InvalidArgumentError, match="needs 2 bytes, not 3"):
        network.add_constant(np.zeros(3, np.uint8), info=info)
    with pytest.raises(tenon.InvalidArgumentError, match="there is no element type"):
        network.add_constant(np.array(["text"]))


def test_attributes_of_all_kinds():
    network = tenon.Network()
    x = network.add_input("x", (1, 4, 4, 1))
    y = network.add_layer(
        "Pooling2d",
        x,
        name="pool",
        attributes={
            "PoolType": enums.PoolingAlgorithm.Max,
            "PoolWidth": 2,
            "PoolHeight": np.int64(2),
            "StrideX": 2,
            "StrideY": 2,
            "DataLayout": "NHWC",
        },
    )
    y = network.add_layer("Reshape", y, attributes={"TargetShape": tenon.Shape((2, -1))})
    y = network.add_layer("Pad", y, attributes={"PadList": [(1, 0), (0, 1)], "PadValue": np.float32(7)})
    y = network.add_layer(
        "Activation", y, attributes={"Function": enums.ActivationFunction.BoundedReLu, "A": 12, "B": 6.5}
    )
    network.add_output(y)
    values = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)
    expected = np.clip([[7, 7, 7], [5, 7, 7], [13, 15, 7]], 6.5, 12)
    np.testing.assert_array_equal(tenon.Model(network)(values), expected)


@pytest.mark.parametrize(
    ("type", "attributes", "error", "text"),
    [
        ("Nothing", {}, tenon.InvalidArgumentError, "Nothing"),
        ("Softmax", {"Colour": 1}, tenon.InvalidArgumentError, "there is no attribute 'Colour'"),
        ("Softmax", {"Beta": "x"}, tenon.InvalidArgumentError, "'Beta' must hold numbers"),
        ("Softmax", {"Beta": [1.0, 2.0]}, tenon.InvalidArgumentError, "'Beta' has 2 values"),
        ("Softmax", {"Axis": 1.0}, tenon.InvalidArgumentError, "'Axis' must hold integers"),
        (
            "Resize",
            {"Method": "Cubic"},
            tenon.InvalidArgumentError,
            "'Cubic'; its values are Bilinear, NearestNeighbor",
        ),
        ("Softmax", {"Axis": 2**63}, tenon.InvalidArgumentError, "'Axis': .* out of its range"),
        ("Softmax", {"Axis": 2**40}, tenon.InvalidArgumentError, "'Axis': .* out of its range"),
        ("Softmax", {"Axis": None}, TypeError, "attribute 'Axis' is None"),
        ("Softmax", {"Axis": [object()]}, TypeError, "attribute 'Axis'"),
        ("Reshape", {"TargetShape": [1, 2]}, tenon.InvalidArgumentError, "must hold a shape"),
        ("So\0ftmax", {}, tenon.InvalidArgumentError, "null character"),
        (7, {}, TypeError, "type is a text, not 7"),
    ],
)
def test_layers_that_are_refused(type, attributes, error, text):
    network = tenon.Network()
    x = network.add_input("x", (1, 4))
    with pytest.raises(error, match=text):
        network.add_layer(type, x, attributes=attributes)


def test_wiring_that_is_refused():
    network, other = tenon.Network(), tenon.Network()
    x, foreign = network.add_input("x", (4,)), other.add_input("x", (4,))
    with pytest.raises(tenon.InvalidArgumentError, match="a layer of type Floor has 1 inputs, not 2"):
        network.add_layer("Floor", x, x)
    with pytest.raises(tenon.InvalidArgumentError, match="a layer of type Floor has 1 outputs, not 2"):
        network.add_layer("Floor", x, outputs=2)
    with pytest.raises(tenon.InvalidArgumentError, match="is of another network"):
        network.add_layer("Floor", foreign)
    with pytest.raises(tenon.InvalidArgumentError, match="is of another network"):
        network.add_output(foreign)
    with pytest.raises(TypeError, match="a Value, or None, not ndarray"):
        network.add_layer("Floor", np.zeros(4))
    with pytest.raises(tenon.InvalidArgumentError, match="the network has an input 'x' already"):
        network.add_input("x", (4,))
    assert len(network.inputs) == 1


def test_networks_that_cannot_be_loaded():
    network = tenon.Network()
    x, y = network.add_input("x", (4,)), network.add_input("y", (3,))
    network.add_output(network.add_layer("ElementwiseBinary", x, y, name="of_two"))
    with pytest.raises(tenon.InvalidLayerError, match="of_two"):
        tenon.Model(network)
    with pytest.raises(tenon.InvalidLayerError, match="of_two"):
        network.optimize()
    with pytest.raises(tenon.InvalidArgumentError, match="are for files"):
        tenon.Model(network, signature="s")
    with pytest.raises(tenon.Error):
        network.save("/no/such/folder/x.tenon")


def test_networks_are_not_saved_under_names_of_other_formats(tmp_path):
    network = tenon.Network()
    network.add_output(network.add_layer("ElementwiseUnary", network.add_input("x", (4,))))
    for name in ("net.armnn", "net.onnx", "net.tflite"):
        with pytest.raises(tenon.InvalidArgumentError, match="can only be written as a .tenon file"):
            network.save(tmp_path / name)
        assert not (tmp_path / name).exists()


def test_layers_of_several_outputs_and_inputs_that_are_not_connected():
    network = tenon.Network()
    x = network.add_input("x", (2, 4))
    views = {
        "Origins.NumViews": 2,
        "Origins.NumDimensions": 2,
        "Origins.ViewOrigins": [(0, 0), (0, 1)],
        "ViewSizes": [(2, 1), (2, 3)],
    }
    halves = network.add_layer("Splitter", x, attributes=views, outputs=2)
    assert len(halves) == 2
    for half in halves:
        network.add_output(half)
    values = np.arange(8, dtype=np.float32).reshape(2, 4)
    result = tenon.Model(network)(values)
    np.testing.assert_array_equal(result["output_0"], values[:, :1])
    np.testing.assert_array_equal(result["output_1"], values[:, 1:])
    assert tenon.Model(accumulator())(np.ones(1, np.float32)).tolist() == [1]


def test_branches():
    floor, same = tenon.Network(), tenon.Network()
    floor.add_output(floor.add_layer("Floor", floor.add_input("a", (1,))))
    same.add_output(same.add_input("a", (1,)))
    network = tenon.Network()
    condition, x = network.add_input("c", (1,), "bool"), network.add_input("x", (1,))
    network.add_output(network.add_if(condition, floor, same, x, name="if"))
    model = tenon.Model(network)
    del floor, same, network
    x = np.array([1.5], np.float32)
    assert model(np.array([True]), x).tolist() == [1]
    assert model(np.array([False]), x).tolist() == [1.5]


def test_loops():
    condition, body, network = tenon.Network(), tenon.Network(), tenon.Network()
    x = condition.add_input("x", (1,))
    less = condition.add_layer(
        "Comparison", x, condition.add_constant([100.0]), attributes={"Operation": enums.ComparisonOperation.Less}
    )
    condition.add_output(less)
    y = body.add_input("x", (1,))
    body.add_output(body.add_layer("AddN", y, y, attributes={"NumInputs": 2}))
    network.add_output(network.add_while(condition, body, network.add_input("x", (1,))))
    model = tenon.Model(network)
    assert [float(model(np.array([v], np.float32))[0]) for v in (3, 64, 200)] == [192, 128, 200]


def test_quantized_networks():
    network = tenon.Network()
    x = network.add_input("x", (4,), "int8", quantization=tenon.Quantization(0.5, 1))
    real = network.add_layer("Dequantize", x, outputs=[tenon.TensorInfo(None, "float32")])
    network.add_output(real)
    model = tenon.Model(network)
    stored = model.inputs[0].quantize([0, 0.5, -3, 60])
    assert model(stored).tolist() == [0, 0.5, -3, 60]
    np.testing.assert_array_equal(model(stored), model.inputs[0].dequantize(stored))


def test_quantize_rounds_as_the_operator_does():
    """The method of infos against the library's operator Quantize."""
    values = np.concatenate([np.linspace(-70, 70, 9999), np.arange(-140, 140) * 0.25]).astype(np.float32)
    for scale, zero_point in ((0.5, 0), (0.1, 3), (0.0123, -100)):
        quantization = tenon.Quantization(scale, zero_point)
        network = tenon.Network()
        x = network.add_input("x", (None,))
        info = tenon.TensorInfo((None,), "int8", quantization=quantization)
        network.add_output(network.add_layer("Quantize", x, outputs=[info]))
        model = tenon.Model(network, backends=["CpuRef"])
        np.testing.assert_array_equal(model(values), model.outputs[0].quantize(values))


def test_a_network_is_used_by_several_threads():
    network = tenon.Network()
    x = network.add_input("x", (1,))

    def add():
        for _ in range(50):
            network.add_output(network.add_layer("Floor", x))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(network.outputs) == 200
    assert len(tenon.Model(network)(np.ones(1, np.float32))) == 200


def test_networks_are_not_pickled():
    network = tenon.Network()
    with pytest.raises(pickle.PicklingError, match="save it"):
        pickle.dumps(network)
    with pytest.raises(pickle.PicklingError, match="save the network"):
        pickle.dumps(one_layer((1,)))


def test_records_go_to_the_logger():
    program = """
import logging, sys
import numpy as np
import tenon
records = []
class Keep(logging.Handler):
    def emit(self, record):
        records.append((record.name, record.levelname, record.getMessage()))
logger = logging.getLogger("tenon")
logger.addHandler(Keep())
logger.propagate = False
def load():
    network = tenon.Network()
    network.add_output(network.add_layer("Floor", network.add_input("x", (1,))))
    tenon.Model(network, backends=["Npu", "CpuRef"])(np.ones(1, np.float32))
load()
assert {record[:2] for record in records} == {("tenon", "WARNING")}, records
count = len(records)
logger.setLevel(logging.CRITICAL)
load()
assert len(records) == count
print(records[0][2])
"""
    assert "backend 'Npu' is not there" in run_python(program)
