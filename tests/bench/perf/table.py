# SPDX-License-Identifier: Apache-2.0
"""Markdown of what performance.py measured."""
import re
import statistics

from perf.classes import CLASSES, is_made, uses_bf16
from perf.engines import OTHER_BUILD
from perf.measure import ratio
from perf.onnx_table import LOADING, WHAT, beside_peers, peers_of, quotient, summarize

HEADINGS = {"tenon": "Tenon", "tenon-bf16": "Tenon bf16", "tenon-fast": "Tenon fast math", "tenon-open": "Tenon, open sizes",
            "tflite-xnnpack": "TFLite XNNPACK", "tflite-builtin": "TFLite builtin", "tflite-tenon": "TFLite delegate",
            "openvino-f32": "OpenVINO f32", "openvino-bf16": "OpenVINO bf16", "onnxruntime": "ONNX Runtime"}
HEADINGS |= {engine: f"{HEADINGS[way]} (other build)" for engine, way in OTHER_BUILD.items()}
MOST_TEXT = 160
FLOAT_SUFFIX = "_float"  # of models by perf/float_twins.py
COMPUTE_INTEGERS = ["tenon", "tflite-xnnpack", "openvino-f32"]  # without options that change how floats are computed
# What is divided by what, in the table of ratios.
RATIOS = [("tenon", "tflite-xnnpack"), ("tenon-open", "onnxruntime"), ("tenon-bf16", "tflite-xnnpack"), ("tenon-fast", "tflite-xnnpack"),
          ("tenon", "tflite-builtin"), ("tenon", "openvino-f32"), ("tenon-bf16", "openvino-bf16"),
          ("tenon", "onnxruntime"), ("openvino-f32", "tflite-xnnpack"), ("openvino-bf16", "tflite-xnnpack"),
          ("onnxruntime", "tflite-xnnpack"), ("tflite-builtin", "tflite-xnnpack"), ("tflite-tenon", "tenon"),
          ("tflite-tenon", "tflite-xnnpack"),
          *((way, engine) for engine, way in OTHER_BUILD.items())]


def number(value):
    """Three digits, or a dash for what was not measured."""
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def percent(value):
    return "–" if value is None else f"{100 * value:.1f}%"


def rows_of(table):
    """Markdown of a list of rows, the first of which has the headings; the first column is text, others are figures."""
    lines = ["| " + " | ".join(row) + " |" for row in table]
    lines.insert(1, "|---|" + "---:|" * (len(table[0]) - 1))
    return "\n".join(lines) + "\n"


def dividend(engine, divisor, model, figures):
    """Tenon in bf16 beside OpenVINO in bf16 is Tenon as it is where a model computes in integers."""
    if (engine, divisor) == ("tenon-bf16", "openvino-bf16") and not uses_bf16(model.kind):
        return figures.get("tenon")
    return figures.get(engine)


def ratios_of(results, engines):
    """Pairs of engines that were measured, and for each model its ratios in that order."""
    pairs = [p for p in RATIOS if p[0] in engines and p[1] in engines]
    return pairs, [(model, [ratio(dividend(*p, model, figures), figures.get(p[1])) for p in pairs])
                   for model, figures in results]


def geometric_mean(values):
    present = [v for v in values if v]
    return statistics.geometric_mean(present) if present else None


def means(ratios):
    """A row a class, one over all models (those made on the spot are none), and the largest ratio of any model."""
    models = [(model, values) for model, values in ratios if not is_made(model.kind)]
    present = {model.kind for model, _ in ratios}
    groups = [(kind, [values for model, values in ratios if model.kind == kind])
              for kind in [k for k in CLASSES if k in present] + sorted(present - set(CLASSES))]
    if models:
        groups.append(("**all models**", [values for _, values in models]))
    rows = [[f"{name} ({len(chosen)})", *(number(geometric_mean(column)) for column in zip(*chosen))]
            for name, chosen in groups]
    largest = [max((v for v in column if v is not None), default=None) for column in zip(*(v for _, v in models))]
    return [*rows, ["largest of any model", *map(number, largest)]] if models else rows


def times_table(results, engines):
    table = [["model", "class", *(HEADINGS[e] for e in engines), *(["σ of Tenon"] if "tenon" in engines else [])]]
    for model, figures in results:
        times = (figures[e].median("rounds") if e in figures else None for e in engines)
        row = [model.name, model.kind, *map(number, times)]
        if "tenon" in engines:
            row.append(percent(figures["tenon"].deviation))
        table.append(row)
    return rows_of(table)


