# SPDX-License-Identifier: Apache-2.0
# find_package(Armnn), for the build files of programs for Arm NN. The targets are those that Arm NN exports, and one for
# each parser; each of them is Tenon::armnn.
# Sets, as Arm NN does:
#   ARMNN_LIBRARIES      Armnn::Armnn
#   ARMNN_CMAKE_DIR      this folder
#   ARMNN_CONFIG_FILE    this file
# and variables that scripts of its users set which look for the libraries:
#   ARMNN_LIBS           the library and the parser of .tflite files
#   ARMNN_LIB_DIR        the folder with libarmnn.so
#   ARMNN_INCLUDE_DIR, ARMNN_INCLUDE_DIRS
set(ARMNN_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")
set(ARMNN_CONFIG_FILE "${CMAKE_CURRENT_LIST_FILE}")

# The real path: this file is also found by way of the link `lib`.
get_filename_component(ARMNN_LIB_DIR "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(ARMNN_LIB_DIR "${ARMNN_LIB_DIR}/../.." ABSOLUTE)
set(ARMNN_INCLUDE_DIR "${ARMNN_LIB_DIR}/include")
set(ARMNN_INCLUDE_DIRS "${ARMNN_INCLUDE_DIR}")

include(CMakeFindDependencyMacro)
find_dependency(Tenon CONFIG COMPONENTS shared PATHS "${ARMNN_LIB_DIR}/../cmake/Tenon" NO_DEFAULT_PATH)

# Libraries are also found where a project gives them by name: target_link_libraries(program armnn armnnTfLiteParser).
foreach(armnn_target Armnn armnnUtils armnnSerializer armnnSerializer-static armnnDeserializer armnnTfLiteParser
                     armnnOnnxParser)
  if(NOT TARGET Armnn::${armnn_target})
    add_library(Armnn::${armnn_target} INTERFACE IMPORTED)
    set_target_properties(Armnn::${armnn_target} PROPERTIES INTERFACE_LINK_LIBRARIES Tenon::armnn
                                                            INTERFACE_LINK_DIRECTORIES "${ARMNN_LIB_DIR}")
  endif()
endforeach()
unset(armnn_target)
set(ARMNN_LIBRARIES Armnn::Armnn)
set(ARMNN_LIBS Armnn::Armnn Armnn::armnnTfLiteParser)
