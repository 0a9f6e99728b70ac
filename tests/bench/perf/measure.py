# SPDX-License-Identifier: Apache-2.0
"""Measures one model on several engines in turn, for performance.py."""
import statistics
import time
from dataclasses import dataclass, field

from perf.engines import Worker, WorkerError

# Inferences after which the peak of memory is read, the first one among them.
INFERENCES_FOR_MEMORY = 10
MOST_RUNS = 100000
# Loading is compared for these alone, and for all engines of an ONNX model; others load once.
LOADED_OFTEN = {"tenon", "tenon-other", "tflite-xnnpack", "tflite-tenon"}


@dataclass
class Figures:
    """Of one model on one engine. Milliseconds and KiB; `rounds` has the median of each turn."""
    rounds: list = field(default_factory=list)
    init: list = field(default_factory=list)
    first: list = field(default_factory=list)
    memory: list = field(default_factory=list)
    error: str = ""

    def median(self, what):
        values = getattr(self, what)
        return statistics.median(values) if values else None

    @property
    def ready(self):
        """Loading and the first inference together."""
        sums = [a + b for a, b in zip(self.init, self.first)]
        return statistics.median(sums) if sums else None

    @property
    def deviation(self):
        """Standard deviation of the turns, as a share of their mean."""
        return statistics.stdev(self.rounds) / statistics.mean(self.rounds) if len(self.rounds) > 1 else None


def ratios(mine, other):
    """Those of turns that followed each other; none where one of the two did not run."""
    return [a / b for a, b in zip(mine.rounds, other.rounds)] if mine and other else []


def ratio(mine, other):
    """The median of these ratios; None where there are none."""
    values = ratios(mine, other)
    return statistics.median(values) if values else None


def load(engine, model, settings, figures):
    """A new worker with the model loaded and run for the first times; what that took goes into the figures."""
    worker = Worker(engine, model, settings)
    try:
        init = worker.ask("load")["init"]
        first = worker.ask("run 1 0")["ms"][0]
        worker.ask(f"run {INFERENCES_FOR_MEMORY - 1} {settings.turn * 20}")
        figures.memory.append(worker.ask("memory")["peak_growth_kib"])
    except WorkerError:
        worker.close()
        raise
    figures.init.append(init)
    figures.first.append(first)
    return worker


def turn(worker, milliseconds, way="run"):
    """The median of one turn; its first inference, which finds the caches full of others' data, does not count."""
    times = worker.ask(f"{way} {MOST_RUNS} {milliseconds}")["ms"]
    return statistics.median(times[1:] if len(times) > 2 else times)


def measure(model, engines, settings):
    """Figures of a model by engine."""
    return measure_in_turn({engine: (engine, model) for engine in engines}, settings)


def measure_in_turn(cases, settings):
    """Figures of each engine with its model, by the keys of {key: (engine, model)}. An engine that refuses its model
    has its error there, and the others go on."""
    result = {key: Figures() for key in cases}
    workers = {}
    try:
        for done in range(settings.loads):
            for key, (engine, model) in cases.items():
                if result[key].error or (done > 0 and not (model.is_onnx or engine in LOADED_OFTEN)):
                    continue
                if key in workers:
                    workers.pop(key).close()
                run_safely(result[key], lambda k=key: workers.update({k: load(*cases[k], settings, result[k])}))
        for _ in range(settings.rounds):
            for key in [k for k in cases if k in workers and not result[k].error]:
                run_safely(result[key], lambda k=key: result[k].rounds.append(turn(workers[k], settings.turn)))
                # The kernel keeps a share of each second from processes with raised priority: give it here.
                time.sleep(1e-4 * settings.turn)
    finally:
        for worker in workers.values():
            worker.close()
    return result


def run_safely(figures, step):
    try:
        step()
    except WorkerError as error:
        figures.error = str(error)
