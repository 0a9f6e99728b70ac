# SPDX-License-Identifier: Apache-2.0
"""Options of the delegate as Python gives them: each with values that it takes and values that it does not."""

from __future__ import annotations

import json
import os
import re

import models
import numpy as np
import pytest
from conftest import assert_equal, random_values, run_python
from runtime import CPU, LIBRARY, interpreter, load, load_delegate, partitions, run

FLAG = ([True, False, "true", "0"], ["maybe", "", 2])
NUMBER = ([0, 7, "4294967295"], [-1, "1.5", "", "4294967296"])
THREADS = ([0, 1, 64], [-1, 1025, "all", ""])
FILE = ([""], [])  # tests below give them names
VALUES = {
    "backends": (["CpuRef", "CpuAcc,CpuRef", "CpuRef, CpuAcc", "GpuAcc,CpuRef"], ["", "GpuAcc", ","]),
    "number-of-threads": THREADS,
    "num_threads": THREADS,
    "max_delegated_partitions": NUMBER,
    "min_nodes_per_partition": NUMBER,
    "logging-severity": (["error", "Fatal", "WARNING"], ["loud", "", 3]),
    "disable-tflite-runtime-fallback": FLAG,
    "dynamic-backends-path": FILE,
    "runtimepath": FILE,
    "enable-fast-math": FLAG,
    "reduce-fp32-to-fp16": FLAG,
    "reduce-fp32-to-bf16": FLAG,
    "cached-network-filepath": FILE,
    "save-cached-network": ([False, 0], ["maybe", True]),  # without a file
    "memory-import": FLAG,
    "infer-output-shape": FLAG,
    "allow-expanded-dims": FLAG,
    "debug-data": FLAG,
    "serialize-to-dot": FILE,
    "enable-internal-profiling": FLAG,
    "internal-profiling-detail": ([1, 2], [0, 3, "all"]),
    "gpu-tuning-level": ([0, 3], [4, "x"]),
    "gpu-tuning-file": (["", "file"], []),
    "gpu-mlgo-tuning-file": (["", "file"], []),
    "gpu-enable-profiling": FLAG,
    "gpu-kernel-profiling-enabled": FLAG,
    "enable-external-profiling": FLAG,
    "timeline-profiling": FLAG,
    "file-only-external-profiling": FLAG,
    "outgoing-capture-file": (["", "file"], []),
    "incoming-capture-file": (["", "file"], []),
    "counter-capture-period": ([0, 10000], [-1, "often"]),
    "profiling-file-format": (["binary"], ["text", ""]),
}


def test_no_option_is_left_out_here():
    with pytest.raises(ValueError) as error:
        load_delegate(LIBRARY, {"no-such-option": 1})
    names = re.search(r"there is no option 'no-such-option'.* there are (.*)\n", str(error.value))[1]
    assert sorted(names.split(", ")) == sorted(VALUES)


@pytest.mark.parametrize("name, value", [(name, value) for name, (values, _) in VALUES.items() for value in values])
def test_values_that_an_option_takes(name, value):
    delegate = load_delegate(LIBRARY, {name: value})
    x = random_values((1, 8, 8, 3), "int8")
    content = models.classifier("int8")
    assert_equal(run(interpreter(content, delegate), x), run(interpreter(content), x))


@pytest.mark.parametrize("name, value", [(name, value) for name, (_, values) in VALUES.items() for value in values])
def test_values_that_an_option_does_not_take(name, value):
    with pytest.raises(ValueError) as error:
        load_delegate(LIBRARY, {name: value})
    text = str(error.value).split("TenonDelegate: ")[1]
    assert text.endswith("\n")
    if (name, value) == ("backends", "GpuAcc"):
        assert text == "none of the backends GpuAcc is there; there are CpuAcc, CpuRef\n"
    else:
        assert name in text
        assert str(value) in text or (name, value) == ("save-cached-network", True)


