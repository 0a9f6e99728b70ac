#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the time of Optimize and LoadNetwork grows with the number of layers, in a table.

usage: growth.py --exe build/release/bin/bench_load [--repetitions 9] [--core 0] [--table FILE]

Runs the networks of bench_load, of 1,000, 10,000 and 100,000 layers, in random order within one run, so that a machine
that is slow for a while is slow for all of them. Figures are medians of nanoseconds a layer; growth is that of 100,000
layers over that of 1,000. Arm NN's chain is in the table where the bench was built with it. Exit 0 only if a row of
each network is there.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from perf.command import changed_options

LENGTHS = (1000, 10000, 100000)
NETWORKS = {
    "TenonChain": "chain of activations",
    "TenonDiamonds": "diamonds: two unary layers of one tensor, added",
    "TenonFoldable": "permutes and reshapes that cancel around activations",
    "TenonJoins": "two pools joined along their channels, again and again, CpuAcc",
    "TenonWideJoin": "pools that one layer joins along their channels, CpuAcc",
    "ArmnnPeerChain": "chain of activations, Arm NN",
}

HEAD = """# Large networks: time of Optimize and LoadNetwork

Generated; write it anew with

    {command}

Nanoseconds a layer on CpuRef, if nothing else is said, medians of {repetitions} runs in random order{machine}.
Growth is the time a layer of 100,000 layers over that of 1,000: 1 is a time that grows as the layers do.

| network | 1,000 layers | 10,000 | 100,000 | growth |
|---|---:|---:|---:|---:|
"""


def measure(exe, repetitions, core):
    """{(network, layers): [nanoseconds a layer]}"""
    lengths = "|".join(str(length) for length in LENGTHS)
    command = [exe, f"--benchmark_filter=^({'|'.join(NETWORKS)})/({lengths})$", "--benchmark_min_time=0.2",
               f"--benchmark_repetitions={repetitions}", "--benchmark_enable_random_interleaving=true",
               "--benchmark_format=json"]
    pin = None if core is None else lambda: os.sched_setaffinity(0, {core})
    run = subprocess.run(command, stdout=subprocess.PIPE, preexec_fn=pin, check=True)
    figures = {}
    for bench in json.loads(run.stdout)["benchmarks"]:
        if bench["run_type"] == "iteration":
            network, layers = bench["run_name"].split("/")
            figures.setdefault((network, int(layers)), []).append(bench["per_layer"] * 1e9)
    return figures


def processor():
    """The processor's name, "" where the system does not tell it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else ""


def on_one_core_of(name):
    return f", on one core of {name}" if name else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exe", required=True)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--core", type=int)
    parser.add_argument("--table", type=Path)
    arguments = parser.parse_args()
    figures = measure(arguments.exe, arguments.repetitions, arguments.core)
    command = " ".join(["tests/bench/growth.py --exe build/release/bin/bench_load",
                        *changed_options(parser, arguments, ["repetitions", "core"]),
                        f"--table {arguments.table or 'FILE'}"])
    text = HEAD.format(command=command, repetitions=arguments.repetitions, machine=on_one_core_of(processor()))
    missing = []
    for network, title in NETWORKS.items():
        medians = [statistics.median(figures[network, n]) for n in LENGTHS if (network, n) in figures]
        if len(medians) == len(LENGTHS):
            growth = medians[-1] / medians[0]
            text += f"| {title} | {' | '.join(f'{m:,.0f}' for m in medians)} | {growth:.2f} |\n"
        elif network.startswith("Tenon"):
            missing.append(network)
    if arguments.table is None:
        print(text, end="")
    else:
        arguments.table.write_text(text, encoding="utf-8")
    for network in missing:
        print(f"{network}: not in the output of {arguments.exe}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
