# SPDX-License-Identifier: Apache-2.0
"""How Tenon compares on ONNX models: time of a run, of loading and the first run together, growth of memory."""
import statistics

from perf.measure import ratio

# Whose loading and memory Tenon's are divided by; ONNX Runtime's for ONNX models alone, since a twin of a .tflite model
# is loaded once.
LOADING = {"tflite-xnnpack": "XNNPACK", "onnxruntime": "ONNX Runtime", "openvino-f32": "OpenVINO"}
ONNX_PEERS = ["onnxruntime", "openvino-f32"]
WHAT = {"time": "time", "ready": "load + first", "memory": "memory"}


def quotient(a, b):
    return a / b if a is not None and b else None


def beside_peers(figures, peer):
    """Tenon's figures of a model divided by a peer's; None where one of the two has none."""
    mine, other = figures.get("tenon"), figures.get(peer)
    if mine is None or other is None or mine.error or other.error:
        return dict.fromkeys(WHAT)
    return {"time": ratio(mine, other), "ready": quotient(mine.ready, other.ready),
            "memory": quotient(mine.median("memory"), other.median("memory"))}


def peers_of(results, engines):
    """Those whose loading is compared."""
    has_onnx = any(model.is_onnx for model, _ in results)
    return [peer for peer in LOADING if {"tenon", peer} <= set(engines) and (peer not in ONNX_PEERS or has_onnx)]


def summarize_models(name, chosen, peer):
    """Geometric means and the worst over (name, figures) of models."""
    row = {"models": name, "count": 0, "peer": peer}
    for what in WHAT:
        values = [(value, model) for model, figures in chosen if (value := beside_peers(figures, peer)[what])]
        row[what] = {"mean": statistics.geometric_mean([v for v, _ in values]) if values else None,
                     "worst": max(values)[0] if values else None, "model": max(values)[1] if values else ""}
        row["count"] = max(row["count"], len(values))
    return row


def summarize(results, at_least):
    """Rows of the ONNX models: those that take ONNX Runtime at_least milliseconds, and all."""
    models = [(model.name, figures) for model, figures in results if model.is_onnx]
    slow = [(name, figures) for name, figures in models
            if "onnxruntime" in figures and (figures["onnxruntime"].median("rounds") or 0.0) >= at_least]
    rows = []
    for peer in ONNX_PEERS:
        if any(peer in figures for _, figures in models):
            rows.append(summarize_models(f"ONNX Runtime takes {at_least:g} ms or more", slow, peer))
            rows.append(summarize_models("all", models, peer))
    return rows
