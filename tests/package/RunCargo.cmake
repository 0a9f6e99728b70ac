# SPDX-License-Identifier: Apache-2.0
# The ctest "sample_rust": the crate SOURCE passes its tests with the library in LIBRARIES, and its example runs.
#   cmake -DSOURCE=<folder> -DLIBRARIES=<folder> -DWORK=<folder> -DCC=<compiler> -DMODEL=<file> -P RunCargo.cmake
# Cargo is found in PATH or where rustup installs it; without one that works the test is skipped.
cmake_minimum_required(VERSION 3.25)

find_program(cargo cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
if(NOT cargo)
  message(STATUS "sample_rust is skipped: there is no cargo (apt-get install cargo, or rustup)")
  return()
endif()
execute_process(COMMAND ${cargo} --version RESULT_VARIABLE status OUTPUT_VARIABLE version ERROR_VARIABLE error
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
if(NOT status EQUAL 0)
  message(STATUS "sample_rust is skipped: ${cargo} has no toolchain: ${error}")
  return()
endif()
message(STATUS "${version}")

set(options --offline --locked --manifest-path ${SOURCE}/Cargo.toml --target-dir ${WORK})
set(ENV{CC} ${CC})
set(ENV{RUSTFLAGS} -Dwarnings)

# fails(<reason> <folder> <arguments of cargo>...): cargo fails with this reason, TENON_LIB_DIR being the folder.
function(fails reason folder)
  set(ENV{TENON_LIB_DIR} ${folder}) # an empty value unsets it
  execute_process(COMMAND ${cargo} ${ARGN} RESULT_VARIABLE status ERROR_VARIABLE error)
  if(status EQUAL 0 OR NOT error MATCHES "${reason}")
    message(FATAL_ERROR "with TENON_LIB_DIR=${folder} cargo had the status ${status} and wrote:\n${error}")
  endif()
endfunction()

fails("TENON_LIB_DIR is not set" "" build ${options})
fails("there is no [a-z.]+ in TENON_LIB_DIR, '${SOURCE}'" ${SOURCE} build ${options})

set(ENV{TENON_LIB_DIR} ${LIBRARIES})
execute_process(COMMAND ${cargo} test ${options} COMMAND_ERROR_IS_FATAL ANY)
set(inspect run --quiet --example inspect ${options} --)
execute_process(COMMAND ${cargo} ${inspect} ${MODEL} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "input image: QAsymmS8 .1, 8, 8, 1., scales .0\\.00392.* us per run")
  message(FATAL_ERROR "the example inspect printed:\n${output}")
endif()
fails("usage: inspect MODEL" ${LIBRARIES} ${inspect})
fails("inspect: .*missing.tflite.*NotFound" ${LIBRARIES} ${inspect} missing.tflite)
