# SPDX-License-Identifier: Apache-2.0
"""The programs of samples/python run: right results for data that is made here, and errors for what they refuse."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import wave

import numpy as np
import pytest
from conftest import DIGITS, ROOT
from PIL import Image

import tenon
from tenon import enums

SAMPLES = ROOT / "samples/python"

#: Arguments, and all that is printed.
RESULTS = {
    "build_network.py": (["built.tenon"], r"built:  \[\[0\.5 0\.5\]\]\nloaded: \[\[0\.5 0\.5\]\]\n"),
    "classify.py": (
        [DIGITS / "digits_int8.tflite", DIGITS / "seven.png", DIGITS / "labels.txt"],
        r"7: 0\.8\d+\n\d: 0\.\d+\n\d: 0\.\d+\n",
    ),
    "concurrent_runs.py": (
        [DIGITS / "digits_int8.tflite"],
        "threads: the same results\nfutures: the same results\nasyncio: the same results\n",
    ),
    "detect.py": (
        ["faces.tenon", "white.png", "boxes.png"],
        r"face: 0\.993 at 104, 56, 168, 88\nface: 0\.881 at 40, 24, 88, 72\n",
    ),
    "keywords.py": (
        ["words.tenon", "tone_300.wav", "words.txt"],
        r"from 0\.0 s to 1\.0 s:\nlow +0\.\d{3} #+\n(\w+ +0\.\d{3} ?#*\n){3}",
    ),
}

#: Arguments, and the text of the error.
REFUSED = {
    "build_network.py": [(["missing/built.tenon"], "^build_network.py: .*missing/built.tenon")],
    "classify.py": [
        (["missing.tflite", DIGITS / "seven.png"], "^classify.py: .*missing.tflite"),
        ([DIGITS / "digits_int8.tflite", "missing.png"], "^classify.py: .*missing.png"),
        ([DIGITS / "digits_int8.tflite", DIGITS / "seven.png", "missing.txt"], "^classify.py: .*missing.txt"),
        ([DIGITS / "digits_int8.tflite", DIGITS / "seven.png", "words.txt"], "10 classes, and there are 4 labels"),
        ([DIGITS / "digits_int8.tflite", "tone_300.wav"], "tone_300.wav is no PNG file"),
        ([DIGITS / "digits_int8.tflite", "cut.png"], "cut.png is cut off or damaged"),
        ([DIGITS / "digits_int8.tflite", "palette.png"], "without a palette"),
        (["words.tenon", DIGITS / "seven.png"], r"one picture \[1, height, width, 1 or 3\] or .* is needed"),
        (["wide.tenon", DIGITS / "seven.png"], "a picture of float32 or of a quantized type is needed"),
        (["faces.tenon", DIGITS / "seven.png"], "one output, the scores of classes, is needed"),
        (["--range", "1", "picture.tenon", "white.png"], "--range needs two numbers"),
        (["--range", "a,b", "picture.tenon", "white.png"], "^classify.py: .*could not convert"),
    ],
    "concurrent_runs.py": [
        (["missing.tflite"], "^concurrent_runs.py: .*missing.tflite"),
        (["faces.tenon"], "1 inputs and 2 outputs; one of each is needed"),
        (["wide.tenon"], "an input of float32 or quantized, of a known shape, is needed"),
    ],
    "detect.py": [
        (["missing.tflite", "white.png", "b.png"], "detect.py: .*missing.tflite"),
        (["faces.tenon", "missing.png", "b.png"], "detect.py: .*missing.png"),
        (["faces.tenon", "tone_300.wav", "b.png"], "detect.py: .*tone_300.wav"),
        (["faces.tenon", "white.png", "missing/b.png"], "detect.py: .*missing/b.png"),
        (["faces.tenon", "white.png", "b.png", "missing.txt"], "detect.py: .*missing.txt"),
        (["words.tenon", "white.png", "b.png"], r"a picture \[1, height, width, 3\] is needed"),
        (["wide.tenon", "white.png", "b.png"], "a picture of bytes or of float32 is needed"),
        (["picture.tenon", "white.png", "b.png"], "the outputs of TFLite_Detection_PostProcess .* are needed"),
    ],
    "keywords.py": [
        (["missing.tflite", "tone_300.wav"], "keywords.py: .*missing.tflite"),
        (["words.tenon", "missing.wav"], "keywords.py: .*missing.wav"),
        (["words.tenon", "white.png"], "white.png is no WAV file"),
        (["words.tenon", "cut.wav"], "cut.wav is no WAV file"),
        (["words.tenon", "empty.wav"], "empty.wav has no samples"),
        (["words.tenon", "slow.wav"], "slow.wav has 8000 Hz, 1 channel and 16 bits; 16 kHz mono of 16 bits is needed"),
        (["words.tenon", "stereo.wav"], "2 channels and 16 bits; 16 kHz mono"),
        (["words.tenon", "narrow.wav"], "1 channel and 8 bits; 16 kHz mono"),
        (["picture.tenon", "tone_300.wav"], "one input of 49 x 40 features is needed"),
        (["words.tenon", "tone_300.wav", "missing.txt"], "missing.txt"),
        (["words.tenon", "tone_300.wav", "classes.txt"], "the model has 4 classes, and there are 2 labels"),
    ],
}


def save(network, path):
    network.optimize().save(path)


def brightness(network, image, shape):
    """The mean of a picture."""
    mean = network.add_layer("Reduce", image, attributes={"ReduceOperation": enums.ReduceOperation.Mean})
    return network.add_layer("Reshape", mean, attributes={"TargetShape": tenon.Shape(shape)})


def binary(network, operation, a, b):
    return network.add_layer("ElementwiseBinary", a, b, attributes={"Operation": enums.BinaryOperation[operation]})


def faces():
    """Gives what BlazeFace gives: two faces, each for one anchor of a size, if at least half of its input is white."""
    regressors, scores = np.zeros((1, 896, 16), np.float32), np.full((1, 896, 1), -100, np.float32)
    small = (4 * 16 + 8) * 2  # row 4, column 8: the middle is at 0.53125, 0.28125
    regressors[0, small : small + 2, 2:4] = [32, 16]
    scores[0, small : small + 2, 0] = [5, 4]  # of which the second is suppressed
    large = 512 + (1 * 8 + 1) * 6 + 3  # the middle is at 0.1875, 0.1875
    regressors[0, large, :4] = [8, 0, 24, 24]
    scores[0, large, 0] = 2
    network = tenon.Network()
    mean = brightness(network, network.add_input("image", (1, 128, 128, 3)), (1, 1, 1))
    for name, values, factor in (("regressors", regressors, 0), ("classificators", scores, 10)):
        added = binary(network, "Mul", mean, network.add_constant(np.full((1, 1, 1), factor, np.float32)))
        network.add_output(binary(network, "Add", network.add_constant(values), added), name)
    return network


def objects(dtype, zero_point):
    """Ends as SSD MobileNets do, of pictures of bytes: a dog if the picture is black, and a cat if it is white."""
    network = tenon.Network()
    quantization = tenon.Quantization(1 / 255, zero_point)
    image = network.add_input("image", (1, 64, 64, 3), dtype, quantization=quantization)
    white = brightness(network, network.add_layer("Dequantize", image), (1, 1, 1))
    encodings = binary(network, "Mul", white, network.add_constant(np.zeros((1, 2, 4), np.float32)))
    # Scores of the background, of dogs and of cats at both anchors.
    ifs_black, ifs_white = np.array([[[0, 0.75, 0], [0, 0, 0]]]), np.array([[[0, -0.75, 0], [0, 0, 0.875]]])
    scores = binary(network, "Mul", white, network.add_constant(ifs_white.astype(np.float32)))
    scores = binary(network, "Add", scores, network.add_constant(ifs_black.astype(np.float32)))
    anchors = network.add_constant(np.array([[0.25, 0.5, 0.5, 1.0], [0.5, 0.5, 0.5, 0.25]], np.float32))
    attributes = {"MaxDetections": 4, "NmsScoreThreshold": 0.1, "NmsIouThreshold": 0.5, "NumClasses": 2}
    attributes.update({"ScaleX": 10.0, "ScaleY": 10.0, "ScaleW": 5.0, "ScaleH": 5.0})
    results = network.add_layer("DetectionPostProcess", encodings, scores, anchors, attributes=attributes, outputs=4)
    for result, name in zip(results, ("boxes", "classes", "scores", "number")):
        network.add_output(result, name)
    return network


def words(dtype="float32", shape=(1, 1960)):
    """Scores by the strength of each quarter of the channels."""
    weights = np.zeros((49, 40, 4), np.float32)
    for i in range(4):
        weights[:, 10 * i : 10 * (i + 1), i] = 0.01
    network = tenon.Network()
    quantization = None if dtype == "float32" else tenon.Quantization(26 / 255, -128)
    x = network.add_input("features", shape, dtype, quantization=quantization)
    if quantization is not None:
        x = network.add_layer("Dequantize", x)
    x = network.add_layer("Reshape", x, attributes={"TargetShape": tenon.Shape((1, 1960))})
    y = network.add_layer("FullyConnected", x, network.add_constant(weights.reshape(1960, 4)))
    network.add_output(network.add_layer("Softmax", y, attributes={"Beta": 1.0}), "scores")
    return network


def unchanged(shape, dtype):
    """A model that gives its input."""
    network = tenon.Network()
    x = network.add_input("x", shape, dtype)
    network.add_output(network.add_layer("Reshape", x, attributes={"TargetShape": tenon.Shape(shape)}), "y")
    return network


def tone(hertz, seconds=1.0, rate=16000):
    """A tone in noise."""
    noise = np.random.default_rng(1).normal(0, 20, int(seconds * rate))
    return noise + 8000 * np.sin(2 * np.pi * hertz * np.arange(len(noise)) / rate)


def write_wav(path, samples, rate=16000, channels=1, width=2):
    with wave.open(str(path), "wb") as file:
        file.setframerate(rate)
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.writeframes(np.asarray(samples).round().astype({1: np.uint8, 2: "<i2"}[width]).tobytes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with models, pictures and recordings."""
    path = tmp_path_factory.mktemp("samples")
    save(faces(), path / "faces.tenon")
    for name, dtype, zero_point in (("objects_uint8", "uint8", 0), ("objects_int8", "int8", -128)):
        save(objects(dtype, zero_point), path / f"{name}.tenon")
    save(words(), path / "words.tenon")
    save(words("int8", (1, 49, 40, 1)), path / "words_int8.tenon")
    save(unchanged((1, 8, 8, 3), "float32"), path / "picture.tenon")
    save(unchanged((1, 8, 8, 3), "float64"), path / "wide.tenon")
    for name, level in (("white", 255), ("black", 0)):
        Image.new("RGB", (256, 128), (level,) * 3).save(path / f"{name}.png")
    Image.new("L", (32, 64), 255).save(path / "tall.png")
    Image.new("RGB", (4, 4)).convert("P").save(path / "palette.png")
    (path / "cut.png").write_bytes((DIGITS / "seven.png").read_bytes()[:60])
    (path / "words.txt").write_text("low\nmiddle\nhigh\ntop\n")
    (path / "classes.txt").write_text("dog\ncat\n")
    for hertz in (300, 1000, 2500, 6000):
        write_wav(path / f"tone_{hertz}.wav", tone(hertz))
    write_wav(path / "silence.wav", np.zeros(16000))
    write_wav(path / "short.wav", tone(300, 0.3))
    write_wav(path / "padded.wav", np.pad(tone(300, 0.3), 5600))
    write_wav(path / "long.wav", np.concatenate([tone(300), tone(1000), np.zeros(8000), tone(6000)]))
    write_wav(path / "slow.wav", tone(300), rate=8000)
    write_wav(path / "stereo.wav", tone(300), channels=2)
    write_wav(path / "narrow.wav", np.full(16000, 128), width=1)
    write_wav(path / "empty.wav", [])
    (path / "cut.wav").write_bytes((path / "tone_300.wav").read_bytes()[:20])
    return path


