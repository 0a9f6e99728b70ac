// SPDX-License-Identifier: Apache-2.0
// See SumRequantizer.hpp.
#include "backends/reference/kernels/SumRequantizer.hpp"

#include "backends/common/FusedActivation.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <string>

namespace tenon::ref
{

SumRequantizer::SumRequantizer(const ReshapeArgs& args, size_t outputChannels, Method method, bool sumsOf32Bits)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& weights = args.GetInput(1);
    const TensorInfo& output = args.GetOutput(0);
    const std::vector<float> scales = weights.GetQuantizationScales();
    if (scales.empty() || (scales.size() != 1 && scales.size() != outputChannels))
    {
        throw LayerValidationException("the weights have " + std::to_string(scales.size()) + " scales for " +
                                       std::to_string(outputChannels) + " output channels; give one, or one each");
    }
    // TFLite sums 16-bit data in 32 bits when the bias has 32 bits and the weights have 8, else in 64.
    const bool hasInt16Weights = weights.GetDataType() == DataType::QSymmS16;
    const bool isNarrow = args.HasInput(2) ? args.GetInput(2).GetDataType() == DataType::Signed32 : sumsOf32Bits;
    const bool sumsOf64Bits = input.GetDataType() == DataType::QSymmS16 && (hasInt16Weights || !isNarrow);
    m_ZeroPoint = output.GetQuantizationOffset();
    m_Range = backends::GetFusedRange(output, args.m_FusedActivation);
    m_Stride = scales.size() == 1 ? 0 : 1;
    if (method == Method::FloatHalfEven)
    {
        const std::vector<double> factors = GetSumFactors(input, weights, output);
        m_Factors.assign(factors.begin(), factors.end());
        return;
    }
    for (const double real : GetSumScales(input, weights, output, method == Method::FixedPoint))
    {
        if (method == Method::Double)
        {
            m_Reals.push_back(real);
        }
        else if (sumsOf64Bits)
        {
            m_Multipliers.push_back(backends::QuantizeMultiplier(real));
        }
        else
        {
            m_Rescalers.emplace_back(backends::QuantizeMultiplier(real));
        }
    }
}

} // namespace tenon::ref
