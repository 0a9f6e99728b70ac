# SPDX-License-Identifier: Apache-2.0
"""Tables of threads.py beside that of its times: several callers at once, and runs after a rest."""
import statistics

from perf.engines import peers_of
from perf.table import HEADINGS, number
from perf.thread_turns import median, run_command, take_turns, times_of

CALLERS_HEAD = """
## Callers with one thread each

Inferences a second of so many threads of the application, each of which runs the model on one thread, and by how many
times that is more than of one caller. They have the model in common; in TFLite each has an interpreter of its own, in
OpenVINO a stream. The last column is Tenon's throughput by that of the faster peer: more is better.

"""
CROWD_HEAD = """
## More threads than cores

*Two callers*: inferences a second of two callers, each with {threads} threads, by those of one caller, as two networks
have that run at once: at 1 they share the cores without a loss, below 1 they are in each other's way. *{twice} threads*:
the time of one inference on {twice} threads by that on {threads}.

"""
REST_HEAD = """
## After a rest

Milliseconds of an inference that follows the one before it, and of one after {rest:g} ms of sleep, in which threads have
gone to sleep and caches have gone cold. *More* is the difference, and in brackets that of the shortest times. One thread
has nobody to wake: by as much as several threads lose more than one, they pay for waking.

"""
RESTED_RUNS = 10


def rates_of(answers):
    return [answer["calls_per_second"] for answer in answers]


class Callers:
    """Throughput by the number of callers with one thread each."""

    def __init__(self, engines, counts, settings):
        self.engines, self.counts, self.settings = engines, counts, settings
        self.peers = peers_of(engines)
        self.rows = [["model", "callers"]]
        for engine in engines:
            self.rows[0] += [f"{HEADINGS[engine]}, a second", "of one"]
        self.rows[0] += ["Tenon by the faster peer"] * bool(self.peers)

    def add(self, model):
        """Adds rows; returns {engine: {callers: inferences a second}}, and errors by engine."""
        commands = {(engine, count): ((engine, 1), f"rate {count} {self.settings.turn}")
                    for engine in self.engines for count in self.counts}
        answers, errors = take_turns(model, commands, self.settings)
        rates = {name: rates_of(of) for name, of in answers.items()}
        for count in self.counts:
            row = [model.path.stem, str(count)]
            for engine in self.engines:
                mine, one = rates.get((engine, count)), rates.get((engine, self.counts[0]))
                row += [number(statistics.median(mine)),
                        f"{statistics.median(a / b for a, b in zip(mine, one)):.2f}"] if mine else ["–", "–"]
            if self.peers:
                fastest = max((statistics.median(rates[peer, count]) for peer in self.peers if (peer, count) in rates),
                              default=None)
                mine = rates.get(("tenon", count))
                row.append(f"{statistics.median(mine) / fastest:.2f}" if mine and fastest else "–")
            self.rows.append(row)
        medians = {}
        for (engine, count), of in rates.items():
            medians.setdefault(engine, {})[count] = statistics.median(of)
        return medians, errors


class Crowd:
    """Two callers with all threads each, and twice as many threads as cores."""

    def __init__(self, engines, threads, settings):
        self.engines, self.threads, self.settings = engines, threads, settings
        self.rows = [["model"]]
        for engine in engines:
            self.rows[0] += [f"{HEADINGS[engine]}: two callers", f"{2 * threads} threads"]

    def add(self, model):
        """Adds a row; returns errors by engine."""
        commands = {}
        for engine in self.engines:
            alone, twice = (engine, self.threads), (engine, 2 * self.threads)
            commands[engine, "one"] = alone, f"rate 1 {self.settings.turn}"
            commands[engine, "two"] = alone, f"rate 2 {self.settings.turn}"
            commands[engine, "alone"] = alone, run_command(self.settings)
            commands[engine, "twice"] = twice, run_command(self.settings)
        answers, errors = take_turns(model, commands, self.settings)
        row = [model.path.stem]
        for engine in self.engines:
            if (engine, "twice") not in answers:
                row += ["–", "–"]
                continue
            one, two = (rates_of(answers[engine, name]) for name in ("one", "two"))
            alone, twice = (times_of(answers[engine, name]) for name in ("alone", "twice"))
            row += [f"{statistics.median(b / a for a, b in zip(one, two)):.2f}",
                    f"{statistics.median(statistics.median(b) / statistics.median(a) for a, b in zip(alone, twice)):.2f}"]
        self.rows.append(row)
        return errors


class Rests:
    """Runs back to back, and after a rest."""

    def __init__(self, engines, counts, rest, settings):
        self.engines, self.counts, self.rest, self.settings = engines, counts, rest, settings
        self.rows = [["model", "threads"]]
        for engine in engines:
            self.rows[0] += [f"{HEADINGS[engine]}, ms", "after a rest", "more, ms"]

    def add(self, model):
        """Adds rows; returns {engine: {threads: milliseconds after a rest}}, and errors by engine."""
        commands = {}
        for engine in self.engines:
            for threads in self.counts:
                commands[engine, threads, 0] = (engine, threads), run_command(self.settings)
                commands[engine, threads, 1] = (engine, threads), f"run {RESTED_RUNS} 1e6 {self.rest}"
        answers, errors = take_turns(model, commands, self.settings)
        rested = {}
        for threads in self.counts:
            row = [model.path.stem, str(threads)]
            for engine in self.engines:
                if (engine, threads, 1) not in answers:
                    row += ["–"] * 3
                    continue
                busy, slow = (times_of(answers[engine, threads, i]) for i in (0, 1))
                more = statistics.median(statistics.median(b) - statistics.median(a) for a, b in zip(busy, slow))
                shortest = min(map(min, slow)) - min(map(min, busy))
                row += [number(median(busy)), number(median(slow)), f"{number(more)} ({number(shortest)})"]
                rested.setdefault(engine, {})[threads] = median(slow)
            self.rows.append(row)
        return rested, errors
