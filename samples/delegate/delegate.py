#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names what is in a picture by TensorFlow Lite, first alone and then with Tenon's delegate.

usage: delegate.py [--delegate FILE] [--option NAME=VALUE]... MODEL.tflite PICTURE [LABELS]

MODEL is a classifier of one output whose one input is a picture [1, height, width, 1 or 3 channels] with pixels from 0
to 1, quantized or not. PICTURE is a file that Pillow reads, LABELS a text file with a class in each line. FILE is
libtenonDelegate.so; without it that of the Python package tenon is taken. Options of the delegate are those of
docs/delegate.md; the backends are CpuAcc and CpuRef, and the severity of messages info, unless an option says another.

Prints the class, its score and the time of a run for both, and the delegate writes to standard error which nodes it took.
Needs ai-edge-litert (or tflite-runtime), numpy and Pillow.
"""

import os
import sys
import time

try:
    from ai_edge_litert.interpreter import Interpreter, load_delegate
except ImportError:
    try:
        from tflite_runtime.interpreter import Interpreter, load_delegate
    except ImportError:
        sys.exit("delegate.py: TensorFlow Lite is not installed: pip install ai-edge-litert")
try:
    import numpy as np
    from PIL import Image
except ImportError as error:
    sys.exit(f"delegate.py: {error.name} is missing: pip install numpy pillow")


def find_delegate():
    """The file that comes with the package."""
    try:
        import tenon
    except ImportError:
        raise ValueError("the package tenon is not installed: install it, or name the file with --delegate") from None
    return tenon.delegate_path()


def read_picture(path, info):
    """The tensor that an input wants of a picture."""
    shape = info["shape"]
    if len(shape) != 4 or shape[0] != 1 or shape[3] not in (1, 3):
        raise ValueError(f"the model takes {list(shape)}; a picture [1, height, width, 1 or 3] is needed")
    try:
        picture = Image.open(path).convert("L" if shape[3] == 1 else "RGB").resize((shape[2], shape[1]))
    except Image.UnidentifiedImageError:
        raise ValueError(f"{path} is no picture") from None
    values = np.asarray(picture, np.float32).reshape(shape) / 255
    if info["dtype"] == np.float32:
        return values
    scale, zero_point = info["quantization"]
    if not scale:
        raise ValueError(f"the model takes {info['dtype'].__name__}; float32 or a quantized type is needed")
    limits = np.iinfo(info["dtype"])
    return (np.round(values / scale) + zero_point).clip(limits.min, limits.max).astype(info["dtype"])


def classify(model, path, delegates):
    """The scores of all classes, and the microseconds of a run."""
    interpreter = Interpreter(model, num_threads=1, experimental_delegates=delegates)
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    if len(inputs) != 1 or len(outputs) != 1:
        raise ValueError(f"the model has {len(inputs)} inputs and {len(outputs)} outputs; one of each is needed")
    interpreter.set_tensor(inputs[0]["index"], read_picture(path, inputs[0]))
    times = []
    end = time.perf_counter() + 0.5
    while len(times) < 10 or time.perf_counter() < end:
        start = time.perf_counter()
        interpreter.invoke()
        times.append(time.perf_counter() - start)
    scores = interpreter.get_tensor(outputs[0]["index"]).ravel()
    scale, zero_point = outputs[0]["quantization"]
    if scale:
        scores = (scores.astype(np.float32) - zero_point) * np.float32(scale)
    return scores, 1e6 * float(np.median(times))


def main():
    arguments, files, options = sys.argv[1:], [], {"backends": "CpuAcc,CpuRef", "logging-severity": "info"}
    while arguments[:1] in (["--delegate"], ["--option"]) and len(arguments) > 1:
        name, value = arguments[:2]
        del arguments[:2]
        if name == "--delegate":
            files.append(value)
        else:
            option, _, text = value.partition("=")
            options[option] = text
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    try:
        file = files[-1] if files else find_delegate()
        for path in (file, *arguments):
            if not os.path.isfile(path):
                raise ValueError(f"there is no file '{path}'")
        model, picture = arguments[:2]
        labels = []
        if len(arguments) == 3:
            with open(arguments[2], encoding="utf-8") as lines:
                labels = lines.read().splitlines()
        delegate = load_delegate(file, options)
        for title, delegates in (("TensorFlow Lite", []), ("with the delegate", [delegate])):
            scores, microseconds = classify(model, picture, delegates)
            if labels and len(labels) != len(scores):
                raise ValueError(f"the model has {len(scores)} classes, and there are {len(labels)} labels")
            best = int(scores.argmax())
            name = labels[best] if labels else f"class {best}"
            print(f"{title + ':':19}{name} at {scores[best]:.3f}, {microseconds:.1f} us a run", flush=True)
    except (OSError, ValueError, RuntimeError) as error:
        sys.exit(f"delegate.py: {error}")


if __name__ == "__main__":
    main()
