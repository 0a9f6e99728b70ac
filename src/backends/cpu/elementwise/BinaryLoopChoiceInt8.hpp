// SPDX-License-Identifier: Apache-2.0
// Which loop computes ByteBinary's numbers: that in integers, or a faster one in floats or by tables where it gives the
// same for all pairs of bytes. Used when a layer is prepared.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include <cstddef>

namespace tenon::cpu
{

/// Each sets the loop and what the loop needs beside the numbers in integers. `isFixed`: b stands still. `count`: of
/// the output's elements; few are not worth a comparison of all pairs.

/// Sums whose real scales are these.
void ChooseSum(ByteBinary& numbers, double scaleA, double scaleB, bool isFixed, size_t count);
/// Squares of differences.
void ChooseSquare(ByteBinary& numbers, bool isFixed, size_t count);
/// Products by m_Product.
void ChooseProduct(ByteBinary& numbers, bool isFixed, size_t count);
/// Likewise, with m_A for what is not negative.
void ChoosePrelu(ByteBinary& numbers, bool isFixed, size_t count);

} // namespace tenon::cpu
