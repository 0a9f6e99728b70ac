# SPDX-License-Identifier: Apache-2.0
"""The models of the delegate's tests, as the bytes of .tflite files."""

from __future__ import annotations

import numpy as np
from model_builder import NAMES, Info, Model

F4 = Info((1, 4))


def classifier(dtype):
    """Convolutions, a sum, pooling, a product and Softmax, of float32, int8, uint8 or int16 activations. Weights have a
    scale for each channel, but for uint8. The last sum and the product are outputs too."""
    random = np.random.default_rng(7)
    model = Model()
    g = model.graph()
    type_name = NAMES[np.dtype(dtype)]
    is_float = dtype == "float32"
    zero_point = {"int8": 3, "uint8": 131}.get(dtype, 0)
    wide = 256 if dtype == "int16" else 1  # how much finer int16 is

    def info(shape, scale):
        return Info(shape, type_name) if is_float else Info(shape, type_name, scale / wide, zero_point)

    def weights(shape, channels, in_scale):
        """Weights and biases. `channels`: the dimension of output channels."""
        if is_float:
            bias = random.standard_normal(shape[channels])
            return g.constant(random.standard_normal(shape) * 0.3), g.constant(bias)
        if dtype == "uint8":
            filters = g.constant(random.integers(0, 256, shape), "uint8", 0.005, zero_point=120)
            scales = 0.005 * in_scale
        else:
            scales = tuple(0.004 + 0.0007 * i for i in range(shape[channels]))
            filters = g.constant(random.integers(-127, 128, shape), "int8", scales, channels)
            scales = tuple(scale * in_scale / wide for scale in scales)
        bias = random.integers(-500, 500, shape[channels]) * wide
        return filters, g.constant(bias, "int64" if dtype == "int16" else "int32", scales)

    x = g.input(info((1, 8, 8, 3), 0.05), "x")
    strides = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
    a = g.op(
        "CONV_2D",
        [x, *weights((8, 3, 3, 3), 0, 0.05)],
        info((1, 8, 8, 8), 0.06),
        options="Conv2DOptions",
        fused_activation_function="RELU",
        **strides,
    )
    b = g.op(
        "DEPTHWISE_CONV_2D",
        [a, *weights((1, 3, 3, 8), 3, 0.06)],
        info((1, 4, 4, 8), 0.07),
        options="DepthwiseConv2DOptions",
        padding="SAME",
        stride_w=2,
        stride_h=2,
        depth_multiplier=1,
    )
    c = g.op(
        "CONV_2D",
        [b, *weights((8, 1, 1, 8), 0, 0.07)],
        info((1, 4, 4, 8), 0.05),
        options="Conv2DOptions",
        fused_activation_function="RELU6",
        **strides,
    )
    sum_options = {"options": "AddOptions", "pot_scale_int16": False}
    d = g.op("ADD", [b, c], info((1, 4, 4, 8), 0.08), **sum_options)
    e = g.op(
        "AVERAGE_POOL_2D",
        [d],
        info((1, 1, 1, 8), 0.08),
        options="Pool2DOptions",
        padding="VALID",
        stride_w=4,
        stride_h=4,
        filter_width=4,
        filter_height=4,
    )
    f = g.op("RESHAPE", [e, g.constant([1, 8], "int32")], info((1, 8), 0.08), options="ReshapeOptions")
    # One scale for all: TensorFlow Lite 2.14 knows no others here.
    if is_float or dtype == "uint8":
        filters, bias = weights((5, 8), 0, 0.08)
    else:
        filters = g.constant(random.integers(-127, 128, (5, 8)), "int8", 0.002)
        values = random.integers(-500, 500, 5) * wide
        bias = g.constant(values, "int64" if dtype == "int16" else "int32", 0.002 * 0.08 / wide)
    h = g.op("FULLY_CONNECTED", [f, filters, bias], info((1, 5), 0.05), options="FullyConnectedOptions")
    out = {
        "float32": Info((1, 5)),
        "int8": Info((1, 5), "INT8", 1 / 256, -128),
        "uint8": Info((1, 5), "UINT8", 1 / 256, 0),
        "int16": Info((1, 5), "INT16", 1 / 32768, 0),
    }[dtype]
    g.outputs = [g.op("SOFTMAX", [h], out, options="SoftmaxOptions", beta=1.0), h, d]
    return model.content()


def sum_of_two():
    """(x + x) * 2, which one layer more than one operator makes."""
    model = Model()
    g = model.graph()
    x = g.input(F4, "x")
    g.outputs = [g.binary("MUL", g.binary("ADD", x, x, F4), g.constant([2.0]), F4)]
    return model.content()


def of_a_later_release():
    """x + x, by a version of ADD that no runtime has yet."""
    model = Model()
    g = model.graph()
    x = g.input(F4)
    g.outputs = [g.op("ADD", [x, x], F4, options="AddOptions", version=14)]
    return model.content()


def sandwich(kind):
    """An operator that Tenon has no layer for between one and two that it has, of float32 or int8."""
    model = Model()
    g = model.graph()
    info = Info((4, 3)) if kind == "float32" else Info((4, 3), "INT8", 0.1, 5)
    x = g.input(info)
    a = g.binary("ADD", x, x, info)
    bits = Info((6,), "INT32")
    hashes = g.constant([[0.1, -0.3], [0.7, 0.2], [-0.5, 0.9]])
    b = g.op("LSH_PROJECTION", [hashes, a], bits, options="LSHProjectionOptions", type="DENSE")
    c = g.binary("ADD", b, g.constant([1, 2, 3, 4, 5, 6], "int32"), bits)
    g.outputs = [g.binary("MUL", c, b, bits), a]
    return model.content()