def integers_table(results, engines):
    """Networks in int8 beside the same ones in float32; empty where there are none."""
    by_name = {model.name: (model, figures) for model, figures in results}
    table = [["network", *(f"{HEADINGS[e]}: {what}" for e in engines for what in ("int8", "float32", "int8 / float32"))]]
    for name, (model, figures) in by_name.items():
        base = name.removesuffix("_int8")
        _, floats = by_name.get(base, by_name.get(base + FLOAT_SUFFIX, (None, None)))
        if model.kind != "int8" or floats is None or base == name:
            continue
        row = [base]
        for engine in engines:
            pair = [of[engine].median("rounds") if engine in of else None for of in (figures, floats)]
            row += [*map(number, pair), number(quotient(*pair))]
        table.append(row)
    return rows_of(table) if len(table) > 1 else ""


def start_table(results, engines):
    table = [["model", *(f"{HEADINGS[e]}: {what}" for e in engines for what in ("init", "first")),
              *(f"Tenon / {LOADING[peer]}, sums" for peer in peers_of(results, engines))]]
    for model, figures in results:
        row = [model.name]
        for engine in engines:
            known = figures.get(engine)
            row += [number(known.median(what)) if known else "–" for what in ("init", "first")]
        row += [number(beside_peers(figures, peer)["ready"]) for peer in peers_of(results, engines)]
        table.append(row)
    return rows_of(table)


def memory_table(results, engines):
    table = [["model", *(HEADINGS[e] for e in engines),
              *(f"Tenon / {LOADING[peer]}" for peer in peers_of(results, engines))]]
    for model, figures in results:
        grown = {e: figures[e].median("memory") if e in figures else None for e in engines}
        row = [model.name, *(number(grown[e] / 1024 if grown[e] is not None else None) for e in engines)]
        row += [number(beside_peers(figures, peer)["memory"]) for peer in peers_of(results, engines)]
        table.append(row)
    return rows_of(table)


def shorten(text):
    """An error without the folders of the machine that it was seen on, and without its end if it is long."""
    text = re.sub(r"(?<![\w.])(?:/[^\s/'\":]+)+/", "", text)
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + " ..."


def refusals(triples):
    """Which model was refused by whom, and why."""
    lines = [f"- {model}, {engine}: {shorten(error)}\n" for model, engine, error in triples]
    return "\n## What engines refused\n" + "".join(lines) if lines else ""


def onnx_summary(results, at_least):
    """Of the ONNX models; empty where there are none."""
    rows = summarize(results, at_least)
    if not rows:
        return ""
    table = [["ONNX models", "of", *(f"{what}: {which}" for what in WHAT.values() for which in ("mean", "worst")), "worst time"]]
    for row in rows:
        table.append([f"{row['models']} ({row['count']})", f"Tenon / {HEADINGS[row['peer']]}",
                      *(number(row[what][which]) for what in WHAT for which in ("mean", "worst")), row["time"]["model"]])
    return rows_of(table)


def markdown(head, results, engines, at_least=0.3):
    """The whole document. Means of ONNX models are also taken over those that take ONNX Runtime at_least
    milliseconds."""
    pairs, ratios = ratios_of(results, engines)
    headings = [f"{HEADINGS[a]} / {HEADINGS[b]}" for a, b in pairs]
    text = head
    summary = onnx_summary(results, at_least)
    text += "\n## ONNX models: geometric means and the worst\n" + summary if summary else ""
    if pairs:
        text += "\n## Ratios of times: geometric means\n" + rows_of([["class (models)", *headings], *means(ratios)])
        text += "\n## Ratios of times\n" + rows_of(
            [["model", *headings], *([model.name, *map(number, values)] for model, values in ratios)])
    text += "\n## One inference, ms\n" + times_table(results, engines)
    compared = integers_table(results, [e for e in engines if e in COMPUTE_INTEGERS])
    text += "\n## Int8 beside float32, ms\n" + compared if compared else ""
    text += "\n## Loading and first inference, ms\n" + start_table(results, engines)
    text += "\n## Growth of the peak resident set, MiB\n" + memory_table(results, engines)
    return text + refusals((model.name, HEADINGS[engine], figures.error) for model, by_engine in results
                           for engine, figures in by_engine.items() if figures.error)
