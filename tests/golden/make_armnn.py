#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/armnn: small .armnn files, one for each kind of layer and each version of the format's features.

usage: make_armnn.py [--check]

Needs flatc, which makes the files of JSON. Each file has inputs in0, in1, ..., one layer called "layer", and outputs
out0, out1, ...; tests/parsers/armnn/GoldenTest.cpp builds the same networks with INetwork. Files whose names end with
"_old" are of the first version of all features: no versions are written, inputs and outputs are listed by the indices of
their layers, weights are members of their layers, and those of depthwise convolutions are [M, I, H, W]. Files whose
names end with "_bound" or "_held" are of the versions in between. Files that PLAIN names have no identifier, as Arm NN's
serializer writes them.

--check writes nothing, and fails where the files are not those that the script makes.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "src/parsers/armnn/armnn.fbs"
RESULTS = ROOT / "tests/golden/armnn"

# The kinds of flatbuffers' lists that hold values, and the format of an element for struct.
LISTS = {
    "Float32": ("IntData", "f"),
    "Float16": ("ShortData", "e"),
    "Signed32": ("IntData", "i"),
    "Signed64": ("LongData", "q"),
    "QSymmS16": ("ShortData", "h"),
    "QuantisedSymm16": ("ShortData", "h"),
    "QAsymmS8": ("ByteData", "b"),
    "QSymmS8": ("ByteData", "b"),
    "QAsymmU8": ("ByteData", "B"),
    "QuantisedAsymm8": ("ByteData", "B"),
    "Boolean": ("ByteData", "?"),
}
INTEGERS = {"ByteData": "b", "ShortData": "h", "IntData": "i", "LongData": "q"}


def info(shape, dtype="Float32", scale=0.0, offset=0, **others):
    """A TensorInfo. Sizes that are None are unknown."""
    table = {
        "dimensions": [size or 0 for size in shape],
        "dataType": dtype,
        "quantizationScale": scale,
        "quantizationOffset": offset,
    }
    if None in shape:
        table["dimensionSpecificity"] = [size is not None for size in shape]
    return table | others


def per_axis(shape, dtype, scales, dimension):
    return info(shape, dtype) | {"quantizationScales": scales, "quantizationDim": dimension}


SCALAR = {"dimensionality": 2}


def count(shape):
    product = 1
    for size in shape:
        product *= size
    return product


def pattern(number):
    """Values that differ from each other: -5/8, 2/8, -2/8, ... of floats, eight times that of integers."""
    return [i * 7 % 11 - 5 for i in range(number)]


def const(shape, dtype="Float32", scale=0.0, offset=0, values=None, tensor=None):
    """A ConstTensor; its values follow a pattern unless they are given."""
    tensor = tensor or info(shape, dtype, scale, offset)
    dtype = tensor["dataType"]
    if values is None:
        values = [
            value / 8 if dtype.startswith("Float") else value + 128 if LISTS[dtype][1] == "B" else value
            for value in pattern(count(shape))
        ]
    kind, element = LISTS[dtype]
    packed = struct.pack(f"<{len(values)}{element}", *values)
    stored = [number for (number,) in struct.iter_unpack("<" + INTEGERS[kind], packed)]
    return {"info": tensor | {"isConstant": True}, "data_type": kind, "data": {"data": stored}}


FILES = {}
PLAIN = {"Activation_without_identifier", "Convolution2d_without_identifier"}


def network(layers, inputs, outputs, old=False):
    graph = {"layers": layers, "inputIds": inputs, "outputIds": outputs}
    if not old:
        graph["featureVersions"] = {"bindingIdsScheme": 1, "weightsLayoutScheme": 1, "constantTensorsAsInputs": 1}
    return graph


