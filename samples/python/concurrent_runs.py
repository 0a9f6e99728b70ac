#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one model from several threads, by futures and from asyncio; runs do not wait for each other.

usage: concurrent_runs.py MODEL

MODEL has one input, of floats or quantized and of a known shape, and one output. Prints whether all ways give the same
results.
"""

import asyncio
import concurrent.futures
import sys

import numpy as np

import tenon


async def gather(model, inputs):
    return await asyncio.gather(*(asyncio.wrap_future(model.run_async(x)) for x in inputs))


def load(path):
    """The model, if it is one that this program can run."""
    model = tenon.Model(path, threads=1)  # one run, one thread: many runs use all cores
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        raise ValueError(
            f"the model has {len(model.inputs)} inputs and {len(model.outputs)} outputs; one of each is needed"
        )
    (info,) = model.inputs
    if not info.is_static or (info.quantization is None and info.dtype != np.float32):
        raise ValueError(f"the model takes {info}; an input of float32 or quantized, of a known shape, is needed")
    return model


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        model = load(sys.argv[1])
    except (ValueError, tenon.Error) as error:
        sys.exit(f"concurrent_runs.py: {error}")
    info = model.inputs[0]
    random = np.random.default_rng(1)
    reals = [random.random(info.shape, np.float32) for _ in range(64)]
    inputs = [info.quantize(real) if info.quantization else real for real in reals]

    one_by_one = [model(x) for x in inputs]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        by_threads = list(pool.map(model, inputs))
    by_futures = [future.result() for future in [model.run_async(x) for x in inputs]]
    by_asyncio = asyncio.run(gather(model, inputs))

    for name, results in (("threads", by_threads), ("futures", by_futures), ("asyncio", by_asyncio)):
        equal = all(np.array_equal(a, b) for a, b in zip(one_by_one, results))
        print(f"{name}: {'the same' if equal else 'other'} results")


if __name__ == "__main__":
    main()
