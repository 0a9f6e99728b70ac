# SPDX-License-Identifier: Apache-2.0
# Cross-builds for macOS on arm64: see scripts/cross_check.sh.
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(tenon_zig_target aarch64-macos)
include(${CMAKE_CURRENT_LIST_DIR}/zig-tools.cmake)
# Installing changes the folders in which a library looks for others.
find_program(CMAKE_INSTALL_NAME_TOOL NAMES llvm-install-name-tool llvm-install-name-tool-14 install_name_tool)
