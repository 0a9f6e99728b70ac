# SPDX-License-Identifier: Apache-2.0
"""Two builds of one program in turn: how much slower the new one is than the old one, and whether a model for which it
is stays slower when it is measured again. performance.py compares models so, growth.py the loading of large networks.
"""
import json
import os
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from perf.classes import is_made
from perf.engines import OTHER_BUILD, can_run
from perf.measure import Figures, load, ratio, ratios, run_safely, turn
from perf.table import number, quotient, refusals, rows_of

WITH_OTHER_BUILD = {way: engine for engine, way in OTHER_BUILD.items()}
SUFFIX = {"tenon": "", "tenon-bf16": ", bf16", "tenon-fast": ", fast math"}

HEAD = """# {new} compared with {old}

Generated; write it anew with

    {command}

{machine}
{same}{how}

Ratios are {new} / {old}: above 1 {new} is slower. Each is the median of the ratios of turns that follow each other; the
quartiles of these show how far they scatter. A ratio above {each:g} is measured again, after all others and in new
processes, and so are all of a group whose geometric mean is above {mean:g}: {new} is slower where both measurements
say so.
"""
SAME = "Both are the same program with the same libraries: the ratios are the noise of the measurement.\n"


@dataclass(frozen=True)
class Limits:
    """Above these ratios, in both measurements, the new build is slower."""
    mean: float = 1.01  # of the geometric mean of a group
    each: float = 1.05  # of a single model


def add_options(parser, target):
    """Those of a comparison; `target` is the program of both builds."""
    parser.add_argument("--other-exe", type=Path, help=f"{target} of another build, to compare that of --exe with")
    parser.add_argument("--labels", default="new,old", metavar="NEW,OLD",
                        help="names of the build of --exe and of that of --other-exe in the tables")
    parser.add_argument("--mean-limit", type=float, default=Limits.mean, metavar="RATIO",
                        help="the largest geometric mean of new / old that passes")
    parser.add_argument("--model-limit", type=float, default=Limits.each, metavar="RATIO",
                        help="the largest new / old of a single model that passes")
    parser.set_defaults(target=target)


def check_options(parser, arguments):
    """Ends the program with an error where there is no such program, or where no comparison can be made so."""
    for option, program in [("--exe", arguments.exe), ("--other-exe", arguments.other_exe)]:
        if program is not None and (not os.access(program, os.X_OK) or program.is_dir()):
            parser.error(f"{option} {program}: there is no such program; build the target {arguments.target}")
    labels = arguments.labels.split(",")
    if len(labels) != 2 or not all(labels) or labels[0] == labels[1]:
        parser.error(f"--labels {arguments.labels}: expected two different ones, e.g. new,old")
    # A NaN is below no limit.
    if not (arguments.mean_limit > 0 and arguments.model_limit > 0):
        parser.error("--mean-limit and --model-limit must be positive ratios, e.g. 1.05")


@dataclass(frozen=True)
class Case:
    """What is measured: `measure` gives Figures of the new build and of the old one. The geometric mean of all of a
    group is held to the limit; that of a class is shown."""
    name: str
    kind: str
    group: str
    measure: object


@dataclass
class Comparison:
    """A case and its figures, (new, old); a second pair where it was measured again."""
    case: Case
    first: tuple
    again: tuple | None = None

    @property
    def ratio(self):
        return ratio(*self.first)

    @property
    def second_ratio(self):
        return ratio(*self.again) if self.again else None

    @property
    def loading(self):
        """Of the shortest loads: a load is measured once in each process, and what disturbs it makes it longer."""
        return quotient(*(min(figures.init, default=None) for figures in self.first))

    @property
    def memory(self):
        return quotient(*(figures.median("memory") for figures in self.first))

    @property
    def errors(self):
        """Of the new build and of the old one."""
        pairs = [pair for pair in (self.first, self.again) if pair]
        return tuple(next((pair[i].error for pair in pairs if pair[i].error), "") for i in (0, 1))

    def is_above(self, limits):
        return self.ratio is not None and self.ratio > limits.each

    def stays_above(self, limits):
        """A second measurement that failed proves nothing, so the first one counts."""
        return self.is_above(limits) and (self.second_ratio is None or self.second_ratio > limits.each)


def in_turns(pair, rounds, first_round=0):
    """The order of turns: A B B A, then B A A B. Each build is the second one of two as often as the other."""
    for number_of_round in range(first_round, first_round + rounds):
        one, two = pair if number_of_round % 2 == 0 else pair[::-1]
        yield from (one, two, two, one)


