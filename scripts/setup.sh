#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Tenon is built and tested with: packages of Debian 12, by apt. Asks for nothing, and returns at once when
# everything is there. Called by scripts/demo.sh and scripts/test.sh; may be run by hand.
#
# usage: scripts/setup.sh [--tests] [--python] [--onnx] [--cross aarch64|armhf] [--emulator]
#   --tests   also installs Python with venv, for the tests of the Python package
#   --python  also makes build/venv with numpy, for Python tools that compare outputs
#   --onnx    the same with the package onnx, which has ONNX's own tests
#   --cross   also installs what the preset of that name builds and runs with: Debian's cross compiler, qemu-user, and
#             the libraries of that machine beside those of this one
#   --emulator  also installs what scripts/test_avx512.sh boots a machine in: Bochs, and what makes a disc for it
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"

packages=(
    build-essential         # the compiler, g++ 12
    cmake                   # 3.25
    ninja-build             # the presets' generator
    ccache                  # repeated builds
    pkg-config              # finds OpenBLAS
    libfmt-dev              # texts of messages
    libspdlog-dev           # logging
    libeigen3-dev           # half, bfloat16
    libhwy-dev              # Highway: vector code of CpuAcc, for each kind of processor
    libxxhash-dev           # hashes of constants, for files of packed weights
    libopenblas-dev         # the benchmarks' yardstick for float matrix products
    flatbuffers-compiler    # flatc: the C++ header of the .tflite schema
    libflatbuffers-dev      # reads .tflite
    libprotozero-dev        # reads .onnx
    libcli11-dev            # options of programs
    nlohmann-json3-dev      # JSON files that programs read
    libstb-dev              # PNG, JPEG, BMP
    libgtest-dev            # tests
    libgmock-dev            # tests
    libbenchmark-dev        # benchmarks
)
python_packages=(python3 python3-venv)
# Of those above, what has code of the machine in it. The rest is headers and programs: the host's serve.
library_packages=(libfmt-dev libspdlog-dev libgtest-dev libgmock-dev)
emulator_packages=(bochs bochs-term bochsbios vgabios genisoimage isolinux syslinux-common cpio)

with_python=false
with_onnx=false
cross=
while [ $# -gt 0 ]; do
    case "$1" in
    --python) with_python=true ;;
    --onnx) with_python=true with_onnx=true ;;
    --tests) packages+=("${python_packages[@]}") ;;
    --emulator) packages+=("${emulator_packages[@]}") ;;
    --cross)
        cross=${2-}
        shift
        case "$cross" in
        aarch64) architecture=arm64 compiler=g++-aarch64-linux-gnu ;;
        armhf) architecture=armhf compiler=g++-arm-linux-gnueabihf ;;
        *)
            echo "setup.sh: --cross takes aarch64 or armhf" >&2
            exit 2
            ;;
        esac
        ;;
    *)
        echo "setup.sh: unknown argument '$1'; there are --tests, --python, --onnx, --cross aarch64|armhf and" \
            "--emulator" >&2
        exit 2
        ;;
    esac
    shift
done
if $with_python; then
    packages+=("${python_packages[@]}")
fi
if [ -n "$cross" ]; then
    packages+=("$compiler" qemu-user "${library_packages[@]/%/:$architecture}")
fi

# is_installed PACKAGE[:ARCHITECTURE]: for this machine unless it says otherwise. A package may be there for several.
is_installed() {
    local name=${1%%:*} of=$native
    if [ "$name" != "$1" ]; then
        of=${1#*:}
    fi
    dpkg-query --show --showformat='${Architecture} ${db:Status-Status}\n' "$name" 2>/dev/null |
        grep --extended-regexp --line-regexp "(all|$of) installed" >/dev/null
}

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup.sh: no apt here, so nothing was installed. The build needs these packages, whatever their names here:" >&2
    echo "  ${packages[*]}" >&2
else
    native=$(dpkg --print-architecture)
    missing=()
    for package in "${packages[@]}"; do
        if ! is_installed "$package"; then
            missing+=("$package")
        fi
    done
    if [ ${#missing[@]} -gt 0 ]; then
        as_root=()
        if [ "$(id -u)" -ne 0 ]; then
            if ! command -v sudo >/dev/null; then
                echo "setup.sh: these packages are missing, and installing them takes root or sudo:" >&2
                if [ -n "$cross" ]; then
                    echo "  dpkg --add-architecture $architecture && apt-get update" >&2
                fi
                echo "  apt-get install ${missing[*]}" >&2
                exit 1
            fi
            as_root=(sudo)
        fi
        if [ -n "$cross" ] && ! { echo "$native" && dpkg --print-foreign-architectures; } |
            grep --line-regexp "$architecture" >/dev/null; then
            echo "Letting packages of $architecture be installed beside those of $native"
            "${as_root[@]}" dpkg --add-architecture "$architecture"
        fi
        echo "Installing ${missing[*]}"
        apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet
            -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o APT::Update::Error-Mode=any)
        "${apt[@]}" update
        "${apt[@]}" install --yes --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
    fi
fi

if $with_python; then
    venv="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/venv"
    if ! "$venv/bin/python" -c 'import numpy' 2>/dev/null; then
        echo "Making $venv with numpy"
        python3 -m venv --clear "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check 'numpy>=1.24,<3'
    fi
    if $with_onnx && ! "$venv/bin/python" -c 'import onnx' 2>/dev/null; then
        echo "Putting onnx into $venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check 'onnx==1.23.2'
    fi
fi
