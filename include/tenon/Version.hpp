// SPDX-License-Identifier: Apache-2.0
// The version of the headers; GetVersion() in Utils.hpp gives the library's version.
// CMakeLists.txt reads the numbers from here.
#pragma once

#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 2
#define TENON_VERSION_PATCH 0
#define TENON_VERSION "0.2.0"
