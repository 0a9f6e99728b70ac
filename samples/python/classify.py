#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names what is in a picture.

usage: classify.py MODEL PICTURE.png [LABELS]

MODEL is a classifier whose one input is a picture [1, height, width, 1 or 3 channels]. The picture is brought to that
size, its pixels to 0..1, quantized if the model is. Prints the three classes with the highest scores.
"""

import struct
import sys
import zlib

import numpy as np

import tenon


def read_png(path):
    """The pixels of a PNG file of 8 bits a channel, gray or RGB: uint8 [height, width, channels]."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError(f"{path} is no PNG file")
    header, packed, at = b"", b"", 8
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        if kind == b"IHDR":
            header = data[at + 8 : at + 8 + size]
        elif kind == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    channels = {0: 1, 2: 3}.get(color)
    if depth != 8 or channels is None or interlaced:
        raise ValueError(f"{path}: only pictures of 8 bits a channel, gray or RGB, not interlaced")
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * channels)
    pixels = np.zeros((height + 1, width + 1, channels), np.int32)  # with a row above and a column to the left
    for y, row in enumerate(rows, 1):
        differences = row[1:].astype(np.int32).reshape(width, channels)
        for x, difference in enumerate(differences, 1):
            left, above, corner = pixels[y, x - 1], pixels[y - 1, x], pixels[y - 1, x - 1]
            distances = np.abs([above - corner, left - corner, left + above - 2 * corner])
            nearest = np.choose(distances.argmin(0), [left, above, corner])
            predicted = (0, left, above, (left + above) // 2, nearest)[row[0]]
            pixels[y, x] = (predicted + difference) & 255
    return pixels[1:, 1:].astype(np.uint8)


def classify(model, pixels):
    """The scores of all classes."""
    info = model.inputs[0]
    _, height, width, channels = info.shape
    rows = np.arange(height) * pixels.shape[0] // height
    columns = np.arange(width) * pixels.shape[1] // width
    picture = pixels[rows][:, columns].astype(np.float32) / 255
    if channels == 1:
        picture = picture.mean(2, keepdims=True)
    picture = np.broadcast_to(picture, (1, height, width, channels))
    scores = model(info.quantize(picture) if info.quantization else picture)
    return (model.outputs[0].dequantize(scores) if model.outputs[0].quantization else scores).ravel()


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    scores = classify(tenon.Model(sys.argv[1]), read_png(sys.argv[2]))
    labels = [f"class {i}" for i in range(len(scores))]
    if len(sys.argv) == 4:
        with open(sys.argv[3], encoding="utf-8") as file:
            labels = file.read().splitlines()
    for i in np.argsort(-scores)[:3]:
        print(f"{labels[i]}: {scores[i]:.4f}")


if __name__ == "__main__":
    main()
