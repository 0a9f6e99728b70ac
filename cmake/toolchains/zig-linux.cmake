# SPDX-License-Identifier: Apache-2.0
# What the toolchain files for Linux by zig share. zig knows which functions each version of glibc has, and links its
# C++ library in, so that a build runs with the glibc that it was made for and with all later ones. The linker leaves out
# the symbol table (-s), since Debian's strip knows the files of its own machine alone.
# Before the include: CMAKE_SYSTEM_PROCESSOR.
set(CMAKE_SYSTEM_NAME Linux)
set(tenon_zig_target ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu.2.17)
set(CMAKE_CXX_FLAGS_INIT "-include ${CMAKE_CURRENT_LIST_DIR}/glibc-functions.h")
set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
include(${CMAKE_CURRENT_LIST_DIR}/zig-tools.cmake)
