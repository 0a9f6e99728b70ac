// SPDX-License-Identifier: Apache-2.0
// FakeQuantization: rounds floats to the values of a quantized type of some bits. The range is shifted so that 0 is one
// of them. All arithmetic is in float, as in TFLite.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementwiseLoop.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow FakeQuantizationTypes[] = {backends::SameType(DataType::Float32)};

/// The smallest and the largest number of steps.
struct Steps
{
    explicit Steps(const FakeQuantizationDescriptor& descriptor)
        : m_Lowest(descriptor.m_NarrowRange ? 1.0f : 0.0f),
          m_Highest(static_cast<float>((1U << descriptor.m_NumBits) - 1U)),
          m_Scale((descriptor.m_Max - descriptor.m_Min) / (m_Highest - m_Lowest))
    {
    }

    float m_Lowest;
    float m_Highest;
    float m_Scale; ///< scale of a step
};

SupportResult CheckFakeQuantization(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<FakeQuantizationDescriptor>();
    if (descriptor.m_NumBits < 2 || descriptor.m_NumBits > 16)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it has " + std::to_string(descriptor.m_NumBits) + " bits, which must be 2 to 16");
    }
    const float scale = Steps(descriptor).m_Scale;
    if (!(scale > 0.0f) || !std::isfinite(scale))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its range [" + std::to_string(descriptor.m_Min) +
                                                                         ", " + std::to_string(descriptor.m_Max) +
                                                                         "] is empty or not finite");
    }
    return SupportResult::Yes();
}

backends::Prepared PrepareFakeQuantization(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<FakeQuantizationDescriptor>();
    const Steps steps(descriptor);
    const float lowest = steps.m_Lowest;
    const float highest = steps.m_Highest;
    const float scale = steps.m_Scale;
    const float zeroPoint = std::clamp(std::round(lowest - descriptor.m_Min / scale), lowest, highest);
    const float low = (lowest - zeroPoint) * scale;
    const float high = (highest - zeroPoint) * scale;
    return MakeElementwise<float>(args,
                                  [low, high, scale, inverse = 1.0f / scale](float x)
                                  {
                                      const float inside = std::isnan(x) ? low : std::clamp(x, low, high);
                                      return std::round((inside - low) * inverse) * scale + low;
                                  });
}

} // namespace

extern const backends::Kernel RefFakeQuantizationKernel = {"RefFakeQuantization", FakeQuantizationTypes,
                                                           PrepareFakeQuantization, CheckFakeQuantization};

} // namespace tenon::ref
