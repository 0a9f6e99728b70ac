# SPDX-License-Identifier: Apache-2.0
"""The command that stands in the head of a table: whoever repeats it measures the same again."""
import shlex

# Options whose values are measured with; others name files, which are elsewhere on each machine.
VALUES = ["only", "engines", "compute", "threads", "rounds", "turn", "loads", "timeout",
          "labels", "mean_limit", "model_limit"]


def changed_options(parser, arguments, names):
    """Those options whose values differ from the parser's defaults."""
    options = []
    for name in names:
        value = getattr(arguments, name)
        if value != parser.get_default(name):
            if isinstance(value, list):
                value = ",".join(map(str, value))
            text = f"{value:g}" if isinstance(value, float) else shlex.quote(str(value))
            options.append(f"--{name.replace('_', '-')} {text}")
    return options


def describe(parser, arguments):
    """performance.py with all options that differ from the parser's defaults."""
    options = []
    if not arguments.peers_only:
        options.append("--exe build/release/bin/bench_serve")
    if arguments.other_exe:
        options.append("--other-exe OTHER/bin/bench_serve")
    if arguments.models:
        options.append("--models MODELS")
    if arguments.layers:
        options.append(f"--layers {shlex.quote(arguments.layers)}")
    options += changed_options(parser, arguments, ["random", "seed"])
    if arguments.float_twins:
        options.append(f"--float-twins {shlex.quote(arguments.float_twins)}")
    if arguments.onnx:
        options.append("--onnx TWINS")
    options += changed_options(parser, arguments, VALUES)
    if arguments.peers_only:
        options.append("--peers-only")
    if not arguments.priority:
        options.append("--no-priority")
    options.append(f"--table {arguments.table or 'FILE'}")
    if arguments.files:
        options.append("MODEL.tflite ...")
    return "build/venv-peers/bin/python tests/bench/performance.py " + " ".join(options)
