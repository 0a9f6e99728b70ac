#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a network by hand, runs it, saves it and loads the file.

usage: build_network.py FILE.tenon

The network is a fully connected layer of two units and a softmax. Prints its output for [1, 2, 3].
"""

import sys

import numpy as np

import tenon


def build():
    network = tenon.Network()
    x = network.add_input("x", (None, 3))  # any number of rows
    weights = network.add_constant(np.array([[1, 0, 0], [0, 1, 0]], np.float32))
    bias = network.add_constant(np.array([0.5, -0.5], np.float32))
    units = network.add_layer(
        "FullyConnected",
        x,
        weights,
        bias,
        name="units",
        attributes={"TransposeWeightMatrix": True, "BiasEnabled": True},
    )
    network.add_output(network.add_layer("Softmax", units, attributes={"Beta": 1.0}), "scores")
    return network


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        network = build()
        x = np.array([[1, 2, 3]], np.float32)
        print("built: ", tenon.Model(network)(x))
        network.optimize().save(sys.argv[1])
        print("loaded:", tenon.Model(sys.argv[1])(x))
    except tenon.Error as error:
        sys.exit(f"build_network.py: {error}")


if __name__ == "__main__":
    main()
