#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digit classifier that the demo and the tests use, and writes all files derived from it.

Called by train.sh, which provides TensorFlow and scikit-learn in a virtual environment.
It writes, into this folder unless --out says otherwise:

  digits_float.tflite, digits_int8.tflite   the model in float32 and fully quantized to int8
  digits_float.onnx                         the float32 model once more, as an ONNX file
  test_digits.png, test_labels.txt          the held-out digits as one sheet, and what they are
  expected_float.txt, expected_int8.txt     outputs of TFLite's reference kernels for the first digits

Nothing is written unless all models pass every check, so a committed set is never half new.
The held-out digits take no part in training, in calibration or in choosing anything.
"""

import argparse
import logging
import os
import pathlib
import sys
import warnings

# Must be set before TensorFlow is imported: no chatter about GPUs and plans (what fails still raises an
# exception), no use of a GPU (it would give other weights), and no oneDNN kernels, whose results depend
# on the processor.
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from onnx_twin import make_twin, run_twin

# Known and accepted: make_converter() says why it uses the older path, and the interpreter's successor
# is a second package that would only be needed here.
warnings.filterwarnings("ignore", message=r"(?s).*tf\.lite\.Interpreter is deprecated")
warnings.filterwarnings("ignore", message="Statistics for quantized inputs were expected")
logging.getLogger("absl").setLevel(logging.ERROR)

HELD_OUT = 360
DIGITS_PER_ROW = 20
EXPECTED_COUNT = 20
EPOCHS = 60
BATCH_SIZE = 32
LABEL_SMOOTHING = 0.1
CALIBRATION_COUNT = 300
MIN_ACCURACY = 0.98
MAX_TOTAL_BYTES = 200_000
MAX_TWIN_DIFFERENCE = 1e-5
ALLOWED_OPS = {"CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D",
               "RESHAPE", "FULLY_CONNECTED", "SOFTMAX"}


def load_split(seed):
    """The digits as 8-bit pixels [n,8,8] and labels: training set, then held-out set, split by class."""
    digits = load_digits()
    pixels = np.rint(digits.images * 255.0 / 16.0).astype(np.uint8)
    train, test = train_test_split(np.arange(len(pixels)), test_size=HELD_OUT,
                                   stratify=digits.target, random_state=seed)
    return pixels[train], digits.target[train], pixels[test], digits.target[test]


def to_float_input(pixels):
    """What a caller feeds the float model: pixel / 255, with batch and channel dimensions."""
    return (pixels.astype(np.float32) / np.float32(255.0))[..., np.newaxis]


def to_int8_input(pixels):
    """What a caller feeds the int8 model: pixel - 128."""
    return (pixels.astype(np.int16) - 128).astype(np.int8)[..., np.newaxis]


def with_shifts(pixels, labels):
    """The digits, and each of them moved by one pixel to the left and to the right."""
    left = np.zeros_like(pixels)
    left[:, :, :-1] = pixels[:, :, 1:]
    right = np.zeros_like(pixels)
    right[:, :, 1:] = pixels[:, :, :-1]
    return np.concatenate([pixels, left, right]), np.concatenate([labels] * 3)


def build_model():
    """Small, yet with every kind of layer that a MobileNet-like classifier has."""
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.DepthwiseConv2D(3, padding="same", activation="relu"),
        layers.Conv2D(32, 1, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.AveragePooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(32, activation="relu"),
        layers.Dense(10, activation="softmax"),
    ])


def train(pixels, labels):
    inputs, targets = with_shifts(pixels, labels)
    model = build_model()
    steps = EPOCHS * -(-len(inputs) // BATCH_SIZE)
    # Smoothed labels keep the outputs away from 0 and 1: without them nearly every int8 output is -128 or
    # 127, and a test that compares outputs would see little of what the kernels compute.
    model.compile(optimizer=tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(2e-3, steps)),
                  loss=tf.keras.losses.CategoricalCrossentropy(label_smoothing=LABEL_SMOOTHING),
                  metrics=["accuracy"])

    def report(epoch, logs):
        if (epoch + 1) % 10 == 0:
            print(f"  epoch {epoch + 1:2d}/{EPOCHS}  loss {logs['loss']:.4f}  accuracy {logs['accuracy']:.4f}",
                  flush=True)

    model.fit(to_float_input(inputs), tf.one_hot(targets, 10), batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0,
              callbacks=[tf.keras.callbacks.LambdaCallback(on_epoch_end=report)])
    return model


def make_converter(model):
    """A converter for batch 1: with a free batch dimension the file would compute shapes at run time."""
    @tf.function(input_signature=[tf.TensorSpec((1, 8, 8, 1), tf.float32, name="image")])
    def classify(image):
        return model(image, training=False)

    # Without the model as second argument, the converter freezes the weights itself; given it, the int8
    # conversion fails on a READ_VARIABLE.
    return tf.lite.TFLiteConverter.from_concrete_functions([classify.get_concrete_function()])


def convert_float(model):
    return make_converter(model).convert()


def convert_int8(model, calibration):
    converter = make_converter(model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8
    # The input's quantization comes from the range seen here, and every digit has black and white
    # pixels: 0..1 gives scale 1/255 and zero point -128, hence "pixel - 128".
    converter.representative_dataset = lambda: ([image[np.newaxis]] for image in calibration)
    return converter.convert()


def make_interpreter(content):
    """TFLite with its reference kernels: what the engine's CpuRef backend is compared with."""
    interpreter = tf.lite.Interpreter(
        model_content=content,
        experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    return interpreter


def run_all(content, inputs):
    interpreter = make_interpreter(content)
    source = interpreter.get_input_details()[0]["index"]
    result = interpreter.get_output_details()[0]["index"]
    outputs = []
    for image in inputs:
        interpreter.set_tensor(source, image[np.newaxis])
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(result)[0].copy())
    return np.array(outputs)


