# SPDX-License-Identifier: Apache-2.0
"""Classes of models: what they are quantized to. Means are taken over each."""

CLASSES = ["uint8", "int8", "float32", "fp16-weights", "hybrid", "16x8"]
# The first that is found in what the index says of a model's quantization names its class.
CLASS_WORDS = {"fp16": "fp16-weights", "int16x8": "16x8", "hybrid": "hybrid", "uint8": "uint8", "int8": "int8",
               "float32": "float32"}
FLOAT_CLASSES = {"float32", "fp16-weights"}


def classify(quantization):
    return next((kind for word, kind in CLASS_WORDS.items() if word in quantization), "other")