def any_layer(kind, index, name, sources, outputs, others=None, binding=None):
    base = {
        "index": index,
        "layerName": name,
        "layerType": kind,
        "inputSlots": [
            {"index": i, "connection": {"sourceLayerIndex": source, "outputSlotIndex": output}}
            for i, (source, output) in enumerate(sources)
        ],
        "outputSlots": [{"index": i, "tensorInfo": output} for i, output in enumerate(outputs)],
    }
    if binding is not None:
        base = {"base": base, "layerBindingId": binding}
    return {"layer_type": kind + "Layer", "layer": {"base": base} | (others or {})}


FIRST_INPUT, FIRST_OUTPUT = 10, 20  # binding ids


def file(name, kind, inputs, outputs, descriptor=None, constants=(), old=False, change=None, **members):
    """A network of one layer: inputs, constants that feed it (name: ConstTensor), the layer, outputs."""
    layers, sources = [], []
    for i, tensor in enumerate(inputs):
        sources.append((len(layers), 0))
        layers.append(any_layer("Input", len(layers), f"in{i}", [], [tensor], binding=FIRST_INPUT + i))
    for constant, tensor in dict(constants).items():
        sources.append((len(layers), 0))
        layers.append(any_layer("Constant", len(layers), constant, [], [tensor["info"]], {"input": tensor}))
    layer = len(layers)
    others = ({"descriptor": descriptor} if descriptor is not None else {}) | members
    layers.append(any_layer(kind, layer, "layer", sources, outputs, others))
    for i in range(len(outputs)):
        layers.append(any_layer("Output", len(layers), f"out{i}", [(layer, i)], [], binding=FIRST_OUTPUT + i))
    first = layer + 1
    if old:
        ids = list(range(len(inputs))), list(range(first, first + len(outputs)))
    else:
        ids = [FIRST_INPUT + i for i in range(len(inputs))], [FIRST_OUTPUT + i for i in range(len(outputs))]
    FILES[name] = network(layers, *ids, old)
    if change:
        change(FILES[name])


def set_versions(**versions):
    """What changes a network into one of these versions."""

    def change(graph):
        graph["featureVersions"] = versions

    return change


def elementwise():
    x, y = info([2, 3]), info([1, 3])
    for name in ("Activation", "Activation_without_identifier"):
        file(name, "Activation", [x], [x], {"activationFunction": "BoundedReLu", "a": 0.5, "b": -0.25})
    for kind in ("Addition", "Subtraction", "Multiplication", "Division", "Maximum", "Minimum"):
        file(kind, kind, [x, y], [x])
    for kind in ("Equal", "Greater"):
        file(kind, kind, [x, y], [info([2, 3], "Boolean")])
    for kind in ("Abs", "Rsqrt", "Floor"):
        file(kind, kind, [x], [x])
    file("Comparison", "Comparison", [x, y], [info([2, 3], "Boolean")], {"operation": "LessOrEqual"})
    file("ElementwiseBinary", "ElementwiseBinary", [x, y], [x], {"operation": "SqDiff"})
    file("ElementwiseUnary", "ElementwiseUnary", [x], [x], {"operation": "Neg"})
    flags = info([2, 3], "Boolean")
    file("LogicalBinary", "LogicalBinary", [flags, flags], [flags], {"operation": "LogicalOr"})
    file("Prelu", "Prelu", [x, y], [x])
    file("Cast", "Cast", [x], [info([2, 3], "Signed32")])
    bytes_ = info([2, 3], "QAsymmU8", 0.25, 3)
    file("Quantize", "Quantize", [x], [bytes_])
    file("Dequantize", "Dequantize", [bytes_], [x])


