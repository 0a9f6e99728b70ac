// SPDX-License-Identifier: Apache-2.0
// ClampPair: min(max(x, a), b) or max(min(x, b), a) of two layers with constants of one element. Used by FoldMaxMin and
// FoldHardSwish.
#pragma once

#include "graph/Graph.hpp"
#include "optimizer/rewriting/ShapeFacts.hpp"

#include <optional>

namespace tenon
{

/// min(max(x, lower), upper) or max(min(x, upper), lower), with lower <= upper.
struct ClampPair
{
    const Layer* m_First = nullptr; ///< nothing but the second layer reads it
    OutputSlot* m_Source = nullptr; ///< x
    float m_Lower = 0.0f;
    float m_Upper = 0.0f;
    /// Maximum is a > b ? a : b and Minimum a < b ? a : b, as in TFLite's reference kernels: NaN passes where it is
    /// operand b, and becomes the bound where it is operand a. Types without NaN pass everything.
    bool m_KeepsNaN = false;
};

/// The pair that ends with `last`, if both layers keep the shape, type and quantization of x.
std::optional<ClampPair> FindClampPair(const Layer& last, const ShapeFacts& shapeFacts);

} // namespace tenon
