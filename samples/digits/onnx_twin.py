#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the ONNX twin of the float model: the same network with the same weights, for any number of pictures at once.

train.py calls make_twin(). By hand, for the weights of a .tflite file that is there:

  pip install onnx==1.23.2 ai-edge-litert
  onnx_twin.py digits_float.tflite digits_float.onnx
"""

import sys

import numpy as np
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper

# Fixed, so that the same weights give the same file.
OPSET = 17
IR_VERSION = 8
OPERATORS = ["CONV_2D", "DEPTHWISE_CONV_2D", "CONV_2D", "MAX_POOL_2D", "CONV_2D", "AVERAGE_POOL_2D", "RESHAPE",
             "FULLY_CONNECTED", "FULLY_CONNECTED", "SOFTMAX"]


def read_weights(interpreter):
    """Weights and bias of each operator of a TFLite interpreter that has some, in the order in which they run."""
    operators = [op for op in interpreter._get_ops_details() if op["op_name"] != "DELEGATE"]
    names = [op["op_name"] for op in operators]
    if names != OPERATORS:
        raise ValueError(f"the model is {' '.join(names)}, the twin is written for {' '.join(OPERATORS)}")
    return [tuple(np.array(interpreter.get_tensor(index)) for index in op["inputs"][1:3])
            for op in operators if op["op_name"].endswith(("CONV_2D", "CONNECTED"))]


def make_twin(interpreter):
    """The model's bytes. Pictures come as the .tflite model takes them, [batch,8,8,1]; convolutions of ONNX have
    channels before rows and columns."""
    nodes = []
    initializers = []
    last = "image"

    def add(op_type, *constants, output=None, **attributes):
        """A node that reads the one before it, and constants: an array, or None, for each further input."""
        nonlocal last
        name = f"{op_type}_{len(nodes)}"
        inputs = [last]
        for i, value in enumerate(constants):
            inputs.append(f"{name}.{i + 1}")
            initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), inputs[-1]))
        last = output or f"{name}.out"
        nodes.append(helper.make_node(op_type, inputs, [last], name=name, **attributes))

    def add_conv(weights, bias, permutation, group=1):
        weights = weights.transpose(permutation)
        side = weights.shape[2] // 2
        add("Conv", weights, bias, kernel_shape=weights.shape[2:], pads=[side] * 4, group=group)
        add("Relu")

    conv1, depthwise, conv2, conv3, dense1, dense2 = read_weights(interpreter)
    add("Transpose", perm=[0, 3, 1, 2])
    add_conv(*conv1, (0, 3, 1, 2))
    add_conv(*depthwise, (3, 0, 1, 2), group=depthwise[0].shape[3])
    add_conv(*conv2, (0, 3, 1, 2))
    add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    add_conv(*conv3, (0, 3, 1, 2))
    add("AveragePool", kernel_shape=[2, 2], strides=[2, 2])
    add("Transpose", perm=[0, 2, 3, 1])
    add("Flatten")
    add("Gemm", *dense1, transB=1)
    add("Relu")
    add("Gemm", *dense2, transB=1)
    add("Softmax", output="Identity", axis=1)

    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 8, 8, 1])],
        [helper.make_tensor_value_info("Identity", TensorProto.FLOAT, ["batch", 10])], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION,
                              producer_name="samples/digits/onnx_twin.py")
    helper.set_model_props(model, {"classes": " ".join(map(str, range(10)))})
    checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def run_twin(content, inputs):
    """Outputs of ONNX's reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(ModelProto.FromString(content)).run(None, {"image": inputs})[0]


def main():
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    if len(sys.argv) != 3:
        sys.exit(__doc__)
    interpreter = Interpreter(sys.argv[1], experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    with open(sys.argv[2], "wb") as file:
        file.write(make_twin(interpreter))


if __name__ == "__main__":
    main()