def run(sample, arguments, folder, **variables):
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, str(SAMPLES / sample), *map(str, arguments)],
        cwd=folder,
        env=dict(os.environ, PYTHONPATH=paths, **variables),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def printed(sample, arguments, folder):
    done = run(sample, arguments, folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_all_samples_are_run():
    assert {path.name for path in SAMPLES.glob("*.py")} == RESULTS.keys() == REFUSED.keys()


@pytest.mark.parametrize("sample", RESULTS)
def test_results(sample, folder):
    arguments, expected = RESULTS[sample]
    assert re.fullmatch(expected, printed(sample, arguments, folder))


@pytest.mark.parametrize("sample", RESULTS)
def test_usage(sample, folder):
    done = run(sample, [], folder)
    assert done.returncode == 1
    assert f"usage: {sample}" in done.stderr


@pytest.mark.parametrize(
    ("sample", "arguments", "error"),
    [(sample, *case) for sample, cases in REFUSED.items() for case in cases],
)
def test_what_is_refused(sample, arguments, error, folder):
    done = run(sample, arguments, folder)
    assert done.returncode == 1
    assert re.search(error, done.stderr)
    assert "Traceback" not in done.stderr
    assert not (folder / "b.png").exists()


def test_pictures_with_transparency(folder):
    seven = Image.open(DIGITS / "seven.png")
    expected = printed("classify.py", [DIGITS / "digits_float.tflite", DIGITS / "seven.png"], folder)
    for mode in ("LA", "RGB", "RGBA"):
        seven.convert("L").convert(mode).save(folder / "converted.png")
        assert printed("classify.py", [DIGITS / "digits_float.tflite", "converted.png"], folder) == expected
    assert expected.startswith("class 7: ")


def test_the_range_of_pixels(folder):
    for shape in ((1, 8, 8, 1), (1, 8, 8, 3)):
        save(unchanged(shape, "float32"), folder / "pixels.tenon")
        for arguments, value in (([], "1.0000"), (["--range", "-1,1"], "1.0000"), (["--range", "0,255"], "255.0000")):
            lines = printed("classify.py", [*arguments, "pixels.tenon", "white.png"], folder).splitlines()
            assert [line.split()[-1] for line in lines] == [value] * 3
        lines = printed("classify.py", ["--range", "-1,1", "pixels.tenon", "black.png"], folder).splitlines()
        assert [line.split()[-1] for line in lines] == ["-1.0000"] * 3


def test_pictures_of_onnx_models(folder):
    picture = DIGITS / "seven.png"
    expected = printed("classify.py", [DIGITS / "digits_float.tflite", picture], folder)
    assert printed("classify.py", [DIGITS / "digits_float.onnx", picture], folder) == expected


def test_channels_may_come_first(folder):
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[..., 1] = 255
    Image.fromarray(pixels).save(folder / "green.png")
    for shape, middle in (((1, 8, 8, 3), range(1, 192, 3)), ((1, 3, 8, 8), range(64, 128))):
        save(unchanged(shape, "float32"), folder / "pixels.tenon")
        lines = printed("classify.py", ["pixels.tenon", "green.png"], folder).splitlines()
        assert all(int(line.split()[1].rstrip(":")) in middle for line in lines)
        assert [line.split()[-1] for line in lines] == ["1.0000"] * 3


def test_boxes_are_drawn(folder):
    printed("detect.py", ["faces.tenon", "white.png", "drawn.png"], folder)
    drawn = np.asarray(Image.open(folder / "drawn.png"))
    lime, white = (0, 255, 0), (255, 255, 255)
    assert drawn.shape == (128, 256, 3)
    for x, y, color in ((168, 88, lime), (104, 88, lime), (40, 72, lime), (88, 24, lime), (136, 80, white)):
        assert tuple(drawn[y, x]) == color


def test_a_picture_without_objects(folder):
    assert printed("detect.py", ["faces.tenon", "black.png", "none.png"], folder) == ""
    assert not np.asarray(Image.open(folder / "none.png")).any()


@pytest.mark.parametrize("model", ["objects_uint8.tenon", "objects_int8.tenon"])
def test_objects_of_models_that_decode_them(model, folder):
    # The picture takes 64 x 32 of 64 x 64 pixels.
    found = printed("detect.py", [model, "black.png", "objects.png", "classes.txt"], folder)
    assert found == "dog: 0.750 at 0, 0, 255, 127\n"
    # Half of the input is white: a cat of 0.4375, which is too little, and a dog of 0.375.
    assert printed("detect.py", [model, "white.png", "objects.png", "classes.txt"], folder) == ""


def test_a_gray_picture_and_classes_without_labels(folder):
    network = objects("uint8", 0)
    save(network, folder / "same.tenon")
    found = printed("detect.py", ["same.tenon", "tall.png", "objects.png"], folder)
    assert found == ""
    Image.new("L", (64, 64), 255).save(folder / "square.png")
    assert (
        printed("detect.py", ["same.tenon", "square.png", "objects.png"], folder)
        == "class 1: 0.875 at 24, 16, 40, 48\n"
    )


def test_detect_says_that_pillow_is_missing(folder, tmp_path):
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL/__init__.py").write_text("raise ImportError\n")
    program = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(SAMPLES)!r}]; import detect; detect.main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "faces.tenon", "white.png", "b.png"],
        cwd=folder,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("detect.py: Pillow") and "pip install pillow" in done.stderr


