# SPDX-License-Identifier: Apache-2.0
# The ctests "layering" and "layering_selftest": which folder may include what.
#   cmake -DROOT=<source tree> -P CheckIncludes.cmake
#   cmake -DSELF_TEST=<scratch folder> -P CheckIncludes.cmake     checks that this script finds what it has to
#
# Own headers of src/ are included as "folder/File.hpp" relative to src/, everything else in angle brackets.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/ExpectFindings.cmake)

# folder : what it may include beside its own headers and the C++ standard library. The first row that fits counts.
# `api` is <tenon/...> with <tenon/descriptors/...>, but without compat; `backend`, `parsers` and `serializer` are folders
# of it that `api` alone does not have.
set(rules
  "include/tenon/compat : compat api backend delegate parsers serializer mapbox"
  "include/tenon/backend : api"
  "include/tenon/c : backend"
  "include/tenon/delegate : api"
  "include/tenon/parsers : api"
  "include/tenon/serializer : api"
  "include/tenon :"
  "src/json : text fmt"
  "src/formats : flatbuffers"
  "src/text :"
  "src/zip : text api fmt"
  "src/reports : json api"
  "src/common/posix : common posix"
  "src/common/windows : common windows posix"
  "src/common : json api backend parsers serializer fmt spdlog"
  "src/graph : json text api backend common fmt"
  "src/backends/common : api backend common fmt xxhash"
  "src/backends/reference : api backend common backends/common eigen"
  # CpuAcc by families, in the order of their floors; src/backends/cpu/README.md draws them.
  "src/backends/cpu/simd : api backends/common posix highway"
  "src/backends/cpu/parallel : api backend common backends/common posix"
  "src/backends/cpu/im2col : api backend common backends/common backends/reference highway backends/cpu/parallel backends/cpu/simd"
  "src/backends/cpu/elementwise : api backend common backends/common backends/reference highway backends/cpu/parallel backends/cpu/simd"
  "src/backends/cpu/reduce : api backend common backends/common backends/reference highway backends/cpu/parallel backends/cpu/simd"
  "src/backends/cpu/move : api backend common backends/common backends/reference highway backends/cpu/elementwise backends/cpu/parallel backends/cpu/simd"
  "src/backends/cpu/gemm : api backend common backends/common backends/reference highway posix backends/cpu/elementwise backends/cpu/im2col backends/cpu/move backends/cpu/parallel backends/cpu/simd"
  "src/backends/cpu/resize : api backend common backends/common backends/reference highway backends/cpu/move backends/cpu/parallel backends/cpu/simd"
  "src/backends/cpu/pool : api backend common backends/common backends/reference highway backends/cpu/parallel backends/cpu/resize backends/cpu/simd"
  "src/backends/cpu/half : api backend common backends/common backends/reference highway backends/cpu backends/cpu/elementwise backends/cpu/parallel backends/cpu/pool backends/cpu/simd"
  "src/backends/cpu/norm : api backend common backends/common backends/reference highway backends/cpu/parallel backends/cpu/reduce backends/cpu/simd"
  "src/backends/cpu/softmax : api backend common backends/common backends/reference highway backends/cpu/elementwise backends/cpu/parallel backends/cpu/reduce backends/cpu/simd"
  "src/backends/cpu/detection : api backend common backends/common backends/reference highway backends/cpu/move backends/cpu/parallel backends/cpu/reduce backends/cpu/resize backends/cpu/simd"
  "src/backends/cpu/attention : api backend common backends/common backends/reference highway backends/cpu/elementwise backends/cpu/gemm backends/cpu/move backends/cpu/parallel backends/cpu/simd"
  "src/backends/cpu/weights : api backend common backends/common backends/reference highway backends/cpu/gemm"
  "src/backends/cpu/winograd : api backend common backends/common backends/reference highway backends/cpu/gemm backends/cpu/im2col backends/cpu/move backends/cpu/parallel backends/cpu/simd backends/cpu/weights"
  "src/backends/cpu/matmul : api backend common backends/common backends/reference highway backends/cpu/attention backends/cpu/gemm backends/cpu/im2col backends/cpu/move backends/cpu/parallel backends/cpu/weights"
  "src/backends/cpu/depthwise : api backend common backends/common backends/reference highway backends/cpu/gemm backends/cpu/im2col backends/cpu/move backends/cpu/parallel backends/cpu/simd backends/cpu/weights"
  "src/backends/cpu/recurrent : api backend common backends/common backends/reference highway backends/cpu/elementwise backends/cpu/gemm backends/cpu/move backends/cpu/parallel backends/cpu/simd backends/cpu/weights"
  "src/backends/cpu/conv : api backend common backends/common backends/reference highway backends/cpu/depthwise backends/cpu/elementwise backends/cpu/gemm backends/cpu/im2col backends/cpu/move backends/cpu/parallel backends/cpu/weights"
  "src/backends/cpu : api backend common backends/common backends/reference backends/cpu/parallel backends/cpu/simd"
  "src/backends/plugin : api backend common fmt"
  "src/backends/BackendHelper.cpp : api backend common"
  "src/backends/LayerQueries.cpp : api backend graph"
  "src/backends/builtin.cpp : api backend backends/reference backends/cpu"
  "src/optimizer : api backend common graph fmt"
  "src/runtime : json api backend common graph fmt"
  "src/serializer/Deserializer.cpp : formats api backend serializer common graph parsers/armnn fmt"
  "src/serializer : api backend serializer common graph fmt flatbuffers"
  "src/parsers/common/FlatValue.(cpp|hpp) : api common parsers/common fmt flatbuffers"
  "src/parsers/common : api common fmt"
  "src/parsers/tflite/operators : api backend common parsers/common parsers/tflite fmt"
  "src/parsers/tflite : formats text zip api backend parsers common parsers/common fmt flatbuffers"
  "src/parsers/armnn/operators : api common parsers/common parsers/armnn fmt"
  "src/parsers/armnn : formats text api common parsers/common fmt flatbuffers"
  "src/parsers/onnx : api backend parsers common parsers/common fmt protozero"
  "src/armnn : api backend compat common"
  "src/delegate : text api backend delegate common parsers/common parsers/tflite fmt flatbuffers"
  "src/c_api : json reports formats api backend c parsers serializer common backends/plugin fmt"
  "src/tools/common/posix : tools/common posix"
  "src/tools/common/windows : tools/common windows posix"
  "src/tools/common : json reports formats text zip api backend parsers serializer fmt cli11 nlohmann stb"
  "src/tools/benchmark/posix : tools/benchmark tools/common fmt posix"
  "src/tools/benchmark/windows : tools/benchmark tools/common fmt"
  "src/tools/benchmark : tools/common json text api fmt"
  "src/tools/compare : tools/common json formats text api fmt"
  "src/tools/describe : tools/common json reports formats api fmt"
  "src/tools/evaluate : tools/common json text api fmt cli11 stb xxhash"
  "src/tools/profile : tools/common json api fmt posix"
  "src/tools/execute_network : tools/benchmark tools/common tools/compare tools/describe tools/profile json reports formats text api serializer fmt cli11"
  "samples/delegate : api delegate tensorflow"
  "samples : beside api backend parsers serializer stb")

