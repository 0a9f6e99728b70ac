# SPDX-License-Identifier: Apache-2.0
"""Float models of networks that are around as quantized ones alone, for performance.py: the same layers, with the
weights that the quantized ones stand for. They show what computing in integers gains.
"""
import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from perf.layers import IDENTIFIER
from perf.models import Model, ModelError, random_array, write_inputs
from perf.table import FLOAT_SUFFIX

# Of integers with a scale: what their bytes are.
STORED = {schema.TensorType.INT8: np.int8, schema.TensorType.UINT8: np.uint8, schema.TensorType.INT32: np.int32}


def name_of_twin(name):
    return name.removesuffix("_int8") + FLOAT_SUFFIX


def real_values(tensor, data):
    """The numbers that a constant's integers stand for."""
    quantization = tensor.quantization
    scales = np.asarray(quantization.scale, np.float32)
    zero_points = np.asarray(quantization.zeroPoint, np.float32)
    shape = [1] * len(tensor.shape)
    if len(scales) > 1:
        shape[quantization.quantizedDimension] = len(scales)
    values = np.frombuffer(bytes(data), STORED[tensor.type]).reshape(tensor.shape).astype(np.float32)
    return (values - zero_points.reshape(shape if len(zero_points) > 1 else -1)) * scales.reshape(shape)


def make_float(tensor, buffers):
    if tensor.type not in STORED or tensor.quantization is None or tensor.quantization.scale is None:
        return  # a shape, or numbers already
    data = buffers[tensor.buffer].data
    if data is not None and len(data) != 0:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(real_values(tensor, data).astype(np.float32).tobytes(), np.uint8)
        tensor.buffer = len(buffers)  # the other may be shared with a tensor of another scale
        buffers.append(buffer)
    tensor.type = schema.TensorType.FLOAT32
    tensor.quantization = None


def make_float_twin(model, folder):
    """Writes the float model of a quantized one, and its input."""
    content = schema.ModelT.InitFromPackedBuf(model.path.read_bytes(), 0)
    codes = {code.builtinCode for code in content.operatorCodes}
    changing = codes & {schema.BuiltinOperator.QUANTIZE, schema.BuiltinOperator.DEQUANTIZE, schema.BuiltinOperator.CUSTOM}
    if changing or len(content.subgraphs) != 1:
        raise ModelError(f"{model.path}: has no float twin, as it changes between types, or has operators of its own or "
                         "several subgraphs")
    graph = content.subgraphs[0]
    for tensor in graph.tensors:
        make_float(tensor, content.buffers)
    for code in content.operatorCodes:
        code.version = 1
    # Those whose buffers nobody refers to any more would still be in the file.
    used = sorted({0, *(tensor.buffer for tensor in graph.tensors)})
    for tensor in graph.tensors:
        tensor.buffer = used.index(tensor.buffer)
    content.buffers = [content.buffers[i] for i in used]
    content.metadata, content.signatureDefs = None, None
    builder = flatbuffers.Builder(1 << 24)
    builder.Finish(content.Pack(builder), IDENTIFIER)
    name = name_of_twin(model.name)
    path = folder / f"{name}.tflite"
    path.write_bytes(bytes(builder.Output()))
    arrays = [random_array("float32", graph.tensors[i].shape, 3) for i in graph.inputs]
    return Model(name, path, "float32, twins", write_inputs(arrays, folder, name))