def any_batch(signature):
    """Products, a sum and Softmax of [batch, 4]."""
    model = Model()
    g = model.graph()
    wide = Info((1, 16), signature=(-1, 16) if signature else ())
    random = np.random.default_rng(3)
    x = g.input(Info((1, 4), signature=(-1, 4) if signature else ()))
    weights = g.constant(random.standard_normal((16, 4)))
    y = g.op("FULLY_CONNECTED", [x, weights, None], wide, options="FullyConnectedOptions")
    z = g.binary("ADD", y, g.constant(random.standard_normal(16)), wide, "RELU")
    g.outputs = [g.op("SOFTMAX", [z], wide, options="SoftmaxOptions", beta=0.5), z]
    return model.content()


def gather():
    """Rows of the first input by the second."""
    model = Model()
    g = model.graph()
    x, indices = g.input(Info((3, 2))), g.input(Info((1,), "INT32"))
    y = g.op("GATHER", [x, indices], Info((1, 2)), options="GatherOptions")
    g.outputs = [g.binary("ADD", y, y, Info((1, 2)))]
    return model.content()


def loop():
    """While i < n: i + 1, x + x; behind it, where x[0] > 100: x - 1, else x + 1."""
    model = Model()
    main, condition, body, greater, other = (model.graph() for _ in range(5))
    number = Info((1,), "INT32")

    i, n, x = (condition.input(info) for info in (number, number, F4))
    condition.outputs = [condition.op("LESS", [i, n], Info((1,), "BOOL"), options="LessOptions")]

    i, n, x = (body.input(info) for info in (number, number, F4))
    next_i = body.binary("ADD", i, body.constant([1], "int32"), number)
    body.outputs = [next_i, n, body.binary("ADD", x, x, F4)]

    for graph, name in ((greater, "SUB"), (other, "ADD")):
        y = graph.input(F4)
        graph.outputs = [graph.binary(name, y, graph.constant([1.0]), F4)]

    i, n, x = (main.input(info) for info in (number, number, F4))
    _, _, y = main.op(
        "WHILE", [i, n, x], number, number, F4, options="WhileOptions", cond_subgraph_index=1, body_subgraph_index=2
    )
    first = main.op(
        "STRIDED_SLICE",
        [y, *(main.constant(values, "int32") for values in ([0, 0], [1, 1], [1, 1]))],
        Info(()),
        options="StridedSliceOptions",
        shrink_axis_mask=3,
    )
    large = main.op("GREATER", [first, main.constant(100.0)], Info((), "BOOL"), options="GreaterOptions")
    main.outputs = [main.op("IF", [large, y], F4, options="IfOptions", then_subgraph_index=3, else_subgraph_index=4)]
    return model.content()


def accumulator():
    """Adds its input to a resource variable, which CALL_ONCE sets to 10; the output is its double."""
    model = Model()
    main, once = model.graph(), model.graph()
    handle = Info((), "RESOURCE")

    def variable(graph):
        return graph.op("VAR_HANDLE", [], handle, options="VarHandleOptions", shared_name="sum")

    once.op("ASSIGN_VARIABLE", [variable(once), once.constant([10.0] * 4)], options="AssignVariableOptions")
    main.op("CALL_ONCE", [], options="CallOnceOptions", init_subgraph_index=1)
    x = main.input(Info((4,)))
    old = main.op("READ_VARIABLE", [variable(main)], Info((4,)), options="ReadVariableOptions")
    new = main.binary("ADD", old, x, Info((4,)))
    main.op("ASSIGN_VARIABLE", [variable(main), new], options="AssignVariableOptions")
    again = main.op("READ_VARIABLE", [variable(main)], Info((4,)), options="ReadVariableOptions")
    main.outputs = [main.binary("ADD", again, again, Info((4,)))]
    return model.content()


def svdf():
    """A layer with a state of 3 steps."""
    model = Model()
    g = model.graph()
    random = np.random.default_rng(5)
    x = g.input(Info((2, 3)))
    features, times = g.constant(random.standard_normal((4, 3))), g.constant(random.standard_normal((4, 3)))
    state = g.tensor(Info((2, 12), is_variable=True))
    y = g.op(
        "SVDF",
        [x, features, times, None, state],
        Info((2, 4)),
        options="SVDFOptions",
        rank=1,
        fused_activation_function="NONE",
    )
    g.outputs = [g.binary("ADD", y, y, Info((2, 4)))]
    return model.content()


def signatures():
    """Two graphs with a signature each, and a second signature of the first."""
    model = Model()
    a, b = model.graph(), model.graph()
    x = a.input(F4)
    y = a.binary("ADD", x, a.constant([1.0]), F4)
    z = a.binary("MUL", y, x, F4)
    a.outputs = [y, z]
    model.signature("both", a, {"x": x}, {"sum": y, "product": z})
    model.signature("one", a, {"x": x}, {"product": z})
    u = b.input(F4)
    v = b.binary("SUB", b.constant([1.0]), u, F4)
    b.outputs = [v]
    model.signature("other", b, {"u": u}, {"v": v})
    return model.content()
