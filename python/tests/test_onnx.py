# SPDX-License-Identifier: Apache-2.0
"""Models from .onnx files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from conftest import DIGITS, tiny_onnx

import tenon

X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


@pytest.fixture
def relu(tmp_path):
    path = tmp_path / "relu.onnx"
    path.write_bytes(tiny_onnx("Relu", "batch", 3))
    return path


def test_open_sizes_follow_from_runs(relu):
    model = tenon.Model(relu)
    assert model.inputs[0].shape == (None, 3)
    np.testing.assert_array_equal(model(X), np.maximum(X, 0))
    np.testing.assert_array_equal(model(X[:1]), np.maximum(X[:1], 0))


def test_sizes_by_name(relu):
    model = tenon.Model(relu, dimensions={"batch": np.int64(2)})
    assert model.inputs[0].shape == (2, 3)
    np.testing.assert_array_equal(model(X), np.maximum(X, 0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model))(X), np.maximum(X, 0))
    assert tenon.Network.read(relu, dimensions={"batch": 5}).inputs[0].shape == (5, 3)
    assert tenon.Model(relu.read_bytes(), input_shapes={"x": (4, 3)}).inputs[0].shape == (4, 3)


@pytest.mark.parametrize(
    "dimensions, error, text",
    [
        ({"bach": 2}, tenon.InvalidArgumentError, "the model has no open dimension 'bach'; it has 'batch'"),
        ({"batch": -1}, tenon.InvalidArgumentError, "dimensions: 'batch' cannot be -1"),
        ({"batch": "2"}, TypeError, "the size of a dimension is an integer, not '2'"),
        ({2: 2}, TypeError, "the name of a dimension is a text, not 2"),
        ([2], TypeError, r"dimensions is a dict of sizes by names, not \[2\]"),
    ],
)
def test_wrong_dimensions(relu, dimensions, error, text):
    with pytest.raises(error, match=text):
        tenon.Model(relu, dimensions=dimensions)


def test_external_data(tmp_path):
    weights = np.array([10, 20, 30], np.float32)
    model = tiny_onnx("Add", 2, 3, external=("weights.bin", 3))
    (tmp_path / "weights.bin").write_bytes(weights.tobytes())
    (tmp_path / "model.onnx").write_bytes(model)
    np.testing.assert_array_equal(tenon.Model(tmp_path / "model.onnx")(X), X + weights)
    np.testing.assert_array_equal(tenon.Model(model, external_data=tmp_path)(X), X + weights)
    given = bytearray(weights.tobytes())
    loaded = tenon.Model(model, external_data={"weights.bin": given})
    given[:] = bytes(len(given))
    np.testing.assert_array_equal(loaded(X), X + weights)
    with pytest.raises(tenon.Error, match="weights.bin"):
        tenon.Model(model)
    with pytest.raises(TypeError, match="external_data is a folder or a dict of bytes by locations"):
        tenon.Model(model, external_data={"weights.bin": weights})
    with pytest.raises(TypeError, match="external_data is a folder or a dict of bytes by locations, not 5"):
        tenon.Model(model, external_data=5)


def test_texts_about_the_model(relu):
    data = tiny_onnx("Relu", 2, metadata=[("stride", "32"), ("names", "{0: 'größe'}")])
    texts = {"names": "{0: 'größe'}", "stride": "32"}
    model = tenon.Model(data)
    assert model.metadata == texts
    assert pickle.loads(pickle.dumps(model)).metadata == texts
    assert tenon.Network.read(data).metadata == texts
    assert tenon.Model(relu).metadata == {}
    assert tenon.Model(DIGITS / "digits_float.tflite").metadata == {}


def test_operators_that_no_layer_computes():
    with pytest.raises(tenon.UnsupportedError, match="NoSuchOperator"):
        tenon.Model(tiny_onnx("NoSuchOperator", 2, domain="some.domain"))


def test_arguments_of_other_formats(relu):
    for arguments in ({"dimensions": {"batch": 2}}, {"external_data": "."}, {"external_data": {"a": b""}}):
        with pytest.raises(tenon.InvalidArgumentError, match="give no dimensions or external data, which .onnx models"):
            tenon.Model(DIGITS / "digits_float.tflite", **arguments)
        with pytest.raises(tenon.InvalidArgumentError, match="are for files: a Network has its own"):
            tenon.Model(tenon.Network.read(relu), **arguments)
    with pytest.raises(tenon.InvalidArgumentError, match="give no signature, subgraph or operators"):
        tenon.Model(relu, signature="main")


def test_other_formats_are_named(tmp_path):
    (tmp_path / "model.pt").write_bytes(b"PK")
    with pytest.raises(tenon.InvalidDataError, match="is a PyTorch model, which is not read; export it to ONNX"):
        tenon.Model(tmp_path / "model.pt")
