#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What compiling takes: builds targets from nothing, and prints processor time by part and the dearest sources.

usage: build_times.py [--targets TARGET...] [--build FOLDER] [--jobs N] [--top 10] [--json FILE] [-D NAME=VALUE ...]
                      [--source FOLDER] [--preset release]
       build_times.py --report LOG [--top 10] [--json FILE]

The targets are what scripts/demo.sh builds (digits ExecuteNetwork) unless named; `--targets all` builds everything. The
build folder, build/times unless named, is deleted first: it has to be one of this script's or not to exist. ccache has
no part in it. -D goes to CMake: -D TENON_UNITY_BUILD=OFF shows what unity builds are worth. --source builds another
checkout, of an earlier commit for example.

Each compilation has a line in FOLDER/build_times.jsonl, from which --report prints the tables again. Seconds are
processor time, user's and system's; they grow with the number of compilations that run at once, as cores share caches
and processors their clock. Compare figures of one machine with the same --jobs.
"""
import json
import os
import sys
import time

LOG = "build_times.jsonl"
LAUNCH = "--launch"  # how CMake's rules call this script


def append(log, entry):
    """One write for one line: compilations run at once."""
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, (json.dumps(entry) + "\n").encode())
    finally:
        os.close(file)


def after(option, command):
    """The argument that follows an option of a compiler's command."""
    return command[command.index(option) + 1] if option in command[:-1] else ""


def sources_of(source):
    """How many sources a file stands for: if CMake made it for a unity build, those that it includes."""
    if "/Unity/unity_" not in source:
        return 1
    with open(source, encoding="utf-8") as file:
        return sum(line.startswith("#include") for line in file)


def launch(log, command):
    """Runs a compiler, notes in the log what it took, and returns its status."""
    import signal
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends without a traceback
    begin = time.monotonic()
    try:
        child = os.posix_spawnp(command[0], command, os.environ)
    except OSError as error:
        print(f"build_times.py: cannot run the compiler '{command[0]}': {error.strerror}", file=sys.stderr)
        return 127
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    code = code if code >= 0 else 128 - code
    object_path = after("-o", command)
    if "-c" in command and object_path:
        append(log, {"object": object_path, "source": after("-c", command),
                     "sources": sources_of(after("-c", command)),
                     "seconds": round(usage.ru_utime + usage.ru_stime, 3),
                     "wall": round(time.monotonic() - begin, 3),
                     "peak_kib": usage.ru_maxrss, "status": code, "launcher": round(time.process_time(), 3)})
    return code


if __name__ == "__main__" and sys.argv[1:2] == [LAUNCH]:  # before imports that would take time in each compilation
    sys.exit(launch(sys.argv[2], sys.argv[3:]))

import argparse  # noqa: E402
import resource  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
from pathlib import Path  # noqa: E402

from objects import bar, describe_object, table  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent


