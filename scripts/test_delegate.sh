#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a build's libtenonDelegate.so in two runtimes from PyPI: ai-edge-litert in build/venv-litert, and the
# oldest tflite-runtime that installs in build/venv-tflite. One that cannot be had is skipped with a line.
#
# usage: scripts/test_delegate.sh [BUILD [PYTEST OPTION...]]     BUILD: default build/release
#        scripts/test_delegate.sh --install     installs the runtimes and runs nothing
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build="${1:-build/release}"
shift || true
if [[ $(getconf LONG_BIT) != 64 ]]; then
    echo "test_delegate.sh: there is no delegate for machines of 32 bits; its tests are skipped" >&2
    exit 0
fi
if [[ $build != --install && ! -e $build/lib/libtenonDelegate.so ]]; then
    echo "test_delegate.sh: there is no $build/lib/libtenonDelegate.so; build it first: cmake --build --preset release" >&2
    exit 1
fi
library=$(realpath -s -- "$build/lib/libtenon.so")
delegate=$(realpath -s -- "$build/lib/libtenonDelegate.so")

# in_runtime VENV PACKAGE... [-- PYTEST OPTION...]: the first package is the runtime.
in_runtime() {
    local venv=build/$1 runtime=$2 packages=() python
    shift
    while [[ $# -gt 0 && $1 != -- ]]; do
        packages+=("$1")
        shift
    done
    shift
    if [[ ! -x $venv/bin/pip ]] && ! python3 -m venv "$venv"; then
        echo "test_delegate.sh: there is no Python 3 with venv (scripts/setup.sh --tests); the tests of the delegate in" \
            "$runtime are skipped" >&2
        return
    fi
    if ! "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "${packages[@]}" pytest; then
        python=$("$venv/bin/python" -c 'import platform; print(platform.python_version(), platform.machine())')
        echo "test_delegate.sh: PyPI cannot be reached, or has no $runtime for Python $python; the tests of the delegate" \
            "in it are skipped" >&2
        return
    fi
    if [[ $build == --install ]]; then
        return
    fi
    echo "The delegate in $runtime"
    TENON_DELEGATE=$delegate TENON_LIBRARY=$library PYTHONPATH=python \
        "$venv/bin/python" -m pytest -q -rs tests/delegate/python "$@"
}

in_runtime venv-litert ai-edge-litert==2.3.0 'numpy<3' pillow -- "$@"
in_runtime venv-tflite tflite-runtime==2.14.0 'numpy<2' pillow -- "$@"
