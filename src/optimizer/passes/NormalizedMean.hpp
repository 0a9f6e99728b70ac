// SPDX-License-Identifier: Apache-2.0
// Means over dimensions that a normalization is over, and what may be its scale and bias.
#pragma once

#include "optimizer/rewriting/Patterns.hpp"

#include <optional>

namespace tenon
{

/// Mean over neighbouring dimensions, which stay as ones.
struct NormalizedMean
{
    OutputSlot* m_Data = nullptr;
    int m_Axis = 0;             ///< the first of them
    unsigned int m_NumAxes = 0; ///< how many; 0: all that follow
    bool m_IsOfImage = false;   ///< height and width of [N, H, W, C]

    bool IsLike(const NormalizedMean& other) const { return m_Axis == other.m_Axis && m_NumAxes == other.m_NumAxes; }
};

/// The mean that the layer computes; nothing where it is of another kind, or `layer` is null.
std::optional<NormalizedMean> GetMean(const Layer* layer, const ShapeFacts& shapeFacts);

/// Whether the constant at `input` may be scale or bias of a normalization of `data`, which the layer multiplies or
/// adds it to: it leaves the shape as it is in every run.
bool IsNormalizationParameter(const Layer& layer, unsigned int input, const OutputSlot& data, int axis,
                              unsigned int numAxes, const ShapeFacts& shapeFacts);

} // namespace tenon
