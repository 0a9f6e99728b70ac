# SPDX-License-Identifier: Apache-2.0
# The ctest "c_document": the program in docs/c.md, as a user compiles it, runs.
#   cmake -DDOCUMENT=<file> -DCC=<compiler> -DFLAGS=<flags> -DINCLUDE=<folder> -DLIBRARY=<file> -DWORK=<folder>
#         -DMODEL=<file> -DEXPECT=<regular expression> [-DEMULATOR=<program>] -P RunDocument.cmake
cmake_minimum_required(VERSION 3.25)

file(READ ${DOCUMENT} text)
string(REGEX MATCHALL "\n```c\n" begins "${text}")
list(LENGTH begins count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${DOCUMENT} has ${count} programs in C; this test runs one")
endif()
string(FIND "${text}" "\n```c\n" begin)
math(EXPR begin "${begin} + 6")
string(SUBSTRING "${text}" ${begin} -1 program)
string(FIND "${program}" "\n```" end)
string(SUBSTRING "${program}" 0 ${end} program)
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/document.c "${program}\n")

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
get_filename_component(folder ${LIBRARY} DIRECTORY)
execute_process(COMMAND ${CC} ${flags} -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -I${INCLUDE}
                        ${WORK}/document.c -o ${WORK}/document ${LIBRARY} -Wl,-rpath,${folder}
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(emulator UNIX_COMMAND "${EMULATOR}")
execute_process(COMMAND ${emulator} ${WORK}/document ${MODEL} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "${EXPECT}")
  message(FATAL_ERROR "the program printed:\n${output}")
endif()
execute_process(COMMAND ${emulator} ${WORK}/document ${DOCUMENT} RESULT_VARIABLE status ERROR_VARIABLE error)
if(NOT status EQUAL 1 OR NOT error MATCHES "TENON_INVALID_DATA: model '.*c.md' is of no known format")
  message(FATAL_ERROR "of a file that is no model the program said, with status ${status}:\n${error}")
endif()
