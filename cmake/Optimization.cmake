# SPDX-License-Identifier: Apache-2.0
# How much the compiler optimizes, by what code is for. Release builds alone: others keep what they ask for.
#
# tenon_optimize(<target> <kind>), a kind as in PrecompiledHeaders.cmake
set(TENON_OPTIMIZATION_OF_modules -Os)
set(TENON_OPTIMIZATION_OF_programs -Os)
set(TENON_OPTIMIZATION_OF_runtime -O2) # a small network's inference takes two microseconds, of which it is a part
set(TENON_OPTIMIZATION_OF_reference -Os) # a loop for each type and operation, in place of which CpuAcc has its kernels
set(TENON_OPTIMIZATION_OF_drivers -O2)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # By itself, GCC's -O2 leaves most loops over elements and over tables of pointers without vectors.
  list(APPEND TENON_OPTIMIZATION_OF_drivers -fvect-cost-model=dynamic)
endif()
set(TENON_OPTIMIZATION_OF_kernels -O3)
set(TENON_OPTIMIZATION_OF_tests -O0) # calls of the library, run once
set(TENON_OPTIMIZATION_OF_cases -O1)

function(tenon_optimize target kind)
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:${TENON_OPTIMIZATION_OF_${kind}}>")
endfunction()

# tenon_tune(<option> <source>...): sources of the current folder with an option of their own, which no precompiled
# header was compiled with and which no other source of a unity build shares.
function(tenon_tune option)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${option})
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
  set_property(SOURCE ${ARGN} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tenon_optimize_sources(<-O…> <source>...): sources of the current folder with another optimization than their target.
function(tenon_optimize_sources option)
  tenon_tune($<$<CONFIG:Release>:${option}> ${ARGN})
endfunction()
