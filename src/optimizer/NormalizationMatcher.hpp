// SPDX-License-Identifier: Apache-2.0
// Finds the layers that normalize a tensor over its last dimensions. Used by FoldLayerNormalization.
#pragma once

#include "optimizer/NormalizedMean.hpp"

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
    explicit NormalizationMatcher(const FixedForms& forms) : m_Forms(forms) {}

    struct Normalization
    {
        NormalizedMean m_Mean;
        float m_Epsilon = 0.0f;
        NormalizationParameters m_Parameters;
    };

    /// What `last` normalizes, if it does: (x - mean) / sqrt(variance + epsilon), or this multiplied out, as Keras 3
    /// writes it, x * s - mean * s + bias with s = scale / sqrt(variance + epsilon).
    std::optional<Normalization> Match(const Layer& last);

private:
    bool MatchQuotient(const Layer& last);
    bool MatchMultipliedOut(const Layer& last);
    bool MatchShift(const Layer* shift, const OutputSlot& scale);
    bool MatchNegativeMean(const Layer* product, const OutputSlot& scale, bool isNegated);
    bool MatchScale(const OutputSlot& scale);
    void Add(const Layer* layer);
    bool MatchDifference(const Layer* layer);
    bool IsDifference(const Layer* layer);
    bool MatchDeviation(const Layer* root, bool isQuotient);
    bool MatchSquare(const Layer* square);

    const FixedForms& m_Forms;
    NormalizedMean m_Mean;
    float m_Epsilon = 0.0f;
    NormalizationParameters m_Parameters;
    std::vector<const Layer*> m_Layers; ///< of the pattern, without the last
};

} // namespace tenon
