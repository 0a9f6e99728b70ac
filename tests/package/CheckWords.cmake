# SPDX-License-Identifier: Apache-2.0
# The ctests "plain_words" and "plain_words_selftest": names and sentences that docs/glossary.md has replaced stay away.
#   cmake -DROOT=<source tree> -P CheckWords.cmake
#   cmake -DROOT=<source tree> -DREPORT=ON -P CheckWords.cmake   counts findings per folder and rule; never fails
#   cmake -DSELF_TEST=<scratch folder> -P CheckWords.cmake       checks that this script finds what it has to
#
# Rules:
#   max        Most…, Least… in identifiers: Max…, Min…
#   singular   Are…, Have… in identifiers: Is…, Has…, in the singular always
#   suffix     CpuAcc names types by Int8, Int16, Int4, F32, F16, Bf16 and F64: no name ends with a bare 8 or 16, no file name
#              with Bytes, Shorts, Halves or Nibbles
#   glossary   words in backticks in the first column of the table of docs/glossary.md between the lines
#              "<!-- old names: begin -->" and "<!-- old names: end -->". The third column may have folders, in
#              backticks, to which the rule is limited; files in which the word is still right are in `exceptions` below
#   sentence   no comment of a header in `sentence_folders` has a sentence that begins with "Of ", "What " or "Those "
# C and C++ sources in include, src, tests and samples are checked. Strings are never looked at, comments only by the rule `sentence` and by `glossary` (for words with an inner capital, a
# digit or an underscore: others may begin a sentence). Names of tests are free.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/ExpectFindings.cmake)

# Public names (include/tenon and what is derived from them) that stay.
set(public_names
  AreAllDimensionsSpecified AreHalfWeightsSupported areIntegers)

# word:file, one for each word of the glossary that a file has with another meaning.
set(exceptions
  "Windows:src/backends/cpu/depthwise/float/RowStripPairAvx2F32-inl.hpp"
  "Windows:src/common/windows"
  "Windows:src/tools/common/windows")

# Folders whose headers keep the rule `sentence`, with the folders in them.
set(sentence_folders
  include
  src/armnn src/common src/formats src/graph src/json src/reports src/text src/zip
  src/backends/common src/backends/plugin
  src/backends/cpu/attention src/backends/cpu/conv src/backends/cpu/detection src/backends/cpu/elementwise
  src/backends/cpu/gemm src/backends/cpu/half src/backends/cpu/im2col src/backends/cpu/matmul src/backends/cpu/move
  src/backends/cpu/norm src/backends/cpu/parallel src/backends/cpu/pool src/backends/cpu/recurrent
  src/backends/cpu/reduce src/backends/cpu/resize src/backends/cpu/simd src/backends/cpu/softmax
  src/backends/cpu/weights
  src/backends/reference src/c_api src/delegate src/parsers src/runtime src/serializer src/tools
  tests/bench tests/delegate tests/harness samples
  tests/backends tests/common tests/graph tests/isa tests/package tests/plugins tests/serializer tests/tools)

# Files whose names are about halves of a vector, or bytes as such, not about the type of data.
set(plain_files "CombineHalves|PermuteBytes")

# Names that end with 8 or 16 and are right: types of other interfaces, the house's suffixes, and counts (SumsOf8).
set(number_suffixes
  "(Of|Int|UInt|Uint|Float|BFloat|Bf|F|Fp|Signed|Unsigned|QAsymmU|QAsymmS|QSymmS|QSymm|S|U|E4M3|Utf|UTF|Log|Raw|Fixed)(8|16)")

# Reads the table of old names: sets `old_names`, and for each of them `folders_<name>`.
function(read_old_names glossary)
  file(READ ${glossary} text)
  string(FIND "${text}" "<!-- old names: begin -->" begin)
  string(FIND "${text}" "<!-- old names: end -->" end)
  if(begin LESS 0 OR end LESS begin)
    message(FATAL_ERROR "${glossary} lacks the lines <!-- old names: begin --> and <!-- old names: end -->")
  endif()
  math(EXPR length "${end} - ${begin}")
  string(SUBSTRING "${text}" ${begin} ${length} table)
  string(REGEX REPLACE "[][;]" " " table "${table}")
  string(REGEX MATCHALL "\n\\|[^|\n]*\\|[^|\n]*\\|[^|\n]*\\|" rows "${table}")
  set(old_names "")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^\n\\|([^|]*)\\|[^|]*\\|([^|]*)\\|$" row "${row}")
    set(olds "${CMAKE_MATCH_1}")
    string(REGEX MATCHALL "`[^` ]+`" folders "${CMAKE_MATCH_2}")
    string(REPLACE "`" "" folders "${folders}")
    string(REGEX MATCHALL "`[A-Za-z_][A-Za-z0-9_]*`" olds "${olds}")
    string(REPLACE "`" "" olds "${olds}")
    foreach(old IN LISTS olds)
      list(APPEND old_names ${old})
      set(folders_${old} "${folders}" PARENT_SCOPE)
    endforeach()
  endforeach()
  set(old_names "${old_names}" PARENT_SCOPE)
