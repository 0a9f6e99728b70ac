# SPDX-License-Identifier: Apache-2.0
"""Where the time of several threads goes, from the file that bench_serve's command "trace" writes.

A run of W microseconds on N threads has N * W microseconds of thread time. Each of them is one of

    work     in chunks of a loop, or in the caller where a layer runs on one thread
    serial   of the other threads, while the caller runs a part of a layer that is no loop
    between  of all threads between two layers
    absent   of threads that took no part in a loop: it had fewer chunks, or was over when they came
    late     from the start of a loop to the first chunk of a thread
    gaps     between two chunks of a thread
    end      from the last chunk of a thread to the end of the loop
"""
import bisect
import json
from dataclasses import dataclass, field

RUN = "inference_measurements"
KINDS = ["work", "serial", "between", "absent", "late", "gaps", "end"]


@dataclass
class Layer:
    """Of all runs together, in microseconds."""
    name: str
    wall: float = 0.0
    loops: int = 0
    threads: dict = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    longest: float = 0.0  # sums over loops of the work of the thread that had most, and of the mean over its threads
    mean: float = 0.0

    @property
    def lost(self):
        return sum(time for kind, time in self.threads.items() if kind != "work")

    @property
    def imbalance(self):
        """The longest work of a thread by the mean of those that took part; 1 if all had the same."""
        return self.longest / self.mean if self.mean else 1.0


@dataclass
class Trace:
    runs: int
    wall: float  # of all runs
    threads: int
    layers: list

    def shares(self):
        """Shares of the thread time by kind."""
        total = self.wall * self.threads
        sums = {kind: sum(layer.threads[kind] for layer in self.layers) for kind in KINDS}
        sums["between"] = total - self.threads * sum(layer.wall for layer in self.layers)
        return {kind: time / total for kind, time in sums.items()}

    @property
    def work(self):
        """Microseconds of work of a run."""
        return sum(layer.threads["work"] for layer in self.layers) / self.runs


def add_loop(layer, loop, shares, threads):
    work = [share["args"]["work"] for share in shares]
    end = loop["ts"] + loop["dur"]
    times = layer.threads
    times["work"] += sum(work)
    times["absent"] += (threads - len(shares)) * loop["dur"]
    times["late"] += sum(share["ts"] - loop["ts"] for share in shares)
    times["gaps"] += sum(share["dur"] for share in shares) - sum(work)
    times["end"] += sum(end - share["ts"] - share["dur"] for share in shares)
    layer.loops += 1
    layer.longest += max(work)
    layer.mean += sum(work) / len(work)


def innermost(events):
    """For each event the index of the one around it in its thread, or None; events are sorted by start."""
    around, open_events = [], []
    for i, event in enumerate(events):
        while open_events and events[open_events[-1]]["ts"] + events[open_events[-1]]["dur"] <= event["ts"]:
            open_events.pop()
        around.append(open_events[-1] if open_events else None)
        open_events.append(i)
    return around


def read(path, threads):
    """The trace of a network that one caller ran on so many threads."""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    runs = [event for event in events if event["name"] == RUN]
    events_of_layers = sorted((event for event in events if "layer" in event.get("args", {}) and event["cat"] == RUN),
                              key=lambda event: (event["ts"], -event["dur"]))
    loops = [event for event in events if event["name"] == "loop"]
    shares = {}
    for event in events:
        if event["name"] == "share":
            shares.setdefault(event["args"]["loop"], []).append(event)

    layers = {}
    entries = []
    serial = []  # microseconds of each event that no loop and no inner layer has
    for event in events_of_layers:
        args = event["args"]
        entries.append(layers.setdefault((args["guid"], event["name"]), Layer(args["layer"] or event["name"])))
        serial.append(event["dur"])
    around = innermost(events_of_layers)
    for event, outer in zip(events_of_layers, around):
        if outer is not None:
            serial[outer] -= event["dur"]
    for i, event in enumerate(events_of_layers):
        entries[i].wall += serial[i]
    starts = [event["ts"] for event in events_of_layers]
    for loop in loops:
        at = bisect.bisect_right(starts, loop["ts"]) - 1
        while at is not None and at >= 0:
            event = events_of_layers[at]
            if loop["ts"] + loop["dur"] <= event["ts"] + event["dur"] + 0.01:
                break
            at = around[at]
        if at is None or at < 0:
            continue  # of no layer: its time is between layers
        serial[at] -= loop["dur"]
        add_loop(entries[at], loop, shares[loop["args"]["loop"]], threads)
    for entry, time in zip(entries, serial):
        entry.threads["work"] += time
        entry.threads["serial"] += time * (threads - 1)
    return Trace(len(runs), sum(event["dur"] for event in runs), threads, list(layers.values()))