# Sets `out` to the name by which the rules call the included text, with its brackets or quotes; empty if to none.
function(classify included out)
  set(kind "")
  if(included MATCHES "^<(armnn|armnnDeserializer|armnnSerializer|armnnOnnxParser|armnnTfLiteParser|armnnUtils|backendsCommon|common/include)/|^<(DelegateOptions|armnn_delegate)\\.hpp>$")
    set(kind compat)
  elseif(included MATCHES "^<tenon/(backend|c|delegate|parsers|serializer|compat)/")
    set(kind ${CMAKE_MATCH_1})
  elseif(included MATCHES "^<tenon/")
    set(kind api)
  elseif(included MATCHES "^<[a-z0-9_]+>$")
    set(kind std)
  elseif(included MATCHES "^<std(def|int)\\.h>$") # of headers that are C, too
    set(kind std)
  elseif(included MATCHES "^<(arm_neon|asm/hwcap|cpuid|dlfcn|fcntl|pthread|sched|signal|spawn|unistd|sys/[a-z]+)\\.h>$")
    set(kind posix)
  elseif(included MATCHES "^<(io|psapi|windows)\\.h>$")
    set(kind windows)
  elseif(included MATCHES "^<(fmt|spdlog|mapbox)/")
    set(kind ${CMAKE_MATCH_1})
  elseif(included MATCHES "^<(Eigen|unsupported/Eigen)/")
    set(kind eigen)
  elseif(included STREQUAL "<xxhash.h>")
    set(kind xxhash)
  elseif(included MATCHES "^<hwy/")
    set(kind highway)
  elseif(included MATCHES "^<(flatbuffers/.*|(armnn|litertlm|tflite|tflite_metadata|tenon)_generated\\.h)>$")
    set(kind flatbuffers)
  elseif(included MATCHES "^<tensorflow/lite/")
    set(kind tensorflow)
  elseif(included MATCHES "^<protozero/")
    set(kind protozero)
  elseif(included MATCHES "^<CLI/")
    set(kind cli11)
  elseif(included MATCHES "^<stb/")
    set(kind stb)
  elseif(included MATCHES "^<nlohmann/")
    set(kind nlohmann)
  elseif(included MATCHES "^\"(backends/cpu/[a-z0-9]+)/[^.]") # its folders have an order of their own
    set(kind ${CMAKE_MATCH_1})
  elseif(included MATCHES "^\"((backends|parsers|tools)/[a-z_]+|[a-z_]+)/[^.]")
    set(kind ${CMAKE_MATCH_1})
  elseif(included MATCHES "^\"[A-Za-z]+\\.hpp\"")
    set(kind beside) # a header of the same folder; samples have no root for includes
  endif()
  set(${out} "${kind}" PARENT_SCOPE)
