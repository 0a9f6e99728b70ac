# SPDX-License-Identifier: Apache-2.0
# What toolchain files of zig share: PyPI's package ziglang has Clang, linkers, and the headers and libraries of many
# systems in one program, which takes what it is to do as its first argument. CMake and ccache want programs of one word:
# the build folder gets a script for each.
# Before the include: tenon_zig_target, as zig names it, e.g. x86_64-windows-gnu. In the environment or the cache:
# TENON_ZIG, the program, which the package's folder has; by default it is looked for in PATH. The environment comes
# first, in a build folder that knows another program, too.
if(NOT "$ENV{TENON_ZIG}" STREQUAL "")
  set(TENON_ZIG "$ENV{TENON_ZIG}" CACHE FILEPATH "The program zig" FORCE)
endif()
find_program(TENON_ZIG zig REQUIRED)
set(TENON_ZIG_TOOLS "${CMAKE_BINARY_DIR}/zig" CACHE INTERNAL "Folder with a script for each tool of zig")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TENON_ZIG TENON_ZIG_TOOLS)
execute_process(COMMAND ${TENON_ZIG} version OUTPUT_VARIABLE tenon_zig_version OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)

# tenon_add_zig_tool(<tool> <command> <CMAKE_..., of the tool>). ccache tells compilers by the date and size of the script,
# which is written anew for another version.
function(tenon_add_zig_tool tool command variable)
  set(script ${TENON_ZIG_TOOLS}/${tool})
  file(CONFIGURE OUTPUT ${script} @ONLY
       CONTENT "#!/bin/sh\n# zig @tenon_zig_version@\nexec '@TENON_ZIG@' @command@ \"$@\"\n")
  file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set(${variable} ${script} CACHE FILEPATH "zig ${command}" FORCE)
endfunction()
tenon_add_zig_tool(c++ "c++ -target ${tenon_zig_target}" CMAKE_CXX_COMPILER)
tenon_add_zig_tool(ar ar CMAKE_AR)
tenon_add_zig_tool(ranlib ranlib CMAKE_RANLIB)
tenon_add_zig_tool(rc rc CMAKE_RC_COMPILER)
set(CMAKE_CXX_COMPILER_AR ${CMAKE_AR} CACHE FILEPATH "zig ar" FORCE)
set(CMAKE_CXX_COMPILER_RANLIB ${CMAKE_RANLIB} CACHE FILEPATH "zig ranlib" FORCE)

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