def arrangement():
    x = info([2, 3, 4])
    file("Reshape", "Reshape", [x], [info([4, 6])], {"targetShape": [4, 0xFFFFFFFF]})
    file("Permute", "Permute", [x], [info([4, 2, 3])], {"dimMappings": [1, 2, 0]})
    file("Transpose", "Transpose", [x], [info([3, 4, 2])], {"dimMappings": [1, 2, 0]})
    image, deep = info([1, 4, 6, 2]), info([1, 2, 3, 8])
    file("SpaceToDepth", "SpaceToDepth", [image], [deep], {"blockSize": 2, "dataLayout": "NHWC"})
    file("DepthToSpace", "DepthToSpace", [deep], [image], {"blockSize": 2, "dataLayout": "NHWC"})
    blocks = {"blockShape": [2, 3], "dataLayout": "NHWC"}
    many = info([6, 3, 3, 2])
    file("SpaceToBatchNd", "SpaceToBatchNd", [image], [many], blocks | {"padList": [1, 1, 2, 1]})
    file("BatchToSpaceNd", "BatchToSpaceNd", [many], [image], blocks | {"crops": [1, 1, 2, 1]})
    file("ChannelShuffle", "ChannelShuffle", [x], [x], {"axis": 2, "numGroups": 2})
    padded = info([3, 3, 7])
    file("Pad", "Pad", [x], [padded], {"padList": [0, 1, 0, 0, 2, 1], "padValue": 0.5})
    mirrored = {"padList": [0, 1, 0, 0, 2, 1], "paddingMode": "Reflect"}
    file("Pad_mirrored", "Pad", [x], [padded], mirrored)
    file("Tile", "Tile", [x], [info([2, 6, 4])], {"m_Multiples": [1, 2, 1]})
    shape = const([2], "Signed32", values=[2, 3])
    file("Fill", "Fill", [], [info([2, 3])], {"value": 0.75}, {"shape": shape})
    axes = const([1], "Signed32", values=[1])
    file("ReverseV2", "ReverseV2", [x], [x], constants={"axes": axes})


