# SPDX-License-Identifier: Apache-2.0
"""Arrays that go in and out: types, orders, memory, `out`, bound runs, other packages' objects."""

from __future__ import annotations

import array
import copy
import math
import pickle
import threading

import numpy as np
import pytest
from conftest import one_layer, same, two_of_two
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tenon
from tenon.tensor_info import TYPES

DTYPES = [
    "float16",
    "float32",
    "float64",
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
]
_same = {}


def same_of(dtype):
    """A model of this type for any shape, made once."""
    if dtype not in _same:
        network = tenon.Network()
        x = network.add_input("x", None, dtype)
        network.add_output(x, "y")
        _same[dtype] = tenon.Model(network, threads=1)
    return _same[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_element_types(dtype):
    values = np.arange(6).reshape(2, 3).astype(dtype)
    for model in (same((2, 3), dtype), same_of(dtype)):
        result = model(values)
        assert result.dtype == values.dtype
        np.testing.assert_array_equal(result, values)


@pytest.mark.parametrize("name", [name for name, _ in TYPES.values()])
def test_all_types_of_the_library(name):
    info = tenon.TensorInfo((2,), name)
    quantization = tenon.Quantization(0.5) if name.startswith("Q") else None
    network = tenon.Network()
    x = network.add_input("x", (2,), name, quantization=quantization)
    network.add_output(x, "y")
    model = tenon.Model(network, threads=1)
    assert model.inputs[0].type == name
    values = np.array([1, 0]).astype(info.dtype)
    np.testing.assert_array_equal(model(values), values)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_shape_and_dtype_comes_back(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=4))
    values = data.draw(hnp.arrays(dtype, shape))
    form = data.draw(st.sampled_from(["as it is", "fortran", "swapped", "sliced", "reversed", "read-only"]))
    if form == "fortran":
        values = np.asarray(values, order="F")
    elif form == "swapped":
        values = values.astype(values.dtype.newbyteorder())
    elif form == "sliced" and values.ndim:
        values = values[..., ::2]
    elif form == "reversed" and values.ndim:
        values = values[::-1]
    elif form == "read-only":
        values.flags.writeable = False
    before = values.copy()
    result = same_of(dtype)(values)
    assert result.shape == values.shape
    assert result.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(result, values)
    assert values.tobytes() == before.tobytes()


@settings(deadline=None, max_examples=100)
@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5),
        elements=st.floats(width=32, allow_nan=True, allow_infinity=True),
    )
)
def test_floor_of_any_floats(values):
    model = _floor_of_any()
    np.testing.assert_array_equal(model(values), np.floor(values))


_floors = []


def _floor_of_any():
    if not _floors:
        _floors.append(one_layer(None))
    return _floors[0]


def test_nan_and_infinities(floor):
    values = np.array([[np.nan, np.inf, -np.inf], [-0.0, 0.5, -0.5]], np.float32)
    np.testing.assert_array_equal(floor(values), np.floor(values))
    assert np.signbit(floor(values)[1, 0])


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "int8", "bool", "complex64", ">f8", "O", "U1"])
def test_a_wrong_dtype_is_refused_with_both_types_named(floor, dtype):
    values = np.zeros((2, 3), dtype)
    with pytest.raises(tenon.DTypeError, match=f"input 'x', Float32, takes arrays of float32.*{values.dtype.name}"):
        floor(values)
    with pytest.raises(TypeError):
        floor(values)
    with pytest.raises(tenon.DTypeError, match=f"output 'y', Float32, .*`out` of {values.dtype.name}"):
        floor(np.zeros((2, 3), np.float32), out=values)


@pytest.mark.parametrize("value", [[1.0, 2.0], 1.0, None, "text", object(), {1, 2}])
def test_what_is_no_array_is_refused(floor, value):
    with pytest.raises(TypeError, match="input 'x'"):
        floor(value)


def test_arrays_are_used_in_place_unless_they_cannot_be(x):
    """A bound run reads the caller's memory; arrays that would be copied cannot be bound."""
    model = one_layer((2, 3))
    bound = model.bind(x)
    bound()
    np.testing.assert_array_equal(bound.outputs[0], np.floor(x))
    x[:] = 4.5
    bound()
    np.testing.assert_array_equal(bound.outputs[0], np.full((2, 3), 4, np.float32))
    assert bound.inputs[0] is x or np.shares_memory(bound.inputs[0], x)
    for copied in (np.asfortranarray(x), x.astype(">f4"), x[:, ::-1]):
        with pytest.raises(tenon.InvalidArgumentError, match="to be bound"):
            model.bind(copied)


