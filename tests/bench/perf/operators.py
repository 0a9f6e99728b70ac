# SPDX-License-Identifier: Apache-2.0
"""Models of one operator for performance.py --layers operators: of floats, of int8 where TFLite has that, of int32.

Each is of a size that networks have: elementwise ones of an image of 56 x 56 x 64, softmaxes of attention. What is slow
here is what hides in a network behind its convolutions. Convolutions and fully connected layers are in perf/layers.py.
"""
from dataclasses import dataclass, field

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from perf.layers import File
from perf.models import Model, random_array, write_inputs

KIND = "operators"
IMAGE = [1, 56, 56, 64]
BOTH = ("float32", "int8")
FLOATS, INTEGERS = ("float32",), ("int32",)
SCALE, ZERO_POINT = 0.05, -3
# Of outputs, where TFLite has one scale alone: those of a sigmoid, a tanh, a log-softmax.
UNIT, SYMMETRIC, LOGARITHM = (1 / 256, -128), (1 / 128, 0), (16 / 256, 127)


@dataclass(frozen=True)
class Constant:
    element: str
    values: object

    @property
    def array(self):
        return np.array(self.values, self.element)


@dataclass(frozen=True)
class Operator:
    """`inputs`: shapes of data, constants; `outputs`: shapes; `element` of them, or one of each, if it is not that of
    the data."""
    name: str
    code: str
    inputs: list
    outputs: list
    options: dict = field(default_factory=dict)
    elements: tuple = FLOATS
    quantization: tuple = None  # of int8 outputs
    element: str | tuple = None
    options_name: str = None  # of its options in the schema, where it isn't the code's


def camel(code):
    return "".join(word.capitalize() for word in code.split("_")) + "Options"


def unary(name, code, elements=FLOATS, quantization=None, **options):
    return Operator(name, code, [IMAGE], [IMAGE], options, elements, quantization)


def binaries(name, code, elements=FLOATS, options_name=None):
    """With a tensor of the same shape, and with a row."""
    return [Operator(name + suffix, code, [IMAGE, other], [IMAGE], {}, elements, options_name=options_name)
            for suffix, other in (("", IMAGE), ("_row", [64]))]


def reductions(name, code):
    """Of pixels, of channels, of rows of pixels."""
    return [Operator(f"{name}_{label}", code, [IMAGE, Constant("int32", axes)], [shape], {"keepDims": True}, BOTH,
                     options_name="ReducerOptions")
            for label, axes, shape in (("pixels", [1, 2], [1, 1, 1, 64]), ("channels", [3], [1, 56, 56, 1]),
                                       ("rows", [1], [1, 1, 56, 64]))]


