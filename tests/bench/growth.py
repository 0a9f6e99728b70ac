#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the time of Optimize and LoadNetwork grows with the number of layers, in a table.

usage: growth.py --exe build/release/bin/bench_load [--repetitions 9] [--core 0] [--table FILE]
       growth.py --exe NEW/bench_load --other-exe OLD/bench_load [--labels NEW,OLD] [--mean-limit 1.01]
                 [--model-limit 1.05] [--json FILE] [the options above]

Runs the networks of bench_load, of 1,000, 10,000 and 100,000 layers, in random order within one run, so that a machine
that is slow for a while is slow for all of them. Figures are medians of nanoseconds a layer; growth is that of 100,000
layers over that of 1,000. Arm NN's chain is in the table where the bench was built with it. Exit 0 only if a row of
each network is there.

--other-exe compares two builds, as that of performance.py does: processes of both take turns at one network of one
length, A B B A and B A A B, as many times as --repetitions says. Exit 0 only if neither the geometric mean of new / old
stays above --mean-limit nor a network above --model-limit when it is measured again.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from perf import builds
from perf.command import changed_options
from perf.engines import WorkerError
from perf.installed import are_same_build, copy_as_installed, environment_of
from perf.machine import describe_machine
from perf.measure import Figures, run_safely

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


# Of one build's turn, which takes half a second.
MOST_SECONDS = 300.0
HOW_BUILDS_RUN = """Nanoseconds a layer on CpuRef, if nothing else is said: processes of both builds take turns at one
network of one length, A B B A and B A A B, {repetitions} times."""


def run_benchmarks(exe, core, *options, timeout=None):
    """{(network, layers): [nanoseconds a layer]}; throws a WorkerError where the program fails."""
    command = [str(exe), "--benchmark_min_time=0.2", "--benchmark_format=json", *options]
    pin = None if core is None else lambda: os.sched_setaffinity(0, {core})
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=pin, text=True,
                             env=environment_of(exe), timeout=timeout, check=False)
    except OSError as error:
        raise WorkerError(f"cannot be started: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise WorkerError(f"no results within {timeout:g} s") from None
    text = ": ".join([f"ended with status {run.returncode}", *run.stderr.strip().splitlines()[-1:]])
    if run.returncode != 0:
        raise WorkerError(text)
    try:
        benchmarks = json.loads(run.stdout)["benchmarks"]
    except (json.JSONDecodeError, TypeError, KeyError):
        raise WorkerError(f"no results, {text}") from None
    figures = {}
    for bench in benchmarks:
        if bench["run_type"] == "iteration":
            network, layers = bench["run_name"].split("/")
            figures.setdefault((network, int(layers)), []).append(bench["per_layer"] * 1e9)
    return figures


def measure(exe, repetitions, core):
    """{(network, layers): [nanoseconds a layer]}"""
    lengths = "|".join(str(length) for length in LENGTHS)
    return run_benchmarks(exe, core, f"--benchmark_filter=^({'|'.join(NETWORKS)})/({lengths})$",
                          f"--benchmark_repetitions={repetitions}", "--benchmark_enable_random_interleaving=true")


def measure_builds(new, old, bench, arguments):
    """Figures of one network of one length by the new build and by the old one."""
    figures = {new: Figures(), old: Figures()}

    def take_turn(exe):
        times = run_benchmarks(exe, arguments.core, f"--benchmark_filter=^{bench[0]}/{bench[1]}$",
                               timeout=MOST_SECONDS)
        if bench not in times:
            raise WorkerError(f"has no {bench[0]}/{bench[1]}")
        figures[exe].rounds += times[bench]

    for done, exe in enumerate(builds.in_turns((new, old), arguments.repetitions), 1):
        run_safely(figures[exe], lambda program=exe: take_turn(program))
        if done > 1 and any(known.error for known in figures.values()):  # both have had their first turn
            break
    return tuple(figures.values())


def compare_builds(parser, arguments):
    """Measures, reports and gives the exit status."""
    labels = arguments.labels.split(",")
    limits = builds.Limits(arguments.mean_limit, arguments.model_limit)
    command = describe(parser, arguments, ["--other-exe OTHER/bin/bench_load"], ["labels", "mean_limit", "model_limit"])
    head = builds.make_head(labels, limits, command, describe_machine(),
                            HOW_BUILDS_RUN.format(repetitions=arguments.repetitions),
                            are_same_build(arguments.exe, arguments.other_exe))
    with tempfile.TemporaryDirectory() as scratch:
        # In folders of equal length, as in performance.py.
        new, old = (copy_as_installed(exe, Path(scratch) / folder)
                    for exe, folder in [(arguments.exe, "build-a"), (arguments.other_exe, "build-b")])
        cases = [builds.Case(f"{title}, {length:,} layers", network, "large networks",
                             lambda bench=(network, length): measure_builds(new, old, bench, arguments))
                 for network, title in NETWORKS.items() if network.startswith("Tenon") for length in LENGTHS]
        return builds.run(cases, limits, labels, head, arguments, unit="ns a layer")


def describe(parser, arguments, programs, options):
    """The command that stands in the head of a table."""
    return " ".join(["tests/bench/growth.py --exe build/release/bin/bench_load", *programs,
                     *changed_options(parser, arguments, ["repetitions", "core", *options]),
                     f"--table {arguments.table or 'FILE'}"])


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
    parser.add_argument("--exe", required=True, type=Path)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--core", type=int)
    parser.add_argument("--table", type=Path)
    builds.add_options(parser, "bench_load")
    parser.add_argument("--json", type=Path, help="all figures of --other-exe")
    arguments = parser.parse_args()
    builds.check_options(parser, arguments)
    if arguments.repetitions < 1:
        parser.error("--repetitions must be positive")
    cores = sorted(os.sched_getaffinity(0))
    if arguments.core is not None and arguments.core not in cores:
        parser.error(f"--core {arguments.core}: there are {', '.join(map(str, cores))}")
    if arguments.other_exe is not None:
        return compare_builds(parser, arguments)
    if arguments.json is not None:
        parser.error("--json has figures of two builds: --other-exe is missing")
    try:
        figures = measure(arguments.exe, arguments.repetitions, arguments.core)
    except WorkerError as error:
        sys.exit(f"{arguments.exe}: {error}")
    text = HEAD.format(command=describe(parser, arguments, [], []), repetitions=arguments.repetitions,
                       machine=on_one_core_of(processor()))
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
