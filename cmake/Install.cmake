# SPDX-License-Identifier: Apache-2.0
# The package: what `cmake --install` puts where. The prefix may be moved afterwards:
# every path in it is relative.
#   include/tenon/            public headers with their folders; include/tenon/compat/ holds the headers with Arm NN's
#                             names
#   lib/                      libtenon.so.<version> and its links, libtenon.a; libtenon_armnn.so and libtenonDelegate.so
#                             likewise
#   lib/tenon-armnn/          what the build files of programs for Arm NN look for: see ArmNN.cmake
#   lib/cmake/Tenon/          find_package(Tenon CONFIG): Tenon::tenon, Tenon::tenon_static, Tenon::armnn,
#                             Tenon::delegate
#   lib/pkgconfig/            tenon.pc, tenon-static.pc, tenon-armnn.pc, tenon-delegate.pc
#   bin/                      ExecuteNetwork and tenon-evaluate (installed by src/tools)
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.def")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY_LICENSES ${PROJECT_SOURCE_DIR}/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Tenon::armnn: what a program with Arm NN's includes links.
add_library(tenon_armnn INTERFACE)
target_include_directories(tenon_armnn INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/tenon/compat>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tenon/compat>)
# See compat/armnn/Namespace.hpp.
target_compile_definitions(tenon_armnn INTERFACE armnn=tenon armnnTfLiteParser=tenon armnnSerializer=tenon)
target_link_libraries(tenon_armnn INTERFACE tenon tenon_armnn_compat)
set_target_properties(tenon_armnn PROPERTIES EXPORT_NAME armnn)
add_library(Tenon::armnn ALIAS tenon_armnn)

# The shared library needs nothing of its user, the static one brings its dependencies: two sets, so that a program
# which links the shared one needs no development packages of theirs. Header-only ones (Eigen, FlatBuffers) are inside.
set(tenon_static_links Threads::Threads)
set(pc_requires "")
if(NOT TENON_HEADER_ONLY_LOGGING) # else they are inside
  list(PREPEND tenon_static_links fmt::fmt spdlog::spdlog)
  set(pc_requires "spdlog fmt")
endif()
set(links ${tenon_static_links} ${CMAKE_DL_LIBS})
list(TRANSFORM links REPLACE "(.+)" "$<LINK_ONLY:\\1>")
set_target_properties(tenon_static PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")

set(shared_targets tenon tenon_armnn tenon_armnn_compat)
set(pc_names tenon tenon-static tenon-armnn)
if(TARGET tenon_delegate)
  list(APPEND shared_targets tenon_delegate)
  list(APPEND pc_names tenon-delegate)
endif()
install(TARGETS ${shared_targets} EXPORT TenonTargets)
install(TARGETS tenon_static EXPORT TenonStaticTargets)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
install(EXPORT TenonTargets NAMESPACE Tenon:: DESTINATION ${config_dir})
install(EXPORT TenonStaticTargets NAMESPACE Tenon:: DESTINATION ${config_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TenonConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/TenonConfig.cmake
                              INSTALL_DESTINATION ${config_dir}
                              NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break what was: as the SOVERSION says.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TenonConfig.cmake ${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake
        DESTINATION ${config_dir})

# pkg-config knows where a .pc file lies (pcfiledir), and the prefix is so many folders up from there.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
set(pc_dl ${CMAKE_DL_LIBS})
list(TRANSFORM pc_dl PREPEND " -l")
foreach(name IN LISTS pc_names)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(TENON_HAS_ELF)
  include(${CMAKE_CURRENT_LIST_DIR}/ArmNN.cmake)
endif()
