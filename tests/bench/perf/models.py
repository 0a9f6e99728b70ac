# SPDX-License-Identifier: Apache-2.0
"""The models that performance.py measures: those of a folder with an index.json, and their inputs as raw files.

An entry of index.json has "file", "quantization", "inputs" ([[type, shape], ...]) and, optionally, "golden": a folder
with in0.npy, in1.npy, ... Inputs are those, or else random ones that are the same in every run. The entry of an .onnx
file has "group" in place of "quantization", which tells its class, and its inputs have names: [[name, type, shape], ...].
Sizes that an ONNX model leaves open are those of its inputs.
"""
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from perf.classes import ONNX, classify

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
    shapes: dict = field(default_factory=dict)  # of inputs by name, in their order, where the file leaves or has others

    @property
    def is_onnx(self):
        """Whether the model itself is an ONNX file, and not a .tflite file with a twin."""
        return self.onnx == self.path


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
        is_onnx = path.suffix == ".onnx"
        # Of an ONNX input a fourth element has the shape that the model declares.
        inputs = [given[1:3] for given in entry["inputs"]] if is_onnx else entry["inputs"]
        arrays = [np.load(file) for file in golden] or \
            [random_array(dtype, shape, i) for i, (dtype, shape) in enumerate(inputs)]
        kind = ONNX + entry["group"] if is_onnx else classify(entry["quantization"])
        models.append(Model(path.stem, path, kind, write_inputs(arrays, scratch, path.stem)))
        if is_onnx:
            models[-1].onnx = path
            models[-1].shapes = {given[0]: array.shape for given, array in zip(entry["inputs"], arrays)}
    return models


def single_file(path):
    """A model without an index, and without inputs so far."""
    if not path.is_file():
        raise ModelError(f"{path}: there is no such model")
    return Model(path.stem, path, "other", onnx=path if path.suffix == ".onnx" else None)


def add_random_inputs(model, description, scratch, batch=None):
    """Inputs for a model from what bench_serve says of it, with 1 for a size that it leaves open, or with another first
    size; without them every engine makes its own."""
    shapes = [[1 if size is None else size for size in d["shape"] or []] for d in description["inputs"]]
    if batch is not None:
        shapes = [[batch, *shape[1:]] for shape in shapes]
    try:
        arrays = [random_array(TYPES[d["type"]], shape, i)
                  for i, (d, shape) in enumerate(zip(description["inputs"], shapes))]
    except KeyError:  # a type that there are no arrays of
        return
    model.inputs = write_inputs(arrays, scratch, model.name)
    if model.is_onnx or batch is not None:
        model.shapes = {d["name"]: tuple(shape) for d, shape in zip(description["inputs"], shapes)}


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