def convolution():
    image = info([1, 5, 5, 2])
    window = {"padLeft": 1, "padTop": 1, "strideX": 2, "strideY": 2, "biasEnabled": True, "dataLayout": "NHWC"}
    result, bias = info([1, 2, 2, 3]), const([3])
    weights = const([3, 3, 3, 2])
    file("Convolution2d", "Convolution2d", [image], [result], window, {"weights": weights, "bias": bias})
    old = {"old": True, "weights": weights}
    file("Convolution2d_old", "Convolution2d", [image], [result], window, biases=bias, **old)
    # Releases in between had weights in layers. FlatBuffers shares the list of the root's fields with the layer's,
    # which is far from the file's start.
    relu = {"descriptor": {"activationFunction": "ReLu"}}
    held = {"descriptor": window, "weights": weights, "biases": bias}
    layers = [
        any_layer("Input", 0, "in0", [], [image], binding=FIRST_INPUT),
        any_layer("Convolution2d", 1, "convolution", [(0, 0)], [result], held),
        any_layer("Activation", 2, "relu", [(1, 0)], [result], relu),
        any_layer("Activation", 3, "layer", [(2, 0)], [result], relu),
        any_layer("Output", 4, "out0", [(3, 0)], [], binding=FIRST_OUTPUT),
    ]
    FILES["Convolution2d_without_identifier"] = network(layers, [FIRST_INPUT], [FIRST_OUTPUT])
    FILES["Convolution2d_without_identifier"]["featureVersions"]["constantTensorsAsInputs"] = 0
    # All that may be left out is: NCHW, no bias, no dilation, no pads. The weights have a scale for each channel.
    channels = per_axis([3, 2, 2, 2], "QSymmS8", [0.5, 0.25, 1.0], 0)
    file(
        "Convolution2d_defaults",
        "Convolution2d",
        [info([1, 2, 4, 4], "QAsymmS8", 0.5, 1)],
        [info([1, 3, 3, 3], "QAsymmS8", 2.0, -1)],
        {"strideX": 1, "strideY": 1},
        {"weights": const([3, 2, 2, 2], tensor=channels)},
    )
    depthwise = window | {"dilationX": 1, "dilationY": 1}
    results, biases = info([1, 2, 2, 4]), const([4])
    turned = {"weights": const([1, 3, 3, 4]), "bias": biases}
    file("DepthwiseConvolution2d", "DepthwiseConvolution2d", [image], [results], depthwise, turned)
    stored = {"weights": const([2, 2, 3, 3]), "biases": biases, "old": True}  # [M, I, H, W]
    file("DepthwiseConvolution2d_old", "DepthwiseConvolution2d", [image], [results], depthwise, **stored)
    quantized = info([1, 5, 5, 2], "QAsymmS8", 0.5, 1), info([1, 2, 2, 4], "QAsymmS8", 2.0, -1)
    scales = per_axis([2, 2, 3, 3], "QSymmS8", [0.5, 0.25, 1.0, 0.125], 0)
    plain = depthwise | {"biasEnabled": False}
    weights = const([2, 2, 3, 3], tensor=scales)
    file(
        "DepthwiseConvolution2d_scales_old",
        "DepthwiseConvolution2d",
        [quantized[0]],
        [quantized[1]],
        plain,
        weights=weights,
        old=True,
    )
    for release, shape, layout in (("bound", [2, 2, 3, 3], 0), ("held", [1, 3, 3, 4], 1)):
        change = set_versions(bindingIdsScheme=1, weightsLayoutScheme=layout, constantTensorsAsInputs=0)
        held = {"weights": const(shape), "biases": biases}
        name = f"DepthwiseConvolution2d_{release}"
        file(name, "DepthwiseConvolution2d", [image], [results], depthwise, change=change, **held)
    constants = {"weights": const([2, 2, 3, 3])}
    file(
        "DepthwiseConvolution2d_constant_old", "DepthwiseConvolution2d", [image], [results], plain, constants, old=True
    )
    volume = {"strideX": 1, "strideY": 1, "strideZ": 1, "padFront": 1, "biasEnabled": True}
    weights = {"weights": const([2, 2, 2, 2, 3]), "bias": bias}
    file("Convolution3d", "Convolution3d", [info([1, 2, 3, 3, 2])], [info([1, 2, 2, 2, 3])], volume, weights)
    transposed = {"padRight": 1, "strideX": 2, "strideY": 2, "biasEnabled": True, "dataLayout": "NHWC"}
    file(
        "TransposeConvolution2d",
        "TransposeConvolution2d",
        [info([1, 2, 2, 2])],
        [info([1, 5, 4, 3])],
        transposed,
        weights=const([3, 3, 3, 2]),
        biases=bias,
    )
    flat = {"biasEnabled": True, "transposeWeightsMatrix": True}
    weights = const([3, 4])
    file("FullyConnected", "FullyConnected", [info([2, 4])], [info([2, 3])], flat, {"weights": weights, "bias": bias})
    file(
        "FullyConnected_old",
        "FullyConnected",
        [info([2, 4])],
        [info([2, 3])],
        flat,
        weights=weights,
        biases=bias,
        old=True,
    )
    weights = const([4, 3])
    file("FullyConnected_defaults", "FullyConnected", [info([2, 4])], [info([2, 3])], {}, {"weights": weights})
    file("BatchMatMul", "BatchMatMul", [info([2, 3, 4]), info([2, 5, 4])], [info([2, 3, 5])], {"transposeY": True})