def accuracy(outputs, labels):
    return float(np.mean(np.argmax(outputs, axis=1) == labels))


def require(condition, message):
    if not condition:
        sys.exit(f"train.py: {message}; nothing was written")


def check_model(name, content, value, dtype):
    """Checks what README.md promises about one model and prints its figures."""
    interpreter = make_interpreter(content)
    source = interpreter.get_input_details()[0]
    ops = [op["op_name"] for op in interpreter._get_ops_details()]
    print(f"{name}: {len(content)} bytes, held-out accuracy {value:.4f} "
          f"({round(value * HELD_OUT)} of {HELD_OUT})\n  {' '.join(ops)}")
    require(set(ops) <= ALLOWED_OPS, f"{name} uses {sorted(set(ops) - ALLOWED_OPS)}")
    require(list(source["shape"]) == [1, 8, 8, 1] and source["dtype"] == dtype,
            f"{name} takes {source['dtype'].__name__} {list(source['shape'])}")
    require(value >= MIN_ACCURACY, f"{name} reaches {value:.4f}, less than {MIN_ACCURACY}")
    if dtype == np.int8:
        scale, zero_point = source["quantization"]
        require(np.float32(scale) == np.float32(1.0 / 255.0) and zero_point == -128,
                f"{name}: input scale {scale!r}, zero point {zero_point}, expected 1/255 and -128")


def check_twin(content, inputs, outputs):
    """Checks that the ONNX twin gives what the float model gives, and prints by how much it differs."""
    twin_outputs = run_twin(content, inputs)
    difference = float(np.max(np.abs(twin_outputs - outputs)))
    print(f"digits_float.onnx: {len(content)} bytes, outputs differ from TFLite's by at most {difference:.1e}")
    require(difference <= MAX_TWIN_DIFFERENCE, f"digits_float.onnx differs by {difference}")
    require(np.array_equal(np.argmax(twin_outputs, axis=1), np.argmax(outputs, axis=1)),
            "digits_float.onnx names other digits")


def encode_sheet(pixels):
    """One grayscale PNG, DIGITS_PER_ROW digits a row, cells of 8x8 without gaps."""
    rows = len(pixels) // DIGITS_PER_ROW
    grid = pixels.reshape(rows, DIGITS_PER_ROW, 8, 8).transpose(0, 2, 1, 3)
    return tf.io.encode_png(grid.reshape(rows * 8, DIGITS_PER_ROW * 8, 1)).numpy()


def as_lines(rows, pattern):
    return "".join(" ".join(pattern % value for value in row) + "\n" for row in rows).encode()


def main():
    parser = argparse.ArgumentParser(description="Trains the bundled digit classifier.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent,
                        help="folder for the files (default: this script's)")
    parser.add_argument("--seed", type=int, default=3, help="of the split and the training (default: 3)")
    arguments = parser.parse_args()

    tf.keras.utils.set_random_seed(arguments.seed)
    tf.config.experimental.enable_op_determinism()

    train_pixels, train_labels, test_pixels, test_labels = load_split(arguments.seed)
    print(f"Training on {len(train_pixels)} digits, {len(test_pixels)} held out, seed {arguments.seed}", flush=True)
    model = train(train_pixels, train_labels)

    print("Converting", flush=True)
    float_content = convert_float(model)
    int8_content = convert_int8(model, to_float_input(train_pixels[:CALIBRATION_COUNT]))

    float_outputs = run_all(float_content, to_float_input(test_pixels))
    int8_outputs = run_all(int8_content, to_int8_input(test_pixels))
    check_model("digits_float.tflite", float_content, accuracy(float_outputs, test_labels), np.float32)
    check_model("digits_int8.tflite", int8_content, accuracy(int8_outputs, test_labels), np.int8)
    twin_content = make_twin(make_interpreter(float_content))
    check_twin(twin_content, to_float_input(test_pixels), float_outputs)
    require(len(float_content) + len(int8_content) + len(twin_content) < MAX_TOTAL_BYTES,
            "the three models are too large together")

    files = {
        "digits_float.tflite": float_content,
        "digits_int8.tflite": int8_content,
        "digits_float.onnx": twin_content,
        "test_digits.png": encode_sheet(test_pixels),
        "test_labels.txt": as_lines(test_labels[:, np.newaxis], "%d"),
        "expected_float.txt": as_lines(float_outputs[:EXPECTED_COUNT], "%.9g"),
        "expected_int8.txt": as_lines(int8_outputs[:EXPECTED_COUNT], "%d"),
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (arguments.out / name).write_bytes(content)
    print(f"Wrote {len(files)} files into {arguments.out}")


if __name__ == "__main__":
    main()
