# SPDX-License-Identifier: Apache-2.0
# Cross-builds for Windows on x86-64: see scripts/cross_check.sh.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(tenon_zig_target x86_64-windows-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/zig-tools.cmake)
