# SPDX-License-Identifier: Apache-2.0
# What toolchain files of zig share: PyPI's package ziglang has Clang, linkers, and the headers and libraries of many
# systems in one program, which takes what it is to do as its first argument. CMake and ccache want programs of one word:
# the build folder gets a script for each.
# Before the include: tenon_zig_target, as zig names it, e.g. x86_64-windows-gnu. In the cache or the environment:
# TENON_ZIG, the program, which the package's folder has; by default it is looked for in PATH.
set(TENON_ZIG "$ENV{TENON_ZIG}" CACHE FILEPATH "The program zig")
if(NOT TENON_ZIG)
  find_program(TENON_ZIG zig REQUIRED)
endif()
set(TENON_ZIG_TOOLS "${CMAKE_BINARY_DIR}/zig" CACHE INTERNAL "Folder of one script for each tool of zig")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENON_ZIG TENON_ZIG_TOOLS)

function(tenon_add_zig_tool tool command)
  set(script ${TENON_ZIG_TOOLS}/${tool})
  if(NOT EXISTS ${script})
    file(WRITE ${script} "#!/bin/sh\nexec '${TENON_ZIG}' ${command} \"$@\"\n")
    file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
  set(CMAKE_${ARGV2} ${script} CACHE FILEPATH "zig ${command}" FORCE)
endfunction()
tenon_add_zig_tool(c++ "c++ -target ${tenon_zig_target}" CXX_COMPILER)
tenon_add_zig_tool(ar ar AR)
tenon_add_zig_tool(ranlib ranlib RANLIB)
tenon_add_zig_tool(rc rc RC_COMPILER)
set(CMAKE_CXX_COMPILER_AR ${CMAKE_AR} CACHE FILEPATH "zig ar" FORCE)
set(CMAKE_CXX_COMPILER_RANLIB ${CMAKE_RANLIB} CACHE FILEPATH "zig ranlib" FORCE)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