endfunction()

# Sets `out` to whether `file` must not have the old name `word`.
function(is_old file word out)
  set(${out} FALSE PARENT_SCOPE)
  foreach(exception IN LISTS exceptions)
    string(REGEX REPLACE "^[^:]*:" "" path "${exception}")
    if(exception MATCHES "^${word}:" AND "${file}/" MATCHES "^${path}/")
      return()
    endif()
  endforeach()
  if(folders_${word})
    foreach(folder IN LISTS folders_${word})
      if("${file}/" MATCHES "^${folder}/")
        set(${out} TRUE PARENT_SCOPE)
      endif()
    endforeach()
  elseif(NOT file MATCHES "^include/") # public names stay
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Sets `out` to the identifiers of `text` that match `filter`, each once.
function(find_names text filter out)
  string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_]*" names "${text}")
  list(FILTER names INCLUDE REGEX "${filter}")
  list(REMOVE_DUPLICATES names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Sets `out` to one line "file: rule: word" per word of a rule and file.
function(check_tree root out)
  read_old_names(${root}/docs/glossary.md)
  list(JOIN public_names "|" public)
  set(names_max "^((m_)?(Most|Least)([A-Z].*)?|(most|least)[A-Z].*)$")
  set(names_singular "^((m_)?(Are|Have)[A-Z].*|(are|have)[A-Z].*)$")
  set(names_suffix "^[A-Z][A-Za-z]*[a-z](8|16)$")
  set(findings "")
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/include/* ${root}/src/* ${root}/tests/* ${root}/samples/*)
  list(FILTER files INCLUDE REGEX "\\.(hpp|cpp|h|c|def|inc)$")

  # Most old names are nowhere in the tree: they are looked for in many files at a time.
  set(absent ${old_names})
  set(texts "")
  foreach(file IN LISTS files ITEMS "")
    set(text "")
    if(file)
      file(READ ${root}/${file} text)
    endif()
    string(APPEND texts "${text}\n")
    string(LENGTH "${texts}" length)
    if(NOT file OR length GREATER 50000)
      foreach(old IN LISTS absent)
        string(FIND "${texts}" "${old}" position)
        if(NOT position LESS 0)
          list(REMOVE_ITEM absent ${old})
        endif()
      endforeach()
      set(texts "")
    endif()
  endforeach()
  set(present ${old_names})
  list(REMOVE_ITEM present "" ${absent})
  list(JOIN present "|" names_glossary)

  foreach(file IN LISTS files)
    if(NOT file MATCHES "/(${plain_files})(-inl)?\\." AND
       file MATCHES "^src/backends/cpu/.*(Bytes|Shorts|Halves|Nibbles)(-inl)?\\.(hpp|cpp)$")
      string(APPEND findings "${file}: suffix: ${CMAKE_MATCH_1} in the file's name\n")
    endif()
    file(READ ${root}/${file} text)

    # A look at the whole text says which rules the file may break at all.
    set(kept "")
    if(text MATCHES "[^A-Za-z0-9](Most|Least|most[A-Z]|least[A-Z])")
      list(APPEND kept max)
    endif()
    if(text MATCHES "[^A-Za-z0-9](Are|Have|are|have)[A-Z]")
      list(APPEND kept singular)
    endif()
    if(file MATCHES "^src/backends/cpu/" AND text MATCHES "[A-Za-z][a-z](8|16)[^A-Za-z0-9_]")
      list(APPEND kept suffix)
    endif()
    if(present AND text MATCHES "${names_glossary}")
      list(APPEND kept glossary)
    endif()
    set(is_sentences FALSE)
    if(file MATCHES "\\.(hpp|h)$")
      foreach(folder IN LISTS sentence_folders)
        if(file MATCHES "^${folder}/")
          set(is_sentences TRUE)
        endif()
      endforeach()
    endif()
    if(is_sentences AND text MATCHES "//+<? *(Of|What|Those) |[.] (Of|What|Those) ")
      list(APPEND kept sentence)
    endif()
    if(NOT kept)
      continue()
    endif()

    string(REGEX REPLACE "[][;]" " " text "${text}") # lists take these for their own
    string(REGEX REPLACE "'\"'|\\\\\"" " " text "${text}")
    string(REGEX REPLACE "\"[^\"\n]*\"" " " text "${text}")
    string(REGEX REPLACE "//[^\n]*" " " code "${text}")
    string(REGEX REPLACE "(TEST|TEST_F|TEST_P|TYPED_TEST|ISA_TEST)\\([^)]*\\)" " " code "${code}")
    set(words "")
    foreach(rule IN ITEMS max singular suffix)
      if(rule IN_LIST kept)
        find_names("${code}" "${names_${rule}}" found)
        if(rule STREQUAL "singular")
          list(FILTER found EXCLUDE REGEX "^(${public})$")
        elseif(rule STREQUAL "suffix")
          list(FILTER found EXCLUDE REGEX "${number_suffixes}$")
        endif()
        list(TRANSFORM found PREPEND "${rule}: ")
        list(APPEND words ${found})
      endif()
    endforeach()
    if("glossary" IN_LIST kept)
      find_names("${text}" "^(${names_glossary})$" found)
      find_names("${code}" "^(${names_glossary})$" names)
      foreach(word IN LISTS found)
        # Plain words may begin a sentence of a comment.
        if(word MATCHES "[a-z][A-Z]|[0-9]|_" OR word IN_LIST names)
          is_old(${file} ${word} counts)
          if(counts)
            list(APPEND words "glossary: ${word}")
          endif()
        endif()
      endforeach()
    endif()
    if("sentence" IN_LIST kept)
      string(REGEX MATCHALL "//[^\n]*" comments "${text}")
      foreach(comment IN LISTS comments)
        if(comment MATCHES "^//+<? *(Of|What|Those) |[.] (Of|What|Those) ")
          list(APPEND words "sentence: ${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
        endif()
      endforeach()
      if(NOT REPORT) # which counts each of them
        list(REMOVE_DUPLICATES words)
      endif()
    endif()
    foreach(word IN LISTS words)
      string(APPEND findings "${file}: ${word}\n")
    endforeach()
  endforeach()
  list(LENGTH files count)
  list(LENGTH old_names number)
  message(STATUS "${count} files, ${number} old names")
  set(${out} "${findings}" PARENT_SCOPE)
endfunction()

if(DEFINED SELF_TEST)
  file(REMOVE_RECURSE ${SELF_TEST})
  set(sentence_folders src/runtime)
  set(expected "")
  # A file with one line; `finding` is what must be said of it, empty for nothing.
  macro(given file line finding)
    file(APPEND ${SELF_TEST}/${file} "int plain;\n${line}\nint further;\n")
    if(NOT "${finding}" STREQUAL "")
      list(APPEND expected "${file}: ${finding}")
    endif()
  endmacro()
  file(WRITE ${SELF_TEST}/docs/glossary.md "`Outside` is no old name.\n<!-- old names: begin -->\n"
       "| old | new | where |\n|---|---|---|\n"
       "| `Product8`, `ProductF32` | GemmInt8, GemmF32 | |\n"
       "| `Turns` | pipelined tiles | `src/backends/cpu` `tests/ops` |\n"
       "| `least` | minimum | `src` |\n"
       "| `Windows` | Im2col | |\n| `m_Held` | m_InRegisters | |\n| `Absent` | Nowhere | |\n"
       "| `Blame` | ErrorAttribution | |\n<!-- old names: end -->\n| `Behind` | is no old name | |\n")
  given(src/runtime/Listed.cpp "// see m_Held" "glossary: m_Held")
  given(src/runtime/Max.cpp "size_t m_MostBytes = 0;" "max: m_MostBytes")
  given(src/runtime/Bare.cpp "constexpr int Most = 3;" "max: Most")
  given(src/runtime/Local.cpp "const int leastPages = 3;" "max: leastPages")
  given(src/runtime/Begins.cpp "int x; // Most layers, and m_MostBytes" "")
  given(src/runtime/Text.cpp "Log(\"MostBytes, AreEqual and Product8\");" "")
  given(src/runtime/AtLeast.cpp "bool IsAtLeastOneDimensionSpecified() const;" "")
  given(src/runtime/Arena.cpp "Arena arena(areas, haven, ArenaBytes);" "")
  given(src/runtime/Plural.cpp "if (AreEqual(a, b))" "singular: AreEqual")
  given(src/runtime/Brackets.cpp "values[haveRanks[0]] = \"]\";" "singular: haveRanks")
  given(src/runtime/Public.cpp "return shape.AreAllDimensionsSpecified();" "")
  given(tests/runtime/NamesTest.cpp "TEST(Values, AreTheSameEverywhere)" "")
  given(tests/runtime/BodyTest.cpp "EXPECT_TRUE(AreSame(a, b));" "singular: AreSame")
  given(src/backends/cpu/gemm/Suffix.cpp "class Panel8;" "suffix: Panel8")
  given(src/backends/cpu/gemm/Types.cpp "class PanelInt8; float16 F16; QAsymmS8 GemmBf16; int8_t x; SumsOf8(x);" "")
  given(src/backends/cpu/half/GatherHalves.cpp "int x;" "suffix: Halves in the file's name")
  given(src/backends/cpu/simd/CombineHalves-inl.hpp "int x;" "")
  given(src/backends/reference/Other.cpp "class Fixed8;" "")
  given(src/backends/cpu/conv/Old.cpp "Product8 product;" "glossary: Product8")
  list(APPEND expected "src/backends/cpu/conv/Old.cpp: suffix: Product8")
  given(src/backends/cpu/conv/Second.cpp "// ProductF32 packs" "glossary: ProductF32")
  given(src/backends/cpu/conv/Longer.cpp "int ProductF32Plan; int m_Turnsy;" "")
  given(src/backends/cpu/conv/Scoped.cpp "auto x = Turns(3);" "glossary: Turns")
  given(src/backends/cpu/conv/Sentence.cpp "// Turns are taken." "")
  given(src/runtime/Scoped.cpp "auto x = Turns(3);" "")
  given(src/runtime/Behind.cpp "auto x = Behind(Outside);" "")
  given(src/tools/common/App.cpp "Blame blame;" "glossary: Blame")
  given(src/backends/cpu/conv/Least.cpp "const size_t least = std::min(a, b); // at most b" "glossary: least")
  given(src/backends/cpu/conv/AtLeast.cpp "const size_t x = 3; // least of all: at least 3" "")
  given(tests/ops/Least.cpp "const size_t least = 3;" "")
  given(include/tenon/Blame.hpp "class Blame;" "")
  given(src/common/windows/Paths.cpp "int Windows;" "")
  given(src/common/Windows.cpp "int Windows;" "glossary: Windows")
  given(src/runtime/Of.hpp "/// Of the run." "sentence: Of")
  given(src/runtime/Member.hpp "int x; ///< Those of the run" "sentence: Those")
  given(src/runtime/Later.hpp "// The plan. What a run needs." "sentence: What")
  given(src/runtime/Inside.hpp "// The size of a run, and what follows. Office hours; Offset, Whatever." "")
  given(src/runtime/Source.cpp "// Of the run." "")
  given(src/runtime_tools/Of.hpp "// Of the run." "")

  check_tree(${SELF_TEST} findings)
  expect_findings("${findings}" "${expected}")
  file(REMOVE_RECURSE ${SELF_TEST})
else()
  if(REPORT)
    set(sentence_folders include src tests samples)
  endif()
  check_tree(${ROOT} findings)
  if(REPORT)
    string(REGEX REPLACE "\n$" "" findings "${findings}")
    string(REPLACE "\n" ";" findings "${findings}")
    set(folders "")
    foreach(finding IN LISTS findings)
      string(REGEX REPLACE "^([a-z_]+/[a-z_]+(/[a-z_]+)?)/.*: ([a-z]+): .*$" "\\1 \\3" key "${finding}")
      string(MAKE_C_IDENTIFIER "${key}" name)
      if(NOT DEFINED count_${name})
        set(count_${name} 0)
        list(APPEND folders "${key}")
      endif()
      math(EXPR count_${name} "${count_${name}} + 1")
    endforeach()
    list(SORT folders)
    foreach(key IN LISTS folders)
      string(MAKE_C_IDENTIFIER "${key}" name)
      message(STATUS "${key}: ${count_${name}}")
    endforeach()
  elseif(NOT findings STREQUAL "")
    string(REGEX REPLACE "([^\n]+\n)" "  \\1" findings "${findings}") # indented lines are not wrapped
    message(FATAL_ERROR "names and sentences that docs/glossary.md has replaced:\n${findings}")
  endif()
endif()