def normalization():
    image = info([1, 3, 4, 2])
    four = {name: const([2]) for name in ("mean", "beta", "gamma")} | {"variance": const([2], values=[0.5, 2.0])}
    batch = {"eps": 0.001, "dataLayout": "NHWC"}
    file("BatchNormalization", "BatchNormalization", [image], [image], batch, **four)
    instance = {"gamma": 2.0, "beta": 0.5, "eps": 0.001, "dataLayout": "NHWC"}
    file("InstanceNormalization", "InstanceNormalization", [image], [image], instance)
    file("L2Normalization", "L2Normalization", [image], [image], {"dataLayout": "NHWC", "eps": 0.001})
    local = {"normSize": 3, "alpha": 0.5, "beta": 0.75, "k": 1.0, "dataLayout": "NHWC"}
    file("Normalization", "Normalization", [image], [image], local)
    file("Softmax", "Softmax", [info([2, 5])], [info([2, 5])], {"beta": 0.5, "axis": 1})
    file("Softmax_defaults", "Softmax", [info([2, 5])], [info([2, 5])], {})
    file("L2Normalization_defaults", "L2Normalization", [info([1, 2, 3, 4])], [info([1, 2, 3, 4])], {})
    file("LogSoftmax", "LogSoftmax", [info([2, 5])], [info([2, 5])], {})


def pooling():
    pool = {
        "poolType": "Average",
        "padLeft": 1,
        "poolWidth": 2,
        "poolHeight": 2,
        "strideX": 2,
        "strideY": 1,
        "paddingMethod": "Exclude",
        "outputShapeRounding": "Ceiling",
        "dataLayout": "NHWC",
    }
    file("Pooling2d", "Pooling2d", [info([1, 4, 4, 2])], [info([1, 3, 3, 2])], pool)
    least = {"padLeft": 1, "poolWidth": 2, "poolHeight": 2, "strideX": 2, "strideY": 1}
    average = least | {"poolType": "Average", "dataLayout": "NCHW"}
    file("Pooling2d_defaults", "Pooling2d", [info([1, 2, 4, 4])], [info([1, 2, 3, 2])], average)
    volume = pool | {"poolType": "Max", "poolDepth": 2, "strideZ": 1, "dataLayout": "NDHWC"}
    file("Pooling3d", "Pooling3d", [info([1, 3, 4, 4, 2])], [info([1, 2, 3, 3, 2])], volume)


def reduction():
    x = info([2, 3, 4])
    file("ArgMinMax", "ArgMinMax", [x], [info([2, 4], "Signed32")], {"argMinMaxFunction": "Max", "axis": 1})
    file("ArgMinMax_64", "ArgMinMax", [x], [info([2, 3], "Signed64")], {"axis": -1})
    file("Mean", "Mean", [x], [info([2, 1, 4])], {"axis": [1], "keepDims": True})
    file("Mean_of_all", "Mean", [x], [info([1])], {"axis": [0, 1, 2]})  # Arm NN's shape of a scalar result
    # [1] of the mean feeds layers that need its dimension.
    parts = {"concatAxis": 0, "numViews": 2, "numDimensions": 1, "viewOrigins": [{"data": [0]}, {"data": [1]}]}
    layers = [
        any_layer("Input", 0, "in0", [], [x], binding=FIRST_INPUT),
        any_layer("Mean", 1, "mean", [(0, 0)], [info([1])], {"descriptor": {"axis": [0, 1, 2]}}),
        any_layer("Concat", 2, "layer", [(1, 0), (1, 0)], [info([2])], {"descriptor": parts}),
        any_layer("Output", 3, "out0", [(2, 0)], [], binding=FIRST_OUTPUT),
    ]
    FILES["Mean_concat"] = network(layers, [FIRST_INPUT], [FIRST_OUTPUT])
    layers = [
        any_layer("Input", 0, "in0", [], [info([5])], binding=FIRST_INPUT),
        any_layer("Constant", 1, "table", [], [info([5, 3])], {"input": const([5, 3])}),
        any_layer("ArgMinMax", 2, "extreme", [(0, 0)], [info([1], "Signed32")], {"descriptor": {"axis": 0}}),
        any_layer("Gather", 3, "layer", [(1, 0), (2, 0)], [info([1, 3])], {"descriptor": {}}),
        any_layer("Output", 4, "out0", [(3, 0)], [], binding=FIRST_OUTPUT),
    ]
    FILES["ArgMinMax_gather"] = network(layers, [FIRST_INPUT], [FIRST_OUTPUT])
    scalar = info([]) | SCALAR
    file("Reduce_scalar", "Reduce", [info([5])], [scalar], {"axis": [0], "keepDims": True})  # [1] in Tenon
    file("Reduce", "Reduce", [x], [info([2, 4])], {"axis": [1], "reduceOperation": "Max"})