def measure_model(model, way, settings):
    """Figures of the new build and of the old one. The turns are spread over all processes that load the model: where
    the memory of a process happens to lie makes one faster than the next."""
    pair = (way, WITH_OTHER_BUILD[way])
    figures = {engine: Figures() for engine in pair}
    workers = {}

    def load_anew(engine):
        if engine in workers:
            workers.pop(engine).close()
        workers[engine] = load(engine, model, settings, figures[engine])

    def take_turn(engine):
        figures[engine].rounds.append(turn(workers[engine], settings.turn))
        # As in perf/measure.py: the kernel keeps a share of each second from processes with raised priority.
        time.sleep(1e-4 * settings.turn)

    try:
        for done in range(settings.loads):
            for engine in pair if done % 2 == 0 else pair[::-1]:
                run_safely(figures[engine], lambda e=engine: load_anew(e))
            if any(known.error for known in figures.values()):
                break
            before, after = (settings.rounds * count // settings.loads for count in (done, done + 1))
            for engine in in_turns(pair, after - before, before):
                if not any(known.error for known in figures.values()):
                    run_safely(figures[engine], lambda e=engine: take_turn(e))
    finally:
        for worker in workers.values():
            worker.close()
    return tuple(figures.values())


def cases_of(models, ways, settings):
    """Each model in each of Tenon's ways to run it. Models that were made on the spot are a group of their own."""
    return [Case(model.name + SUFFIX[way], model.kind + SUFFIX[way],
                 ("layers made on the spot" if is_made(model.kind) else "models") + SUFFIX[way],
                 lambda m=model, w=way: measure_model(m, w, settings))
            for model in models for way in ways if can_run(way, model)]


def compare(cases, limits, show):
    """A Comparison of each case. `show` is called with all that there are so far, and what it is that is measured."""
    comparisons = []
    for case in cases:
        show(comparisons, f"{len(comparisons) + 1} of {len(cases)}: {case.name}")
        comparisons.append(Comparison(case, case.measure()))
    means = means_of(comparisons)
    doubtful = [known for known in comparisons if known.is_above(limits) or
                (known.ratio is not None and means[known.case.group] > limits.mean)]
    for i, known in enumerate(doubtful):
        show(comparisons, f"again, {i + 1} of {len(doubtful)}: {known.case.name}")
        known.again = known.case.measure()
    return comparisons


def mean_of(values):
    present = [value for value in values if value]
    return statistics.geometric_mean(present) if present else None


def means_of(comparisons):
    """The geometric mean of each group of which anything was compared."""
    compared = [known for known in comparisons if known.ratio is not None]
    return {group: mean_of(known.ratio for known in compared if known.case.group == group)
            for group in dict.fromkeys(known.case.group for known in compared)}


def make_head(labels, limits, command, machine, how, same):
    """What stands above the tables."""
    new, old = labels
    return HEAD.format(new=new, old=old, command=command, machine=machine, how=how, each=limits.each,
                       mean=limits.mean, same=SAME if same else "")


class Verdict:
    """Whether the new build is no slower."""

    def __init__(self, comparisons, limits):
        self.limits = limits
        self.means = means_of(comparisons)
        # Of the second measurement, of groups that were measured again as a whole.
        self.second_means = {group: mean_of(known.second_ratio for known in comparisons if known.case.group == group)
                             for group, mean in self.means.items() if mean > limits.mean}
        self.above = [known for known in by_ratio(comparisons) if known.is_above(limits)]
        self.slower = [known for known in self.above if known.stays_above(limits)]
        self.refused = [known for known in comparisons if known.errors[0] and not known.errors[1]]

    @property
    def complaints(self):
        """A line of each reason why the new build does not pass."""
        lines = [f"the geometric mean of {group} is {self.means[group]:.3f}, above {self.limits.mean:g}; again "
                 f"{three(second)}"
                 for group, second in self.second_means.items() if second is None or second > self.limits.mean]
        lines += [f"{known.case.name} is {known.ratio:.3f}, above {self.limits.each:g}; again "
                  f"{three(known.second_ratio)}" for known in self.slower]
        lines += [f"{known.case.name} fails in the new build alone: {known.errors[0]}" for known in self.refused]
        return lines if self.means or lines else ["nothing could be compared"]

    @property
    def passed(self):
        return not self.complaints


def three(value):
    """A ratio, to the precision of limits."""
    return "–" if value is None else f"{value:.3f}"


def by_ratio(comparisons):
    """The slowest first, those that were not measured last."""
    return sorted(comparisons, key=lambda known: -(known.ratio or 0.0))


def means_table(comparisons, verdict, labels):
    """A row of each group, and of each class where there are several."""
    rows = [["geometric means", " / ".join(labels), "again", "limit", "loading", "memory"]]

    def add(name, chosen, again, limit):
        rows.append([f"{name} ({sum(known.ratio is not None for known in chosen)})",
                     three(mean_of(known.ratio for known in chosen)), three(again), limit,
                     three(mean_of(known.loading for known in chosen)),
                     three(mean_of(known.memory for known in chosen))])

    for group in dict.fromkeys(known.case.group for known in comparisons):
        add(f"**{group}**", [known for known in comparisons if known.case.group == group],
            verdict.second_means.get(group), f"{verdict.limits.mean:g}")
    kinds = sorted({known.case.kind for known in comparisons})
    for kind in kinds if len(kinds) > 1 else []:
        add(kind, [known for known in comparisons if known.case.kind == kind], None, "–")
    return rows_of(without_empty_columns(rows))


def without_empty_columns(rows):
    """The table without columns that have nothing but dashes."""
    kept = [i for i, column in enumerate(zip(*rows)) if set(column[1:]) != {"–"}]
    return [[row[i] for i in kept] for row in rows]


def quartiles(values):
    """The first and the third one."""
    if len(values) < 2:
        return "–"
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.3f} to {high:.3f}"


