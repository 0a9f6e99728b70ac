# SPDX-License-Identifier: Apache-2.0
"""Runs models with libtenonDelegate.so ($TENON_DELEGATE; default: that of build/release) and without it, in ai-edge-litert,
or in tflite-runtime where that is not installed."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import versions

try:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

    IS_LITERT = True
except ImportError:
    from tflite_runtime.interpreter import Interpreter, OpResolverType, load_delegate

    IS_LITERT = False

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIBRARY = os.environ.get("TENON_DELEGATE", str(ROOT / "build/release/lib/libtenonDelegate.so"))
REFERENCE = OpResolverType.BUILTIN_REF
WITH_XNNPACK = OpResolverType.BUILTIN
RESOLVERS = {
    "reference": REFERENCE,
    "optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "xnnpack": WITH_XNNPACK,
}
CPU = {"backends": "CpuAcc,CpuRef"}
UNDERSCORES = ("num_threads", "max_delegated_partitions", "min_nodes_per_partition")  # names that have them


def load(**options):
    """A delegate with options. Their names have _ for -."""
    named = {name if name in UNDERSCORES else name.replace("_", "-"): value for name, value in options.items()}
    return load_delegate(LIBRARY, named)


def interpreter(model, *delegates, resolver=REFERENCE, older_versions=False, **options):
    """An interpreter of a model's bytes or path; what no delegate takes runs in the kernels of `resolver`. For
    `older_versions` see versions.py."""
    options = dict(options, experimental_delegates=list(delegates) or None, experimental_op_resolver_type=resolver)
    if not older_versions and not isinstance(model, bytes):
        return Interpreter(model_path=str(model), **options)

    def make(content):
        return Interpreter(model_content=content, **options)

    content = model if isinstance(model, bytes) else pathlib.Path(model).read_bytes()
    return versions.lower(content, make) if older_versions else make(content)


def run(made, *inputs):
    """All outputs of a run. Inputs with another shape than the interpreter's resize it."""
    details = made.get_input_details()
    if len(details) != len(inputs):
        raise ValueError(f"{len(inputs)} inputs are given, and the model has {len(details)}")
    for detail, value in zip(details, inputs):
        if tuple(detail["shape"]) != value.shape:
            made.resize_tensor_input(detail["index"], value.shape)
    made.allocate_tensors()
    set_inputs(made, inputs)
    made.invoke()
    return outputs(made)


def set_inputs(made, inputs):
    for detail, value in zip(made.get_input_details(), inputs):
        if value.size > 0:  # others have no memory
            made.set_tensor(detail["index"], value)


def outputs(made):
    """All outputs of the last run."""
    return [
        made.get_tensor(detail["index"]) if all(detail["shape"]) else np.zeros(detail["shape"], detail["dtype"])
        for detail in made.get_output_details()  # whose tensors without elements the runtime does not give
    ]


def one_line(error):
    return " ".join(str(error).split())


def partitions(made):
    """The inputs and outputs of each part of the main graph that a delegate took."""
    operators = made._get_ops_details()  # pylint: disable=protected-access
    return [(list(op["inputs"]), list(op["outputs"])) for op in operators if op["op_name"] == "DELEGATE"]
