# SPDX-License-Identifier: Apache-2.0
"""The accuracy on the held-out digits is the same by tenon-evaluate, of any number of jobs, and by the package."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from conftest import DIGITS
from PIL import Image

import tenon

SIDE = 8


def program():
    """tenon-evaluate of the build whose library the tests use."""
    library = os.environ.get("TENON_LIBRARY")
    path = pathlib.Path(library).parent.parent / "bin/tenon-evaluate" if library else None
    if path is None or not path.exists():
        pytest.skip("tenon-evaluate is not built")
    return path


def digits():
    """The pictures of the sheet, row by row, and their labels."""
    sheet = np.asarray(Image.open(DIGITS / "test_digits.png").convert("L"))
    rows = sheet.reshape(sheet.shape[0] // SIDE, SIDE, sheet.shape[1] // SIDE, SIDE)
    labels = np.loadtxt(DIGITS / "test_labels.txt", dtype=int)
    return rows.transpose(0, 2, 1, 3).reshape(-1, SIDE, SIDE), labels


@pytest.mark.parametrize("name", ["digits_float.tflite", "digits_int8.tflite"])
def test_accuracy_is_the_same(tmp_path, name):
    executable = program()
    pictures, labels = digits()
    for i, picture in enumerate(pictures):
        Image.fromarray(picture).save(tmp_path / f"digit{i:03}.png")
    is_float = name == "digits_float.tflite"
    options = ["--input-mean", "0", "--input-std", "255"] if is_float else []
    accuracies = []
    for jobs in (1, 2):
        report = tmp_path / "report.json"
        command = [executable, "-m", DIGITS / name, "-d", tmp_path, "-g", DIGITS / "test_labels.txt", "-j", jobs]
        command += ["--report-json", report, *options]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        accuracies.append(json.loads(report.read_text(encoding="utf-8"))["top_k"])

    model = tenon.Model(DIGITS / name, threads=1)
    ranks = []
    for picture, label in zip(pictures, labels):
        values = picture.reshape(1, SIDE, SIDE, 1)
        image = values.astype(np.float32) / 255 if is_float else (values.astype(int) - 128).astype(np.int8)
        (scores,) = model.run({"image": image}).values()
        order = np.argsort(-scores.astype(np.float64).ravel(), kind="stable")
        ranks.append(int(np.flatnonzero(order == label)[0]))
    accuracies.append([float(np.mean(np.array(ranks) <= k)) for k in range(10)])
    assert accuracies[0] == accuracies[1] == accuracies[2]