def slicing():
    def views(origins):
        return [{"data": origin} for origin in origins]

    parts = {"concatAxis": 1, "numViews": 2, "numDimensions": 2, "viewOrigins": views([[0, 0], [0, 3]])}
    for kind in ("Concat", "Merger"):
        file(kind, kind, [info([2, 3]), info([2, 1])], [info([2, 4])], parts)
    split = {"origins": parts, "viewSizes": views([[2, 3], [2, 1]]), "hasAxis": True, "axis": 1}
    file("Splitter", "Splitter", [info([2, 4])], [info([2, 3]), info([2, 1])], split)
    without = {"origins": parts, "viewSizes": views([[2, 3], [2, 1]])}  # earlier releases had no axis
    file("Splitter_old", "Splitter", [info([2, 4])], [info([2, 3]), info([2, 1])], without, old=True)
    x = info([2, 3, 4])
    stack = {"axis": 1, "numInputs": 2, "inputShape": [2, 3]}
    file("Stack", "Stack", [info([2, 3])] * 2, [info([2, 2, 3])], stack)
    file("Slice", "Slice", [x], [info([1, 2, 4])], {"begin": [1, 1, 0], "size": [1, 2, 4]})
    strided = {"begin": [1, 2, 0], "end": [2, 0, 4], "stride": [1, -1, 2], "endMask": 2, "shrinkAxisMask": 1}
    file("StridedSlice", "StridedSlice", [x], [info([3, 2])], strided)
    indices = const([2], "Signed32", values=[2, 0])
    file("Gather", "Gather", [x], [info([2, 2, 4])], {"axis": 1}, {"indices": indices})
    rows = const([2], "Signed32", values=[1, 0])  # early releases had no axis, nor a descriptor
    file("Gather_old", "Gather", [x], [x], constants={"indices": rows}, old=True)
    tuples = const([2, 2], "Signed32", values=[1, 2, 0, 1])
    file("GatherNd", "GatherNd", [x], [info([2, 4])], constants={"indices": tuples})


def structure():
    x = info([2, 3])
    file("Rank", "Rank", [x], [info([], "Signed32") | SCALAR])
    file("Shape", "Shape", [x], [info([2], "Signed32")])
    file("Merge", "Merge", [x, x], [x])
    file("Switch", "Switch", [x, info([1], "Boolean")], [x, x])
    file("StandIn", "StandIn", [x, x], [x], {"numInputs": 2, "numOutputs": 1})
    file("Constant", "Constant", [], [x], input=const([2, 3]))
    file("Constant_64", "Constant", [], [info([2, 3], "Signed64")], input=const([2, 3], "Signed64"))


def vision():
    image = info([1, 2, 3, 2])
    size = {"targetHeight": 4, "targetWidth": 5, "dataLayout": "NHWC", "halfPixelCenters": True}
    file("Resize", "Resize", [image], [info([1, 4, 5, 2])], size)
    bilinear = {"targetHeight": 4, "targetWidth": 5, "dataLayout": "NHWC", "alignCorners": True}
    file("ResizeBilinear", "ResizeBilinear", [image], [info([1, 4, 5, 2])], bilinear)
    detection = {
        "maxDetections": 3,
        "maxClassesPerDetection": 1,
        "detectionsPerClass": 1,
        "nmsScoreThreshold": 0.1,
        "nmsIouThreshold": 0.5,
        "numClasses": 2,
        "useRegularNms": True,
        "scaleX": 10.0,
        "scaleY": 10.0,
        "scaleW": 5.0,
        "scaleH": 5.0,
    }
    outputs = [info([1, 3, 4]), info([1, 3]), info([1, 3]), info([1])]
    anchors = const([6, 4], values=[(i * 5 % 7 + 1) / 8 for i in range(24)])
    file(
        "DetectionPostProcess",
        "DetectionPostProcess",
        [info([1, 6, 4]), info([1, 6, 3])],
        outputs,
        detection,
        anchors=anchors,
    )


