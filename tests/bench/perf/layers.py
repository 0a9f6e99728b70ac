# SPDX-License-Identifier: Apache-2.0
"""Models of one layer for performance.py, written as .tflite files on the spot.

Kinds "hybrid" (float data, int8 or int4 weights that TFLite computes with in integers), "16x8" (int16 data, int8
weights) and "int8_int4" (int8 data, int4 weights), of which no public models are around; "float32", "int8" and "uint8"
show how near the machine's limits engines come. Layers are those of MobileNets, of ResNets and ResNeXts, of U-Nets and
of transformers.
"""
from dataclasses import dataclass

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from perf.models import Model, random_array, write_inputs

KINDS = ["hybrid", "16x8", "int8_int4", "float32", "int8", "uint8"]
IDENTIFIER = b"TFL3"
TYPES = {"float32": schema.TensorType.FLOAT32, "int8": schema.TensorType.INT8, "uint8": schema.TensorType.UINT8,
         "int16": schema.TensorType.INT16, "int32": schema.TensorType.INT32, "int64": schema.TensorType.INT64,
         "int4": schema.TensorType.INT4, "bool": schema.TensorType.BOOL}
# Of data, weights and bias.
ELEMENTS = {"hybrid": ("float32", "int8", "float32"), "16x8": ("int16", "int8", "int64"),
            "int8_int4": ("int8", "int4", "int32"),
            "float32": ("float32", "float32", "float32"), "int8": ("int8", "int8", "int32"),
            "uint8": ("uint8", "uint8", "int32")}
INPUT_SCALE = {"int16": 2.0 ** -15, "int8": 2.0 ** -7, "uint8": 2.0 ** -7}
ZERO_POINT = {"int16": 0, "int8": -3, "uint8": 125}


