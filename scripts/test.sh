#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs all tests: by ctest, then, of the presets release and debug without options, those of the
# Python package and of the TensorFlow Lite delegate.
#
# usage: scripts/test.sh [PRESET [CTEST OPTION...]]
#   PRESET  release (the default), debug, asan (AddressSanitizer and UBSan) or tsan (ThreadSanitizer);
#           aarch64 or armhf, which are cross-built and run by qemu-user
#   e.g.    scripts/test.sh asan -R parsers
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset="${1:-release}"
shift || true
case "$preset" in
release | debug) setup=(--tests) ;;
asan | tsan) setup=() ;;
aarch64 | armhf) setup=(--cross "$preset") ;;
*)
    echo "test.sh: there is no preset '$preset'; choose release, debug, asan, tsan, aarch64 or armhf" >&2
    exit 2
    ;;
esac

scripts/setup.sh "${setup[@]}"
with_python=false
if [[ ($preset == release || $preset == debug) && $# -eq 0 ]]; then
    with_python=true
    # Downloads, while compilers have the cores. The scripts repeat what fails here, and say so.
    { scripts/test_python.sh --install || true && scripts/test_delegate.sh --install; } >/dev/null 2>&1 &
    install=$!
fi
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" --parallel "$(nproc)" "$@"
if $with_python; then
    wait "$install" || true
    # One core each: the second one's output follows when both have ended.
    output=$(mktemp)
    scripts/test_delegate.sh "build/$preset" >"$output" 2>&1 &
    delegate=$!
    trap 'kill "$delegate" 2>/dev/null || true; rm -f "$output"' EXIT
    status=0
    scripts/test_python.sh "build/$preset" || status=$?
    wait "$delegate" || status=$?
    cat "$output"
    exit "$status"
fi
