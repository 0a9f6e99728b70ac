# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: what most sources include and nobody here edits often, compiled once for all targets of a kind.
# Each source still includes all that it uses: the presets debug, asan and tsan build without them.
#
# tenon_precompile(<target> <kind>) lets a target use the headers of that kind:
#   modules    of libtenon, for code that runs when a network is made or loaded
#   runtime    of libtenon, for code that runs in each inference
#   reference  of CpuRef
#   drivers    of CpuAcc, for code that prepares kernels and calls their loops
#   kernels    of CpuAcc, for code with vectors
#   programs   of programs on libtenon.so
#   tests      of programs on libtenon.a, with GoogleTest
#   cases      the same, where tests compute much themselves or try thousands of cases
# All targets of a kind have its optimization. A source with flags of its own needs SKIP_PRECOMPILE_HEADERS.

option(TENON_PRECOMPILED_HEADERS "Compile headers that many sources include once" ON)

set(standard <algorithm> <array> <cmath> <cstddef> <cstdint> <cstring> <functional> <limits> <map> <memory> <optional>
             <set> <span> <string> <string_view> <tuple> <type_traits> <unordered_map> <utility> <vector>)
set(api <tenon/Descriptors.hpp> <tenon/Exceptions.hpp> <tenon/INetwork.hpp> <tenon/IRuntime.hpp>
        <tenon/backend/IBackend.hpp>)
set(TENON_HEADERS_OF_modules ${standard} ${api} <iterator> <fmt/format.h>)
set(TENON_HEADERS_OF_runtime ${TENON_HEADERS_OF_modules})
set(TENON_HEADERS_OF_reference ${standard} <Eigen/Core> <tenon/Exceptions.hpp> <tenon/backend/IWorkload.hpp>
                               ${PROJECT_SOURCE_DIR}/src/backends/common/KernelTable.hpp)
set(TENON_HEADERS_OF_drivers ${TENON_HEADERS_OF_reference})
set(TENON_HEADERS_OF_kernels ${TENON_HEADERS_OF_reference})
set(TENON_HEADERS_OF_programs ${TENON_HEADERS_OF_modules})
set(TENON_HEADERS_OF_tests ${standard} ${api} <iterator> <sstream> <fmt/format.h> <gmock/gmock.h> <gtest/gtest.h>)
set(TENON_HEADERS_OF_cases ${TENON_HEADERS_OF_tests})
set(TENON_LIBS_OF_modules fmt::fmt)
set(TENON_LIBS_OF_runtime fmt::fmt)
set(TENON_LIBS_OF_reference Eigen3::Eigen)
set(TENON_LIBS_OF_drivers Eigen3::Eigen)
set(TENON_LIBS_OF_kernels Eigen3::Eigen)
set(TENON_LIBS_OF_programs fmt::fmt)
set(TENON_LIBS_OF_tests fmt::fmt GTest::gmock GTest::gtest)
set(TENON_LIBS_OF_cases ${TENON_LIBS_OF_tests})

# The target whose headers all others of a kind use.
function(tenon_add_precompiled kind)
  set(owner tenon_precompiled_${kind})
  set(source ${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Generated: a source to compile the headers for.\n")
  add_library(${owner} OBJECT ${source})
  target_include_directories(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${owner} PRIVATE tenon_options ${TENON_LIBS_OF_${kind}})
  if(kind MATCHES "modules|runtime|reference|drivers|kernels")
    tenon_hide_symbols(${owner})
  elseif(kind MATCHES "tests|cases")
    target_compile_definitions(${owner} PRIVATE TENON_STATIC)
  endif()
  tenon_optimize(${owner} ${kind})
  target_precompile_headers(${owner} PRIVATE ${TENON_HEADERS_OF_${kind}})
  # Where comments alone have changed, ccache would give the headers as they were, since it hashes preprocessed text, and GCC
  # would take the new files for others in spite of #pragma once. In this mode it hashes the files.
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
    set_property(TARGET ${owner} PROPERTY CXX_COMPILER_LAUNCHER
                 ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endfunction()

function(tenon_precompile target kind)
  if(NOT TENON_PRECOMPILED_HEADERS OR TENON_SANITIZE) # with sanitizers, kernels have an optimization of their own
    return()
  endif()
  if(NOT TARGET tenon_precompiled_${kind})
    tenon_add_precompiled(${kind})
  endif()
  target_link_libraries(${target} PRIVATE ${TENON_LIBS_OF_${kind}})
  target_precompile_headers(${target} REUSE_FROM tenon_precompiled_${kind})
endfunction()
