#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs a wheel that scripts/build_wheel.sh made, and runs the tests of the Python package with it, and those of its
# delegate for TensorFlow Lite where ai-edge-litert can be had. A wheel for 64-bit Arm runs in qemu-user on other
# machines, with Debian's Python for Arm, and there the tests of the package that start no process.
#
# usage: scripts/test_wheel.sh WHEEL [PYTEST OPTION...]
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# < 1)) || [[ ! -f $1 ]]; then
    echo "test_wheel.sh: '${1-}' is no file; usage: scripts/test_wheel.sh WHEEL [PYTEST OPTION...]" >&2
    exit 2
fi
wheel=$1
shift
unset TENON_LIBRARY PYTHONPATH
tools=(pytest hypothesis ml_dtypes griffe libclang pillow)

if [[ $wheel != *aarch64.whl || $(uname -m) == aarch64 ]]; then
    scripts/setup.sh --tests
    venv=build/venv-of-wheel
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$wheel" "${tools[@]}"
    "$venv/bin/python" -m tenon --version
    "$venv/bin/python" -m pytest -q "$@"
    if ! "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: ai-edge-litert==2.3.0; then
        echo "test_wheel.sh: PyPI has no ai-edge-litert for this Python; the tests of the delegate are skipped" >&2
        exit
    fi
    TENON_DELEGATE=$("$venv/bin/python" -c 'import tenon; print(tenon.delegate_path())')
    export TENON_DELEGATE
    "$venv/bin/python" -m pytest -q tests/delegate/python "$@"
    exit
fi

scripts/setup.sh --cross aarch64
root=$PWD/build/wheel-aarch64/root
packages=(libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libffi8 libbz2-1.0 liblzma5 libssl3 libcrypt1 libuuid1
    libpython3.11-minimal libpython3.11-stdlib python3.11-minimal)
if [[ ! -x $root/usr/bin/python3.11 ]]; then
    mkdir -p "$root/packages"
    # As root, apt warns that its own user cannot write into the folder.
    (cd "$root/packages" && apt-get --quiet --quiet download "${packages[@]/%/:arm64}" 2>/dev/null)
    for package in "$root"/packages/*.deb; do
        dpkg --extract "$package" "$root"
    done
fi
site=$root/site
rm -rf "$site"
python3 -m venv build/venv-of-wheel
build/venv-of-wheel/bin/pip install --quiet --disable-pip-version-check --target "$site" --only-binary :all: \
    --implementation cp --python-version 3.11 --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
    --platform manylinux2014_aarch64 "$wheel" numpy pytest hypothesis
python=(qemu-aarch64 -L "$root" -E "PYTHONPATH=$site" -E PYTHONDONTWRITEBYTECODE=1 "$root/usr/bin/python3.11")
"${python[@]}" -c 'import platform, tenon; print("Tenon", tenon.__version__, platform.machine())'
# qemu keeps its translations, so that the memory of the process tells nothing of the package's; the other test starts a
# process.
"${python[@]}" -m pytest -q python/tests/test_arrays.py python/tests/test_model.py python/tests/test_network.py \
    --deselect python/tests/test_model.py::test_memory_does_not_grow \
    --deselect python/tests/test_network.py::test_records_go_to_the_logger "$@"
