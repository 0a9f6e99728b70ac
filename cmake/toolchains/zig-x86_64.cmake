# SPDX-License-Identifier: Apache-2.0
# Builds for Linux on x86-64 with glibc 2.17 or later: see scripts/build_wheel.sh.
set(CMAKE_SYSTEM_PROCESSOR x86_64)
include(${CMAKE_CURRENT_LIST_DIR}/zig-linux.cmake)
