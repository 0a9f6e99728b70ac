# SPDX-License-Identifier: Apache-2.0
"""Builds .tflite models in memory for the tests of the delegate: flatc makes them of JSON by the parser's schema."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile
from typing import NamedTuple

import numpy as np

SCHEMA = pathlib.Path(__file__).resolve().parents[3] / "src/parsers/tflite/tflite.fbs"
NAMES = {np.dtype(name): name.upper() for name in ("float32", "int8", "uint8", "int16", "int32", "int64", "bool")}


class Info(NamedTuple):
    """What a tensor is. Without a scale it is not quantized; with several, along `dimension`."""

    shape: tuple
    type: str = "FLOAT32"
    scale: float | tuple | None = None
    zero_point: int = 0
    dimension: int = 0
    signature: tuple = ()
    is_variable: bool = False


class Graph:
    """A subgraph. Tensors are numbers, as in the file."""

    def __init__(self, model):
        self.model = model
        self.tensors = []
        self.operators = []
        self.inputs = []
        self.outputs = []

    def tensor(self, info, name="", buffer=0):
        table = {
            "shape": list(info.shape),
            "type": info.type,
            "buffer": buffer,
            "name": name or f"t{len(self.tensors)}",
            "is_variable": info.is_variable,
            "has_rank": True,
        }
        if info.scale is not None:
            scales = [float(scale) for scale in np.atleast_1d(info.scale)]
            zero_points = [info.zero_point] * len(scales)
            table["quantization"] = {
                "scale": scales,
                "zero_point": zero_points,
                "quantized_dimension": info.dimension,
            }
        if info.signature:
            table["shape_signature"] = list(info.signature)
        self.tensors.append(table)
        return len(self.tensors) - 1

    def input(self, info, name=""):
        tensor = self.tensor(info, name)
        self.inputs.append(tensor)
        return tensor

    def constant(self, values, dtype=np.float32, scale=None, dimension=0, zero_point=0):
        values = np.asarray(values, dtype)
        info = Info(values.shape, NAMES[values.dtype], scale, zero_point, dimension)
        return self.tensor(info, buffer=self.model.buffer(values.tobytes()))

    def op(self, name, inputs, *results, options="", version=1, **fields):
        """Adds an operator with the fields of its options. `results`: an Info of each; returns their tensors."""
        outputs = [self.tensor(info) for info in results]
        table = {
            "opcode_index": self.model.code(name, version),
            "inputs": [-1 if tensor is None else tensor for tensor in inputs],
            "outputs": outputs,
        }
        if options:
            table["builtin_options_type"] = options
            table["builtin_options"] = fields
        self.operators.append(table)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def binary(self, name, a, b, info, activation="NONE"):
        """ADD, SUB, MUL or DIV."""
        return self.op(name, [a, b], info, options=f"{name.title()}Options", fused_activation_function=activation)


class Model:
    """The first graph is the main one."""

    def __init__(self):
        self.codes = []
        self.buffers = [{}]
        self.graphs = []
        self.signatures = []

    def graph(self):
        self.graphs.append(Graph(self))
        return self.graphs[-1]

    def buffer(self, data):
        self.buffers.append({"data": list(data)})
        return len(self.buffers) - 1

    def code(self, name, version):
        table = {"builtin_code": name, "version": version}
        if table not in self.codes:
            self.codes.append(table)
        return self.codes.index(table)

    def signature(self, key, graph, inputs, outputs):
        """Inputs and outputs: tensors by name."""
        lists = [
            [{"name": name, "tensor_index": tensor} for name, tensor in names.items()] for names in (inputs, outputs)
        ]
        self.signatures.append(
            {
                "signature_key": key,
                "inputs": lists[0],
                "outputs": lists[1],
                "subgraph_index": self.graphs.index(graph),
            }
        )

    def content(self):
        subgraphs = [
            {"tensors": g.tensors, "inputs": g.inputs, "outputs": g.outputs, "operators": g.operators}
            for g in self.graphs
        ]
        model = {
            "version": 3,
            "operator_codes": self.codes,
            "subgraphs": subgraphs,
            "buffers": self.buffers,
            "signature_defs": self.signatures,
        }
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.json"
            path.write_text(json.dumps(model))
            subprocess.run(["flatc", "--binary", "-o", folder, SCHEMA, path], check=True)
            return path.with_suffix(".tflite").read_bytes()
