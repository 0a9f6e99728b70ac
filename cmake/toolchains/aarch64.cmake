# SPDX-License-Identifier: Apache-2.0
# Cross-builds for 64-bit Arm on Debian: see the preset aarch64 and scripts/test_aarch64.sh.
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(tenon_triple aarch64-linux-gnu)
set(tenon_qemu aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
