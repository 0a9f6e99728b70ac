# SPDX-License-Identifier: Apache-2.0
# The packages that Tenon builds with, all from the distribution: see scripts/setup.sh for their names there.
#
# TENON_HEADER_ONLY_LOGGING: fmt and spdlog from their headers alone, for compilers and systems that the distribution has
# no libraries for.
# TENON_HEADERS_OF_HOST: the packages' headers come from /usr/include, in a build for another system; they are the same
# for every system. /usr/include also has the headers of this machine's C library, which such a build must not see: the
# compiler gets a folder in the build folder, with a link for each package.
option(TENON_HEADER_ONLY_LOGGING "Compile fmt and spdlog from their headers" OFF)
option(TENON_HEADERS_OF_HOST "Take headers of packages from /usr/include, in a build for another system" OFF)

find_package(Threads REQUIRED)
find_program(TENON_FLATC flatc REQUIRED)

if(TENON_HEADERS_OF_HOST)
  if(NOT TENON_HEADER_ONLY_LOGGING)
    message(FATAL_ERROR "TENON_HEADERS_OF_HOST needs TENON_HEADER_ONLY_LOGGING=ON: the libraries of fmt and spdlog in "
                        "/usr/lib are for this machine, and only their headers serve another system")
  endif()
  set(headers ${PROJECT_BINARY_DIR}/headers)
  file(MAKE_DIRECTORY ${headers})
  foreach(entry CLI flatbuffers fmt hwy nlohmann protozero spdlog stb xxhash.h eigen3/Eigen)
    get_filename_component(name ${entry} NAME)
    if(NOT EXISTS /usr/include/${entry})
      message(FATAL_ERROR "there is no /usr/include/${entry}: scripts/setup.sh installs it")
    endif()
    file(CREATE_LINK /usr/include/${entry} ${headers}/${name} SYMBOLIC)
  endforeach()
  foreach(package FLATBUFFERS HIGHWAY NLOHMANN PROTOZERO XXHASH STB)
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
  find_path(TENON_NLOHMANN_INCLUDE nlohmann/json.hpp REQUIRED) # headers only
  find_path(TENON_PROTOZERO_INCLUDE protozero/pbf_message.hpp REQUIRED) # headers only
  find_path(TENON_XXHASH_INCLUDE xxhash.h REQUIRED) # headers only
  find_path(TENON_STB_INCLUDE stb/stb_image.h REQUIRED)
  find_package(CLI11 REQUIRED)
endif()
if(TENON_HEADER_ONLY_LOGGING)
  if(NOT TENON_HEADERS_OF_HOST)
    find_path(fmt_headers fmt/format.h REQUIRED NO_CACHE)
    find_path(spdlog_headers spdlog/spdlog.h REQUIRED NO_CACHE)
  else()
    set(fmt_headers ${headers})
    set(spdlog_headers ${headers})
  endif()
  foreach(package fmt spdlog)
    add_library(${package}::${package} INTERFACE IMPORTED)
    target_include_directories(${package}::${package} SYSTEM INTERFACE ${${package}_headers})
  endforeach()
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
  target_compile_definitions(spdlog::spdlog INTERFACE FMT_HEADER_ONLY SPDLOG_FMT_EXTERNAL)
else()
  find_package(fmt REQUIRED)
  find_package(spdlog REQUIRED)
endif()
