#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs all tests. Ends with ctest's summary and its status.
#
# usage: scripts/test.sh [PRESET [CTEST OPTION...]]
#   PRESET  release (the default), debug, asan (AddressSanitizer and UBSan) or tsan (ThreadSanitizer)
#   e.g.    scripts/test.sh asan -R parsers
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset="${1:-release}"
shift || true
case "$preset" in
release | debug | asan | tsan) ;;
*)
    echo "test.sh: there is no preset '$preset'; choose release, debug, asan or tsan" >&2
    exit 2
    ;;
esac

scripts/setup.sh
cmake --preset "$preset"
cmake --build --preset "$preset"
ctest --preset "$preset" --parallel "$(nproc)" "$@"
