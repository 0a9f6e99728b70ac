#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much faster models are on several threads, beside other engines, and where the time of the threads goes.

usage: threads.py --exe build/release/bin/bench_serve [--threads 1,4,8,16] [--engines tenon,tflite-xnnpack]
                  [--other-exe OTHER/bin/bench_serve] [--cores 0-15] [--rounds 10] [--turn 150] [--no-priority]
                  [--layers 5] [--callers 1,2,4,8,16] [--rest 30] [--json FILE] [--table FILE] MODEL.tflite ...

Each engine has a process for each number of threads; they run in turn. The speed-up is told twice: the median of the
ratios of turns that follow each other, and the ratio of the shortest times that either had. On a machine that others
use too the first one says what they leave of the cores, which several threads suffer from more than one does; the
second one what the split of the work allows.

Then each model runs with profiling on (see perf/thread_trace.py): a table shows the shares of work and of waiting in
the time of all threads, and the layers that lose most.

--callers adds the throughput of so many callers with one thread each, and what becomes of two callers with all threads
each and of twice as many threads as the largest number of --threads, which should be that of the cores. --rest adds the
time of runs after so many milliseconds of sleep: what it costs to wake threads.
"""
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from perf import thread_trace
from perf.engines import ENGINES, OTHER_BUILD, Worker, WorkerError, missing_reason, peers_of
from perf.table import HEADINGS, number, rows_of
from perf.thread_callers import CALLERS_HEAD, CROWD_HEAD, REST_HEAD, Callers, Crowd, Rests
from perf.thread_chart import chart
from perf.thread_tables import list_of_numbers, make_parser, settings_of, write_text
from perf.thread_turns import median, run_command, take_turns, times_of

HEAD = """# Speed-up by threads

Generated; write it anew with

    {command}

Interleaved rounds{machine}: medians of {rounds} rounds of {turn:g} ms. Speed-ups are medians of the ratios of rounds that follow
each other, and in brackets the ratios of the shortest times, which are more reliable on a shared machine. Use cores
that share a cache. A host may place the cores of a virtual machine on different caches: a cache line then takes 600 ns
from one core to the other instead of 130 (bench_parallel_for shows it), and models of a millisecond have a speed-up of
1.3 to 1.5 only.

"""
BF16_HEAD = """
## bfloat16

Tenon by the option that reduces float32 to bfloat16, and its time by that in float32. Where bfloat16 would gain
nothing, layers stay in float32. Quantized models have no float32 to reduce: their ratios are those of equal work.

"""
TRACE_HEAD = """
## Where the time goes

Shares of the time of all threads, with profiling on: *work* in chunks of loops or in the caller; *serial*: other
threads while the caller runs a part of a layer that is no loop; *between* layers; *absent*: threads that took no part
in a loop; *late*: until the first chunk of a thread; *gaps* between chunks; *end*: until the last thread has ended.
*More work* is the work of a run by its time on one thread, less 1: caches and memory that threads share. A row of a
layer has the share of the run that the layer takes, and the imbalance of its loops: the longest work of a thread by the
mean.