def pools(name, code, elements=BOTH):
    return [Operator(f"{name}_{size}x{size}_s{stride}", code, [IMAGE], [[1, 56 // stride, 56 // stride, 64]],
                     {"padding": 0, "strideW": stride, "strideH": stride, "filterWidth": size, "filterHeight": size},
                     elements, options_name="Pool2DOptions") for size, stride in ((2, 2), (3, 1), (3, 2))]


def resizes(name, code):
    return [Operator(f"{name}_{before[1]}x{before[2]}_{before[3]}", code,
                     [before, Constant("int32", after[1:3])], [after], {"halfPixelCenters": True}, BOTH)
            for before, after in (([1, 33, 33, 64], [1, 65, 65, 64]), ([1, 128, 128, 3], [1, 224, 224, 3]))]


def transposes(*orders):
    return [Operator("transpose_" + "".join(map(str, order)), "TRANSPOSE", [IMAGE, Constant("int32", order)],
                     [[IMAGE[axis] for axis in order]], {}, BOTH) for order in orders]


# Roots, logarithms and powers are those of positive numbers.
OF_POSITIVE = {"LOG", "SQRT", "RSQRT", "POW"}
# Of both types, where int8 did not come with version 2.
VERSIONS = {"RESIZE_BILINEAR": 3, "RESIZE_NEAREST_NEIGHBOR": 3, "ELU": 1, "HARD_SWISH": 1,
            "BROADCAST_TO": 3, "SCATTER_ND": 1}
PADS = Constant("int32", [[0, 0], [1, 1], [1, 1], [0, 0]])
PADDED = [1, 58, 58, 64]
BLOCK, NO_PADS = Constant("int32", [2, 2]), Constant("int32", [[0, 0], [0, 0]])
ROWS = Constant("int32", [i * 389 % 1000 for i in range(384)])
SCORES = [1, 12, 128, 128]

OPERATORS = [
    *binaries("add", "ADD", BOTH), *binaries("sub", "SUB", BOTH), *binaries("mul", "MUL", BOTH),
    *binaries("div", "DIV"), *binaries("maximum", "MAXIMUM", BOTH, "MaximumMinimumOptions"), *binaries("pow", "POW"),
    *binaries("squared_difference", "SQUARED_DIFFERENCE", BOTH), *binaries("floor_div", "FLOOR_DIV"),
    *[unary(code.lower(), code) for code in ("EXP", "LOG", "SQRT", "RSQRT", "SIN", "COS", "ABS", "NEG", "FLOOR", "CEIL",
                                             "ROUND", "SQUARE", "RELU6")],
    unary("tanh", "TANH", BOTH, SYMMETRIC), unary("logistic", "LOGISTIC", BOTH, UNIT), unary("relu", "RELU", BOTH),
    unary("hard_swish", "HARD_SWISH", BOTH), unary("elu", "ELU", BOTH), unary("gelu", "GELU", BOTH),
    unary("leaky_relu", "LEAKY_RELU", BOTH, alpha=0.1),
    Operator("softmax", "SOFTMAX", [SCORES], [SCORES], {"beta": 1.0}, BOTH, UNIT),
    Operator("log_softmax", "LOG_SOFTMAX", [[128, 1001]], [[128, 1001]], {}, BOTH, LOGARITHM),
    Operator("l2_normalization", "L2_NORMALIZATION", [[128, 512]], [[128, 512]], {}, BOTH, SYMMETRIC,
             options_name="L2NormOptions"),
    *reductions("mean", "MEAN"), *reductions("sum", "SUM"), *reductions("reduce_max", "REDUCE_MAX"),
    *reductions("reduce_prod", "REDUCE_PROD")[1:2],
    *pools("average_pool", "AVERAGE_POOL_2D"), *pools("max_pool", "MAX_POOL_2D"),
    *resizes("resize_bilinear", "RESIZE_BILINEAR"), *resizes("resize_nearest", "RESIZE_NEAREST_NEIGHBOR"),
    Operator("pad", "PAD", [IMAGE, PADS], [PADDED], {}, BOTH),
    Operator("mirror_pad", "MIRROR_PAD", [IMAGE, PADS], [PADDED], {"mode": 0}, BOTH),
    *transposes([0, 3, 1, 2], [0, 2, 1, 3], [0, 2, 3, 1], [3, 2, 1, 0]),
    Operator("concatenation", "CONCATENATION", [IMAGE, IMAGE], [[1, 56, 56, 128]], {"axis": 3}, BOTH),
    Operator("strided_slice", "STRIDED_SLICE", [IMAGE, Constant("int32", [0, 0, 0, 0]), Constant("int32", IMAGE),
                                                Constant("int32", [1, 2, 2, 1])], [[1, 28, 28, 64]], {}, BOTH),
    Operator("gather", "GATHER", [[1000, 128], ROWS], [[384, 128]], {"axis": 0}, BOTH),
    Operator("tile", "TILE", [[1, 56, 1, 64], Constant("int32", [1, 1, 56, 1])], [IMAGE], {}, BOTH),
    Operator("space_to_depth", "SPACE_TO_DEPTH", [IMAGE], [[1, 28, 28, 256]], {"blockSize": 2}, BOTH),
    Operator("depth_to_space", "DEPTH_TO_SPACE", [IMAGE], [[1, 112, 112, 16]], {"blockSize": 2}, BOTH),
    Operator("space_to_batch", "SPACE_TO_BATCH_ND", [IMAGE, BLOCK, NO_PADS], [[4, 28, 28, 64]], {}, BOTH,
             options_name="SpaceToBatchNDOptions"),
    Operator("batch_to_space", "BATCH_TO_SPACE_ND", [[4, 28, 28, 64], BLOCK, NO_PADS], [IMAGE], {}, BOTH,
             options_name="BatchToSpaceNDOptions"),
    Operator("batch_matmul", "BATCH_MATMUL", [[12, 128, 64], [12, 64, 128]], [SCORES[1:]],
             options_name="BatchMatMulOptions"),
    Operator("batch_matmul_transposed", "BATCH_MATMUL", [[12, 128, 64], [12, 128, 64]], [SCORES[1:]], {"adjY": True},
             options_name="BatchMatMulOptions"),
    Operator("cumsum", "CUMSUM", [[128, 1024], Constant("int32", 1)], [[128, 1024]]),
    Operator("arg_max", "ARG_MAX", [[1, 65, 65, 21], Constant("int32", 3)], [[1, 65, 65]],
             {"outputType": schema.TensorType.INT32}, BOTH, element="int32"),
    Operator("quantize", "QUANTIZE", [IMAGE], [IMAGE], element="int8"),
    Operator("dequantize", "DEQUANTIZE", [IMAGE], [IMAGE], {}, ("int8",), element="float32"),
    Operator("cast_to_int32", "CAST", [IMAGE], [IMAGE], element="int32"),
    Operator("cast_to_float32", "CAST", [IMAGE], [IMAGE], {}, INTEGERS, element="float32"),
    *binaries("add", "ADD", INTEGERS), *binaries("mul", "MUL", INTEGERS),
    Operator("less", "LESS", [IMAGE, IMAGE], [IMAGE], {}, BOTH, element="bool"),
    Operator("equal", "EQUAL", [IMAGE, IMAGE], [IMAGE], {}, INTEGERS, element="bool"),
    Operator("logical_and", "LOGICAL_AND", [IMAGE, IMAGE], [IMAGE], {}, ("bool",)),
    Operator("select", "SELECT_V2", [Constant("bool", np.arange(56 * 56 * 64).reshape(IMAGE) % 3 == 0), IMAGE, IMAGE],
             [IMAGE], {}, BOTH),
    Operator("prelu", "PRELU", [IMAGE, Constant("float32", np.full([64], 0.1))], [IMAGE]),
    Operator("top_k", "TOPK_V2", [[128, 1000], Constant("int32", 10)], [[128, 10], [128, 10]], {}, BOTH,
             element=(None, "int32"), options_name="TopKV2Options"),
    Operator("gather_nd", "GATHER_ND", [IMAGE[1:], Constant("int32", [[i % 56, i * 13 % 56] for i in range(784)])],
             [[784, 64]], {}, BOTH),
    Operator("scatter_nd", "SCATTER_ND", [Constant("int32", [[i * 4] for i in range(784)]), [784, 64],
                                          Constant("int32", [3136, 64])], [[3136, 64]], {}, BOTH),
    Operator("segment_sum", "SEGMENT_SUM", [[3136, 64], Constant("int32", [i // 16 for i in range(3136)])],
             [[196, 64]]),
    Operator("reverse", "REVERSE_V2", [IMAGE, Constant("int32", [2])], [IMAGE], {}, BOTH),
    Operator("broadcast_to", "BROADCAST_TO", [[1, 56, 1, 64], Constant("int32", IMAGE)], [IMAGE], {}, BOTH),
    Operator("split", "SPLIT", [Constant("int32", 3), IMAGE], [[1, 56, 56, 32]] * 2, {"numSplits": 2}, BOTH),
    Operator("slice", "SLICE", [IMAGE, Constant("int32", [0, 4, 4, 8]), Constant("int32", [1, 48, 48, 48])],
             [[1, 48, 48, 48]], {}, BOTH),
    Operator("pack", "PACK", [[3136, 64], [3136, 64]], [[3136, 2, 64]], {"valuesCount": 2, "axis": 1}, BOTH),
    Operator("unpack", "UNPACK", [[3136, 2, 64]], [[3136, 64]] * 2, {"num": 2, "axis": 1}, BOTH),
    Operator("local_response_normalization", "LOCAL_RESPONSE_NORMALIZATION", [IMAGE], [IMAGE],
             {"radius": 2, "bias": 1.0, "alpha": 1e-4, "beta": 0.75}),
    *pools("l2_pool", "L2_POOL_2D", FLOATS),
    Operator("dynamic_update_slice", "DYNAMIC_UPDATE_SLICE", [IMAGE, [1, 8, 56, 64], Constant("int32", [0, 8, 0, 0])],
             [IMAGE], {}, BOTH),
    Operator("requantize", "QUANTIZE", [IMAGE], [IMAGE], {}, ("int8",), (0.085, 4)),
]


def make_options(operator):
    """Options of the schema with their type, or neither where the operator has none."""
    name = operator.options_name or camel(operator.code)
    if not hasattr(schema, name + "T"):
        return 0, None
    options = getattr(schema, name + "T")()
    for key, value in operator.options.items():
        setattr(options, key, value)
    return getattr(schema.BuiltinOptions, name), options


def make_operator(operator, element, folder):
    """Writes one model and its inputs."""
    file = File()
    tensors, data, arrays = [], [], []
    for i, given in enumerate(operator.inputs):
        if isinstance(given, Constant):
            tensors.append(file.add(f"input{i}", given.element, list(given.array.shape), given.array))
            continue
        quantization = ([SCALE], ZERO_POINT) if element == "int8" else (None, 0)
        data.append(len(tensors))
        tensors.append(file.add(f"input{i}", element, given, None, *quantization))
        array = random_array(element, given, 3 + i)
        arrays.append(np.abs(array) if operator.code in OF_POSITIVE else array)
    scale, zero_point = operator.quantization or (SCALE, ZERO_POINT)
    outputs = []
    for i, shape in enumerate(operator.outputs):
        of_output = (operator.element[i] if isinstance(operator.element, tuple) else operator.element) or element
        quantization = ([scale], zero_point) if of_output == "int8" else (None, 0)
        outputs.append(file.add(f"output{i}", of_output, shape, None, *quantization))
    name = f"{operator.name}_{element}"
    path = folder / f"{name}.tflite"
    code = getattr(schema.BuiltinOperator, operator.code)
    version = VERSIONS.get(operator.code, 2 if element == "int8" else 1)
    file.write(path, code, version, *make_options(operator), tensors, outputs, data)
    return Model(name, path, f"{element} operators, layers", write_inputs(arrays, folder, name))


def make_operators(folder):
    return [make_operator(operator, element, folder) for operator in OPERATORS for element in operator.elements]