class Failure(Exception):
    """What went wrong, for the user, and the exit status."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


def read_log(log):
    """(compilations, facts of the whole build or None) of a log."""
    try:
        lines = Path(log).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"cannot read the log '{log}': {getattr(error, 'strerror', None) or error}", 2) from error
    compilations, build = {}, None
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            if "build" in entry:
                build = {key: entry["build"][key] for key in ("targets", "jobs", "cores", "wall", "processor")}
                continue
            # The last one of an object counts.
            compilations[entry["object"]] = {
                "object": str(entry["object"]), "sources": int(entry["sources"]), "seconds": float(entry["seconds"]),
                "peak_kib": int(entry["peak_kib"]), "launcher": float(entry["launcher"])}
        except (ValueError, TypeError, KeyError) as error:
            raise Failure(f"{log}:{number}: this line is not of a log of build_times.py", 2) from error
    if not compilations:
        raise Failure(f"the log '{log}' has no compilations: nothing was compiled", 2)
    return list(compilations.values()), build


def summarize(compilations, build):
    """What --json writes, and tables are made of."""
    parts, sources = {}, []
    for each in compilations:
        part, source = describe_object(each["object"])
        sources.append({"source": source, "part": part, "seconds": each["seconds"], "sources": each["sources"],
                        "peak_mib": round(each["peak_kib"] / 1024)})
        of_part = parts.setdefault(part, {"part": part, "seconds": 0.0, "sources": 0, "compilations": 0})
        of_part["seconds"] += each["seconds"]
        of_part["sources"] += each["sources"]
        of_part["compilations"] += 1
    compiling = sum(each["seconds"] for each in compilations)
    summary = {"compiling": compiling, "parts": sorted(parts.values(), key=lambda part: -part["seconds"]),
               "sources": sorted(sources, key=lambda source: -source["seconds"])}
    if build:
        # The rest of what ninja's children took; the processes of this script are no part of a build.
        launchers = sum(each["launcher"] for each in compilations)
        summary |= {**build, "others": max(0.0, build["processor"] - compiling - launchers)}
    return summary


def report(summary, top):
    """The text of the tables."""
    parts, sources = summary["parts"], summary["sources"]
    lines = []
    if "wall" in summary:
        all_seconds = summary["compiling"] + summary["others"]
        lines += [f"{' '.join(summary['targets'])}: {all_seconds:.0f} s of processor time, "
                  f"{summary['compiling']:.0f} s to compile and {summary['others']:.0f} s to link and generate; "
                  f"{summary['wall']:.0f} s of wall time with {summary['jobs']} jobs on {summary['cores']} cores."]
    else:
        lines += [f"{summary['compiling']:.0f} s of processor time to compile. The build was not finished: the tables "
                  "have the compilations until then."]
    compiling = max(summary["compiling"], 1e-9)
    most = max(part["seconds"] for part in parts)
    lines += ["", *table(["Part", "Seconds", "Share", "Sources", "Compilations", ""],
                         [[part["part"], f"{part['seconds']:.1f}", f"{100 * part['seconds'] / compiling:.1f} %",
                           part["sources"], part["compilations"], bar(part["seconds"], most)] for part in parts])]
    dearest = sources[:top]
    lines += ["", f"The dearest {len(dearest)} of {len(sources)} compilations:", ""]
    lines += table(["Source", "Seconds", "Sources", "Peak MiB", ""],
                   [[source["source"], f"{source['seconds']:.1f}", source["sources"], source["peak_mib"],
                     bar(source["seconds"], dearest[0]["seconds"])] for source in dearest])
    return "\n".join(lines)


def prepare(build):
    """Makes the build folder empty, if that deletes nothing but an earlier build of this script."""
    if build.is_dir() and any(build.iterdir()) and not (build / LOG).is_file():
        raise Failure(f"'{build}' was not made by this script, which would delete it; name another folder with "
                      "--build", 2)
    try:
        if build.is_dir():
            shutil.rmtree(build)
        build.mkdir(parents=True)
        (build / LOG).touch()
    except OSError as error:
        raise Failure(f"cannot make the build folder '{build}': {error.strerror}", 2) from error


def build_targets(arguments):
    """Builds, and returns the log's path."""
    for program in ("cmake", "ninja"):
        if not shutil.which(program):
            raise Failure(f"there is no {program}; scripts/setup.sh installs what the build needs", 2)
    if not (arguments.source / "CMakePresets.json").is_file():
        raise Failure(f"'{arguments.source}' has no CMakePresets.json; --source names a checkout of Tenon", 2)
    build = arguments.build.resolve()
    prepare(build)
    log = build / LOG
    launcher = ";".join([sys.executable, "-I", "-S", str(Path(__file__).resolve()), LAUNCH, str(log)])
    environment = {**os.environ, "CCACHE_DISABLE": "1"}  # where the compiler's own name is ccache's
    configure = subprocess.run(
        ["cmake", "--preset", arguments.preset, "-B", str(build), "--no-warn-unused-cli",
         *(f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX")),
         *(f"-D{definition}" for definition in arguments.define)],
        cwd=arguments.source, env=environment, check=False)
    if configure.returncode:
        raise Failure(f"cmake cannot configure '{arguments.source}' (its status is {configure.returncode})",
                      configure.returncode)
    log.write_text("")  # without what configuring compiled
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    built = subprocess.run(["ninja", "-C", str(build), "-j", str(arguments.jobs), *arguments.targets], env=environment,
                           check=False)
    spent, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    if built.returncode:
        raise Failure(f"the build of {' '.join(arguments.targets)} failed (ninja's status is {built.returncode}); "
                      f"'{log}' has the compilations until then", built.returncode)
    append(log, {"build": {
        "targets": arguments.targets, "jobs": arguments.jobs, "cores": len(os.sched_getaffinity(0)),
        "wall": round(wall, 3),
        "processor": round(spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime, 3)}})
    return log


def at_least_one(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def parse(arguments):
    parser = argparse.ArgumentParser(description="What compiling takes, by part, and the dearest sources.")
    parser.add_argument("--targets", nargs="+", default=["digits", "ExecuteNetwork"], metavar="TARGET",
                        help="what to build; 'all' for everything (default: what scripts/demo.sh builds)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "times", metavar="FOLDER",
                        help="build folder, deleted first (default: build/times)")
    parser.add_argument("--jobs", type=at_least_one, default=len(os.sched_getaffinity(0)), metavar="N",
                        help="compilations at once (default: as many as there are cores)")
    parser.add_argument("--top", type=at_least_one, default=10, metavar="N",
                        help="how many sources to list (default: 10)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to a file")
    parser.add_argument("-D", "--define", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable for CMake")
    parser.add_argument("--source", type=Path, default=ROOT, metavar="FOLDER", help="the checkout (default: this one)")
    parser.add_argument("--preset", default="release", help="CMake preset (default: release)")
    parser.add_argument("--report", type=Path, metavar="LOG", help="build nothing, print the tables of a log")
    return parser.parse_args(arguments)


def main():
    arguments = parse(sys.argv[1:])
    try:
        summary = summarize(*read_log(arguments.report or build_targets(arguments)))
        if arguments.json:
            try:
                arguments.json.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
            except OSError as error:
                raise Failure(f"cannot write '{arguments.json}': {error.strerror}", 2) from error
    except Failure as failure:
        print(f"build_times.py: {failure}", file=sys.stderr)
        return failure.status
    print(report(summary, arguments.top))
    return 0


if __name__ == "__main__":
    sys.exit(main())