def gates(weights, kinds=("Input", "Forget", "Cell", "Output")):
    """The constants of an LSTM: weights(name, kind) for each gate."""
    params = {}
    for gate in kinds:
        params[f"inputTo{gate}Weights"] = weights("input")
        params[f"recurrentTo{gate}Weights"] = weights("recurrent")
    for gate in kinds:
        params["cellBias" if gate == "Cell" else f"{gate[0].lower()}{gate[1:]}GateBias"] = weights("bias")
    return params


def recurrent():
    shapes = {"input": [4, 3], "recurrent": [4, 4], "bias": [4], "projection": [4, 4]}
    floats = gates(lambda part: const(shapes[part]))
    states = [info([2, 4]), info([2, 4])]
    plain = {"activationFunc": 4, "clippingThresCell": 2.0, "cifgEnabled": False}
    file("Lstm", "Lstm", [info([2, 3]), *states], [info([2, 16]), *states, info([2, 4])], plain, inputParams=floats)
    all_parts = {
        "activationFunc": 4,
        "clippingThresProj": 1.0,
        "cifgEnabled": True,
        "peepholeEnabled": True,
        "projectionEnabled": True,
        "layerNormEnabled": True,
    }
    extras = {
        name: const([4])
        for name in (
            "cellToForgetWeights",
            "cellToOutputWeights",
            "forgetLayerNormWeights",
            "cellLayerNormWeights",
            "outputLayerNormWeights",
            "projectionBias",
        )
    }
    coupled = gates(lambda part: const(shapes[part]), ("Forget", "Cell", "Output"))
    coupled |= extras | {"projectionWeights": const([4, 4])}
    file(
        "Lstm_coupled",
        "Lstm",
        [info([2, 3]), *states],
        [info([2, 12]), *states, info([2, 4])],
        all_parts,
        inputParams=coupled,
    )
    sequence = info([2, 5, 3]), info([2, 5, 4])
    file(
        "UnidirectionalSequenceLstm",
        "UnidirectionalSequenceLstm",
        [sequence[0], *states],
        [*states, sequence[1]],
        plain,
        inputParams=floats,
    )
    file(  # earlier releases had no states among the outputs
        "UnidirectionalSequenceLstm_stateless",
        "UnidirectionalSequenceLstm",
        [sequence[0], *states],
        [sequence[1]],
        plain,
        inputParams=floats,
    )
    timed = info([5, 2, 3]), info([5, 2, 4])
    file(
        "UnidirectionalSequenceLstm_time",
        "UnidirectionalSequenceLstm",
        [timed[0], *states],
        [*states, timed[1]],
        plain | {"timeMajor": True},
        inputParams=floats,
    )
    types = {"input": ("QSymmS8", 0.0078125), "recurrent": ("QSymmS8", 0.0078125), "bias": ("Signed32", 0.0)}
    bytes_ = gates(lambda part: const(shapes[part], *types[part]))
    scales = {f"{gate}IntermediateScale": 0.007812 for gate in ("input", "forget", "cell", "output")}
    q = scales | {"cifgEnabled": False, "hiddenStateScale": 0.007, "hiddenStateZeroPoint": 0}
    data = info([2, 3], "QAsymmS8", 0.0078125, 0)
    hidden, cell = info([2, 4], "QAsymmS8", 0.007, 0), info([2, 4], "QSymmS16", 0.000030517578125, 0)
    file("QLstm", "QLstm", [data, hidden, cell], [hidden, cell, hidden], q, inputParams=bytes_)
    types = {
        "input": ("QAsymmU8", 0.0078125, 100),
        "recurrent": ("QAsymmU8", 0.0078125, 100),
        "bias": ("Signed32", 0.0),
    }
    u8 = gates(lambda part: const(shapes[part], *types[part]))
    data, hidden = info([2, 3], "QAsymmU8", 0.0078125, 128), info([2, 4], "QAsymmU8", 0.0078125, 128)
    cell = info([2, 4], "QSymmS16", 0.00048828125, 0)
    file("QuantizedLstm", "QuantizedLstm", [data, cell, hidden], [cell, hidden], inputParams=u8)


