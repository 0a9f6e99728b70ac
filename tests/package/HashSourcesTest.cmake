# SPDX-License-Identifier: Apache-2.0
# cmake -D SCRIPT=<HashSources.cmake> -D FOLDER=<empty folder> -P HashSourcesTest.cmake
#
# What tells files of packed weights of other builds is another hash for other sources, and the same for the same ones.

cmake_minimum_required(VERSION 3.25)

# hash_of(<variable>): the hash of ${FOLDER}/sources.
function(hash_of variable)
  execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${FOLDER}/sources -D OUTPUT=${FOLDER}/out.cpp -P ${SCRIPT}
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the script failed: ${status}")
  endif()
  file(STRINGS ${FOLDER}/out.cpp line REGEX "return \"[0-9a-f]+\";")
  if(line STREQUAL "")
    message(FATAL_ERROR "no hash was written")
  endif()
  string(REGEX MATCH "[0-9a-f]+\"" hash "${line}")
  set(${variable} "${hash}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
file(WRITE ${FOLDER}/sources/gemm/Pack.cpp "int a;\n")
file(WRITE ${FOLDER}/sources/Kernels.def "KERNEL(a)\n")
hash_of(first)
hash_of(again)
if(NOT first STREQUAL again)
  message(FATAL_ERROR "the same sources have two hashes")
endif()
file(WRITE ${FOLDER}/sources/gemm/Pack.cpp "int b;\n")
hash_of(changed)
file(RENAME ${FOLDER}/sources/gemm/Pack.cpp ${FOLDER}/sources/gemm/Pack2.cpp)
hash_of(renamed)
file(WRITE ${FOLDER}/sources/New.hpp "")
hash_of(added)
list(APPEND all "${first}" "${changed}" "${renamed}" "${added}")
list(REMOVE_DUPLICATES all)
list(LENGTH all count)
if(NOT count EQUAL 4)
  message(FATAL_ERROR "four different sets of sources have ${count} hashes")
endif()