def test_arrays_in_other_orders(floor, x):
    np.testing.assert_array_equal(floor(np.asfortranarray(x)), np.floor(x))
    np.testing.assert_array_equal(floor(x.T.copy().T), np.floor(x))
    np.testing.assert_array_equal(floor(x[:, ::-1]), np.floor(x)[:, ::-1])
    np.testing.assert_array_equal(floor(x.astype(">f4")), np.floor(x))
    np.testing.assert_array_equal(floor(np.repeat(x, 2, 1)[:, ::2]), np.floor(x))
    np.testing.assert_array_equal(floor(np.broadcast_to(np.float32(1.5), (2, 3))), np.ones((2, 3)))
    unaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(2, 3)
    assert not unaligned.flags.aligned
    np.testing.assert_array_equal(floor(unaligned), np.floor(x))


def test_read_only_inputs(floor, x):
    x.flags.writeable = False
    np.testing.assert_array_equal(floor(x), np.floor(x))
    assert not x.flags.writeable
    x.flags.writeable = True
    floor(x)
    assert x.flags.writeable


def test_subclasses_of_ndarray(floor, x, tmp_path):
    mapped = np.memmap(tmp_path / "m", np.float32, "w+", shape=(2, 3))
    mapped[:] = x
    assert type(floor(mapped)) is np.ndarray
    np.testing.assert_array_equal(floor(mapped), np.floor(x))

    class Named(np.ndarray):
        pass

    np.testing.assert_array_equal(floor(x.view(Named)), np.floor(x))


def test_objects_of_the_buffer_protocol():
    model = one_layer((3,))
    values = array.array("f", [1.5, -1.5, 2])
    assert model(values).tolist() == [1, -2, 2]
    assert model(memoryview(values)).tolist() == [1, -2, 2]
    assert same((3,), "uint8")(b"abc").tolist() == [97, 98, 99]
    assert same((3,), "uint8")(bytearray(b"abc")).tolist() == [97, 98, 99]
    with pytest.raises(tenon.DTypeError, match="takes arrays of float32; it was given an array of float64"):
        model(array.array("d", [1, 2, 3]))
    bound = model.bind(values)
    values[0] = 9.5
    bound()
    assert bound.outputs[0].tolist() == [9, -2, 2]


def test_objects_of_dlpack(x):
    class Exporter:
        def __init__(self, values):
            self.values = values

        def __dlpack__(self, **arguments):
            return self.values.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    model = one_layer((2, 3))
    np.testing.assert_array_equal(model(Exporter(x)), np.floor(x))
    with pytest.raises(tenon.DTypeError, match="float64"):
        model(Exporter(x.astype(np.float64)))

    class OnDevice(Exporter):
        def __dlpack__(self, **arguments):
            raise BufferError("on a device")

    with pytest.raises(tenon.InvalidArgumentError, match="input 'x', Float32, cannot use the memory of the OnDevice"):
        model(OnDevice(x))


def test_out_for_one_output(floor, x):
    out = np.zeros((2, 3), np.float32)
    assert floor(x, out=out) is out
    np.testing.assert_array_equal(out, np.floor(x))
    for form in ([out], (out,), {"y": out}):
        out[:] = 0
        assert floor(x, out=form) is form
        np.testing.assert_array_equal(out, np.floor(x))
        assert floor.run(x, out=form)["y"] is out
    out = np.zeros((1, 3), np.float32)
    floor(x[:1], out=out)
    np.testing.assert_array_equal(out, np.floor(x[:1]))


def test_out_for_several_outputs():
    model = two_of_two()
    a, b = np.array([1, 2], np.float32), np.array([5, 7], np.float32)
    outs = [np.zeros(2, np.float32), np.zeros(2, np.float32)]
    assert model(a, b, out=outs) is outs
    assert [out.tolist() for out in outs] == [[6, 9], [-4, -5]]
    named = {"difference": outs[0], "sum": outs[1]}
    assert model.run(a, b, out=named) == {"sum": outs[1], "difference": outs[0]}
    assert [out.tolist() for out in outs] == [[-4, -5], [6, 9]]
    with pytest.raises(tenon.InvalidArgumentError, match="the model has 2 outputs; `out` has 1 arrays"):
        model(a, b, out=outs[0])
    with pytest.raises(tenon.InvalidArgumentError, match="it has none for 'difference'"):
        model(a, b, out={"sum": outs[0]})
    with pytest.raises(tenon.InvalidArgumentError, match="it has also 'more'"):
        model(a, b, out={**named, "more": outs[0]})


