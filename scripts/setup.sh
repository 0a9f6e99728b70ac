#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Tenon is built and tested with: packages of Debian 12, by apt. Asks for nothing, and returns at once when
# everything is there. Called by scripts/demo.sh and scripts/test.sh; may be run by hand.
#
# usage: scripts/setup.sh [--python]
#   --python  also makes build/venv with numpy, for Python tools that compare outputs
set -euo pipefail

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
    libopenblas-dev         # float matrix products of CpuAcc: the header, and the library, loaded at run time
    flatbuffers-compiler    # flatc: the C++ header of the .tflite schema
    libflatbuffers-dev      # reads .tflite
    libcli11-dev            # ExecuteNetwork's options
    libstb-dev              # PNG, JPEG, BMP
    libgtest-dev            # tests
    libgmock-dev            # tests
    libbenchmark-dev        # benchmarks
)
python_packages=(python3 python3-venv)

with_python=false
for argument in "$@"; do
    case "$argument" in
    --python) with_python=true ;;
    *)
        echo "setup.sh: unknown argument '$argument'; the only one is --python" >&2
        exit 2
        ;;
    esac
done
if $with_python; then
    packages+=("${python_packages[@]}")
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup.sh: no apt here, so nothing was installed. The build needs these packages, whatever their names here:" >&2
    echo "  ${packages[*]}" >&2
else
    missing=()
    for package in "${packages[@]}"; do
        if [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
            missing+=("$package")
        fi
    done
    if [ ${#missing[@]} -gt 0 ]; then
        as_root=()
        if [ "$(id -u)" -ne 0 ]; then
            if ! command -v sudo >/dev/null; then
                echo "setup.sh: these packages are missing, and installing them takes root or sudo:" >&2
                echo "  apt-get install ${missing[*]}" >&2
                exit 1
            fi
            as_root=(sudo)
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
fi
