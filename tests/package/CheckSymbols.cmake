# SPDX-License-Identifier: Apache-2.0
# The ctests "exported_symbols...": libtenon.so and libtenon_armnn.so export what is marked in the public headers and
# nothing else, neither internals nor pieces of the libraries that they are built with.
#   cmake -DNM=<nm> -DLIBRARY=<library> -DNEEDED=<symbol>[;<symbol>...] [-DC_SYMBOLS=<file>] -P CheckSymbols.cmake
# The file lists all functions of the C interface: none may go, and one that is new is added to it.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${NM} --dynamic --defined-only --demangle --format=just-symbols ${LIBRARY}
                OUTPUT_VARIABLE symbols RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NM} cannot read ${LIBRARY}")
endif()
string(REGEX REPLACE "[][;]" "_" symbols "${symbols}")
string(REPLACE "\n" ";" symbols "${symbols}")
list(FILTER symbols EXCLUDE REGEX "^$")

set(c_symbols ${symbols})
list(FILTER c_symbols INCLUDE REGEX "^tenon_[a-z0-9_]+$")
list(FILTER symbols EXCLUDE REGEX "^tenon_[a-z0-9_]+$")
set(expected "")
if(C_SYMBOLS)
  file(STRINGS ${C_SYMBOLS} expected REGEX "^tenon_")
endif()
foreach(symbol IN LISTS c_symbols)
  if(NOT symbol IN_LIST expected)
    message(SEND_ERROR "${LIBRARY} exports ${symbol}, which is not in the list '${C_SYMBOLS}': add it, or hide it")
  endif()
endforeach()
foreach(symbol IN LISTS expected)
  if(NOT symbol IN_LIST c_symbols)
    message(SEND_ERROR "${LIBRARY} does not export ${symbol}, which '${C_SYMBOLS}' lists")
  endif()
endforeach()

set(ours "^(typeinfo for |typeinfo name for |vtable for |VTT for |(non-)?virtual thunk to |guard variable for )?tenon::")
set(foreign ${symbols})
list(FILTER foreign EXCLUDE REGEX "${ours}")
set(hidden_places ${symbols})
list(FILTER hidden_places INCLUDE REGEX "tenon::(backends|cli|\\(anonymous namespace\\))::")
list(APPEND foreign ${hidden_places})
if(foreign)
  list(JOIN foreign "\n  " foreign)
  message(FATAL_ERROR "${LIBRARY} exports what is not of its interface:\n  ${foreign}")
endif()

# An empty table would pass all of the above.
foreach(needed IN LISTS NEEDED)
  string(FIND "${symbols}" "${needed}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "${LIBRARY} does not export ${needed}...")
  endif()
endforeach()
list(LENGTH symbols count)
list(LENGTH c_symbols c_count)
message(STATUS "${count} symbols in namespace tenon, ${c_count} of the C interface")
