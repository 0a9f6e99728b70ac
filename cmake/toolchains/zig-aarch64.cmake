# SPDX-License-Identifier: Apache-2.0
# Builds for Linux on 64-bit Arm with glibc 2.17 or later: see scripts/build_wheel.sh.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/zig-linux.cmake)
