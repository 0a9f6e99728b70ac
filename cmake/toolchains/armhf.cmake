# SPDX-License-Identifier: Apache-2.0
# Cross-builds for 32-bit Arm on Debian: see the preset armhf and scripts/test_armhf.sh. Debian's own packages take any
# ARMv7; Tenon's kernels want NEON, and its version with fused multiply-add and half floats, which GCC gives a type only
# when told their format.
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(tenon_triple arm-linux-gnueabihf)
set(tenon_qemu arm)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4 -mfp16-format=ieee")
set(CMAKE_CXX_FLAGS_INIT "-march=armv7-a -mfpu=neon-vfpv4 -mfp16-format=ieee")
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
