# SPDX-License-Identifier: Apache-2.0
# What the toolchain files beside this one share: Debian's cross compilers, its multiarch packages, and qemu-user for
# whatever the build and the tests run. `scripts/setup.sh --cross` installs all of it. Headers that are the same on
# every machine (Eigen, FlatBuffers, protozero, CLI11, stb) and programs (flatc) are the host's.
# Before the include: CMAKE_SYSTEM_PROCESSOR, tenon_triple (Debian's name of the machine) and tenon_qemu (qemu's name).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${tenon_triple}-gcc)
set(CMAKE_CXX_COMPILER ${tenon_triple}-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# Shared libraries of the machine lie where its loader looks for them, so qemu needs no prefix. The processor is one
# that has all that qemu knows; QEMU_CPU in the environment makes it another one.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${tenon_qemu})

# The machine's .pc files, none of the host's. Tests that run pkg-config take TENON_PKG_CONFIG_LIBDIR.
set(TENON_PKG_CONFIG_LIBDIR /usr/lib/${tenon_triple}/pkgconfig:/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_LIBDIR} ${TENON_PKG_CONFIG_LIBDIR})
