# SPDX-License-Identifier: Apache-2.0
"""Importing, pickling, other processes, the interpreter's end, the command line."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig

import numpy as np
import pytest
from conftest import DIGITS, ROOT, one_layer, run_python

import tenon

MODEL = DIGITS / "digits_float.tflite"
X = np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 8, 8, 1)


def test_import_loads_neither_numpy_nor_the_library():
    program = """
import sys
import tenon
assert "numpy" not in sys.modules
assert "ctypes" not in sys.modules
model = tenon.Model(sys.argv[1])
assert model.inputs[0].shape == (1, 8, 8, 1)
print("numpy" in sys.modules)
"""
    assert run_python(program, MODEL) == "False\n"


def test_loading_a_model_imports_neither_typing_nor_logging():
    """Together they would take twice as long as all else."""
    program = """
import sys
before = set(sys.modules)
import tenon
tenon.Model(sys.argv[1])
print(sorted({"typing", "logging", "enum", "re", "contextlib", "numpy"} & (set(sys.modules) - before)))
"""
    assert run_python(program, MODEL) == "[]\n"


def test_warnings_are_records_where_logging_was_not_imported_before():
    program = """
import sys
import tenon
sys.stderr = sys.stdout
network = tenon.Network()
network.add_output(network.add_layer("Floor", network.add_input("x", (1,))))
before = "logging" in sys.modules
tenon.Model(network, backends=["Npu", "CpuRef"])
print(before, "logging" in sys.modules)
import logging
logging.getLogger("tenon").setLevel(logging.INFO)
logging.getLogger("tenon").addHandler(logging.StreamHandler(sys.stdout))
tenon.Model(network, backends=["Npu", "CpuRef"])
"""
    first, imported, second = run_python(program).splitlines()
    assert imported == "False True"
    for line in (first, second):
        assert line.startswith("backend 'Npu' is not there and is passed over")


def test_all_names_are_there():
    for name in tenon.__all__:
        assert getattr(tenon, name).__doc__
        assert name in dir(tenon)
    assert {*tenon.__all__} == {*tenon._MODULE_OF, "enums", "errors"}
    assert tenon.enums.DataType.Float32 == 1
    with pytest.raises(AttributeError, match="has no attribute 'Colour'"):
        _ = tenon.Colour


def test_version_is_that_of_the_headers():
    text = (ROOT / "include/tenon/Version.hpp").read_text()
    assert f'"{tenon.__version__}"' in text


def test_enums_are_those_of_the_headers():
    written = subprocess.run(
        [sys.executable, ROOT / "scripts/python_enums.py", "--print"], check=True, capture_output=True, text=True
    ).stdout
    assert written == (ROOT / "python/tenon/enums.py").read_text(), "run scripts/python_enums.py"


@pytest.mark.parametrize("value", ["/no/such/libtenon.so", str(MODEL)])
def test_a_library_that_cannot_be_loaded(monkeypatch, value):
    monkeypatch.setenv("TENON_LIBRARY", value)
    program = """
import tenon
try:
    tenon.Model
except ImportError as error:
    print(type(error).__name__, error)
"""
    text = run_python(program)
    assert text.startswith("LibraryNotFoundError libtenon.so cannot be loaded; set TENON_LIBRARY")
    assert value in text


def test_another_library_is_refused(monkeypatch):
    found = [path for path in (sysconfig.get_config_var("LIBDIR"), "/lib/x86_64-linux-gnu") if path]
    other = next((os.path.join(path, "libm.so.6") for path in found if os.path.exists(f"{path}/libm.so.6")), None)
    if other is None:
        pytest.skip("no libm.so.6 was found")
    monkeypatch.setenv("TENON_LIBRARY", other)
    assert "has no tenon_version" in run_python("import tenon\ntry:\n tenon.Model\nexcept ImportError as e: print(e)")


@pytest.mark.parametrize("source", ["path", "bytes"])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_a_model(source, protocol):
    model = tenon.Model(
        MODEL if source == "path" else MODEL.read_bytes(), backends=["CpuRef"], threads=1, options={"profiling": True}
    )
    again = pickle.loads(pickle.dumps(model, protocol))
    np.testing.assert_array_equal(again(X), model(X))
    assert {layer["backend"] for layer in again.assignment()} == {"CpuRef"}
    assert again.profile()


def test_a_pickled_model_finds_its_file_from_another_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(DIGITS)
    data = pickle.dumps(tenon.Model("digits_float.tflite"))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(data)(X).shape == (1, 10)


def test_copies_are_loaded_anew():
    model = tenon.Model(MODEL, threads=1)
    for again in (copy.copy(model), copy.deepcopy(model)):
        assert again is not model
        np.testing.assert_array_equal(again(X), model(X))


def test_pickling_what_describes_models():
    info = tenon.TensorInfo((1, None), "int8", name="x", quantization=tenon.Quantization([1, 2], [3, 4], axis=1))
    assert pickle.loads(pickle.dumps(info)) == info
    runtime = pickle.loads(pickle.dumps(tenon.Runtime(limits={"max_rank": 6})))
    assert "CpuAcc" in runtime.backends
    model = pickle.loads(pickle.dumps(tenon.Model(MODEL, runtime=tenon.Runtime())))
    assert model(X).shape == (1, 10)
    for error in (tenon.NotFoundError("gone"), tenon.DTypeError("other"), tenon.Error("why")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))


def _call(arguments):
    model, x = arguments
    return model(x)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_are_started_anew(method):
    context = multiprocessing.get_context(method)
    model = tenon.Model(MODEL, threads=1)
    with context.Pool(2) as pool:
        results = pool.map(_call, [(model, X)] * 4)
    for result in results:
        np.testing.assert_array_equal(result, model(X))


FORK = """
import os, sys, threading
import numpy as np
import tenon

