# SPDX-License-Identifier: Apache-2.0
# The packages that Tenon builds with, all from the distribution: see scripts/setup.sh for their names there.
#
# TENON_HEADER_ONLY_LOGGING: fmt and spdlog from their headers alone, for compilers and systems that the distribution has
# no libraries for.
# TENON_HEADERS_OF_HOST: all headers are those of this machine's packages, which are the same on every machine. The
# folder of these headers has the machine's own, too, of its C library; links in the build folder show the packages' alone.
option(TENON_HEADER_ONLY_LOGGING "Compile fmt and spdlog from their headers" OFF)
option(TENON_HEADERS_OF_HOST "Take headers of packages from /usr/include, in a build for another system" OFF)

find_package(Threads REQUIRED)
find_program(TENON_FLATC flatc REQUIRED)

if(TENON_HEADERS_OF_HOST)
  set(headers ${PROJECT_BINARY_DIR}/headers)
  file(MAKE_DIRECTORY ${headers})
  foreach(entry CLI flatbuffers fmt hwy spdlog stb xxhash.h eigen3/Eigen)
    get_filename_component(name ${entry} NAME)
    if(NOT EXISTS /usr/include/${entry})
      message(FATAL_ERROR "there is no /usr/include/${entry}: scripts/setup.sh installs it")
    endif()
    file(CREATE_LINK /usr/include/${entry} ${headers}/${name} SYMBOLIC)
  endforeach()
  foreach(package FLATBUFFERS HIGHWAY XXHASH STB)
    set(TENON_${package}_INCLUDE ${headers})
  endforeach()
  foreach(target Eigen3::Eigen CLI11::CLI11)
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} SYSTEM INTERFACE ${headers})
  endforeach()
else()
  find_package(Eigen3 REQUIRED NO_MODULE)
  find_path(TENON_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
  find_path(TENON_HIGHWAY_INCLUDE hwy/highway.h REQUIRED) # headers only
  find_path(TENON_XXHASH_INCLUDE xxhash.h REQUIRED) # headers only
  find_path(TENON_STB_INCLUDE stb/stb_image.h REQUIRED)
  find_package(CLI11 REQUIRED)
endif()
if(TENON_HEADER_ONLY_LOGGING)
  if(NOT TENON_HEADERS_OF_HOST)
    find_path(headers NAMES fmt/format.h REQUIRED NO_CACHE)
  endif()
  foreach(package fmt spdlog)
    add_library(${package}::${package} INTERFACE IMPORTED)
    target_include_directories(${package}::${package} SYSTEM INTERFACE ${headers})
  endforeach()
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
  target_compile_definitions(spdlog::spdlog INTERFACE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
else()
  find_package(fmt REQUIRED)
  find_package(spdlog REQUIRED)
endif()
