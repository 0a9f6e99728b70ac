# SPDX-License-Identifier: Apache-2.0
"""Layers of random sizes for performance.py: they show which sizes an engine is slow for that no model at hand has.

Convolutions, some in groups, depthwise and transposed ones and fully connected layers, with numbers of channels that
fill vectors and others that do not.
"""
import math
import random

from perf.layers import Layer

CHANNELS = [1, 2, 3, 4, 5, 6, 8, 9, 12, 15, 16, 17, 20, 24, 28, 31, 32, 40, 48, 50, 64, 72, 80, 96, 100, 112, 128, 144,
            160, 192, 200, 240, 256, 320, 384, 512]
SIZES = [4, 5, 7, 8, 10, 14, 16, 20, 28, 32, 40, 56, 64, 80, 112, 128]
ROWS = [1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 25, 50, 64, 100, 128]
# Products of one inference: more than a call costs, and a few milliseconds at most.
LEAST_PRODUCTS, MOST_PRODUCTS = 2e5, 6e7


def count_products(layer):
    return math.prod(layer.output_shape) * layer.terms


def pick_convolution(pick):
    layer = Layer("conv", pick(SIZES), pick(CHANNELS), pick(CHANNELS), pick([1, 1, 2, 3, 3, 5, 7]), pick([1, 1, 2]))
    groups = pick([1] * 7 + [2, 4, 8])
    if groups > 1 and layer.inputs % groups == 0 and layer.outputs % groups == 0:
        return Layer("conv", layer.size, layer.inputs, layer.outputs, layer.kernel, layer.stride, groups)
    return layer


def pick_layer(pick):
    operator = pick(["conv"] * 3 + ["depthwise", "transposed", "dense"])
    if operator == "conv":
        return pick_convolution(pick)
    if operator == "depthwise":
        channels = pick(CHANNELS)
        return Layer(operator, pick(SIZES), channels, channels, pick([2, 3, 3, 4, 5, 7]), pick([1, 1, 2]))
    if operator == "transposed":
        kernel = pick([2, 3, 4, 5])
        return Layer(operator, pick([2, 4, 5, 8, 10, 14, 16, 20, 32, 40]), pick(CHANNELS), pick(CHANNELS), kernel,
                     pick([1, 2, 2]))
    return Layer(operator, pick(ROWS), pick(CHANNELS + [784, 1000, 1024, 1280, 2048]),
                 pick(CHANNELS + [1000, 1024, 1280, 2048]))


def pick_layers(count, seed):
    """As many different layers; the same for the same seed."""
    source = random.Random(seed)
    layers = []
    while len(layers) < count:
        layer = pick_layer(source.choice)
        if layer not in layers and LEAST_PRODUCTS < count_products(layer) < MOST_PRODUCTS:
            layers.append(layer)
    return layers
