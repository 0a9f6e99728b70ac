# SPDX-License-Identifier: Apache-2.0
"""One model on an engine that is a Python package, in a process of its own; the commands are those of bench_serve (but
"trace"), and for python_peers.py these:

call COUNT MS    as "run", by calls that take arrays and return arrays
bound COUNT MS   as "run", by calls whose arrays were told before, where the engine has such calls
rate THREADS MS  calls a second of so many threads that have the model in common; in TFLite, whose interpreters run one
                 call at a time, each has an interpreter of its own

and for delegate.py:

partitions       how many parts of the model Tenon's delegate takes

usage: peer_worker.py ENGINE MODEL THREADS [INPUT.bin[:1,3,96,96] ...]

ENGINE is tflite-xnnpack, tflite-builtin, tflite-tenon=libtenonDelegate.so, openvino-f32, openvino-bf16, onnxruntime or
tenon-python. What is imported and started before "load" (interpreter of Python, shared libraries, plugins) counts neither
as time of loading nor as memory; the making of a delegate counts.
Inputs are filled outside of all times. Outputs are memory of these engines, not of the application: what a run takes to
allocate them, or to touch them for the first time, is part of it.
"""
import ctypes
import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def status(name):
    """A line of /proc/self/status, in KiB."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def split_input(text):
    """The file, and the shape where one is given: that of an input of an ONNX model, which may leave sizes open."""
    file, colon, sizes = text.partition(":")
    return file, tuple(map(int, filter(None, sizes.split(",")))) if colon else None


def read_inputs(files, kinds):
    """The arrays for inputs of these (type, shape); random ones, always the same, where there are no files."""
    if files and len(files) != len(kinds):
        raise ValueError(f"the model has {len(kinds)} inputs, not {len(files)}")
    random = np.random.default_rng(1)
    arrays = []
    for i, (dtype, shape) in enumerate(kinds):
        if files:
            file, given = split_input(files[i])
            shape = shape if given is None else given
            array = np.fromfile(file, dtype)
            if array.size != np.prod(shape, dtype=int):
                raise ValueError(f"{file} has {array.size} elements, not those of {shape}")
        else:
            array = random.integers(0, 2, shape) if np.dtype(dtype).kind in "biu" else random.uniform(-1, 1, shape)
        arrays.append(np.ascontiguousarray(array, dtype).reshape(shape))  # in this order: a scalar becomes a vector
    return arrays


class TfLite:
    """LiteRT's interpreter: XNNPACK for what it takes, or builtin kernels alone; with the library of a delegate, that
    takes nodes first."""

    def __init__(self, xnnpack, library=None):
        from ai_edge_litert import interpreter
        self.api = interpreter
        kinds = interpreter.OpResolverType
        self.resolver = kinds.AUTO if xnnpack else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self.made_by = xnnpack, library
        self.library = library
        if library is not None:
            ctypes.CDLL(library)
        self.interpreter = self.loaded = None
        self.given = self.outputs = self.files = ()

    def make(self, model, threads):
        delegates = [self.api.load_delegate(self.library)] if self.library is not None else None
        return self.api.Interpreter(model_path=model, num_threads=threads, experimental_delegates=delegates,
                                    experimental_op_resolver_type=self.resolver)

    def load(self, model, threads, files):
        self.loaded = model, threads, files
        self.interpreter = self.make(model, threads)
        for detail, (_, shape) in zip(self.interpreter.get_input_details(), map(split_input, files)):
            if shape is not None and shape != tuple(detail["shape"]):
                self.interpreter.resize_tensor_input(detail["index"], shape)
        self.interpreter.allocate_tensors()

    def partitions(self, model, threads):
        """Before XNNPACK takes what is left, which it does when tensors are allocated."""
        operators = self.make(model, threads)._get_ops_details()
        return sum(operator["op_name"] == "DELEGATE" for operator in operators)

    def bind(self, files):
        self.files = files
        details = self.interpreter.get_input_details()
        arrays = read_inputs(files, [(d["dtype"], d["shape"]) for d in details])
        self.given = [(detail["index"], array) for detail, array in zip(details, arrays)]
        self.outputs = [detail["index"] for detail in self.interpreter.get_output_details()]
        for index, array in self.given:
            self.interpreter.set_tensor(index, array)

    def run(self):
        self.interpreter.invoke()

    bound = run  # reads and writes memory of the interpreter, of which it gives views

    def callers(self, count):
        """Functions for as many threads."""
        return [self.run, *(self.copy().run for _ in range(count - 1))]

    def copy(self):
        other = TfLite(*self.made_by)
        other.load(*self.loaded)
        other.bind(self.files)
        return other

    def call(self):
        for index, array in self.given:
            self.interpreter.set_tensor(index, array)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(index) for index in self.outputs]


class OpenVino:
    """OpenVINO's CPU plugin, for the latency of one request at a time. As Tenon it is told the shapes of inputs before
    it compiles the model."""

    def __init__(self, precision):
        import openvino
        self.api = openvino
        self.precision = precision
        self.core = openvino.Core()
        self.core.get_property("CPU", "FULL_DEVICE_NAME")
        self.model = self.request = self.loaded = None

    def load(self, model, threads, files):
        self.loaded = model, threads, files
        self.model = self.compile(model, threads, files, {"NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"})

    def compile(self, model, threads, files, options):
        read = self.core.read_model(model)
        shapes = {i: shape for i, (_, shape) in enumerate(map(split_input, files)) if shape is not None}
        if any(read.inputs[i].partial_shape != self.api.PartialShape(shape) for i, shape in shapes.items()):
            read.reshape(shapes)
        return self.core.compile_model(read, "CPU", {
            "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": self.precision, **options})

    def bind(self, files):
        self.request = self.make_request(self.model, files)

    def make_request(self, model, files):
        request = model.create_infer_request()
        kinds = [(port.element_type.to_dtype(), tuple(port.shape)) for port in model.inputs]
        for i, array in enumerate(read_inputs(files, kinds)):
            request.set_input_tensor(i, self.api.Tensor(array))
        return request

    def run(self):
        self.request.infer()

    def callers(self, count):
        """Functions for as many threads: the requests of a model with a stream for each."""
        model, threads, files = self.loaded
        all_threads = min(threads * count, len(os.sched_getaffinity(0)))
        streams = self.compile(model, all_threads, files, {"NUM_STREAMS": count, "PERFORMANCE_HINT": "THROUGHPUT"})
        return [self.make_request(streams, files).infer for _ in range(count)]


class OnnxRuntime:
    """ONNX Runtime's CPU provider. Its model is a twin of the .tflite one, whose inputs it has if they fit."""

    def __init__(self):
        import onnxruntime
        self.api = onnxruntime
        self.session = self.feed = self.binding = None

    def load(self, model, threads, _):
        options = self.api.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = self.api.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def bind(self, files):
        types = {"float": "float32", "double": "float64"}
        kinds = []
        for port in self.session.get_inputs():
            name = port.type.removeprefix("tensor(").removesuffix(")")
            kinds.append((types.get(name, name), tuple(d if isinstance(d, int) else 1 for d in port.shape)))
        sizes = [np.dtype(dtype).itemsize * int(np.prod(shape)) for dtype, shape in kinds]
        given = [split_input(file) for file in files]
        fit = any(shape is not None for _, shape in given) or sizes == [os.path.getsize(file) for file, _ in given]
        arrays = read_inputs(files if fit else [], kinds)
        self.feed = {port.name: array for port, array in zip(self.session.get_inputs(), arrays)}

    def run(self):
        return self.session.run(None, self.feed)

    call = run

    def callers(self, count):
        """Functions for as many threads."""
        return [self.call] * count

    def bound(self):
        if self.binding is None:
            self.binding = self.session.io_binding()
            for name, array in self.feed.items():
                self.binding.bind_ortvalue_input(name, self.api.OrtValue.ortvalue_from_numpy(array))
            for port, array in zip(self.session.get_outputs(), self.session.run(None, self.feed)):
                self.binding.bind_ortvalue_output(port.name, self.api.OrtValue.ortvalue_from_numpy(array))
        self.session.run_with_iobinding(self.binding)


