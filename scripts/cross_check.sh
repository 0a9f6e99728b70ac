#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Cross-builds libtenon and ExecuteNetwork for Windows on x86-64 or macOS on arm64 with PyPI's package ziglang, and looks
# at what the library exports. It runs nothing of what it builds, but for --wine.
#
# usage: scripts/cross_check.sh windows|macos [--wine]
#   --wine   (windows) also runs the program under Wine, which must be installed: its help, and a model
#   JOBS in the environment: how many compilers run at once; default: one for each core
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

system="${1-}"
case "$system" in
windows) library=bin/tenon.dll program=bin/ExecuteNetwork.exe ;;
macos) library=lib/libtenon.dylib program=bin/ExecuteNetwork ;;
*)
    echo "cross_check.sh: '$system' is no system that it knows; there are windows and macos" >&2
    exit 2
    ;;
esac
with_wine=false
if [ "${2-}" = --wine ] && [ "$system" = windows ]; then
    with_wine=true
elif [ $# -gt 1 ]; then
    echo "cross_check.sh: unknown argument '$2'; there is --wine, for windows" >&2
    exit 2
fi

scripts/setup.sh
tools=(llvm-nm llvm-readobj)
if $with_wine; then
    tools+=(wine)
fi
for tool in "${tools[@]}"; do
    if ! command -v "$tool" >/dev/null; then
        echo "cross_check.sh: there is no $tool; on Debian: apt-get install llvm wine64 wine" >&2
        exit 1
    fi
done

venv=build/venv-zig
if [ ! -e "$venv/bin/pip" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check 'ziglang==0.17.1'
TENON_ZIG="$("$venv/bin/python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')"
export TENON_ZIG

build="build/$system"
cmake --preset "$system"
cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target tenon ExecuteNetwork

# list_exports: the functions of the C interface among what the library exports.
list_exports() {
    if [ "$system" = windows ]; then
        llvm-readobj --coff-exports "$build/$library" | sed -n 's/^ *Name: //p'
    else
        llvm-nm --extern-only --defined-only --format=just-symbols "$build/$library" | sed -n 's/^_//p'
    fi | grep '^tenon_' | sort
}
if ! diff <(grep '^tenon_' tests/package/c_symbols.txt | sort) <(list_exports); then
    echo "cross_check.sh: $build/$library exports other functions (>) than tests/package/c_symbols.txt lists (<)" >&2
    exit 1
fi
echo "$build/$library exports the $(list_exports | wc -l) functions of the C interface."
llvm-readobj --needed-libs "$build/$library" "$build/$program"

if $with_wine; then
    WINEDEBUG=-all wine "$build/$program" --help >/dev/null
    WINEDEBUG=-all wine "$build/$program" --model-path samples/digits/digits_int8.tflite \
        --input-tensor-data samples/digits/seven.png
fi
