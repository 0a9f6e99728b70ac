# SPDX-License-Identifier: Apache-2.0
# One step of the package tests (see CMakeLists.txt beside this file), by STEP:
#   install    installs BUILD into WORK/prefix, by way of another folder: a moved prefix has to work
#   cmake      builds SOURCE in WORK as a project that finds Tenon by CMake and links TARGET; runs it with ARGUMENTS
#   pkgconfig  compiles SOURCE with what pkg-config says of PACKAGE, and nothing else; runs it with ARGUMENTS
#   program    runs the installed ExecuteNetwork with ARGUMENTS
#   backend    builds the backend SOURCE with the installed headers alone; the installed ExecuteNetwork runs MODEL on it
# The program's output must match EXPECT. FLAGS are the sanitizers of the build, which its users need too. Of a
# cross-build there are TOOLCHAIN, the toolchain file, EMULATOR, which runs programs, and PKG_CONFIG_LIBDIR.
cmake_minimum_required(VERSION 3.25)

# Runs a command; any failure ends the test with the command's output.
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}\nstatus ${status}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(run_program)
  run(${EMULATOR} ${ARGN})
  message(STATUS "${output}")
  if(NOT output MATCHES "${EXPECT}")
    message(FATAL_ERROR "the output does not match '${EXPECT}'")
  endif()
endfunction()

set(toolchain "")
if(TOOLCHAIN)
  set(toolchain -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN})
  set(ENV{PKG_CONFIG_LIBDIR} ${PKG_CONFIG_LIBDIR})
endif()

if(STEP STREQUAL install)
  file(REMOVE_RECURSE ${WORK})
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/elsewhere)
  file(RENAME ${WORK}/elsewhere ${WORK}/prefix)
elseif(STEP STREQUAL cmake)
  set(project ${WORK}/${NAME})
  file(REMOVE_RECURSE ${project})
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/outside -B ${project} -G ${GENERATOR} ${toolchain} -DCMAKE_BUILD_TYPE=Debug
      -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${WORK}/prefix
      -DSOURCE=${SOURCE} -DTARGET=${TARGET} -DCOMPONENT=${COMPONENT})
  run(${CMAKE_COMMAND} --build ${project})
  run_program(${project}/program ${ARGUMENTS})
elseif(STEP STREQUAL pkgconfig)
  file(GLOB_RECURSE file ${WORK}/prefix/*/${PACKAGE}.pc)
  get_filename_component(folder "${file}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  run(pkg-config --cflags --libs ${PACKAGE})
  separate_arguments(options UNIX_COMMAND "${output}")
  run(pkg-config --variable=libdir tenon)
  string(STRIP "${output}" libdir)
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  run(${CXX} -std=c++17 ${flags} ${SOURCE} -o ${WORK}/${NAME} ${options})
  set(ENV{LD_LIBRARY_PATH} ${libdir})
  run_program(${WORK}/${NAME} ${ARGUMENTS})
elseif(STEP STREQUAL program)
  run_program(${WORK}/prefix/${BINDIR}/ExecuteNetwork ${ARGUMENTS})
elseif(STEP STREQUAL backend)
  set(project ${WORK}/${NAME})
  file(REMOVE_RECURSE ${project})
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${project} -G ${GENERATOR} ${toolchain} -DCMAKE_CXX_COMPILER=${CXX}
      -DCMAKE_CXX_FLAGS=${FLAGS} -DTENON_INCLUDE=${WORK}/prefix/include)
  run(${CMAKE_COMMAND} --build ${project})
  run_program(${WORK}/prefix/${BINDIR}/ExecuteNetwork -m ${MODEL} -b ${project}/lib/plugins/sample
              -c SampleNpu,CpuRef -N --print-assignment)
else()
  message(FATAL_ERROR "unknown STEP '${STEP}'")
endif()
