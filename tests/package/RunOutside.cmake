# SPDX-License-Identifier: Apache-2.0
# One step of the package tests (see CMakeLists.txt beside this file), by STEP:
#   install    installs BUILD into WORK/prefix, by way of another folder: a moved prefix has to work
#   cmake      builds SOURCE in WORK as a project that finds Tenon by CMake and links TARGET; runs it with ARGUMENTS
#   pkgconfig  compiles SOURCE with what pkg-config says of PACKAGE (a list with commas), and nothing else; runs it with
#              ARGUMENTS
#   armnn      builds SOURCE in WORK as a project that finds Arm NN as FIND says; runs it with ARGUMENTS
#   command    compiles SOURCE as a program for Arm NN by one command, links it by each linker that there is; runs it
#   names      looks for files with Arm NN's names outside of Tenon's folders
#   project    builds the project SOURCE, which finds Tenon by CMake; runs its program, which is named as its folder, with
#              ARGUMENTS
#   program    runs the installed program EXE with ARGUMENTS
#   backend    builds the backend SOURCE with the installed headers alone; the installed ExecuteNetwork runs MODEL on it
# SOURCE is a file, or a folder with sources; a | stands between ARGUMENTS. OPTIONS are the compiler's.
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

string(REPLACE "|" ";" ARGUMENTS "${ARGUMENTS}")
set(sources ${SOURCE})
if(IS_DIRECTORY "${SOURCE}")
  file(GLOB sources ${SOURCE}/*.cpp)
endif()
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
separate_arguments(options UNIX_COMMAND "${OPTIONS}")
set(armnn_dir ${WORK}/prefix/${LIBDIR}/tenon-armnn)

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
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/outside -B ${project} -G ${GENERATOR} ${toolchain}
      -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${WORK}/prefix
      -DSOURCE=${SOURCE} -DTARGET=${TARGET} -DCOMPONENT=${COMPONENT})
  run(${CMAKE_COMMAND} --build ${project})
  run_program(${project}/program ${ARGUMENTS})
elseif(STEP STREQUAL pkgconfig)
  string(REPLACE "," ";" PACKAGE "${PACKAGE}")
  file(GLOB_RECURSE file ${WORK}/prefix/*/tenon.pc)
  get_filename_component(folder "${file}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  run(pkg-config --cflags --libs ${PACKAGE})
  separate_arguments(package UNIX_COMMAND "${output}")
  run(pkg-config --variable=libdir tenon)
  string(STRIP "${output}" libdir)
  run(${CXX} ${options} ${flags} ${sources} -o ${WORK}/${NAME} ${package} -pthread)
  set(ENV{LD_LIBRARY_PATH} ${libdir})
  run_program(${WORK}/${NAME} ${ARGUMENTS})
elseif(STEP STREQUAL armnn)
  set(project ${WORK}/${NAME})
  file(REMOVE_RECURSE ${project})
  if(FIND MATCHES "^(package|delegate)$")
    set(where -DCMAKE_PREFIX_PATH=${armnn_dir})
  else()
    set(where -DARMNN_LIB_DIR=${armnn_dir})
  endif()
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/armnn -B ${project} -G ${GENERATOR} ${toolchain}
      -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${FLAGS} -DSOURCE=${SOURCE} -DFIND=${FIND}
      ${where})
  run(${CMAKE_COMMAND} --build ${project})
  run_program(${project}/program ${ARGUMENTS})
elseif(STEP STREQUAL command)
  # Nothing but -I and -L of Tenon; programs find libraries in the folder of -L alone.
  set(ENV{LD_LIBRARY_PATH} ${armnn_dir})
  set(compile ${CXX} ${options} ${flags} -I${WORK}/prefix/${INCLUDEDIR}/tenon/compat)
  run(${compile} ${SOURCE} -o ${WORK}/${NAME} -L${armnn_dir} -larmnn -larmnnTfLiteParser -pthread)
  run_program(${WORK}/${NAME} ${ARGUMENTS})
  run(${compile} -c ${SOURCE} -o ${WORK}/${NAME}.o)
  foreach(linker bfd gold lld)
    execute_process(COMMAND ${CXX} -fuse-ld=${linker} -Wl,--version OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0)
      foreach(libraries "-larmnn;-larmnnTfLiteParser" "-larmnnTfLiteParser" "${armnn_dir}/libarmnn.so")
        message(STATUS "${linker}: ${libraries}")
        run(${CXX} -fuse-ld=${linker} ${flags} ${WORK}/${NAME}.o -o ${WORK}/${NAME} -L${armnn_dir} ${libraries} -pthread)
        run_program(${WORK}/${NAME} ${ARGUMENTS})
      endforeach()
    endif()
  endforeach()
elseif(STEP STREQUAL names)
  file(GLOB_RECURSE files LIST_DIRECTORIES TRUE RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
  list(FILTER files INCLUDE REGEX "(^|/)(lib)?[Aa][Rr][Mm][Nn][Nn][^/]*$")
  set(inside ${files})
  list(FILTER inside INCLUDE REGEX "^(${LIBDIR}/tenon-armnn|${INCLUDEDIR}/tenon/compat)/")
  list(FILTER files EXCLUDE REGEX "^(${LIBDIR}/tenon-armnn|${INCLUDEDIR}/tenon/compat)/")
  if(files OR NOT "${LIBDIR}/tenon-armnn/libarmnn.so" IN_LIST inside
     OR NOT "${LIBDIR}/tenon-armnn/cmake/armnn/ArmnnConfig.cmake" IN_LIST inside
     OR NOT "${INCLUDEDIR}/tenon/compat/armnn/ArmNN.hpp" IN_LIST inside)
    message(FATAL_ERROR "outside of Tenon's folders: ${files}\ninside: ${inside}")
  endif()
elseif(STEP STREQUAL project)
  set(project ${WORK}/${NAME})
  file(REMOVE_RECURSE ${project})
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${project} -G ${GENERATOR} ${toolchain} -DCMAKE_CXX_COMPILER=${CXX}
      -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  run(${CMAKE_COMMAND} --build ${project})
  get_filename_component(program ${SOURCE} NAME)
  run_program(${project}/${program} ${ARGUMENTS})
elseif(STEP STREQUAL program)
  run_program(${WORK}/prefix/${BINDIR}/${EXE} ${ARGUMENTS})
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