def cases_table(comparisons, labels, unit):
    rows = [["model", "class", *(f"{label}, {unit}" for label in labels[::-1]), " / ".join(labels), "again",
             "quartiles", "loading", "memory"]]
    for known in by_ratio(comparisons):
        new, old = known.first
        rows.append([known.case.name, known.case.kind, number(old.median("rounds")), number(new.median("rounds")),
                     three(known.ratio), three(known.second_ratio), quartiles(ratios(new, old)),
                     three(known.loading), three(known.memory)])
    return rows_of(without_empty_columns(rows))


def markdown(head, comparisons, limits, labels, unit):
    """The whole document: the verdict first."""
    verdict = Verdict(comparisons, limits)
    text = head + "\n" + ("No slower.\n" if verdict.passed else
                          "Slower:\n\n" + "".join(f"- {line}\n" for line in verdict.complaints))
    text += "\n" + means_table(comparisons, verdict, labels)
    text += f"\n## Above {limits.each:g}\n"
    text += rows_of([["model", " / ".join(labels), "again", ""],
                     *([known.case.name, three(known.ratio), three(known.second_ratio),
                        "stays" if known in verdict.slower else "does not stay"] for known in verdict.above)]) \
        if verdict.above else "None.\n"
    text += "\n## All, the slowest first\n" + cases_table(comparisons, labels, unit)
    return text + refusals((known.case.name, label, error) for known in comparisons
                              for label, error in zip(labels, known.errors) if error)


def as_json(comparisons, limits, labels):
    """All figures, and the verdict."""
    verdict = Verdict(comparisons, limits)
    groups = {group: [known for known in comparisons if known.case.group == group] for group in verdict.means}
    return {"passed": verdict.passed, "complaints": verdict.complaints, "limits": asdict(limits),
            "labels": dict(zip(("new", "old"), labels)),
            "means": {group: {"time": verdict.means[group], "again": verdict.second_means.get(group),
                              "loading": mean_of(k.loading for k in chosen),
                              "memory": mean_of(k.memory for k in chosen)} for group, chosen in groups.items()},
            "models": [{"model": known.case.name, "class": known.case.kind, "group": known.case.group,
                        "ratio": known.ratio, "again": known.second_ratio, "loading": known.loading,
                        "memory": known.memory, "stays_above": known.stays_above(limits),
                        "new": asdict(known.first[0]), "old": asdict(known.first[1]),
                        **({"new_again": asdict(known.again[0]), "old_again": asdict(known.again[1])}
                           if known.again else {})}
                       for known in by_ratio(comparisons)]}


class Progress:
    """A line on standard error: on a terminal one that is written over, elsewhere one of each result."""

    def __init__(self, limits, stream=sys.stderr):
        self.limits, self.stream = limits, stream
        self.start = time.monotonic()
        self.shown = 0

    def show(self, comparisons, what):
        values = [known.ratio for known in comparisons if known.ratio is not None]
        if self.stream.isatty():
            state = f", geometric mean {mean_of(values):.3f}, above {self.limits.each:g}: " \
                    f"{sum(value > self.limits.each for value in values)}" if values else ""
            minutes, seconds = divmod(int(time.monotonic() - self.start), 60)
            print(f"\r\x1b[K[{minutes}:{seconds:02}{state}] {what}", end="", file=self.stream, flush=True)
            return
        for known in comparisons[self.shown:]:
            print(f"{known.case.name}: {three(known.ratio)}", file=self.stream, flush=True)
        self.shown = len(comparisons)

    def finish(self, comparisons):
        """All results are there, and so is the second measurement of those above the limit."""
        if self.stream.isatty():
            print("\r\x1b[K", end="", file=self.stream, flush=True)
            return
        self.show(comparisons, "")
        for known in comparisons:
            if known.again:
                print(f"{known.case.name}, again: {three(known.second_ratio)}", file=self.stream, flush=True)


def run(cases, limits, labels, head, files, unit="ms"):
    """Compares all cases and prints the report. `files`: .table and .json, either may be None; they have what is known
    so far while others are measured. Returns the exit status: 0 where the new build is no slower."""
    progress = Progress(limits)

    def write(comparisons):
        if files.table is not None:
            files.table.write_text(markdown(head, comparisons, limits, labels, unit), encoding="utf-8")
        if files.json is not None:
            files.json.write_text(json.dumps(as_json(comparisons, limits, labels), indent=1))

    def show(comparisons, what):
        if comparisons:
            write(comparisons)
        progress.show(comparisons, what)

    comparisons = compare(cases, limits, show)
    progress.finish(comparisons)
    write(comparisons)
    print(markdown(head, comparisons, limits, labels, unit), end="")
    return 0 if Verdict(comparisons, limits).passed else 1