"""
TRACED_RUNS = 20


def measure(model, engines, counts, settings):
    """Times of each turn by engine and number of threads: {(engine, threads): [[ms], ...]}, and why some are missing."""
    keys = [(engine, threads) for engine in engines for threads in counts]
    answers, errors = take_turns(model, {key: (key, run_command(settings)) for key in keys}, settings)
    return {key: times_of(of) for key, of in answers.items()}, errors


def trace(model, threads, settings):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        with Worker("tenon", model, SimpleNamespace(**{**vars(settings), "threads": threads})) as worker:
            worker.ask("load")
            worker.ask("run 20 1000")
            worker.ask(f"trace {TRACED_RUNS} {file}")
        return thread_trace.read(file, threads)


def speed_up(one, several):
    ratio = statistics.median(statistics.median(a) / statistics.median(b) for a, b in zip(one, several))
    shortest = min(map(min, one)) / min(map(min, several))
    return f"{ratio:.2f} ({shortest:.2f})"


def rows_of_times(model, turns, engines, counts):
    peers = peers_of(engines)
    for threads in counts:
        row = [model.path.stem, str(threads)]
        for engine in engines:
            mine, one = turns.get((engine, threads)), turns.get((engine, counts[0]))
            row += ["–", "–"] if not mine else [number(median(mine)), speed_up(one, mine)]
        if peers:
            fastest = min((median(turns[peer, threads]) for peer in peers if (peer, threads) in turns), default=None)
            mine = turns.get(("tenon", threads))
            row.append(f"{median(mine) / fastest:.2f}" if mine and fastest else "–")
        yield row


def is_bf16(engine):
    return engine.endswith("-bf16")


def ratio_of(turns, engine, divisor):
    """By the engines' keys in `turns`."""
    return f"{median(turns[engine]) / median(turns[divisor]):.2f}" if engine in turns and divisor in turns else "–"


def rows_of_bf16(model, turns, peers, counts):
    """Tenon in bfloat16, by its float32 and by peers in bfloat16."""
    for threads in counts:
        mine = "tenon-bf16", threads
        row = [model.path.stem, str(threads), number(median(turns[mine])) if mine in turns else "–",
               ratio_of(turns, mine, ("tenon", threads))]
        for peer in peers:
            key = peer, threads
            row += [number(median(turns[key])) if key in turns else "–", ratio_of(turns, mine, key)]
        yield row


def rows_of_trace(model, traced, one, most_layers):
    """A row for the model, and one for each of the layers that lose most."""
    shares = traced.shares()
    more = f"{traced.work / 1000 / one - 1:+.0%}" if one else "–"
    yield [model.path.stem, str(traced.threads), "100%",
           *(f"{shares[kind]:.0%}" for kind in thread_trace.KINDS), "", more]
    for layer in sorted(traced.layers, key=lambda entry: -entry.lost)[:most_layers]:
        total = layer.wall * traced.threads or 1
        yield [f"&nbsp;&nbsp;{layer.name}", "", f"{layer.wall / traced.wall:.0%}",
               *(f"{layer.threads[kind] / total:.0%}" if kind != "between" else "" for kind in thread_trace.KINDS),
               f"{layer.imbalance:.2f}", ""]


def image_of(args, ending, title, figures, counts, unit="threads"):
    """Writes an image next to the table, and names it in Markdown; nothing where there is no table, or little to see."""
    if not args.table or len(counts) < 3:
        return ""
    image = args.table.with_name(args.table.stem + ending)
    image.write_text(chart(figures, args.engines, counts, unit), encoding="utf-8")
    return f"![{title}, geometric means of the models]({image.name})\n\n"