x = np.zeros((1, 8, 8, 1), np.float32)
model = tenon.Model(sys.argv[1])
expected = model(x)
session, bound, network = model.session(), model.bind(x), tenon.Network()
cancellation = tenon.Cancellation()
future = model.run_async(x)
future.result()
busy = threading.Thread(target=lambda: [model(x) for _ in range(2000)])
busy.start()
child = os.fork()
if child == 0:
    uses = [
        lambda: model(x),
        lambda: model.run(x),
        lambda: session(x),
        bound,
        model.reset,
        session.reset,
        model.assignment,
        lambda: model.bind(x),
        lambda: model.run_async(x).result(),
        lambda: network.add_input("x", (1,)),
        lambda: tenon.Model(network),
        cancellation.cancel,
    ]
    for use in uses:
        try:
            use()
        except tenon.ForkedError as error:
            assert "load the model in the child" in str(error)
        else:
            os._exit(2)
    again = tenon.Model(sys.argv[1])
    if not np.array_equal(again(x), expected) or not np.array_equal(again.run_async(x).result(), expected):
        os._exit(3)
    del model, session, bound, network, again
    sys.exit(0)
_, status = os.waitpid(child, 0)
busy.join()
assert np.array_equal(model(x), expected)
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_loads_models_anew():
    lines = run_python("import warnings; warnings.simplefilter('ignore')\n" + FORK, MODEL)
    assert lines == "0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forked_workers_that_load_their_models():
    program = """
import multiprocessing, sys, warnings
import numpy as np
import tenon
warnings.simplefilter("ignore")
def work(path):
    return tenon.Model(path)(np.zeros((1, 8, 8, 1), np.float32)).shape
tenon.Model(sys.argv[1])(np.zeros((1, 8, 8, 1), np.float32))
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, [sys.argv[1]] * 4) == [(1, 10)] * 4)
"""
    assert run_python(program, MODEL) == "True\n"


EXITS = {
    "live models": "",
    "a session and a bound run": "keep = [model.session(), model.bind(x)]",
    "a cycle": "model.itself = model",
    "a run that is under way": "future = model.run_async(x)",
    "a daemon thread that runs": """
import threading
threading.Thread(target=lambda: [model(x) for _ in range(10**9)], daemon=True).start()
""",
    "an operator": """
network = tenon.Network()
custom = tenon.Operator("Mine", lambda layer, i, o: o[0].fill(1), lambda layer: layer.inputs[0].shape)
value = network.add_custom(custom, network.add_input("x", (1,)), outputs=[tenon.TensorInfo((1,))])
network.add_output(value)
mine = tenon.Model(network)
mine(np.zeros(1, np.float32))
""",
    "daemon threads whose runs call back": """
import threading
network = tenon.Network()
custom = tenon.Operator("Mine", lambda layer, i, o: o[0].fill(1), lambda layer: layer.inputs[0].shape)
value = network.add_custom(custom, network.add_input("x", (1,)), outputs=[tenon.TensorInfo((1,))])
network.add_output(value)
mine = tenon.Model(network)
def run(give):
    while True:
        give()
ones = [np.ones(n, np.float32) for n in (1, 2, 3)]
bound = mine.bind(ones[0])
for give in (lambda: mine(ones[0]), lambda: [mine(x) for x in ones], bound, lambda: tenon.Model(network)):
    threading.Thread(target=run, args=(give,), daemon=True).start()
import time
time.sleep(0.1)
""",
    "a daemon thread whose run has no end": """
import threading, time
condition, body, network = tenon.Network(), tenon.Network(), tenon.Network()
a = condition.add_input("a", (1,))
equal = {"Operation": tenon.enums.ComparisonOperation.Equal}
condition.add_output(condition.add_layer("Comparison", a, a, attributes=equal))
custom = tenon.Operator("Mine", lambda layer, i, o: o[0].fill(1), lambda layer: layer.inputs[0].shape)
body.add_output(body.add_custom(custom, body.add_input("a", (1,)), outputs=[tenon.TensorInfo((1,))]))
network.add_output(network.add_while(condition, body, network.add_input("x", (1,))))
endless = tenon.Model(network, runtime=tenon.Runtime(limits={"max_loop_iterations": 2**64 - 1}))
threading.Thread(target=endless, args=(np.ones(1, np.float32),), daemon=True).start()
time.sleep(0.1)
""",
    "use at exit": """
import atexit
atexit.register(lambda: model(x))
""",
    "use in a destructor": """
class Late:
    def __init__(self): self.model, self.x = model, x
    def __del__(self): self.model(self.x)
late = Late()
""",
}


