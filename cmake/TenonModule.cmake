# SPDX-License-Identifier: Apache-2.0
# tenon_add_module(<name> SOURCES <file>... [USES <module>...] [LIBS <imported target>...] [INCLUDES <dir>...]
#                  [KIND <kind>])
#
# One folder of src/ as an object library. USES names the modules that its sources may include; the ctest
# "layering" checks the #includes themselves. LIBS and INCLUDES are private: they reach no other module's sources.
# KIND says how it is compiled: see Optimization.cmake. The objects go into both libtenon.so and libtenon.a.

include(CheckLinkerFlag)
include(${CMAKE_CURRENT_LIST_DIR}/Optimization.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/PrecompiledHeaders.cmake)

# The folder of sources for this system, beside those for every one, and whether its linker knows what ELF has.
if(WIN32)
  set(TENON_SYSTEM windows)
else()
  set(TENON_SYSTEM posix)
endif()
# Where a program or library looks for others beside it.
set(TENON_ORIGIN "$ORIGIN")
if(APPLE)
  set(TENON_ORIGIN "@loader_path")
  # Libraries are found by @rpath. CMake asks macOS for its version. A cross-build has none to ask: CMake then takes the
  # system for a macOS without @rpath.
  foreach(flag SHARED_LIBRARY_RUNTIME_C SHARED_LIBRARY_RUNTIME_CXX EXECUTABLE_RUNTIME_CXX)
    set(CMAKE_${flag}_FLAG "-Wl,-rpath,")
  endforeach()
endif()
if(WIN32 OR APPLE)
  set(TENON_HAS_ELF FALSE)
else()
  set(TENON_HAS_ELF TRUE)
endif()

add_library(tenon_options INTERFACE)
target_compile_options(tenon_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# Without contraction into fused multiply-add results are the same on every machine. Kernels that want it say so, as
# does what begins with an estimate of the processor (InverseRootOf).
target_compile_options(tenon_options INTERFACE -ffp-contract=off)
# Functions of other libraries are found when a program starts: else the first network that it loads waits for each.
if(TENON_HAS_ELF)
  check_linker_flag(CXX LINKER:-z,now TENON_HAS_Z_NOW)
endif()
if(TENON_HAS_Z_NOW)
  target_link_options(tenon_options INTERFACE LINKER:-z,now)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/SmallLibrary.cmake)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  target_compile_definitions(tenon_options INTERFACE _FILE_OFFSET_BITS=64) # files, and limits of memory, past 2 GiB
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 takes the two parts of `"text" + std::string()` for overlapping memory (its bug 105651).
    target_compile_options(tenon_options INTERFACE -Wno-restrict)
  endif()
endif()
# GCC looks for unused memory from 128 MiB on by default, which takes a fifth of its time.
set(TENON_LATE_COLLECTION "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(TENON_LATE_COLLECTION --param=ggc-min-heapsize=524288)
endif()
target_compile_options(tenon_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${TENON_LATE_COLLECTION}>")
if(TENON_WERROR)
  target_compile_options(tenon_options INTERFACE -Werror)
endif()
if(TENON_SANITIZE)
  target_compile_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Between the checks GCC no longer sees that a value is read only where it is set, and warns without need.
    target_compile_options(tenon_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(TENON_SANITIZE MATCHES undefined)
    target_compile_options(tenon_options INTERFACE -fno-sanitize-recover=undefined,float-cast-overflow)
  endif()
endif()

# Sources of one target that are compiled as one share what they include, and what templates make of it. Names in
# anonymous namespaces must then differ within a target, or the namespaces around them, as those of tests do. The presets
# debug, asan and tsan compile each source by itself.
option(TENON_UNITY_BUILD "Compile several sources of a target as one" ON)
function(tenon_unite target)
  if(TENON_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC takes sources of a batch for headers, whose classes should not derive from those of anonymous namespaces.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

set_property(GLOBAL PROPERTY TENON_MODULES "")
set_property(GLOBAL PROPERTY TENON_MODULE_LIBS "")

# tenon_tune_system(<source>...): sources of the folder TENON_SYSTEM. <windows.h> defines fewer macros in them than by
# default. They are no part of a unity build, so that other sources see none of these macros.
function(tenon_tune_system)
  if(WIN32)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                                                   COMPILE_DEFINITIONS "WIN32_LEAN_AND_MEAN;NOMINMAX")
  endif()
endfunction()

# For objects of libtenon.so: hidden symbols, and a section for each function, see SmallLibrary.cmake.
function(tenon_hide_symbols target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON)
  target_compile_definitions(${target} PRIVATE TENON_BUILDING)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-ffunction-sections>)
endfunction()

# Has a shared library export what is marked TENON_API alone. Other linkers than ELF's need no list for it. The library is
# named as programs of the system expect it: <name>.dll on Windows.
function(tenon_export target)
  if(TENON_HAS_ELF)
    set(list ${PROJECT_SOURCE_DIR}/cmake/tenon.map)
    target_link_options(${target} PRIVATE -Wl,--version-script=${list} -Wl,--no-undefined)
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${list})
  elseif(WIN32)
    set_target_properties(${target} PROPERTIES PREFIX "")
  endif()
endfunction()

function(tenon_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND" "SOURCES;USES;LIBS;INCLUDES")
  set(target tenon_${name})
  add_library(${target} OBJECT ${arg_SOURCES})
  tenon_hide_symbols(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  if(arg_INCLUDES)
    target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
  endif()
  target_link_libraries(${target} PRIVATE tenon_options ${arg_LIBS})
  set(kind modules)
  if(arg_KIND)
    set(kind ${arg_KIND})
  endif()
  tenon_optimize(${target} ${kind})
  tenon_precompile(${target} ${kind})
  if(kind MATCHES "modules|runtime")
    tenon_unite(${target})
  endif()
  foreach(module IN LISTS arg_USES)
    if(NOT TARGET tenon_${module})
      message(FATAL_ERROR "module ${name} uses ${module}, which is not below it: see src/CMakeLists.txt")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY TENON_MODULES ${target})
  set_property(GLOBAL APPEND PROPERTY TENON_MODULE_LIBS ${arg_LIBS})
endfunction()
