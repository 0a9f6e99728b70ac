# SPDX-License-Identifier: Apache-2.0
"""Models with another batch, for batches.py. Inputs get it by resizing, as engines let a program do; what is left are
constants that have the batch of the file in them: the shapes that Reshape and TransposeConv make, and the end of a
StridedSlice. They are written for the batch here, or for any, as a converter would."""
import copy
from pathlib import Path

# The operand of an operator that is a shape, or the end of a slice.
SHAPES = {"RESHAPE": 1, "TRANSPOSE_CONV": 0, "STRIDED_SLICE": 2}


def sizes_of(graph, buffers, index, int32):
    """Of a constant with 32-bit numbers; None for any other tensor."""
    tensor = graph.tensors[index] if index >= 0 else None
    data = buffers[tensor.buffer].data if tensor is not None and tensor.type == int32 else None
    if data is None or len(data) == 0:
        return None
    data = bytes(data)
    return [int.from_bytes(data[at : at + 4], "little", signed=True) for at in range(0, len(data), 4)]


def begins_with_one(tensor):
    return tensor.shape is not None and len(tensor.shape) > 0 and tensor.shape[0] == 1


def set_batch(content, batch, schema):
    """Changes the constants of a model whose batch is 1, and returns how many there are. `schema` is the module of
    TensorFlow Lite's object tree. Operators of other shapes may have the same tensor: changed ones are new."""
    operands = {getattr(schema.BuiltinOperator, name): operand for name, operand in SHAPES.items()}
    changed = 0
    for graph in content.subgraphs:
        for operator in graph.operators:
            operand = operands.get(content.operatorCodes[operator.opcodeIndex].builtinCode)
            if operand is None or operand >= len(operator.inputs):
                continue
            data = operator.inputs[2 if operand == 0 else 0]
            sizes = sizes_of(graph, content.buffers, operator.inputs[operand], schema.TensorType.INT32)
            if not sizes or sizes[0] != 1 or not begins_with_one(graph.tensors[data]):
                continue
            # OpenVINO reads a model with the inputs of the file before it resizes them.
            sizes[0] = -1 if operand == SHAPES["RESHAPE"] and -1 not in sizes else batch
            buffer = schema.BufferT()
            buffer.data = b"".join(size.to_bytes(4, "little", signed=True) for size in sizes)
            tensor = copy.copy(graph.tensors[operator.inputs[operand]])
            tensor.buffer = len(content.buffers)
            content.buffers.append(buffer)
            operator.inputs = [len(graph.tensors) if i == operand else other for i, other in enumerate(operator.inputs)]
            graph.tensors.append(tensor)
            if getattr(operator.builtinOptions, "newShape", None) is not None:
                operator.builtinOptions.newShape = sizes
            changed += 1
    return changed


def write_model(path, batch, folder):
    """Writes the model with such constants into the folder. Returns its file, and how many were changed."""
    import flatbuffers  # here, since tests of the constants do without these
    from ai_edge_litert import schema_py_generated as schema

    from perf.layers import IDENTIFIER

    content = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    changed = set_batch(content, batch, schema)
    builder = flatbuffers.Builder(1 << 24)
    builder.Finish(content.Pack(builder), IDENTIFIER)
    file = Path(folder) / f"{path.stem}.{batch}.tflite"
    file.write_bytes(bytes(builder.Output()))
    return file, changed
