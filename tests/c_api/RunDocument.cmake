# SPDX-License-Identifier: Apache-2.0
# The ctests "c_document" and "onnx_document": the program in a document, as a user compiles it, runs.
#   cmake -DDOCUMENT=<file> -DLANGUAGE=c|cpp -DCOMPILER=<compiler> -DFLAGS=<flags> -DINCLUDE=<folder> -DLIBRARY=<file>
#         -DWORK=<folder> -DMODEL=<file> -DEXPECT=<regular expression> -DREFUSAL=<what it says of a file that is no model>
#         [-DEMULATOR=<program>] -P RunDocument.cmake
cmake_minimum_required(VERSION 3.25)

file(READ ${DOCUMENT} text)
set(fence "\n```${LANGUAGE}\n")
string(REGEX MATCHALL "${fence}" begins "${text}")
list(LENGTH begins count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${DOCUMENT} has ${count} programs in ${LANGUAGE}; this test runs one")
endif()
string(FIND "${text}" "${fence}" begin)
string(LENGTH "${fence}" length)
math(EXPR begin "${begin} + ${length}")
string(SUBSTRING "${text}" ${begin} -1 program)
string(FIND "${program}" "\n```" end)
string(SUBSTRING "${program}" 0 ${end} program)
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/document.${LANGUAGE} "${program}\n")

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
get_filename_component(folder ${LIBRARY} DIRECTORY)
set(standard -std=c99)
if(LANGUAGE STREQUAL cpp)
  set(standard -std=c++17)
endif()
execute_process(COMMAND ${COMPILER} ${flags} ${standard} -Wall -Wextra -Wpedantic -Wconversion -Werror -I${INCLUDE}
                        ${WORK}/document.${LANGUAGE} -o ${WORK}/document ${LIBRARY} -Wl,-rpath,${folder}
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(emulator UNIX_COMMAND "${EMULATOR}")
execute_process(COMMAND ${emulator} ${WORK}/document ${MODEL} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "${EXPECT}")
  message(FATAL_ERROR "the program printed:\n${output}")
endif()
execute_process(COMMAND ${emulator} ${WORK}/document ${DOCUMENT} RESULT_VARIABLE status ERROR_VARIABLE error)
if(NOT status EQUAL 1 OR NOT error MATCHES "${REFUSAL}")
  message(FATAL_ERROR "of a file that is no model the program said, with status ${status}:\n${error}")
endif()
