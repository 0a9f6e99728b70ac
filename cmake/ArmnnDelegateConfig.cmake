# SPDX-License-Identifier: Apache-2.0
# find_package(ArmnnDelegate), for the build files of programs for Arm NN that use its TensorFlow Lite delegate. The target
# is the one that Arm NN exports; it is Tenon::delegate, with the headers and libraries of find_package(Armnn).
# Sets, as Arm NN does:
#   ARMNN_DELEGATE_LIBRARIES      ArmnnDelegate::ArmnnDelegate
#   ARMNN_DELEGATE_CMAKE_DIR      this folder
#   ARMNN_DELEGATE_CONFIG_FILE    this file
set(ARMNN_DELEGATE_CMAKE_DIR "${CMAKE_CURRENT_LIST_DIR}")
set(ARMNN_DELEGATE_CONFIG_FILE "${CMAKE_CURRENT_LIST_FILE}")

# The real path: this file is also found by way of the link `lib`.
get_filename_component(ARMNN_DELEGATE_LIB_DIR "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(ARMNN_DELEGATE_LIB_DIR "${ARMNN_DELEGATE_LIB_DIR}/../.." ABSOLUTE)

include(CMakeFindDependencyMacro)
find_dependency(Armnn CONFIG PATHS "${ARMNN_DELEGATE_LIB_DIR}/cmake/armnn" NO_DEFAULT_PATH)

if(NOT TARGET ArmnnDelegate::ArmnnDelegate)
  add_library(ArmnnDelegate::ArmnnDelegate INTERFACE IMPORTED)
  set_target_properties(ArmnnDelegate::ArmnnDelegate PROPERTIES
    INTERFACE_LINK_LIBRARIES "Tenon::delegate;Tenon::armnn" INTERFACE_LINK_DIRECTORIES "${ARMNN_DELEGATE_LIB_DIR}")
endif()
set(ARMNN_DELEGATE_LIBRARIES ArmnnDelegate::ArmnnDelegate)
