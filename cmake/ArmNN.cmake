# SPDX-License-Identifier: Apache-2.0
# What the build files of programs for Arm NN look for, under its names, in a folder that is made like one into which
# Arm NN is installed. No file with such a name lies elsewhere, so that a real Arm NN may have the same prefix.
#   lib/tenon-armnn/
#     libarmnn.so, libarmnnTfLiteParser.so, ...   scripts of which the linker takes libtenon_armnn.so and libtenon.so
#     libarmnnDelegate.so                         a link to libtenonDelegate.so: interpreters open it by its path
#     libtenon.so.<n>, libtenon_armnn.so.<n>, libtenonDelegate.so.<n>
#                                                 links to these, for programs that look for libraries in this folder only
#     cmake/armnn/ArmnnConfig.cmake               find_package(Armnn), with this folder in CMAKE_PREFIX_PATH
#     cmake/armnnDelegate/...                     find_package(ArmnnDelegate) likewise
#     include, lib                                links to the headers and to this folder
#   include/tenon/compat/tenon/                   links to the headers of include/tenon: one -I is enough
set(armnn_dir ${CMAKE_INSTALL_LIBDIR}/tenon-armnn)
set(armnn_build ${PROJECT_BINARY_DIR}/tenon-armnn)
file(REMOVE_RECURSE ${armnn_build})
file(MAKE_DIRECTORY ${armnn_build}/tenon)

# Makes the link `name` to `target`, for the folder `destination`.
function(tenon_install_link target name destination)
  file(CREATE_LINK ${target} ${armnn_build}/${name} SYMBOLIC)
  install(FILES ${armnn_build}/${name} DESTINATION ${destination})
endfunction()

# A script names its libraries by what lies beside it: linkers look there first, also where the prefix was moved to.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
foreach(library armnn armnnTfLiteParser armnnOnnxParser armnnSerializer armnnDeserializer armnnUtils)
  file(WRITE ${armnn_build}/lib${library}.so
       "/* Arm NN's lib${library}.so, by Tenon. A script for the linker. */\n"
       "INPUT ( libtenon_armnn.so.${soversion} libtenon.so.${soversion} )\n")
  install(FILES ${armnn_build}/lib${library}.so DESTINATION ${armnn_dir})
endforeach()
foreach(library tenon tenon_armnn)
  tenon_install_link(../lib${library}.so.${soversion} lib${library}.so.${soversion} ${armnn_dir})
endforeach()
if(TARGET tenon_delegate)
  foreach(name libarmnnDelegate.so libtenonDelegate.so.${soversion})
    tenon_install_link(../libtenonDelegate.so.${soversion} ${name} ${armnn_dir})
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/ArmnnDelegateConfig.cmake DESTINATION ${armnn_dir}/cmake/armnnDelegate)
endif()
file(RELATIVE_PATH armnn_include /${armnn_dir} /${CMAKE_INSTALL_INCLUDEDIR}/tenon/compat)
tenon_install_link(${armnn_include} include ${armnn_dir})
# Build files of Arm NN's users look in <folder>/lib. The link is a circle for tools that follow links; in its place each
# file would have to be there twice.
tenon_install_link(. lib ${armnn_dir})

# compat itself is left out: its link would be a second circle, and no include needs it.
file(GLOB entries CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include/tenon ${PROJECT_SOURCE_DIR}/include/tenon/*)
list(REMOVE_ITEM entries compat)
foreach(entry IN LISTS entries)
  tenon_install_link(../../${entry} tenon/${entry} ${CMAKE_INSTALL_INCLUDEDIR}/tenon/compat/tenon)
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/cmake/ArmnnConfig.cmake DESTINATION ${armnn_dir}/cmake/armnn)
