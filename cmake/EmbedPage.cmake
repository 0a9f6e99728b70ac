# SPDX-License-Identifier: Apache-2.0
# tenon_embed_page(<target> <namespace> <script>...): gives the target the page in its folder `page` as a source:
# page.html, where page.css and the scripts, in their order, take the places {{style}} and {{script}}. The header
# PageText.hpp of the target's folder declares std::string_view GetPageText() in that namespace.
#
# The source has an array of bytes, since some compilers bound the length of literals.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(tenon_embed_page target namespace)
    set(folder ${CMAKE_CURRENT_SOURCE_DIR}/page)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/PageText.cpp)
    set(maker ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE name)
    list(JOIN ARGN "," scripts)
    file(GLOB files CONFIGURE_DEPENDS page/*)
    add_custom_command(
      OUTPUT ${source}
      COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DSCRIPTS=${scripts} -DHEADER=${name}/PageText.hpp
              -DNAMESPACE=${namespace} -DOUT=${source} -P ${maker}
      DEPENDS ${files} ${maker}
      VERBATIM)
    target_sources(${target} PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" scripts "${SCRIPTS}")
file(READ ${FOLDER}/page.html page HEX)
file(READ ${FOLDER}/page.css style HEX)
set(script "")
foreach(file IN LISTS scripts)
  file(READ ${FOLDER}/${file} hex HEX)
  string(APPEND script "${hex}")
endforeach()
foreach(part style script)
  string(HEX "{{${part}}}" mark)
  string(FIND "${page}" "${mark}" at)
  if(at LESS 0)
    message(FATAL_ERROR "${FOLDER}/page.html has no place {{${part}}}")
  endif()
  string(REPLACE "${mark}" "${${part}}" page "${page}")
endforeach()
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${page}")
string(REPEAT "......," 20 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "// Made by cmake/EmbedPage.cmake.\n#include \"${HEADER}\"\n\n#include <iterator>\n\n\
namespace ${NAMESPACE}\n{\nnamespace\n{\nconst char page[] = {\n${bytes}\n};\n} // namespace\n\
std::string_view GetPageText()\n{\n    return {page, std::size(page)};\n}\n} // namespace ${NAMESPACE}\n")
