# SPDX-License-Identifier: Apache-2.0
"""What the tests of libtenonDelegate.so share."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from runtime import CPU, IS_LITERT, load


def assert_equal(got, want):
    """Equal to the bit; NaN is NaN."""
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(a, b)


def assert_near(got, want):
    """Integers equal, floats within the bounds of the operators' tests."""
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if b.dtype.kind != "f":
            np.testing.assert_array_equal(a, b)
            continue
        bound = 1e-4 * np.abs(b) + 1e-5 * np.max(np.abs(b), initial=0) + 1e-6
        assert np.all(np.abs(a - b) <= bound)


def assert_equal_to_kernels(got, want, old_bound=2):
    """Equal; within the bound in tflite-runtime 2.14, whose quantized Softmax and products of int16 round otherwise than
    those of later releases."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert np.max(np.abs(got.astype(int) - want)) <= (0 if IS_LITERT else old_bound)


def random_values(shape, dtype, seed=1):
    """Normal numbers for floats, the whole range for integers."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.standard_normal(shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def run_python(program, *arguments):
    """Runs a program in a process of its own, with the modules of this folder. Returns what it writes."""
    path = os.pathsep.join([str(pathlib.Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", program, *map(repr, arguments)],
        env=dict(os.environ, PYTHONPATH=path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def delegate():
    """One that tests share."""
    return load(**CPU)