@pytest.mark.parametrize("model", ["words.tenon", "words_int8.tenon"])
def test_frequencies_are_told_apart(model, folder):
    for hertz, label in ((300, "low"), (1000, "middle"), (2500, "high"), (6000, "top")):
        lines = printed("keywords.py", [model, f"tone_{hertz}.wav", "words.txt"], folder).splitlines()
        assert lines[1].startswith(f"{label} "), lines
        assert len(lines) == 5


def test_recordings_of_other_lengths(folder):
    lines = printed("keywords.py", ["words.tenon", "silence.wav"], folder).splitlines()
    assert lines == [
        "from 0.0 s to 1.0 s:",
        *(f"{label:7} 0.250 {'#' * 10}" for label in ("silence", "unknown", "yes", "no")),
    ]
    short = printed("keywords.py", ["words.tenon", "short.wav"], folder)
    assert short == printed("keywords.py", ["words.tenon", "padded.wav"], folder) != "\n".join(lines) + "\n"
    (folder / "last.txt").write_text("silence\nunknown\nSilence\ntop\n")
    lines = printed("keywords.py", ["words.tenon", "long.wav", "last.txt"], folder).splitlines()
    start = float(lines[0].split()[1])
    assert 2.0 <= start <= 2.5
    assert lines[1].startswith("top ")


