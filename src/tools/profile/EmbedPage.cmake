# SPDX-License-Identifier: Apache-2.0
# Writes the page as a source: page.html with the style and the scripts in their places, as an array of bytes, since some
# compilers bound the length of literals.
#   cmake -DFOLDER=<page> -DSCRIPTS=<a.js,b.js> -DOUT=<source> -P EmbedPage.cmake
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" scripts "${SCRIPTS}")
function(read_hex file out)
  file(READ ${FOLDER}/${file} hex HEX)
  set(${out} "${hex}" PARENT_SCOPE)
endfunction()
function(to_hex text out)
  string(HEX "${text}" hex)
  set(${out} "${hex}" PARENT_SCOPE)
endfunction()

read_hex(page.html page)
read_hex(page.css style)
set(script "")
foreach(file IN LISTS scripts)
  read_hex(${file} hex)
  string(APPEND script "${hex}")
endforeach()
foreach(part style script)
  to_hex("{{${part}}}" mark)
  string(FIND "${page}" "${mark}" at)
  if(at LESS 0)
    message(FATAL_ERROR "page.html has no place {{${part}}}")
  endif()
  string(REPLACE "${mark}" "${${part}}" page "${page}")
endforeach()
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${page}")
string(REPEAT "......," 20 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "// Made from src/tools/profile/page by EmbedPage.cmake.\n#include \"tools/profile/PageText.hpp\"\n\n#include \
<iterator>\n\nnamespace tenon::tools\n{\nnamespace\n{\nconst char page[] = {\n${bytes}\n};\n} // namespace\n\
std::string_view GetPageText()\n{\n    return {page, std::size(page)};\n}\n} // namespace tenon::tools\n")