@dataclass(frozen=True)
class Layer:
    """A convolution ("conv"), a depthwise or a transposed one, or a fully connected layer ("dense")."""
    operator: str
    size: int  # height and width of the data; rows of it for a fully connected layer
    inputs: int  # channels
    outputs: int
    kernel: int = 1
    stride: int = 1
    groups: int = 1  # of the channels of a convolution

    @property
    def name(self):
        if self.operator == "dense":
            return f"dense_{self.size}x{self.inputs}x{self.outputs}"
        return f"{self.operator}{self.kernel}x{self.kernel}_{self.size}x{self.size}_{self.inputs}_{self.outputs}" + \
            f"_s{self.stride}" * (self.stride > 1) + f"_g{self.groups}" * (self.groups > 1)

    @property
    def data_shape(self):
        return [self.size, self.inputs] if self.operator == "dense" else [1, self.size, self.size, self.inputs]

    @property
    def output_shape(self):
        size = self.size * self.stride if self.operator == "transposed" else -(-self.size // self.stride)
        return [self.size, self.outputs] if self.operator == "dense" else [1, size, size, self.outputs]

    @property
    def weights_shape(self):
        if self.operator == "dense":
            return [self.outputs, self.inputs]
        if self.operator == "depthwise":
            return [1, self.kernel, self.kernel, self.outputs]
        return [self.outputs, self.kernel, self.kernel, self.inputs // self.groups]

    @property
    def channel_dimension(self):
        return 3 if self.operator == "depthwise" else 0

    @property
    def terms(self):
        """Products in one output."""
        taps = self.kernel * self.kernel // (self.stride * self.stride if self.operator == "transposed" else 1)
        return taps * (1 if self.operator == "depthwise" else self.inputs // self.groups)


LAYERS = [
    Layer("conv", 56, 24, 144), Layer("conv", 14, 96, 576), Layer("conv", 7, 320, 1280),
    Layer("conv", 56, 64, 64, 3), Layer("conv", 14, 256, 256, 3),
    Layer("conv", 28, 128, 128, 3, groups=32), Layer("conv", 28, 192, 192, 3, groups=8),
    Layer("depthwise", 56, 144, 144, 3), Layer("depthwise", 14, 384, 384, 3),
    Layer("transposed", 32, 64, 32, 2, 2), Layer("transposed", 16, 128, 64, 4, 2),
    Layer("dense", 1, 1024, 1024), Layer("dense", 128, 256, 1024),
]


class File:
    """Collects tensors of a model of one operator."""

    def __init__(self):
        self.tensors = []
        self.buffers = [schema.BufferT()]

    def add(self, name, element, shape, values=None, scales=None, zero_point=0, dimension=0):
        tensor = schema.TensorT()
        tensor.name, tensor.type, tensor.shape = name, TYPES[element], shape
        tensor.buffer = 0
        if values is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(values.tobytes(), np.uint8)
            tensor.buffer = len(self.buffers)
            self.buffers.append(buffer)
        if scales is not None:
            quantization = schema.QuantizationParametersT()
            quantization.scale = [float(s) for s in scales]
            quantization.zeroPoint = [zero_point] * len(scales)
            quantization.quantizedDimension = dimension
            tensor.quantization = quantization
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def write(self, path, code, version, options_type, options, inputs, outputs, data=(0,)):
        """`data`: which of the inputs are the model's."""
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = 0, inputs, outputs
        operator.builtinOptionsType, operator.builtinOptions = options_type, options
        operator_code = schema.OperatorCodeT()
        operator_code.builtinCode = code
        operator_code.deprecatedBuiltinCode = min(code, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES)
        operator_code.version = version
        subgraph = schema.SubGraphT()
        subgraph.tensors, subgraph.operators = self.tensors, [operator]
        subgraph.inputs, subgraph.outputs, subgraph.name = [inputs[i] for i in data], outputs, "main"
        model = schema.ModelT()
        model.version, model.description = 3, "one layer"
        model.operatorCodes, model.subgraphs, model.buffers = [operator_code], [subgraph], self.buffers
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), IDENTIFIER)
        path.write_bytes(bytes(builder.Output()))


def operator_of(layer, kind):
    """Code, version, and options with their type."""
    if layer.operator == "dense":
        options = schema.FullyConnectedOptionsT()
        options.asymmetricQuantizeInputs = kind == "hybrid"
        versions = {"hybrid": 9, "16x8": 7, "int8": 4, "int8_int4": 10}
        return schema.BuiltinOperator.FULLY_CONNECTED, versions.get(kind, 1), \
            schema.BuiltinOptions.FullyConnectedOptions, options
    if layer.operator == "transposed":
        options = schema.TransposeConvOptionsT()
        options.padding = schema.Padding.SAME
        options.strideW = options.strideH = layer.stride
        return schema.BuiltinOperator.TRANSPOSE_CONV, 3, schema.BuiltinOptions.TransposeConvOptions, options
    depthwise = layer.operator == "depthwise"
    options = schema.DepthwiseConv2DOptionsT() if depthwise else schema.Conv2DOptionsT()
    options.padding = schema.Padding.SAME
    options.strideW = options.strideH = layer.stride
    options.dilationWFactor = options.dilationHFactor = 1
    if depthwise:
        options.depthMultiplier = 1
        versions = {"hybrid": 6, "16x8": 5, "int8": 3, "int8_int4": 6}
        return schema.BuiltinOperator.DEPTHWISE_CONV_2D, versions.get(kind, 1), \
            schema.BuiltinOptions.DepthwiseConv2DOptions, options
    versions = {"hybrid": 5, "16x8": 4, "int8": 3, "int8_int4": 7}
    return schema.BuiltinOperator.CONV_2D, versions.get(kind, 1), schema.BuiltinOptions.Conv2DOptions, options


def add_weights(file, layer, kind, element):
    """Random weights with a scale a channel (one for all where they are uint8); gives their tensor and their scales."""
    random = np.random.default_rng(7)
    if element == "float32":
        values = random.uniform(-0.1, 0.1, layer.weights_shape).astype(np.float32)
        return file.add("weights", element, layer.weights_shape, values), None
    if element == "int4":
        values = random.integers(0, 256, (np.prod(layer.weights_shape) + 1) // 2, np.uint8)
        # No -8 in either half: weights are symmetric.
        values[(values & 0x0F) == 0x08] ^= 0x01
        values[(values & 0xF0) == 0x80] ^= 0x10
    elif element == "uint8":
        values = random.integers(1, 256, layer.weights_shape).astype(np.uint8)
    else:
        values = random.integers(-127, 128, layer.weights_shape).astype(np.int8)
    count = 1 if kind == "uint8" else layer.outputs
    scales = random.uniform(0.5, 1.0, count) / (8.0 if element == "int4" else 128.0)
    tensor = file.add("weights", element, layer.weights_shape, values, scales, 128 if element == "uint8" else 0,
                      layer.channel_dimension if count > 1 else 0)
    return tensor, scales


def make_layer(layer, kind, folder, weights_element=None):
    """Writes one model and its input."""
    data, weights, bias = ELEMENTS[kind]
    file = File()
    quantized = data != "float32"
    data_scale = [INPUT_SCALE[data]] if quantized else None
    # Sums grow as the root of the number of terms; this keeps most of them within the output's range.
    output_scale = [INPUT_SCALE[data] * 0.5 * layer.terms ** 0.5] if quantized else None
    zero_point = ZERO_POINT.get(data, 0)
    inputs = [file.add("data", data, layer.data_shape, None, data_scale, zero_point)]
    tensor, scales = add_weights(file, layer, kind, weights_element or weights)
    inputs.append(tensor)
    bias_values = np.zeros(layer.outputs, bias)
    inputs.append(file.add("bias", bias, [layer.outputs], bias_values,
                           [data_scale[0] * s for s in scales] if quantized else None))
    outputs = [file.add("output", data, layer.output_shape, None, output_scale, zero_point)]
    if layer.operator == "transposed":  # which reads the shape of its output, the weights, and only then the data
        shape = file.add("shape", "int32", [4], np.array(layer.output_shape, np.int32))
        inputs = [shape, inputs[1], inputs[0], inputs[2]]
    name = f"{layer.name}_{kind}" + (f"_{weights_element}" if weights_element else "")
    path = folder / f"{name}.tflite"
    file.write(path, *operator_of(layer, kind), inputs, outputs, (2 if layer.operator == "transposed" else 0,))
    arrays = [random_array(data, layer.data_shape, 3)]
    return Model(name, path, f"{kind}, layers", write_inputs(arrays, folder, name))


def make_layers(folder, kinds, layers):
    """Layers in each of the kinds; hybrid fully connected ones with int4 weights as well."""
    models = []
    for kind in kinds:
        # TFLite has no transposed convolutions by int4.
        models += [make_layer(layer, kind, folder) for layer in layers
                   if kind != "int8_int4" or layer.operator != "transposed"]
        if kind == "hybrid":
            models += [make_layer(layer, kind, folder, "int4") for layer in layers if layer.operator == "dense"]
    return models
