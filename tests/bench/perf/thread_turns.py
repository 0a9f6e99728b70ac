# SPDX-License-Identifier: Apache-2.0
"""Workers of one model with several numbers of threads, which run in turn."""
import statistics
from types import SimpleNamespace

from perf.engines import Worker, WorkerError
from perf.measure import MOST_RUNS


def take_turns(model, commands, settings):
    """What each command was answered, round by round: {name: [answer]}, and why engines are missing: {engine: text}.
    `commands`: {name: ((engine, threads), command)}; those of one engine and number of threads have a worker."""
    workers, errors = {}, {}
    try:
        for engine, threads in dict.fromkeys(key for key, _ in commands.values()):
            if engine in errors:
                continue
            try:
                own = SimpleNamespace(**{**vars(settings), "threads": threads})
                worker = workers[engine, threads] = Worker(engine, model, own)
                worker.ask("load")
                worker.ask("run 10 1000")
            except WorkerError as error:
                errors[engine] = str(error)
                if (engine, threads) in workers:
                    workers.pop((engine, threads)).close()
        present = {name: (workers[key], command) for name, (key, command) in commands.items() if key in workers}
        answers = {name: [] for name in present}
        for _ in range(settings.rounds):
            for name, (worker, command) in present.items():
                answers[name].append(worker.ask(command))
        return answers, errors
    finally:
        for worker in workers.values():
            worker.close()


def run_command(settings):
    """A turn of runs that follow each other."""
    return f"run {MOST_RUNS} {settings.turn}"


def times_of(answers):
    """Milliseconds of each turn, without the first run, which finds the caches full of others' data."""
    return [times[1:] if len(times) > 2 else times for times in (answer["ms"] for answer in answers)]


def median(turns):
    return statistics.median(statistics.median(times) for times in turns)