class TenonPython:
    """Tenon's Python package."""

    def __init__(self):
        import tenon
        self.make = tenon.Model
        self.model = self.arrays = self.bound = None

    def load(self, model, threads, _):
        self.model = self.make(model, threads=threads)

    def bind(self, files):
        self.arrays = read_inputs(files, [(info.dtype, info.shape) for info in self.model.inputs])
        self.bound = self.model.bind(*self.arrays)

    def run(self):
        self.bound()

    def call(self):
        return self.model(*self.arrays)

    def callers(self, count):
        """Functions for as many threads."""
        return [self.call] * count


ENGINES = {
    "tflite-xnnpack": lambda: TfLite(True),
    "tflite-builtin": lambda: TfLite(False),
    "tflite-tenon": lambda library: TfLite(True, library),
    "openvino-f32": lambda: OpenVino("f32"),
    "openvino-bf16": lambda: OpenVino("bf16"),
    "onnxruntime": OnnxRuntime,
    "tenon-python": TenonPython,
}


def run_repeatedly(run, count, most, rest=0.0):
    """Milliseconds of each run: `count`, or fewer once `most` milliseconds have passed. A rest of so many milliseconds
    is before each."""
    clock = time.perf_counter_ns
    times = []
    begin = clock()
    for _ in range(count):
        if rest > 0.0:
            time.sleep(1e-3 * rest)
        start = clock()
        run()
        end = clock()
        times.append(1e-6 * (end - start))
        if 1e-6 * (end - begin) > most:
            break
    return times