endfunction()

# Sets `out` to one line per forbidden #include of the tree.
function(check_tree root out)
  set(findings "")
  file(GLOB_RECURSE files RELATIVE ${root} ${root}/include/* ${root}/src/* ${root}/samples/*)
  list(FILTER files INCLUDE REGEX "\\.(hpp|cpp|h|def|inc)$")
  set(number 0)
  foreach(file IN LISTS files)
    set(folder "")
    foreach(rule IN LISTS rules)
      string(REGEX REPLACE " :.*" "" rule_folder "${rule}")
      if(file MATCHES "^${rule_folder}(/|$)")
        set(folder ${rule_folder})
        string(REGEX REPLACE "^.* :" "" allowed "${rule}")
        separate_arguments(allowed)
        break()
      endif()
    endforeach()
    if(folder STREQUAL "")
      string(APPEND findings "${file}: its folder has no row in the table of tests/package/CheckIncludes.cmake\n")
      continue()
    endif()
    # What the folder's own headers are called: their path in src/, or <tenon/...> for public ones.
    string(REGEX REPLACE "^(src|samples)/" "" own "${folder}")
    if(folder STREQUAL "include/tenon")
      set(own api)
    elseif(folder MATCHES "^include/tenon/(.*)$")
      set(own ${CMAKE_MATCH_1})
    endif()
    list(APPEND allowed ${own} std)

    file(STRINGS ${root}/${file} lines REGEX "^[ \t]*#[ \t]*include")
    foreach(line IN LISTS lines)
      if(line MATCHES "^[ \t]*#[ \t]*include[ \t]*([<\"][^>\"]*[>\"])")
        set(included ${CMAKE_MATCH_1})
        classify(${included} kind)
        math(EXPR number "${number} + 1")
        if(kind STREQUAL "")
          string(APPEND findings "${file}: includes ${included}, which the table does not know\n")
        elseif(NOT kind IN_LIST allowed)
          string(APPEND findings "${file}: ${folder} must not include ${included}\n")
        endif()
      elseif(line MATCHES "^[ \t]*#[ \t]*include")
        string(APPEND findings "${file}: includes what a macro says\n")
      endif()
    endforeach()
  endforeach()
  list(LENGTH files count)
  message(STATUS "${number} includes in ${count} files")
  set(${out} "${findings}" PARENT_SCOPE)
endfunction()

if(DEFINED SELF_TEST)
  file(REMOVE_RECURSE ${SELF_TEST})
  set(expected "")
  # A file with one #include; `finding` is what must be said of it, empty for nothing.
  macro(given file line finding)
    file(APPEND ${SELF_TEST}/${file} "#include <vector>\n${line}\n")
    if(NOT "${finding}" STREQUAL "")
      list(APPEND expected "${file}: ${finding}")
    endif()
  endmacro()
  given(include/tenon/A.hpp "#include <tenon/B.hpp>" "")
  given(include/tenon/descriptors/A.hpp "#include <tenon/descriptors/B.hpp>" "")
  given(include/tenon/descriptors/Up.hpp "#include <tenon/backend/B.hpp>"
        "include/tenon must not include <tenon/backend/B.hpp>")
  given(src/graph/infer/Descriptor.cpp "#include <tenon/descriptors/A.hpp>" "")
  given(samples/delegate/Runtime.cpp "#include <tensorflow/lite/model_builder.h>" "")
  given(samples/simple/Runtime.cpp "#include <tensorflow/lite/model_builder.h>"
        "samples must not include <tensorflow/lite/model_builder.h>")
  given(include/tenon/Fmt.hpp "#include <fmt/format.h>" "include/tenon must not include <fmt/format.h>")
  given(include/tenon/Up.hpp "#include <tenon/backend/B.hpp>" "include/tenon must not include <tenon/backend/B.hpp>")
  given(include/tenon/Src.hpp "#include \"graph/Graph.hpp\"" "include/tenon must not include \"graph/Graph.hpp\"")
  given(include/tenon/backend/A.hpp "#include <tenon/A.hpp>" "")
  given(include/tenon/compat/armnn/A.hpp "#include <armnn/B.hpp>" "")
  given(src/json/Tenon.cpp "#include <tenon/Types.hpp>" "src/json must not include <tenon/Types.hpp>")
  given(src/common/Json.cpp "#include \"json/JsonWriter.hpp\"" "")
  given(src/common/Own.cpp "#include \"common/Own.hpp\" // own; first" "")
  given(src/common/posix/Own.cpp "#include <unistd.h>" "")
  given(src/common/windows/Own.cpp "#include <windows.h>" "")
  given(src/common/Posix.cpp "#include <unistd.h>" "src/common must not include <unistd.h>")
  given(src/common/Windows.cpp "#include <windows.h>" "src/common must not include <windows.h>")
  given(src/common/posix/Windows.cpp "#include <windows.h>" "src/common/posix must not include <windows.h>")
  given(src/common/Up.cpp "  #  include \"graph/Graph.hpp\"" "src/common must not include \"graph/Graph.hpp\"")
  given(src/graph/infer/Own.cpp "#include \"graph/infer/Own.hpp\"" "")
  given(src/graph/Up.cpp "#include \"optimizer/Pass.hpp\"" "src/graph must not include \"optimizer/Pass.hpp\"")
  given(src/backends/reference/Own.cpp "#include \"backends/common/KernelTable.hpp\"" "")
  given(src/backends/reference/Graph.cpp "#include \"graph/Layer.hpp\""
        "src/backends/reference must not include \"graph/Layer.hpp\"")
  given(src/backends/reference/Cpu.cpp "#include \"backends/cpu/gemm/Gemm.hpp\""
        "src/backends/reference must not include \"backends/cpu/gemm/Gemm.hpp\"")
  given(src/backends/cpu/gemm/Own.cpp "#include \"backends/cpu/gemm/Gemm.hpp\"" "")
  given(src/backends/cpu/gemm/Tasks.cpp "#include \"backends/cpu/parallel/Tasks.hpp\"" "")
  given(src/backends/cpu/gemm/Up.cpp "#include \"backends/cpu/conv/Pool.hpp\""
        "src/backends/cpu/gemm must not include \"backends/cpu/conv/Pool.hpp\"")
  given(src/backends/builtin.cpp "#include \"backends/cpu/CpuAccBackend.hpp\"" "")
  given(src/parsers/tflite/Graph.cpp "#include \"graph/Graph.hpp\""
        "src/parsers/tflite must not include \"graph/Graph.hpp\"")
  given(src/parsers/tflite/Reader.cpp "#include <tflite_generated.h>" "")
  given(src/parsers/tflite/operators/Rows.hpp "#include \"parsers/common/OperatorRow.hpp\"" "")
  given(src/parsers/tflite/operators/Schema.cpp "#include <tflite_generated.h>"
        "src/parsers/tflite/operators must not include <tflite_generated.h>")
  given(src/parsers/common/Flat.cpp "#include <flatbuffers/flatbuffers.h>"
        "src/parsers/common must not include <flatbuffers/flatbuffers.h>")
  given(src/parsers/common/FlatValue.cpp "#include <flatbuffers/flatbuffers.h>" "")
  given(src/parsers/common/Up.cpp "#include \"parsers/tflite/Model.hpp\""
        "src/parsers/common must not include \"parsers/tflite/Model.hpp\"")
  given(src/parsers/onnx/Reader.cpp "#include <protozero/pbf_message.hpp>" "")
  given(src/parsers/onnx/Sibling.cpp "#include \"parsers/tflite/Model.hpp\""
        "src/parsers/onnx must not include \"parsers/tflite/Model.hpp\"")
  given(src/parsers/tflite/Protozero.cpp "#include <protozero/pbf_message.hpp>"
        "src/parsers/tflite must not include <protozero/pbf_message.hpp>")
  given(src/parsers/armnn/Reader.cpp "#include <armnn_generated.h>" "")
  given(src/parsers/armnn/Sibling.cpp "#include \"parsers/tflite/Model.hpp\""
        "src/parsers/armnn must not include \"parsers/tflite/Model.hpp\"")
  given(src/parsers/armnn/operators/Schema.cpp "#include <armnn_generated.h>"
        "src/parsers/armnn/operators must not include <armnn_generated.h>")
  given(src/serializer/Deserializer.cpp "#include \"parsers/armnn/ReadNetwork.hpp\"" "")
  given(src/serializer/Reader.cpp "#include \"parsers/armnn/ReadNetwork.hpp\""
        "src/serializer must not include \"parsers/armnn/ReadNetwork.hpp\"")
  given(src/tools/common/Inner.cpp "#include \"common/Log.hpp\""
        "src/tools/common must not include \"common/Log.hpp\"")
  given(src/tools/common/Compat.cpp "#include <armnn/ArmNN.hpp>"
        "src/tools/common must not include <armnn/ArmNN.hpp>")
  given(src/tools/common/Up.cpp "#include \"tools/execute_network/Options.hpp\""
        "src/tools/common must not include \"tools/execute_network/Options.hpp\"")
  given(src/tools/execute_network/Common.cpp "#include \"tools/common/File.hpp\"" "")
  given(src/runtime/Relative.cpp "#include \"../graph/Graph.hpp\""
        "includes \"../graph/Graph.hpp\", which the table does not know")
  given(src/runtime/Sibling.cpp "#include \"Plan.hpp\"" "src/runtime must not include \"Plan.hpp\"")
  given(src/runtime/Angle.cpp "#include <graph/Graph.hpp>"
        "includes <graph/Graph.hpp>, which the table does not know")
  given(src/runtime/Other.cpp "#include <boost/any.hpp>" "includes <boost/any.hpp>, which the table does not know")
  given(src/runtime/Macro.cpp "#include CHOSEN" "includes what a macro says")
  given(src/somewhere/New.cpp "" "its folder has no row in the table of tests/package/CheckIncludes.cmake")

  check_tree(${SELF_TEST} findings)
  expect_findings("${findings}" "${expected}")
  file(REMOVE_RECURSE ${SELF_TEST})
else()
  check_tree(${ROOT} findings)
  if(NOT findings STREQUAL "")
    message(FATAL_ERROR "forbidden includes:\n${findings}")
  endif()
endif()
