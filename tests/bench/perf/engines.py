# SPDX-License-Identifier: Apache-2.0
"""Engines that performance.py compares, and the worker processes that run one model on one of them."""
import importlib.metadata
import importlib.util
import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from perf.classes import uses_bf16
from perf.installed import environment_of

WORKER = Path(__file__).with_name("peer_worker.py")
# Name: what to import, what to ask the package registry for.
PEERS = {
    "tflite-xnnpack": ("ai_edge_litert", "ai-edge-litert"),
    "tflite-builtin": ("ai_edge_litert", "ai-edge-litert"),
    "tflite-tenon": ("ai_edge_litert", "ai-edge-litert"),
    "openvino-f32": ("openvino", "openvino"),
    "openvino-bf16": ("openvino", "openvino"),
    "onnxruntime": ("onnxruntime", "onnxruntime"),
}
# Those, and Tenon's own package, for python_peers.py.
PACKAGES = {**PEERS, "tenon-python": ("tenon", "tenon")}
TENON = {"tenon": [], "tenon-bf16": ["--bf16"], "tenon-fast": ["--fast-math"], "tenon-open": ["--open"]}
# The same by the other build (--other-exe): its engine, and how Tenon runs there.
OTHER_BUILD = {f"{name}-other": name for name in TENON}
ENGINES = [*TENON, *OTHER_BUILD, *PEERS]
DELEGATE = "tflite-tenon"  # TFLite with Tenon as its delegate, whose library is settings.delegate
DEFAULT_ENGINES = ["tenon", "tenon-bf16", *(name for name in PEERS if name != DELEGATE)]
# Seconds within which a program answers that has nothing to do.
ANSWER_WITHIN = 20.0


class WorkerError(Exception):
    """What an engine said when it refused a model, or that it did not answer."""


def peers_of(engines):
    """The engines that do not run Tenon."""
    return [engine for engine in engines if engine in PEERS and engine != DELEGATE]


def missing_reason(engine):
    """Why an engine cannot run here; None if it can."""
    if engine not in PEERS:
        return None
    module, package = PEERS[engine]
    return None if importlib.util.find_spec(module) else f"{package} is not installed"


def version(engine):
    return importlib.metadata.version(PEERS[engine][1])


def can_run(engine, model):
    """Whether the comparison makes sense: bf16 needs floats, ONNX Runtime the model or a twin of it, LiteRT a .tflite
    file. Sizes are open in ONNX models."""
    if engine == "onnxruntime":
        return model.onnx is not None
    if engine.startswith("tflite-"):
        return not model.is_onnx
    if OTHER_BUILD.get(engine, engine) == "tenon-open":
        return model.is_onnx
    return OTHER_BUILD.get(engine, engine) not in ("tenon-bf16", "tenon-fast") or uses_bf16(model.kind)


def raise_priority():
    """Ahead of all ordinary processes, where that is permitted: others' load then hardly shows in the times."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        pass


class Worker:
    """A process with one model on one engine, on the given cores. Use as a context manager, or call close()."""

    def __init__(self, engine, model, settings):
        inputs = [str(path) for path in model.inputs]
        environment = None
        if engine not in PACKAGES:
            exe = settings.other_exe if engine in OTHER_BUILD else settings.exe
            environment = environment_of(exe)
            command = [str(exe), str(model.path), "--compute", settings.compute, "--threads", str(settings.threads),
                       *TENON[OTHER_BUILD.get(engine, engine)], *getattr(settings, "options", []),
                       *(["--inputs", ",".join(inputs)] if inputs else []),
                       *(word for name, shape in model.shapes.items()
                         for word in ("--shape", f"{name}={','.join(map(str, shape))}"))]
        else:
            path = model.onnx if engine == "onnxruntime" else model.path
            if model.shapes:
                inputs = [f"{file}:{','.join(map(str, shape))}" for file, shape in zip(inputs, model.shapes.values())]
            library = f"={settings.delegate}" if engine == DELEGATE else ""
            command = [sys.executable, str(WORKER), engine + library, str(path), str(settings.threads), *inputs]

        def prepare():
            os.sched_setaffinity(0, settings.cores)
            if settings.priority:
                raise_priority()

        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=prepare)
        except OSError as error:
            raise WorkerError(f"cannot be started: {error.strerror}") from None
        self.timeout = settings.timeout
        self.answers = queue.Queue()
        self.errors = []
        self.readers = [threading.Thread(target=self._read_answers, daemon=True),
                        threading.Thread(target=self._read_errors, daemon=True)]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _read_answers(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.answers.put(line)
        self.answers.put(None)

    def _read_errors(self):
        self.errors.extend(self.process.stderr)

    def ask(self, command):
        """The answer to one command."""
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            answer = self.answers.get(timeout=self.timeout)
        except queue.Empty:
            self.process.kill()
            raise WorkerError(f"no answer to '{command}' within {self.timeout:g} s") from None
        except BrokenPipeError:
            answer = None
        if answer is None:
            status = self.process.wait()
            self.readers[1].join()
            text = [line.strip() for line in self.errors if line.strip()]
            if status == 1 and text:
                raise WorkerError(text[-1])
            raise WorkerError(": ".join([f"ended with status {status}", *text[-1:]]))
        try:
            return json.loads(answer)
        except json.JSONDecodeError:
            raise WorkerError(f"answers '{command}' with what is no JSON: {answer.strip()}") from None

    def close(self):
        """Ends the process."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:  # it has ended by itself, with a command unread
            pass
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


def check_answers(engine, settings):
    """Throws a WorkerError if a build of Tenon does not answer commands as bench_serve does: one that is none of its
    commands ends it with status 1 and an error that quotes the command. No model is read for that."""
    no_model = SimpleNamespace(path="no-model.tflite", inputs=[], shapes={})
    patience = min(ANSWER_WITHIN, settings.timeout)
    with Worker(engine, no_model, SimpleNamespace(**{**vars(settings), "timeout": patience})) as worker:
        try:
            worker.ask("hello")
        except WorkerError as error:
            if str(error) == "unknown command: hello":
                return
            raise
    raise WorkerError("takes 'hello' for a command")