def versions():
    """Types of old files, layers in any order, overridden inputs, and sizes that are open."""
    old = info([2, 3], "QuantisedAsymm8", 0.25, 3)
    file("Activation_old", "Activation", [old], [old], {"activationFunction": "ReLu"}, old=True)
    short = info([2, 3], "QuantisedSymm16", 0.25)
    file("Activation_16_old", "Activation", [short], [short], {"activationFunction": "ReLu"}, old=True)

    def turn(graph):
        graph["layers"].reverse()
        graph["inputIds"].reverse()
        for any_ in graph["layers"]:
            base = any_["layer"]["base"]
            base = base.get("base", base)
            base["index"] = 100 - base["index"]
            for slot in base["inputSlots"]:
                slot["connection"]["sourceLayerIndex"] = 100 - slot["connection"]["sourceLayerIndex"]

    x, y = info([2, 3]), info([1, 3])
    file("Subtraction_turned", "Subtraction", [x, y], [x], change=turn)

    def turn_slots(graph):
        graph["layers"][2]["layer"]["base"]["inputSlots"].reverse()

    file("Subtraction_slots", "Subtraction", [x, y], [x], change=turn_slots)

    def override(graph):
        slot = graph["layers"][1]["layer"]["base"]["inputSlots"][0]
        slot |= {"isOverridden": True, "overriddenTensorInfo": info([2, 3], "QAsymmU8", 0.5, 1)}

    bytes_ = info([2, 3], "QAsymmU8", 0.25, 3)
    file("Dequantize_overridden", "Dequantize", [bytes_], [x], change=override)
    file("Abs_open", "Abs", [info([None, 3])], [info([None, 3])])
    file("Abs_of_any_rank", "Abs", [info([]) | {"dimensionality": 0}], [info([]) | {"dimensionality": 0}])


def make(folder):
    """All files into the folder."""
    for make_some in (
        elementwise,
        arrangement,
        convolution,
        normalization,
        pooling,
        reduction,
        slicing,
        structure,
        vision,
        recurrent,
        versions,
    ):
        make_some()
    plain = folder / "plain.fbs"
    lines = SCHEMA.read_text().splitlines(keepends=True)
    plain.write_text("".join(line for line in lines if not line.startswith("file_identifier")))
    for name, graph in FILES.items():
        source = folder / f"{name}.json"
        source.write_text(json.dumps(graph))
        schema = plain if name in PLAIN else SCHEMA
        command = ["flatc", "--binary", "--no-warnings", "-o", folder, schema, source]
        subprocess.run(command, check=True, stdout=sys.stderr)
        source.unlink()
    plain.unlink()


def main():
    parser = argparse.ArgumentParser(description="tests/golden/armnn, from the networks in this program.")
    parser.add_argument("--check", action="store_true", help="whether the files are those that are made")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check = parser.parse_args().check
        make(folder)
        made = {path.name: path.read_bytes() for path in folder.iterdir()}
    if not check:
        RESULTS.mkdir(exist_ok=True)
        for name, content in made.items():
            (RESULTS / name).write_bytes(content)
    there = {path.name: path.read_bytes() for path in RESULTS.iterdir()}
    if made != there:
        differing = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
        sys.exit(f"make_armnn.py: other files than those that are made: {', '.join(differing)}")


if __name__ == "__main__":
    main()