def test_features_are_those_of_the_microfrontend(monkeypatch):
    """Of TensorFlow's C code, with frames every 10 ms: two frames of noise whose level rises and falls."""
    monkeypatch.syspath_prepend(str(SAMPLES))
    import keywords

    monkeypatch.setattr(keywords, "STEP", 160)
    i = np.arange(16000)
    noise = ((i * i * 7919 + i * 104729) % 2001 - 1000) * (i // 1600 % 4) * 2
    sweep = np.rint(6000 * np.sin(2 * np.pi * i * (300 + i / 20) / 16000)).astype(int)
    found = 25.6 * keywords.features(noise + sweep)
    assert found.shape == (98, 40)
    # fmt: off
    expected = {
        13: [523, 399, 0, 0, 0, 0, 558, 547, 541, 416, 541, 474, 550, 470, 554, 459, 544, 476, 561, 481, 542, 463, 548,
             478, 537, 472, 536, 472, 549, 464, 534, 451, 522, 455, 549, 458, 550, 490, 539, 471],
        24: [507, 339, 0, 0, 0, 0, 0, 0, 513, 523, 546, 346, 499, 287, 476, 0, 468, 349, 539, 403, 501, 405, 494, 395,
             473, 437, 510, 379, 504, 383, 501, 353, 499, 378, 509, 413, 483, 392, 492, 404],
    }
    # fmt: on
    for frame, values in expected.items():
        np.testing.assert_allclose(found[frame], values, rtol=0, atol=3.01)


def test_both_formats_of_the_digits_give_the_same():
    """The .onnx twin takes all pictures at once, the .tflite model one."""
    sheet = np.asarray(Image.open(DIGITS / "test_digits.png"))
    rows, columns = sheet.shape[0] // 8, sheet.shape[1] // 8
    pictures = sheet.reshape(rows, 8, columns, 8).swapaxes(1, 2).reshape(-1, 8, 8, 1).astype(np.float32) / 255
    labels = np.loadtxt(DIGITS / "test_labels.txt", int)
    one = tenon.Model(DIGITS / "digits_float.tflite")
    expected = np.concatenate([one(picture[np.newaxis]) for picture in pictures])
    outputs = tenon.Model(DIGITS / "digits_float.onnx")(pictures)
    assert len(pictures) == 360
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(outputs.argmax(1), expected.argmax(1))
    assert np.mean(outputs.argmax(1) == labels) > 0.98
