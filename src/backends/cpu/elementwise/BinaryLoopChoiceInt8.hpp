// SPDX-License-Identifier: Apache-2.0
// Chooses the loop of a BinaryInt8: the integer loop, or a faster one in float or by tables if it gives the same
// results for all pairs of bytes. Called when a layer is prepared.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include <cstddef>

namespace tenon::cpu
{

/// Each function sets the loop and its constants; the integer constants are set before. `isScalarB`: b is one element.
/// `count`: the number of output elements; below 4096 the exact loop is taken, as a comparison of all pairs would take
/// longer.

/// Sums with these real scales.
void ChooseSum(BinaryInt8& numbers, double scaleA, double scaleB, bool isScalarB, size_t count);
/// Squares of differences.
void ChooseSquare(BinaryInt8& numbers, bool isScalarB, size_t count);
/// Products by m_Product.
void ChooseProduct(BinaryInt8& numbers, bool isScalarB, size_t count);
/// Prelu: m_A for a >= 0, else m_Product.
void ChoosePrelu(BinaryInt8& numbers, bool isScalarB, size_t count);

} // namespace tenon::cpu