def test_a_name_that_is_nearly_right_and_options_that_contradict_each_other():
    for options, texts in (
        ({"number-of-thread": 1}, ["'number-of-thread'", "the nearest is 'number-of-threads'"]),
        ({"number-of-threads": 1, "num_threads": 2}, ["number-of-threads", "num_threads", "1", "2"]),
        ({"reduce-fp32-to-fp16": 1, "reduce-fp32-to-bf16": 1}, ["reduce-fp32-to-fp16", "reduce-fp32-to-bf16"]),
        ({"infer-output-shape": 1, "allow-expanded-dims": 1}, ["infer-output-shape", "allow-expanded-dims"]),
        ({"enable-external-profiling": 1, "outgoing-capture-file": "f"}, ["outgoing-capture-file", "external"]),
    ):
        with pytest.raises(ValueError) as error:
            load_delegate(LIBRARY, options)
        for text in texts:
            assert text in str(error.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Python's package causes it
def test_a_library_that_is_missing():
    with pytest.raises(OSError):
        load_delegate(LIBRARY + ".missing")


def test_networks_as_dot(tmp_path):
    interpreter(models.sandwich("int8"), load(**CPU, serialize_to_dot=tmp_path / "n.dot"))
    assert sorted(os.listdir(tmp_path)) == ["n.dot", "n.dot.1"]
    for path in tmp_path.iterdir():
        assert path.read_text().startswith("digraph")


def test_packed_weights_in_files(tmp_path):
    file = tmp_path / "weights.bin"
    content, x = models.classifier("float32"), random_values((1, 8, 8, 3), "float32")
    want = run(interpreter(content, load(**CPU)), x)
    saving = load(**CPU, cached_network_filepath=file, save_cached_network=True)
    assert_equal(run(interpreter(content, saving), x), want)
    del saving
    assert file.stat().st_size > 0
    reading = load(**CPU, cached_network_filepath=file)
    for _ in range(3):  # a model that is loaded again has the file again
        made = interpreter(content, reading)
        assert_equal(run(made, x), want)
        assert len(partitions(made)) == 1
        del made


def test_packed_weights_of_another_model(tmp_path, capfd):
    """A model whose weights no file has is taken all the same."""
    file = tmp_path / "weights.bin"
    saving = load(**CPU, cached_network_filepath=file, save_cached_network=True)
    made = interpreter(models.classifier("float32"), saving)
    content, x = models.classifier("int8"), random_values((1, 8, 8, 3), "int8")
    other = interpreter(content, load(**CPU, cached_network_filepath=file))
    assert len(partitions(made)) == len(partitions(other)) == 1
    assert "loaded without cached-network-filepath" in capfd.readouterr().err
    assert_equal(run(other, x), run(interpreter(content), x))


def test_packed_weights_are_saved_while_another_interpreter_has_them(tmp_path):
    file = tmp_path / "weights.bin"
    file.write_bytes(b"of no network")
    content = models.classifier("int8")
    made = interpreter(content, load(**CPU, cached_network_filepath=file))
    file.unlink()
    saving = interpreter(content, load(**CPU, cached_network_filepath=file, save_cached_network=True))
    assert len(partitions(made)) == len(partitions(saving)) == 1
    assert file.stat().st_size > 0


def test_floats_of_16_bits():
    content, x = models.classifier("float32"), random_values((1, 8, 8, 3), "float32")
    want = run(interpreter(content), x)
    for name, bound in (("reduce-fp32-to-fp16", 2e-2), ("reduce-fp32-to-bf16", 1e-1)):
        got = run(interpreter(content, load(backends="CpuRef", **{name: True})), x)
        errors = [np.max(np.abs(a - b)) / np.max(np.abs(b)) for a, b in zip(got, want)]
        assert 1e-6 < max(errors) < bound


def test_outputs_of_layers_and_profiles_are_printed():
    program = """
import sys
import models
from conftest import random_values
from runtime import CPU, interpreter, load, run
run(interpreter(models.sum_of_two(), load(**CPU, **eval(sys.argv[1]))), random_values((1, 4), "float32"))
"""
    lines = run_python(program, {"debug_data": True}).splitlines()
    assert lines and all(json.loads(line) for line in lines)
    profile = json.loads(run_python(program, {"enable_internal_profiling": True}))
    assert profile


def test_backends_that_are_not_there_are_left_out_with_a_warning(capfd):
    made = interpreter(models.sum_of_two(), load(backends="GpuAcc,CpuRef"))
    assert len(partitions(made)) == 1
    assert "left out: GpuAcc; there are CpuAcc, CpuRef" in capfd.readouterr().err