def rate(calls, milliseconds):
    """Calls a second of all functions together, each in a thread of its own."""
    for call in calls:
        call()  # memory is allocated in it
    begin_together = threading.Barrier(len(calls))

    def repeat(call):
        begin_together.wait()
        start = time.perf_counter()
        latest = start + 1e-3 * milliseconds
        done = 0
        while time.perf_counter() < latest:
            call()
            done += 1
        return done / (time.perf_counter() - start)

    with ThreadPoolExecutor(len(calls)) as pool:
        return sum(pool.map(repeat, calls))


def main():
    name, model, threads, *files = sys.argv[1:]
    name, *library = name.split("=", 1)
    engine = ENGINES[name](*library)
    before = 0
    callers = {}  # by their number
    for line in sys.stdin:
        command, *values = line.split()
        if command == "load":
            with open("/proc/self/clear_refs", "w", encoding="ascii") as reset:
                reset.write("5")  # the peak counts from what is resident now
            before = status("VmRSS")
            start = time.perf_counter_ns()
            engine.load(model, int(threads), files)
            answer = {"init": 1e-6 * (time.perf_counter_ns() - start)}
            engine.bind(files)
        elif command in ("run", "call", "bound"):
            answer = {"ms": run_repeatedly(getattr(engine, command), int(values[0]), *map(float, values[1:]))}
        elif command == "partitions":
            answer = {"partitions": engine.partitions(model, int(threads))}
        elif command == "rate":
            count = int(values[0])
            if count not in callers:
                callers[count] = engine.callers(count)
            answer = {"calls_per_second": rate(callers[count], float(values[1]))}
        elif command == "memory":
            answer = {"peak_growth_kib": status("VmHWM") - before}
        else:
            raise ValueError(f"unknown command: {line.strip()}")
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # whatever an engine throws is the answer to the command
        sys.exit(f"{type(error).__name__}: {error}")
