# SPDX-License-Identifier: Apache-2.0
"""The models that performance.py measures: those of a folder with an index.json, and their inputs as raw files.

An entry of index.json has "file", "quantization", "inputs" ([[type, shape], ...]) and, optionally, "golden": a folder
with in0.npy, in1.npy, ... Inputs are those, or else random ones that are the same in every run.
"""
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from perf.classes import classify

# Names of tensor types, as arrays have them.
TYPES = {"Float32": "float32", "Float16": "float16", "QAsymmU8": "uint8", "QAsymmS8": "int8", "QSymmS8": "int8",
         "QSymmS16": "int16", "Signed32": "int32", "Signed64": "int64", "Boolean": "bool"}


class ModelError(Exception):
    """A model that cannot be found or has no inputs that fit; the text says which."""


@dataclass
class Model:
    name: str
    path: Path
    kind: str
    inputs: list = field(default_factory=list)
    onnx: Path | None = None


def random_array(dtype, shape, seed):
    """Floats in [-1, 1), integers over their whole range; indices and booleans, as int32, int64 and bool are, in
    {0, 1}."""
    import numpy as np  # here, since models that come with their inputs, or have none, do without it

    random = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return random.uniform(-1.0, 1.0, shape).astype(kind)
    if kind.itemsize <= 2 and kind.kind in "iu":
        limits = np.iinfo(kind)
        return random.integers(limits.min, limits.max, shape, kind, endpoint=True)
    return random.integers(0, 2, shape).astype(kind)


def write_inputs(arrays, folder, name):
    """Writes each array as raw bytes and gives the files."""
    files = []
    for i, array in enumerate(arrays):
        files.append(folder / f"{name}.in{i}.bin")
        files[-1].write_bytes(array.tobytes())
    return files


def read_index(folder, pattern, scratch):
    """The models of folder/index.json whose file name matches the pattern, with inputs in `scratch`."""
    index = folder / "index.json"
    if not index.is_file():
        raise ModelError(f"{index}: there is no such file; name a folder that has models and an index.json, or .tflite "
                         "files")
    import numpy as np  # as in random_array

    models = []
    for entry in json.loads(index.read_text()):
        if not re.search(pattern, entry["file"]):
            continue
        path = folder / entry["file"]
        if not path.is_file():
            raise ModelError(f"{path}: listed in {index}, but there is no such file")
        golden = sorted((folder / entry["golden"]).glob("in*.npy"), key=lambda p: int(p.stem[2:])) \
            if entry.get("golden") else []
        arrays = [np.load(file) for file in golden] or \
            [random_array(dtype, shape, i) for i, (dtype, shape) in enumerate(entry["inputs"])]
        models.append(Model(path.stem, path, classify(entry["quantization"]), write_inputs(arrays, scratch, path.stem)))
    return models


def single_file(path):
    """A model without an index, and without inputs so far."""
    if not path.is_file():
        raise ModelError(f"{path}: there is no such model")
    return Model(path.stem, path, "other")


def add_random_inputs(model, description, scratch):
    """Inputs for a model from what bench_serve says of it; without them every engine makes its own."""
    try:
        arrays = [random_array(TYPES[d["type"]], d["shape"], i) for i, d in enumerate(description["inputs"])]
    except KeyError:  # a type that there are no arrays of
        return
    model.inputs = write_inputs(arrays, scratch, model.name)


def add_twins(models, sources):
    """Sets the ONNX twins: of folders, the files named as models are; of MODEL=FILE.onnx that file."""
    for source in sources:
        if Path(source).is_dir():
            for model in models:
                file = Path(source) / f"{model.name}.onnx"
                model.onnx = file if file.is_file() else model.onnx
            continue
        name, _, file = source.partition("=")
        model = next((m for m in models if m.name == name), None)
        if model is None or not file:
            raise ModelError(f"--onnx {source}: expected a folder, or MODEL=FILE.onnx with the name of one of the "
                             "models, without .tflite")
        if not Path(file).is_file():
            raise ModelError(f"--onnx {source}: there is no such file")
        model.onnx = Path(file)
