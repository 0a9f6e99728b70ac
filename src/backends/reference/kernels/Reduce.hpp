// SPDX-License-Identifier: Apache-2.0
// Code that Reduce and Mean share: a mean is one of the reductions.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tenon::ref
{

/// The types that reductions take, in and out.
extern const backends::TypeRow ReduceTypes[2];

SupportResult CheckReduce(ReduceOperation operation, const LayerView& layer);
/// Shape inference has written the axes out, so that an empty list means none. `mode`: of quantized means.
/// Throws LayerValidationException for axes that do not fit the input.
backends::Prepared PrepareReduce(const ReshapeArgs& args, ReduceOperation operation,
                                 const std::vector<unsigned int>& axes,
                                 RequantizationMode mode = RequantizationMode::FixedPoint);

/// Whether only one element is left. A dimension of size 1 that is not listed is left, too.
bool ReducesEveryAxis(const ReshapeArgs& args, const std::vector<unsigned int>& axes);

/// A reduction of floats over every axis whose result is NaN if the first element is.
template <typename T>
backends::Prepared KeepFirstNaN(backends::Prepared prepared)
{
    prepared.m_Run = [reduce = std::move(prepared.m_Run)](const ExecuteArgs& run)
    {
        const T first = *run.GetInput<T>(0);
        reduce(run);
        if (std::isnan(static_cast<ComputeType<T>>(first)))
        {
            *run.GetOutput<T>(0) = first;
        }
    };
    return prepared;
}

/// Converts the sum of the stored values of quantized elements to the stored value of their sum or mean.
class SumRescale
{
public:
    /// `count` elements are summed.
    SumRescale(const TensorQuantization& input, const TensorQuantization& output, size_t count, bool isMean);

    template <typename T>
    T Apply(int64_t sum) const
    {
        const int32_t rescaled = backends::MultiplySumSaturating(sum - m_ZeroPoints, m_Multiplier);
        return static_cast<T>(std::clamp<int32_t>(backends::SaturatingAdd(rescaled, m_ZeroOutput),
                                                  std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }

    /// stored = (sum - GetZeroPoints()) * GetMultiplier() + GetZeroOutput(), saturated.
    backends::QuantizedMultiplier GetMultiplier() const { return m_Multiplier; }
    int64_t GetZeroPoints() const { return m_ZeroPoints; }
    int32_t GetZeroOutput() const { return m_ZeroOutput; }

private:
    backends::QuantizedMultiplier m_Multiplier;
    int64_t m_ZeroPoints = 0; ///< sum of the zero points of all elements
    int32_t m_ZeroOutput = 0;
};

} // namespace tenon::ref
