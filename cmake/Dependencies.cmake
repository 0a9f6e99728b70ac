# SPDX-License-Identifier: Apache-2.0
# The packages that Tenon builds with, all from the distribution: see scripts/setup.sh for their names there.
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(Threads REQUIRED)

find_path(TENON_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
find_path(TENON_HIGHWAY_INCLUDE hwy/highway.h REQUIRED) # headers only
find_path(TENON_XXHASH_INCLUDE xxhash.h REQUIRED) # headers only
find_program(TENON_FLATC flatc REQUIRED)
find_path(TENON_STB_INCLUDE stb/stb_image.h REQUIRED)
find_package(CLI11 REQUIRED)
