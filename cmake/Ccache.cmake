# SPDX-License-Identifier: Apache-2.0
# Uses ccache when it is installed and no other launcher was chosen.
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TENON_CCACHE})
endif()
