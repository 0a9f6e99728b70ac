#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes tenon-<version>-linux-<machine>.tar.gz, for C and C++: headers, libraries, files for CMake and pkg-config,
# ExecuteNetwork and tenon-evaluate. It may be unpacked anywhere. fmt and spdlog are inside; it runs on Linux with this system's glibc and
# libstdc++ or later ones. Prints its path.
#
# usage: scripts/build_sdk.sh [--out DIR]     DIR: default build/dist
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/help.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=build/dist
if [[ $# -eq 2 && $1 == --out ]]; then
    out=$2
elif [[ $# -eq 1 && $1 == --out ]]; then
    echo "build_sdk.sh: --out needs a folder; usage: scripts/build_sdk.sh [--out DIR]" >&2
    exit 2
elif (($#)); then
    echo "build_sdk.sh: unknown arguments '$*'; usage: scripts/build_sdk.sh [--out DIR]" >&2
    exit 2
fi

scripts/setup.sh >&2
cmake --preset sdk >&2
cmake --build build/sdk >&2
version=$(sed -n 's/#define TENON_VERSION "\(.*\)"/\1/p' include/tenon/Version.hpp)
name="tenon-$version-linux-$(uname -m)"
rm -rf build/sdk/package
cmake --install build/sdk --strip --prefix "build/sdk/package/$name" >/dev/null
mkdir -p "$out"
tar --create --gzip --sort=name --owner=0 --group=0 --numeric-owner --file "$out/$name.tar.gz" \
    --directory build/sdk/package "$name"

# A program outside of the tree uses the archive from another folder, with each of the libraries.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar --extract --gzip --file "$out/$name.tar.gz" --directory "$folder"
"$folder/$name/bin/ExecuteNetwork" --version >&2
# try_library TARGET COMPONENT SOURCE [ARGUMENT]
try_library() {
    local project="$folder/${1#*::}"
    cmake -G Ninja -S tests/package/outside -B "$project" -D CMAKE_PREFIX_PATH="$folder/$name" \
        -D SOURCE="$PWD/tests/package/outside/$3" -D TARGET="$1" \
        -D COMPONENT="$2" >"$folder/log" || { cat "$folder/log" >&2 && exit 1; }
    cmake --build "$project" >"$folder/log" || { cat "$folder/log" >&2 && exit 1; }
    "$project/program" "${@:4}" >&2
}
try_library Tenon::tenon shared outside.cpp samples/digits/digits_float.tflite
try_library Tenon::tenon_static static outside.cpp samples/digits/digits_float.tflite
if [[ -e "$folder/$name/lib/libtenonDelegate.so" ]]; then # not on 32-bit machines
    try_library Tenon::delegate shared delegate.cpp
fi
echo "$out/$name.tar.gz"
