#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names the keyword that is said in a recording.

usage: keywords.py MODEL RECORDING.wav [LABELS]

MODEL is a classifier of one second of speech by 49 frames of 40 features: micro_speech of TensorFlow Lite Micro
(tensorflow/lite/micro/examples/micro_speech/models/micro_speech_quantized.tflite in its repository), which knows "yes"
and "no", or one that was trained in the same way on other words. LABELS is a text file with a class in each line. The
recording has 16 kHz, one channel and 16 bits. In one of more than a second the second is looked for in which a keyword
has the highest score.

The features are those of TensorFlow's microfrontend (tensorflow/lite/experimental/microfrontend/lib), with the
parameters of micro_speech: windows of 30 ms, one every 20 ms; a Fourier transform in 16 bits; 40 mel filters between
125 and 7500 Hz; noise reduction; gain control by channel (PCAN); the logarithm. The arithmetic is that of its integers,
because quiet frames consist of rounding errors, which a transform in floats does not have. Only its two lookup tables
are replaced by the functions that they approximate.
"""

import sys
import wave

import numpy as np

import tenon

RATE = 16000  # samples per second
WINDOW, STEP = 480, 320  # samples
FFT = 512
FRAMES, CHANNELS = 49, 40  # of one second
LABELS = ["silence", "unknown", "yes", "no"]
NO_KEYWORDS = ("silence", "unknown")


def read_wav(path):
    """The samples of a recording: int16."""
    try:
        with wave.open(path, "rb") as file:
            channels, width, rate, count = file.getparams()[:4]
            data = file.readframes(count)
    except (wave.Error, EOFError) as error:
        raise ValueError(f"{path} is no WAV file with uncompressed samples: {error or 'it ends too early'}") from None
    if (channels, width, rate) != (1, 2, RATE):
        raise ValueError(
            f"{path} has {rate} Hz, {channels} channel{'s' if channels > 1 else ''} and {8 * width} bits; 16 kHz mono "
            f"of 16 bits is needed: convert it, e.g. by sox {path} -r {RATE} -c 1 -b 16 converted.wav"
        )
    if not data:
        raise ValueError(f"{path} has no samples")
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.int64)


def rounded(numbers):
    """The nearest whole numbers; real and imaginary parts apart."""
    if np.iscomplexobj(numbers):
        return np.floor(numbers.real + 0.5) + 1j * np.floor(numbers.imag + 0.5)
    return np.floor(numbers + 0.5)


def turned(numbers, angles):
    """Complex numbers, turned by angles whose factors have 15 bits."""
    return rounded(numbers * (rounded(32767 * np.exp(1j * angles)) / 32768))


def fourier(frames):
    """The transform of each row, divided by its length: whole numbers are rounded after each of its steps."""
    count = frames.shape[1]
    if count == 1:
        return frames
    angles = -2 * np.pi * np.arange(count // 4) / count
    a, b, c, d = (rounded(fourier(frames[:, k::4]) * (8191 / 32768)) for k in range(4))
    b, c, d = turned(b, angles), turned(c, 2 * angles), turned(d, 3 * angles)
    quarters = [a + c + (b + d), a - c - 1j * (b - d), a + c - (b + d), a - c + 1j * (b - d)]
    return np.concatenate(quarters, axis=1)


def real_fourier(frames):
    """The same of real numbers, by pairs of them as complex ones: the lower half of the result."""
    pairs = rounded(fourier(frames[:, 0::2] + 1j * frames[:, 1::2]) * (16383 / 32768))
    count = pairs.shape[1]
    k = np.arange(1, count // 2 + 1)
    mirrored = pairs[:, count - k].conj()
    both, odd = pairs[:, k] + mirrored, turned(pairs[:, k] - mirrored, -np.pi * (k / count + 0.5))
    result = np.empty((len(frames), count + 1), complex)
    result[:, 0] = pairs[:, 0].real + pairs[:, 0].imag
    result[:, count] = pairs[:, 0].real - pairs[:, 0].imag
    for at, numbers in ((count - k, (both - odd).conj()), (k, both + odd)):
        result[:, at] = np.floor(numbers.real / 2) + 1j * np.floor(numbers.imag / 2)
    return result


def mel(hertz):
    return 1127 * np.log1p(hertz / 700)


def filters():
    """The weights of each frequency in each channel: triangles that overlap by half."""
    edges = np.linspace(mel(125), mel(7500), CHANNELS + 2)
    frequencies = np.arange(FFT // 2 + 1) * RATE / FFT
    at = mel(frequencies)[:, None]
    rising, falling = (at - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - at) / (edges[2:] - edges[1:-1])
    weights = np.maximum(np.minimum(rising, falling), 0)
    weights[frequencies < 125] = 0
    return rounded(4096 * weights)


def magnitudes(samples):
    """The strength of each channel in each frame, as whole numbers."""
    starts = STEP * np.arange(1 + (len(samples) - WINDOW) // STEP)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(WINDOW) + 0.5) / WINDOW)
    frames = np.floor(samples[starts[:, None] + np.arange(WINDOW)] * rounded(4096 * hann) / 4096)
    _, bits = np.frexp(np.abs(frames).max(1, keepdims=True))
    scale = 2.0 ** (15 - bits)  # each frame makes use of all 16 bits
    frequencies = real_fourier(np.pad(frames * scale, ((0, 0), (0, FFT - WINDOW))))
    energies = (frequencies.real**2 + frequencies.imag**2) @ filters()
    return np.floor(rounded(np.sqrt(energies)) / scale).astype(np.int64)


def features(samples):
    """The features of a recording: [frames, channels], about 0 to 26."""
    smoothing = np.where(np.arange(CHANNELS) % 2 == 0, int(0.025 * 2**14), int(0.06 * 2**14))
    noise = np.zeros(CHANNELS, np.int64)  # the average that follows the channel, times 2^10
    frames = []
    for strengths in magnitudes(samples):
        noise = (1024 * strengths * smoothing + noise * (2**14 - smoothing)) >> 14
        above = np.maximum(1024 * strengths - noise, 0) >> 10
        above = np.maximum(above, (strengths * int(0.05 * 2**14)) >> 14)
        gains = rounded(2**21 * (noise / 128 + 80) ** -0.95).astype(np.int64)
        ratios = (above * gains) >> 6
        compressed = np.where(ratios < 2**13, ratios * ratios >> 20, (ratios >> 6) - 64)
        frames.append(rounded(64 * np.log(np.maximum(8 * compressed, 1))) / 25.6)
    return np.array(frames)


def scores_of(model, seconds):
    """The scores of all classes for each second of features."""
    given, result = model.inputs[0], model.outputs[0]
    all_scores = []
    for second in seconds:
        x = second.reshape(given.shape).astype(np.float32)
        scores = model(given.quantize(x) if given.quantization else x)
        all_scores.append((result.dequantize(scores) if result.quantization else scores).ravel())
    return np.array(all_scores)


def spot(model, samples, labels):
    """Where a keyword is heard, in seconds, and the scores of all classes there."""
    given = model.inputs[0]
    if len(model.inputs) != 1 or not given.is_static or np.prod(given.shape) != FRAMES * CHANNELS:
        raise ValueError(f"the model takes {list(model.inputs)}; one input of {FRAMES} x {CHANNELS} features is needed")
    missing = max(RATE - len(samples), 0)  # a short recording is in the middle of its second
    spectrogram = features(np.pad(samples, (missing // 2, missing - missing // 2)))
    starts = np.arange(0, len(spectrogram) - FRAMES + 1, 5)  # every tenth of a second
    scores = scores_of(model, [spectrogram[start : start + FRAMES] for start in starts])
    if scores.shape[1] != len(labels):
        raise ValueError(f"the model has {scores.shape[1]} classes, and there are {len(labels)} labels")
    keywords = [i for i, label in enumerate(labels) if label.lower() not in NO_KEYWORDS]
    best = scores[:, keywords].max(1).argmax()
    return starts[best] * STEP / RATE, scores[best]


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    try:
        labels = LABELS
        if len(sys.argv) == 4:
            with open(sys.argv[3], encoding="utf-8") as file:
                labels = file.read().splitlines()
        start, scores = spot(tenon.Model(sys.argv[1]), read_wav(sys.argv[2]), labels)
    except (OSError, ValueError, tenon.Error) as error:
        sys.exit(f"keywords.py: {error}")
    print(f"from {start:.1f} s to {start + 1:.1f} s:")
    width = max(map(len, labels))
    for i in np.argsort(-scores, kind="stable"):
        print(f"{labels[i]:{width}} {scores[i]:.3f} {'#' * round(40 * float(scores[i]))}".rstrip())


if __name__ == "__main__":
    main()
