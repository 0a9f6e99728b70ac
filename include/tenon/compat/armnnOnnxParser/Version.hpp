// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the version of its ONNX parser whose interface IOnnxParser has, 24.6.0, which is
// that of release 23.08.
#pragma once

#ifndef STRINGIFY_VALUE
/// The text of a macro's value, and of its argument as it stands.
#define STRINGIFY_VALUE(s) STRINGIFY_MACRO(s)
#define STRINGIFY_MACRO(s) #s
#endif

#define ONNX_PARSER_MAJOR_VERSION 24
#define ONNX_PARSER_MINOR_VERSION 6
#define ONNX_PARSER_PATCH_VERSION 0
#define ONNX_PARSER_VERSION "24.6.0"
