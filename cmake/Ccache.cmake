# SPDX-License-Identifier: Apache-2.0
# Uses ccache when it is installed and no other launcher was chosen. Objects that are compiled with a precompiled header
# are kept only where ccache need not look at its definitions and dates.
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TENON_CCACHE})
endif()
