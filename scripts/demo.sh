#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds what the demo needs, and lets the bundled network read handwritten digits: a few of them with the
# picture, then all 360 that it has never seen. Fails if it reads fewer than 97% of them.
#
# usage: scripts/demo.sh [PICTURE...]
#   PICTURE  PNG, JPEG or BMP files with one light digit on a dark ground each, to be read as well
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"

pictures=()
for picture in "$@"; do
    if [ ! -f "$picture" ]; then
        echo "demo.sh: there is no file '$picture'" >&2
        exit 2
    fi
    pictures+=("$(realpath "$picture")")
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
digits=samples/digits
bin=build/release/bin

scripts/setup.sh
cmake --preset release
cmake --build --preset release --target digits ExecuteNetwork
echo
"$bin/digits" "$digits"

# A picture in a file goes through ExecuteNetwork, which is how any model is run without writing a program.
if [ ${#pictures[@]} -eq 0 ]; then
    pictures=("$digits/seven.png")
fi
for picture in "${pictures[@]}"; do
    command=("$bin/ExecuteNetwork" -m "$digits/digits_int8.tflite" -c CpuAcc,CpuRef -d "$picture"
        --labels "$digits/labels.txt" --top-k 3)
    printf '\n$ %s\n' "${command[*]}"
    "${command[@]}"
done
