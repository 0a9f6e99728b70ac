# SPDX-License-Identifier: Apache-2.0
"""Classes of models: what they are quantized to. Means are taken over each.

Models that were made on the spot are in classes of their own: those of one layer (perf/layers.py) in "hybrid, layers",
"int8, layers", those of one other operator (perf/operators.py) in "int8 operators, layers", and float models of
quantized ones (perf/float_twins.py) in "float32, twins". ONNX models are in classes of the groups that an index puts
them in: "onnx torch".
"""

CLASSES = ["uint8", "int8", "float32", "fp16-weights", "hybrid", "16x8", "other"]
# The first that is found in what the index says of a model's quantization names its class.
CLASS_WORDS = {"fp16": "fp16-weights", "int16x8": "16x8", "hybrid": "hybrid", "uint8": "uint8", "int8": "int8",
               "float32": "float32"}
FLOAT_CLASSES = {"float32", "fp16-weights", "hybrid", "other", "float32, layers", "hybrid, layers",
                 "float32, twins"}


def classify(quantization):
    return next((kind for word, kind in CLASS_WORDS.items() if word in quantization), "other")


ONNX = "onnx "
QUANTIZED_ONNX = {"onnx quantized", "onnx optimized"}


def is_made(kind):
    return kind.endswith((", layers", ", twins"))


def uses_bf16(kind):
    """Whether bf16 would change anything: a model with floats, or one that nothing is known of."""
    return kind in FLOAT_CLASSES or (kind.startswith(ONNX) and kind not in QUANTIZED_ONNX)