def test_wrong_arrays_in_out(floor, x):
    good = np.zeros((2, 3), np.float32)
    read_only = good.copy()
    read_only.flags.writeable = False
    for out, text in (
        (read_only, "read-only"),
        (np.zeros((3, 2), np.float32).T, "not C-contiguous"),
        (np.zeros((2, 6), np.float32)[:, ::2], "not C-contiguous"),
        (np.zeros((3, 2), np.float32), r"has the shape \(2, 3\); `out` has an array of shape \(3, 2\)"),
        (np.zeros((2, 3, 1), np.float32), r"\(2, 3, 1\)"),
        (x, "overlaps with that of input 'x'"),
    ):
        with pytest.raises(tenon.InvalidArgumentError, match=text):
            floor(x, out=out)
        with pytest.raises(tenon.InvalidArgumentError, match=text):
            floor.bind(x, out=out)
    with pytest.raises(tenon.InvalidArgumentError, match="in `out` that is byte-swapped"):
        floor(x, out=np.zeros((2, 3), ">f4"))
    with pytest.raises(
        tenon.InvalidArgumentError, match=r"has the shape \(0, 3\); `out` has an array of shape \(2, 3\)"
    ):
        floor(np.zeros((0, 3), np.float32), out=good)
    with pytest.raises(TypeError, match="`out`, not list"):
        floor(x, out=[[1.0]])
    with pytest.raises(tenon.InvalidArgumentError, match=r"has the shape \(1, 3\)"):
        floor(x[:1], out=good)
    memory = np.zeros(9, np.float32)
    with pytest.raises(tenon.InvalidArgumentError, match="overlaps"):
        floor(memory[:6].reshape(2, 3), out=memory[3:].reshape(2, 3))
    np.testing.assert_array_equal(floor(x, out=good), np.floor(x))


def test_arrays_in_out_must_not_overlap():
    model = two_of_two()
    a, b = np.array([1, 2], np.float32), np.array([5, 7], np.float32)
    memory = np.zeros(4, np.float32)
    for out in ([memory[:2], memory[:2]], [memory[1:3], memory[:2]], {"difference": memory[1:3], "sum": memory[2:]}):
        with pytest.raises(tenon.InvalidArgumentError, match="overlaps with that of output '(sum|difference)'"):
            model(a, b, out=out)
    model(a, b, out=[memory[2:], memory[:2]])
    assert memory.tolist() == [-4, -5, 6, 9]
    network = tenon.Network()
    x = network.add_input("x", (2,))
    for name in ("y", "z"):
        network.add_output(network.add_layer("Floor", x), name)
    with pytest.raises(tenon.InvalidArgumentError, match="overlaps with that of output"):
        tenon.Model(network).bind(a, out=[memory[:2], memory[1:3]])
    network = tenon.Network()
    for name in ("y", "z"):
        x = network.add_input(name, (2,), "QSymmS4", quantization=tenon.Quantization(0.5))
        network.add_output(x, name)
    values, out = np.array([1, -8], np.int8), np.zeros(3, np.int8)
    with pytest.raises(tenon.InvalidArgumentError, match="output 'z', QSymmS4, .*that of output 'y'"):
        tenon.Model(network)(values, values, out=[out[:2], out[1:]])


def test_bound_runs(x):
    model = one_layer((2, 3))
    out = np.zeros((2, 3), np.float32)
    bound = model.bind(x=x, out=out)
    assert bound() is None
    np.testing.assert_array_equal(out, np.floor(x))
    assert bound.outputs[0] is out
    smaller, small_out = x[:1].copy(), np.zeros((1, 3), np.float32)
    model.bind(smaller, out=small_out)()
    np.testing.assert_array_equal(small_out, np.floor(smaller))
    with pytest.raises(tenon.InvalidArgumentError, match="the shapes of outputs are unknown"):
        model.bind(smaller)
    wrong = model.bind(smaller, out=out)
    with pytest.raises(tenon.InvalidArgumentError, match="has 12 bytes; it was given 24"):
        wrong()
    with pytest.raises(tenon.DTypeError):
        model.bind(x.astype(np.float64))
    with pytest.raises(tenon.InvalidArgumentError, match="none was given for 'x'"):
        model.bind()


