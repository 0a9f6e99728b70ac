// SPDX-License-Identifier: Apache-2.0
// SingleClamp: a Maximum or a Minimum with a constant of one element. For the passes that make activations of them.
#pragma once

#include "graph/Graph.hpp"
#include "optimizer/FixedForms.hpp"

#include <optional>

namespace tenon
{

/// max(x, bound) or min(x, bound).
struct SingleClamp
{
    bool m_IsMaximum = false;
    float m_Bound = 0.0f;
    unsigned int m_Data = 0; ///< which input is x
    /// Maximum is a > b ? a : b and Minimum a < b ? a : b, as in TFLite's reference kernels: NaN passes where x is
    /// input 1, and becomes the bound where it is input 0. Types without NaN pass everything.
    bool m_KeepsNaN = false;
};

/// What the layer is, if it keeps the shape, type and quantization of x.
std::optional<SingleClamp> FindSingleClamp(const Layer* layer, const FixedForms& forms);

} // namespace tenon