@pytest.mark.parametrize("case", EXITS)
def test_the_interpreter_ends_with_live_models(case):
    program = f"""
import sys
import numpy as np
import tenon
x = np.zeros((1, 8, 8, 1), np.float32)
model = tenon.Model(sys.argv[1])
model(x)
{EXITS[case]}
print("done")
"""
    assert run_python(program, MODEL, is_silent=case != "use in a destructor") == "done\n"


def test_objects_that_are_not_copied_or_pickled():
    model = one_layer((1,))
    bound, session = model.bind(np.ones(1, np.float32)), model.session()
    for value in (bound, session, tenon.Cancellation()):
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(pickle.PicklingError, match="is not copied or pickled: "):
                copied(value)
    bound()
    assert session(np.ones(1, np.float32)).tolist() == [1]


def test_handles_that_were_never_made():
    from tenon import _ffi

    _ffi.Handle.__new__(_ffi.Handle).__del__()


def ends_in_an_operator(body, end=""):
    """A program that ends while a daemon thread is in an operator that has no end."""
    indented = body.replace("\n", "\n    ")
    program = f"""
import sys, threading, time
import numpy as np
import tenon
def run(layer, inputs, outputs):
    {indented}
network = tenon.Network()
x = network.add_input("x", (1,))
custom = tenon.Operator("Endless", run, lambda layer: (1,))
network.add_output(network.add_custom(custom, x, outputs=[tenon.TensorInfo((1,))]))
model = tenon.Model(network)
threading.Thread(target=model, args=(np.zeros(1, np.float32),), daemon=True).start()
time.sleep(0.2)
sys.stdout.write("done")
{end}
"""
    return subprocess.run(
        [sys.executable, "-c", program],
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_interpreter_ends_operators_that_run_on():
    done = ends_in_an_operator("while True:\n    sum(range(1000))", "sys.exit(3)")
    assert (done.returncode, done.stdout, done.stderr) == (3, "done", "")


def test_the_process_ends_where_an_operator_cannot_be_ended():
    done = ends_in_an_operator(
        "while True:\n    try:\n        while True:\n            sum(range(1000))\n    except BaseException:\n        pass"
    )
    assert (done.returncode, done.stdout) == (1, "done")
    assert done.stderr.startswith("tenon: an operator still runs in a daemon thread")


def test_the_interpreter_ends_while_messages_are_written():
    program = """
import logging, sys, threading
import tenon
logging.basicConfig(level=1, stream=open("/dev/null", "w"))
def load():
    while True:
        tenon.Model(sys.argv[1], backends=["Npu", "CpuRef"])
for _ in range(3):
    threading.Thread(target=load, daemon=True).start()
import time
time.sleep(0.3)
print("done")
"""
    assert run_python(program, MODEL) == "done\n"


def test_the_command_line_is_execute_network(tmp_path):
    """The module finds the program on the search path where the package has none."""
    program = tmp_path / "ExecuteNetwork"
    program.write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 3\n')
    program.chmod(0o755)
    environment = dict(
        os.environ, PATH=f"{tmp_path}:{os.environ['PATH']}", PYTHONPATH=os.pathsep.join(p for p in sys.path if p)
    )
    package = os.path.dirname(tenon.__file__)
    if os.path.exists(os.path.join(package, "bin")):
        copied = tmp_path / "copied/tenon"
        shutil.copytree(package, copied, ignore=shutil.ignore_patterns("bin", "lib"))
        environment["PYTHONPATH"] = str(copied.parent)
    done = subprocess.run(
        [sys.executable, "-m", "tenon", "-m", "a b.tflite", "--x=1"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("-m|a b.tflite|--x=1|", 3)
    environment["PATH"] = ""
    done = subprocess.run([sys.executable, "-m", "tenon"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "install the wheel of tenon" in done.stderr


def test_floor_runs_in_the_first_call_of_a_fresh_thread():
    """Nothing depends on the thread that loaded the model."""
    import threading

    model, results = one_layer((1,)), []
    thread = threading.Thread(target=lambda: results.append(model(np.full(1, 1.5, np.float32))))
    thread.start()
    thread.join()
    assert results[0].tolist() == [1]