def test_a_bound_run_is_used_by_one_thread_at_a_time():
    entered, leave = threading.Event(), threading.Event()

    def wait(layer, inputs, outputs):
        entered.set()
        leave.wait(60)
        outputs[0][:] = inputs[0]

    network = tenon.Network()
    custom = tenon.Operator("Wait", wait, lambda layer: layer.inputs[0].shape)
    x = network.add_input("x", (1,))
    network.add_output(network.add_custom(custom, x, outputs=[tenon.TensorInfo((1,))]))
    bound = tenon.Model(network).bind(np.ones(1, np.float32))
    thread = threading.Thread(target=bound)
    thread.start()
    assert entered.wait(60)
    with pytest.raises(tenon.Error, match="one thread at a time"):
        bound()
    leave.set()
    thread.join()
    bound()
    assert bound.outputs[0].tolist() == [1]


def test_a_bound_run_that_was_interrupted_runs_again(monkeypatch, x):
    bound = one_layer((2, 3)).bind(x)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tenon._runner, "run_model", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bound()
    bound()
    np.testing.assert_array_equal(bound.outputs[0], np.floor(x))


def test_zero_sizes(floor):
    for shape in ((0, 3), (2, 0), (0, 0)):
        out = np.zeros(shape, np.float32)
        assert floor(np.zeros(shape, np.float32)).shape == shape
        assert floor(np.zeros(shape, np.float32), out=out) is out
    empty = one_layer((0, 3))
    assert empty(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert empty.bind(np.zeros((0, 3), np.float32))() is None


def test_bfloat16():
    model = same((2,), "BFloat16")
    bits = np.array([0x3FC0, 0xC000], np.uint16)  # 1.5, -2
    assert model(bits).view(np.uint16).tolist() == bits.tolist()
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert model.inputs[0].dtype == ml_dtypes.bfloat16
    result = model(np.array([1.5, -2], ml_dtypes.bfloat16))
    assert result.dtype == ml_dtypes.bfloat16
    assert result.tolist() == [1.5, -2]


def four_bits(shape):
    network = tenon.Network()
    network.add_output(network.add_input("x", shape, "QSymmS4", quantization=tenon.Quantization(0.5)), "y")
    return tenon.Model(network)


@pytest.mark.parametrize("shape", [(), (1,), (2,), (3, 5), (2, 2, 4), (0, 3)])
def test_elements_of_four_bits_are_int8(shape):
    values = np.random.default_rng(0).integers(-8, 8, shape, np.int8)
    for model in (four_bits(shape), four_bits(None)):
        result = model(values)
        assert result.dtype == np.int8
        np.testing.assert_array_equal(result, values)
        out = np.zeros(shape, np.int8)
        assert model(np.array(values, order="F"), out=out) is out
        np.testing.assert_array_equal(out, values)


def test_elements_of_four_bits_in_the_library():
    network = tenon.Network()
    x = network.add_input("x", (5,), "QSymmS4", quantization=tenon.Quantization(0.5))
    network.add_output(network.add_layer("Dequantize", x, outputs=[tenon.TensorInfo((5,))]))
    model = tenon.Model(network)
    stored = model.inputs[0].quantize([-9, -4, 0, 0.5, 9])
    assert stored.tolist() == [-8, -8, 0, 1, 7]
    assert model(stored).tolist() == [-4, -4, 0, 0.5, 3.5]


def test_elements_of_four_bits_that_are_refused():
    model = four_bits((2,))
    with pytest.raises(tenon.InvalidArgumentError, match="input 'x', QSymmS4, has elements from -8 to 7; .* -9 to 8"):
        model(np.array([-9, 8], np.int8))
    with pytest.raises(tenon.DTypeError, match="takes arrays of int8"):
        model(np.zeros(2, np.uint8))
    with pytest.raises(tenon.InvalidArgumentError, match=r"has the shape \(2,\)"):
        model(np.zeros(2, np.int8), out=np.zeros(3, np.int8))
    with pytest.raises(tenon.UnsupportedError, match="is not bound"):
        model.bind(np.zeros(2, np.int8))


def test_a_view_keeps_its_result(floor, x):
    result = floor(x)
    view = result[0]
    del result
    floor(x + 1)
    np.testing.assert_array_equal(view, np.floor(x)[0])


@pytest.mark.parametrize(
    ("dtype", "scale", "zero_point", "values", "stored"),
    [
        ("int8", 0.5, 3, [0, 0.25, -0.25, 0.75, 1e9, -1e9], [3, 4, 2, 5, 127, -128]),
        ("uint8", 0.5, 128, [0, 0.24, -0.26, math.inf, -math.inf], [128, 128, 127, 255, 0]),
        ("int16", 0.25, 0, [1, -1, 1e6, -1e6], [4, -4, 32767, -32768]),
    ],
)
def test_quantize_and_dequantize(dtype, scale, zero_point, values, stored):
    info = tenon.TensorInfo((None,), dtype, quantization=tenon.Quantization(scale, zero_point))
    quantized = info.quantize(values)
    assert quantized.dtype == np.dtype(dtype)
    assert quantized.tolist() == stored
    np.testing.assert_array_equal(info.dequantize(quantized), (np.array(stored) - zero_point) * np.float32(scale))
    assert info.dequantize(quantized).dtype == np.float32


def test_quantization_along_an_axis():
    info = tenon.TensorInfo((2, 3), "int8", quantization=tenon.Quantization([1, 0.5, 0.25], 0, axis=1))
    assert info.type == "QSymmS8"
    assert info.quantize(np.ones((2, 3))).tolist() == [[1, 2, 4]] * 2
    assert info.dequantize(np.full((2, 3), 4, np.int8)).tolist() == [[4, 2, 1]] * 2
    with pytest.raises(tenon.InvalidArgumentError, match=r"shape \(1,\) .* 3 scales along dimension 1"):
        info.quantize([1.0])


def test_quantization_by_blocks():
    blocks = tenon.Quantization([1, 0.5, 0.25, 0], axis=1, block_size=2)
    info = tenon.TensorInfo((2, 4), "QSymmS4", quantization=blocks)
    assert info.dequantize(np.full((2, 4), 4, np.int8)).tolist() == [[4, 4, 2, 2], [1, 1, 0, 0]]
    columns = tenon.TensorInfo((4, 2), "int8", quantization=tenon.Quantization([1, 2, 4, 8], axis=0, block_size=2))
    assert columns.type == "QSymmS8"
    assert columns.quantize(np.full((4, 2), 8)).tolist() == [[8, 4], [8, 4], [2, 1], [2, 1]]
    assert repr(blocks) == "Quantization(scales=(1.0, 0.5, 0.25, 0.0), zero_points=(0, 0, 0, 0), axis=1, block_size=2)"
    assert blocks != tenon.Quantization([1, 0.5, 0.25, 0.125], axis=1)
    assert pickle.loads(pickle.dumps(info)) == info
    # Through a network of the library, and back.
    network = tenon.Network()
    network.add_input("x", (2, 4), "QSymmS4", quantization=blocks)
    assert network.inputs[0].quantization == blocks
    for shape in ((2, 3), (4, 4), (8,)):
        with pytest.raises(tenon.InvalidArgumentError, match="4 scales for blocks of 2 along dimension 1"):
            tenon.TensorInfo(shape, "QSymmS4", quantization=blocks)
    assert tenon.TensorInfo((None, 4), "QSymmS4", quantization=blocks).shape == (None, 4)
    with pytest.raises(tenon.InvalidArgumentError, match="blocks of 2 along dimension 1"):
        info.dequantize(np.zeros((2, 6), np.int8))
    with pytest.raises(tenon.InvalidArgumentError, match="blocks need an axis"):
        tenon.Quantization(1, block_size=2)
    for size in (0, -1, 2**32):
        with pytest.raises(tenon.InvalidArgumentError, match="a block has 1 to"):
            tenon.Quantization([1, 2], axis=0, block_size=size)
    with pytest.raises(TypeError, match="block_size is an integer, not 0.5"):
        tenon.Quantization([1, 2], axis=0, block_size=0.5)


def test_quantization_that_is_refused():
    info = tenon.TensorInfo((1,), "int8", name="x", quantization=tenon.Quantization(0.5))
    with pytest.raises(tenon.InvalidArgumentError, match="tensor 'x' cannot store NaN"):
        info.quantize([math.nan])
    with pytest.raises(tenon.InvalidArgumentError, match="tensor 'y' is not quantized: it is Float32"):
        tenon.TensorInfo((1,), name="y").quantize([1.0])
    with pytest.raises(tenon.InvalidArgumentError, match="2 scales need an axis"):
        tenon.Quantization([1, 2])
    with pytest.raises(tenon.InvalidArgumentError, match="zero points have 32 bits"):
        tenon.Quantization(1, 2**31)
    with pytest.raises(tenon.InvalidArgumentError, match="3 scales and 2 zero points"):
        tenon.Quantization([1, 2, 3], [0, 0], axis=0)


def test_scales_axes_and_their_numbers():
    for scale in (0, -1, math.nan, math.inf, 1e-60, 1e60):
        with pytest.raises(tenon.InvalidArgumentError, match="scales are above 0 and finite"):
            tenon.Quantization([1, scale], axis=0)
    for axis in (-1, 8):
        with pytest.raises(tenon.InvalidArgumentError, match=f"axis of a quantization is from 0 to 7, not {axis}"):
            tenon.Quantization([1, 2], axis=axis)
    for arguments, text in (
        (([1, 2], 0, "a"), "axis is an integer, not 'a'"),
        (([1, 2], 0, 0.5), "axis is an integer, not 0.5"),
        (("ab",), "scales is a number or a list of numbers, not 'ab'"),
        (([None],), "scales is a number or a list of numbers"),
        ((1, 0.5), "zero_points is a number or a list of numbers, not 0.5"),
    ):
        with pytest.raises(TypeError, match=text):
            tenon.Quantization(*arguments)
    two = tenon.Quantization([1, 2], axis=1)
    for shape in ((2,), (2, 3)):
        with pytest.raises(tenon.InvalidArgumentError, match="the quantization has 2 scales along dimension 1"):
            tenon.TensorInfo(shape, "int8", quantization=two)
    for shape in ((2, None), (2, 2), None):
        info = tenon.TensorInfo(shape, "int8", quantization=two)
        for use in (info.quantize, info.dequantize):
            with pytest.raises(tenon.InvalidArgumentError, match=r"shape \(2, 3\) .* 2 scales along dimension 1"):
                use(np.ones((2, 3), np.int8))
    with pytest.raises(TypeError, match="quantization is a tenon.Quantization, not 0.5"):
        tenon.TensorInfo((1,), "int8", quantization=0.5)


def test_infos_and_quantizations_do_not_change():
    info = tenon.TensorInfo((2, 3), "int8", name="x", quantization=tenon.Quantization([1, 2], 3, axis=0))
    for value, name in ((info, "shape"), (info, "name"), (info.quantization, "scales"), (info.quantization, "axis")):
        with pytest.raises(AttributeError, match="does not change"):
            setattr(value, name, None)
        with pytest.raises(AttributeError, match="does not change"):
            delattr(value, name)
    for again in (copy.copy(info), copy.deepcopy(info), pickle.loads(pickle.dumps(info))):
        assert again == info and hash(again) == hash(info)
        assert repr(again) == repr(info)


def test_tensor_infos():
    info = tenon.TensorInfo((1, -1, None), np.int32, name="n")
    assert (info.shape, info.dtype, info.type, info.is_static) == ((1, None, None), np.int32, "Signed32", False)
    assert info == tenon.TensorInfo((1, None, None), "int32", name="n")
    assert info != tenon.TensorInfo((1, None, None), "int64", name="n")
    assert len({info, tenon.TensorInfo((1, None, None), "Signed32", name="n")}) == 1
    assert repr(info) == "<TensorInfo 'n': Signed32 [1, ?, ?]>"
    assert repr(tenon.TensorInfo(None)) == "<TensorInfo Float32 of unknown rank>"
    with pytest.raises(tenon.InvalidArgumentError, match="there is no element type 'colour'"):
        tenon.TensorInfo((1,), "colour")
    with pytest.raises(tenon.InvalidArgumentError, match="size -7"):
        tenon.TensorInfo((-7,))
    with pytest.raises(TypeError):
        tenon.TensorInfo((1.5,))
