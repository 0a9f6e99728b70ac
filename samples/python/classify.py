#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names what is in a picture.

usage: classify.py [--range LOWEST,HIGHEST] MODEL PICTURE.png [LABELS]

MODEL is a classifier (.tflite, .onnx or .tenon) of one output whose one input is a picture: [1, height, width, 1 or 3
channels], or [1, 1 or 3 channels, height, width], as most ONNX models have it. The picture is
brought to that size and its pixels to the range that the model was trained with, 0,1 unless --range says another one
(-1,1 for many MobileNets, 0,255 for EfficientNets), and quantized if the model is. LABELS is a text file with a class in
each line. Transparency is ignored. Prints the three classes with the highest scores.
"""

import struct
import sys
import zlib

import numpy as np

import tenon


def read_png(path):
    """The pixels of a PNG file of 8 bits a channel, gray or RGB, without transparency: uint8 [height, width, channels]."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError(f"{path} is no PNG file")
    try:
        return decode_png(path, data)
    except (struct.error, zlib.error):
        raise ValueError(f"{path} is cut off or damaged") from None


def decode_png(path, data):
    """The pixels in the bytes of a PNG file."""
    header, packed, at = b"", b"", 8
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        if kind == b"IHDR":
            header = data[at + 8 : at + 8 + size]
        elif kind == b"IDAT":
            packed += data[at + 8 : at + 8 + size]
        at += 12 + size
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    channels = {0: 1, 2: 3, 4: 2, 6: 4}.get(color)
    if depth != 8 or channels is None or interlaced:
        raise ValueError(f"{path}: only pictures of 8 bits a channel, gray or RGB, without a palette, not interlaced")
    stored = np.frombuffer(zlib.decompress(packed), np.uint8)
    if stored.size != height * (1 + width * channels):
        raise ValueError(f"{path} is cut off or damaged")
    rows = stored.reshape(height, 1 + width * channels)
    pixels = np.zeros((height + 1, width + 1, channels), np.int32)  # with a row above and a column to the left
    for y, row in enumerate(rows, 1):
        differences = row[1:].astype(np.int32).reshape(width, channels)
        for x, difference in enumerate(differences, 1):
            left, above, corner = pixels[y, x - 1], pixels[y - 1, x], pixels[y - 1, x - 1]
            distances = np.abs([above - corner, left - corner, left + above - 2 * corner])
            nearest = np.choose(distances.argmin(0), [left, above, corner])
            predicted = (0, left, above, (left + above) // 2, nearest)[row[0]]
            pixels[y, x] = (predicted + difference) & 255
    return pixels[1:, 1:, : 3 if channels >= 3 else 1].astype(np.uint8)


def classify(model, pixels, lowest=0.0, highest=1.0):
    """The scores of all classes."""
    info = model.inputs[0] if len(model.inputs) == 1 else None
    is_one = info is not None and len(info.shape) == 4 and info.shape[0] in (1, None)  # None: any number of pictures
    _, *sizes = info.shape if is_one else [None] * 4
    channels_first = sizes[2] not in (1, 3)
    channels, height, width = sizes if channels_first else (sizes[2], *sizes[:2])
    if channels not in (1, 3) or height is None or width is None:
        raise ValueError(
            f"the model takes {list(model.inputs)}; one picture [1, height, width, 1 or 3] or [1, 1 or 3, height, width] "
            "is needed"
        )
    if info.quantization is None and info.dtype != np.float32:
        raise ValueError(f"the model takes {info}; a picture of float32 or of a quantized type is needed")
    if len(model.outputs) != 1:
        raise ValueError(f"the model gives {list(model.outputs)}; one output, the scores of classes, is needed")
    rows = np.arange(height) * pixels.shape[0] // height
    columns = np.arange(width) * pixels.shape[1] // width
    picture = pixels[rows][:, columns].astype(np.float32) / 255
    if channels == 1:
        picture = picture.mean(2, keepdims=True)
    picture = np.float32(lowest) + picture * np.float32(highest - lowest)
    picture = np.broadcast_to(picture, (height, width, channels))
    picture = (picture.transpose(2, 0, 1) if channels_first else picture)[np.newaxis]
    scores = model(info.quantize(picture) if info.quantization else picture)
    return (model.outputs[0].dequantize(scores) if model.outputs[0].quantization else scores).ravel()


def main():
    arguments, limits = sys.argv[1:], ["0", "1"]
    if arguments[:1] == ["--range"] and len(arguments) > 1:
        limits = arguments[1].split(",")
        del arguments[:2]
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    try:
        if len(limits) != 2:
            raise ValueError(f"--range needs two numbers with a comma between, not '{','.join(limits)}'")
        scores = classify(tenon.Model(arguments[0]), read_png(arguments[1]), *map(float, limits))
        labels = []
        if len(arguments) == 3:
            with open(arguments[2], encoding="utf-8") as file:
                labels = file.read().splitlines()
            if len(labels) != len(scores):
                raise ValueError(f"the model has {len(scores)} classes, and there are {len(labels)} labels")
    except (OSError, ValueError, tenon.Error) as error:
        sys.exit(f"classify.py: {error}")
    for i in np.argsort(-scores)[:3]:
        print(f"{labels[i] if labels else f'class {i}'}: {scores[i]:.4f}")


if __name__ == "__main__":
    main()
