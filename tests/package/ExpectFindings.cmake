# SPDX-License-Identifier: Apache-2.0
# Included by the scripts that check the sources of the tree and themselves (CheckIncludes.cmake, CheckWords.cmake).

# Fails unless the lines of `findings` are the elements of the list `expected`, in any order.
function(expect_findings findings expected)
  string(REGEX REPLACE "\n$" "" findings "${findings}")
  string(REPLACE "\n" ";" findings "${findings}")
  list(SORT findings)
  list(SORT expected)
  if(NOT findings STREQUAL expected)
    list(JOIN findings "\n  " findings)
    list(JOIN expected "\n  " expected)
    message(FATAL_ERROR "expected:\n  ${expected}\nfound:\n  ${findings}")
  endif()
endfunction()
