#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds objects in a picture and draws boxes around them.

usage: detect.py MODEL PICTURE BOXES.png [LABELS]

MODEL is one of two kinds:
- a detector that ends in TFLite_Detection_PostProcess, as SSD MobileNets do: its outputs are boxes, classes, scores and
  their number. LABELS is a text file with a class in each line.
- MediaPipe's BlazeFace of short range (face_detection_short_range.tflite): its outputs are a box and six points of a
  face for each of 896 anchors, and the scores. They are decoded here.
The picture is fitted into the model's input with its proportions, black beside it. Pixels are -1 to 1 for models that
take floats, and the whole range of bytes for those that take bytes. Prints a line for each object: label, score, and
left, top, right and bottom of its box in pixels. PICTURE may have any format that Pillow reads (pip install pillow).
"""

import sys

import numpy as np

import tenon

LOWEST_SCORE = 0.5
OVERLAP = 0.3  # of two boxes of one class that share more than this part, the one of the lower score goes


def pillow():
    """The modules of Pillow."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise ValueError("Pillow, which reads and draws pictures, is not installed: pip install pillow") from None
    return Image, ImageDraw


def fit(picture, info):
    """The model's input, and how many pixels of the picture, from its left upper corner on, are its height and width."""
    if info.shape is None or len(info.shape) != 4 or not info.is_static or info.shape[0] != 1 or info.shape[3] != 3:
        raise ValueError(f"the model takes {info}; a picture [1, height, width, 3] is needed")
    _, height, width, _ = info.shape
    scale = min(width / picture.width, height / picture.height)
    fitted = picture.resize((max(1, round(picture.width * scale)), max(1, round(picture.height * scale))))
    pixels = np.zeros((1, height, width, 3), np.uint8)
    pixels[0, : fitted.height, : fitted.width] = np.asarray(fitted)
    if info.dtype == np.uint8:
        values = pixels
    elif info.dtype == np.int8:
        values = (pixels.astype(np.int16) - 128).astype(np.int8)
    elif info.dtype == np.float32:
        values = pixels.astype(np.float32) / 127.5 - 1
    else:
        raise ValueError(f"the model takes {info}; a picture of bytes or of float32 is needed")
    return values, np.array([height / scale, width / scale])


def blazeface_anchors():
    """The middles of the 896 anchors, x and y in 0..1: two for each field of 8 x 8 pixels, six for each of 16 x 16."""
    anchors = []
    for stride, count in ((8, 2), (16, 6)):
        middles = (np.arange(128 // stride) + 0.5) * stride / 128
        y, x = np.meshgrid(middles, middles, indexing="ij")
        anchors.append(np.stack([x.ravel(), y.ravel()], axis=1).repeat(count, axis=0))
    return np.concatenate(anchors)


def decode_blazeface(regressors, classificators):
    """Boxes (top, left, bottom, right in 0..1), classes and scores of all anchors."""
    anchors = blazeface_anchors()
    x, y = (regressors[:, 0:2] / 128 + anchors).T
    width, height = (regressors[:, 2:4] / 128).T
    boxes = np.stack([y - height / 2, x - width / 2, y + height / 2, x + width / 2], axis=1)
    scores = 1 / (1 + np.exp(-np.clip(classificators[:, 0], -80, 80)))
    return boxes, np.zeros(len(boxes), int), scores


def detect(model, values):
    """Boxes, classes and scores of what the model finds, and the names of the classes if they are known."""
    if len(model.inputs) != 1:
        raise ValueError(f"the model takes {list(model.inputs)}; a picture alone is needed")
    results = [
        info.dequantize(result) if info.quantization else result
        for info, result in zip(model.outputs, model.run(values).values())
    ]
    by_shape = {result.shape: result for result in results}
    if by_shape.keys() == {(1, 896, 16), (1, 896, 1)}:
        return (*decode_blazeface(by_shape[1, 896, 16][0], by_shape[1, 896, 1][0]), ["face"])
    if len(results) == 4 and results[0].ndim == 3 and results[0].shape[2] == 4 and results[3].size == 1:
        count = int(results[3].ravel()[0])
        return results[0][0, :count], results[1][0, :count].astype(int), results[2][0, :count], []
    raise ValueError(
        f"the model gives {list(model.outputs)}; the outputs of TFLite_Detection_PostProcess (boxes, classes, scores, "
        "number), or those of BlazeFace of short range ([1, 896, 16] and [1, 896, 1]) are needed"
    )


def overlap(box, others):
    """The part that a box shares with each of the others: the area of both by the area of either."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.maximum(sides, 0).prod(axis=1)
    areas = (others[:, 2:] - others[:, :2]).prod(axis=1)
    return common / np.maximum(areas + (box[2:] - box[:2]).prod() - common, 1e-9)


def suppress(boxes, classes, scores):
    """The indices of the boxes that stay, those of the highest scores first."""
    left = np.argsort(-scores, kind="stable")
    left = left[scores[left] >= LOWEST_SCORE]
    kept = []
    while len(left):
        best, left = left[0], left[1:]
        kept.append(best)
        is_same = (overlap(boxes[best], boxes[left]) > OVERLAP) & (classes[left] == classes[best])
        left = left[~is_same]
    return kept


def draw(canvas, box, text):
    """A box with a text on it."""
    left, top = box[:2]
    canvas.rectangle(box, outline="lime", width=3)
    _, _, width, height = canvas.textbbox((0, 0), text)
    canvas.rectangle((left, top, left + width + 6, top + height + 6), fill="lime")
    canvas.text((left + 3, top + 3), text, fill="black")


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    try:
        image, image_draw = pillow()
        model = tenon.Model(sys.argv[1])
        picture = image.open(sys.argv[2]).convert("RGB")
        values, size = fit(picture, model.inputs[0])
        boxes, classes, scores, labels = detect(model, values)
        if len(sys.argv) == 5:
            with open(sys.argv[4], encoding="utf-8") as file:
                labels = file.read().splitlines()
        canvas = image_draw.Draw(picture)
        limits = np.array([picture.height, picture.width])
        for i in suppress(boxes, classes, scores):
            corners = np.sort(np.clip(boxes[i].reshape(2, 2) * size, 0, limits - 1), axis=0)
            (top, left), (bottom, right) = corners.round().astype(int).tolist()
            label = labels[classes[i]] if 0 <= classes[i] < len(labels) else f"class {classes[i]}"
            print(f"{label}: {scores[i]:.3f} at {left}, {top}, {right}, {bottom}")
            draw(canvas, (left, top, right, bottom), f"{label} {scores[i]:.2f}")
        picture.save(sys.argv[3], "PNG")
    except (OSError, ValueError, tenon.Error) as error:
        sys.exit(f"detect.py: {error}")


if __name__ == "__main__":
    main()
