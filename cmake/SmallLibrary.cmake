# SPDX-License-Identifier: Apache-2.0
# How libtenon.so gets small: each function in a section of its own, of which the linker drops those that nothing needs
# and keeps one of those that are the same (identical code folding, ICF), where it can. The linker's map, lib<target>.map,
# lies with the library: scripts/library_size.py makes docs/size.md of it.
#
# tenon_shrink(<shared library>)

check_linker_flag(CXX LINKER:--gc-sections TENON_HAS_GC_SECTIONS)
check_linker_flag(CXX LINKER:-Map=tenon.map TENON_HAS_MAP)
# GNU's own linker folds nothing; gold, which comes with it on Debian, and mold do. "safe": functions whose addresses are
# taken stay apart, as tables of kernels may compare them. For Arm GNU's own stays: gold knows few of its errata.
foreach(linker gold mold)
  if(NOT TENON_ICF_LINKER AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    check_linker_flag(CXX "-fuse-ld=${linker};LINKER:--icf=safe" TENON_HAS_ICF_OF_${linker})
    if(TENON_HAS_ICF_OF_${linker})
      set(TENON_ICF_LINKER ${linker})
    endif()
  endif()
endforeach()

function(tenon_shrink target)
  set(options "")
  if(TENON_HAS_GC_SECTIONS)
    list(APPEND options LINKER:--gc-sections)
  endif()
  if(TENON_ICF_LINKER)
    list(APPEND options -fuse-ld=${TENON_ICF_LINKER} LINKER:--icf=safe)
  endif()
  if(TENON_HAS_MAP)
    list(APPEND options LINKER:-Map=${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${target}.map)
  endif()
  if(NOT TENON_SANITIZE)
    target_link_options(${target} PRIVATE "$<$<CONFIG:Release>:${options}>")
  endif()
endfunction()