def main():
    parser = make_parser(__doc__, rounds=10)
    parser.add_argument("--threads", type=list_of_numbers, default=[1, 2], metavar="N,N,...")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["tenon"], metavar="NAME,...")
    parser.add_argument("--other-exe", type=Path, help="of another build, which is the engine tenon-other")
    parser.add_argument("--turn", type=float, default=150.0, help="milliseconds")
    parser.add_argument("--layers", type=int, default=5, help="rows of layers for each model and number of threads; 0: no table of time")
    parser.add_argument("--callers", type=list_of_numbers, default=[], metavar="N,N,...", help="with one thread each")
    parser.add_argument("--rest", type=float, default=0.0, help="milliseconds of sleep before a run; 0: no table of it")
    parser.add_argument("--json", type=Path, help="write all figures here, too")
    args = parser.parse_args()
    for engine in args.engines:
        if engine not in ENGINES:
            parser.error(f"there is no engine '{engine}'; there are {', '.join(ENGINES)}")
        if engine in OTHER_BUILD and not args.other_exe:
            parser.error(f"{engine} needs --other-exe")
        if reason := missing_reason(engine):
            parser.error(reason)
    settings = settings_of(parser, args, "CpuAcc", max(args.threads))
    settings.turn, settings.other_exe = args.turn, args.other_exe

    float_engines = [engine for engine in args.engines if not is_bf16(engine)]
    headings = ["model", "threads"]
    for engine in float_engines:
        headings += [f"{HEADINGS[engine]}, ms", "speed-up"]
    times = [headings + ["Tenon by the faster peer"] * bool(peers_of(float_engines))]
    bf16_peers = [engine for engine in peers_of(args.engines) if is_bf16(engine)]
    bf16_times = [["model", "threads", f"{HEADINGS['tenon-bf16']}, ms", "by float32"]]
    for peer in bf16_peers:
        bf16_times[0] += [f"{HEADINGS[peer]}, ms", "Tenon bf16 by it"]
    traces = [["model, layer", "threads", "of the run", *thread_trace.KINDS, "imbalance", "more work"]]
    callers = Callers(float_engines, args.callers, settings)
    crowd = Crowd(float_engines, max(args.threads), settings)
    rests = Rests(float_engines, args.threads, args.rest, settings)
    figures, rates, rested = {}, {}, {}
    failed = False
    for done, path in enumerate(args.models):
        model = SimpleNamespace(path=path, onnx=None, inputs=[], shapes={})
        errors = {}
        if sys.stderr.isatty():
            print(f"\r{done}/{len(args.models)} {path.stem:50}", end="", file=sys.stderr, flush=True)
        try:
            turns, more = measure(model, args.engines, args.threads, settings)
            errors |= more
            times += rows_of_times(model, turns, float_engines, args.threads)
            if any(engine == "tenon-bf16" for engine, _ in turns):
                bf16_times += rows_of_bf16(model, turns, bf16_peers, args.threads)
            figures[path.stem] = {engine: {threads: median(turns[engine, threads]) for threads in args.threads
                                           if (engine, threads) in turns} for engine in args.engines}
            one = median(turns["tenon", 1]) if ("tenon", 1) in turns else None
            for threads in args.threads if "tenon" in args.engines and args.layers > 0 else []:
                if threads > 1:
                    traces += rows_of_trace(model, trace(model, threads, settings), one, args.layers)
            if args.callers:
                rates[path.stem], more = callers.add(model)
                errors |= more | crowd.add(model)
            if args.rest > 0:
                rested[path.stem], more = rests.add(model)
                errors |= more
        except WorkerError as error:
            errors[""] = str(error)
        for engine, error in errors.items():
            print(": ".join(filter(None, [str(path), engine, error])), file=sys.stderr)
            failed = failed or engine not in peers_of(args.engines)
    if sys.stderr.isatty():
        print(f"\r{'':70}\r", end="", file=sys.stderr)
    if args.json:
        tables = {"milliseconds": figures, "calls_per_second": rates, "milliseconds_after_rest": rested}
        args.json.write_text(json.dumps(tables, indent=1), encoding="utf-8")
    text = image_of(args, ".svg", "Speed-up by threads", figures, args.threads) + rows_of(times)
    text += BF16_HEAD + rows_of(bf16_times) if len(bf16_times) > 1 else ""
    if args.callers:
        by_call = {name: {engine: {count: 1000 / rate for count, rate in of.items()} for engine, of in engines.items()}
                   for name, engines in rates.items()}
        text += CALLERS_HEAD + image_of(args, "-callers.svg", "Throughput by callers", by_call, args.callers, "callers")
        text += rows_of(callers.rows)
        text += CROWD_HEAD.format(threads=max(args.threads), twice=2 * max(args.threads)) + rows_of(crowd.rows)
    text += REST_HEAD.format(rest=args.rest) + rows_of(rests.rows) if args.rest > 0 else ""
    text += (TRACE_HEAD + rows_of(traces) if len(traces) > 1 else "")
    write_text(parser, args, HEAD, text, ["threads", "engines", "cores", "rounds", "turn", "layers", "callers", "rest"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
