// SPDX-License-Identifier: Apache-2.0
// The namespace armnn, for programs written for Arm NN: a macro that says tenon. A namespace alias would refuse
// programs that open the namespace themselves, for a forward declaration say. The target Tenon::armnn and
// tenon-armnn.pc define the macro for the whole program, so that this also works before the first of these headers.
// Every header of this folder includes this one; programs do not. Arm NN's headers bring standard ones along, which
// programs use without including them.
#pragma once

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>

#ifndef armnn
#define armnn tenon
#endif
