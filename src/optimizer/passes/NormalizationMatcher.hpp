// SPDX-License-Identifier: Apache-2.0
// Finds the layers that normalize a tensor over its last dimensions. Used by FoldLayerNormalization.
#pragma once

#include "optimizer/passes/NormalizedMean.hpp"

#include <optional>
#include <vector>

namespace tenon
{

/// Scale and bias of a normalization, which are constants of the last dimension or of one element.
struct NormalizationParameters
{
    OutputSlot* m_Scale = nullptr; ///< null: none
    OutputSlot* m_Bias = nullptr;  ///< likewise
};

class NormalizationMatcher
{
public:
    explicit NormalizationMatcher(const ShapeFacts& shapeFacts) : m_ShapeFacts(shapeFacts) {}

    struct Normalization
    {
        NormalizedMean m_Mean;
        float m_Epsilon = 0.0f;
        NormalizationParameters m_Parameters;
        bool m_SubtractsMean = true; ///< else it is x / sqrt(mean of squares + epsilon)
    };

    /// What `last` normalizes, if it does: (x - mean) / sqrt(variance + epsilon), or this multiplied out, as Keras 3
    /// writes it, x * s - mean * s + bias with s = scale / sqrt(variance + epsilon); or the same of x itself in place
    /// of its difference from the mean.
    std::optional<Normalization> Match(const Layer& last);

private:
    bool MatchQuotient(const Layer& last);
    bool MatchRootMeanSquare(const Layer& last);
    bool MatchMultipliedOut(const Layer& last);
    bool MatchShift(const Layer* shift, const OutputSlot& scale);
    bool MatchNegativeMean(const Layer* product, const OutputSlot& scale, bool isNegated);
    bool MatchScale(const OutputSlot& scale);
    void Add(const Layer* layer);
    bool MatchDifference(const Layer* layer);
    bool IsDifference(const Layer* layer);
    const Layer* MatchRoot(const Layer* root, bool isQuotient);
    bool MatchDeviation(const Layer* root, bool isQuotient);
    bool MatchSquare(const Layer* square);
    bool IsSquareOf(const Layer* square, const OutputSlot& x) const;
    bool IsPowerOfTwo(const Layer& square) const;

    const ShapeFacts& m_ShapeFacts;
    NormalizedMean m_Mean;
    float m_Epsilon = 0.0f;
    NormalizationParameters m_Parameters;
    std::vector<const Layer*> m_Layers; ///< of the pattern, without the last
};

} // namespace tenon
