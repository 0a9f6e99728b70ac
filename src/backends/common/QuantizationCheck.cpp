// SPDX-License-Identifier: Apache-2.0
// See QuantizationCheck.hpp.
#include "backends/common/QuantizationCheck.hpp"

#include "backends/common/Quantization.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::backends
{

namespace
{

SupportResult Refuse(const TensorInfo& info, const std::string& place, const std::string& why)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, place + " (" + info.ToString() + ") " + why);
}

bool IsUsable(float scale)
{
    return scale > 0.0f && std::isfinite(scale);
}

/// 32-bit sums carry a scale where a kernel asks for it.
bool CarriesScale(const TensorInfo& info)
{
    return info.IsQuantized() || info.GetDataType() == DataType::Signed32;
}

SupportResult RefuseBlocks(const TensorInfo& info, const std::string& place)
{
    return Refuse(info, place, "has a scale per block; this operator takes none of them there");
}

SupportResult CheckZeroPoint(const TensorInfo& info, const std::string& place, int32_t zeroPoint)
{
    const QuantizedRange range = GetTypeRange(info.GetDataType());
    if (zeroPoint < range.m_Min || zeroPoint > range.m_Max)
    {
        return Refuse(info, place, "has zero point " + std::to_string(zeroPoint) + ", outside the values of its type");
    }
    return SupportResult::Yes();
}

} // namespace

SupportResult CheckOneScale(const TensorInfo& info, const std::string& place)
{
    if (info.HasBlockwiseQuantization())
    {
        return RefuseBlocks(info, place);
    }
    if (info.HasMultipleQuantizationScales())
    {
        return Refuse(info, place, "has a scale per channel; this operator takes one scale per tensor there");
    }
    if (!IsUsable(info.GetQuantizationScale()))
    {
        return Refuse(info, place,
                      "has scale " + std::to_string(info.GetQuantizationScale()) +
                          "; it needs a quantization scale that is positive and finite");
    }
    return SupportResult::Yes();
}

SupportResult CheckPerTensor(const TensorInfo& info, const std::string& place)
{
    if (!CarriesScale(info))
    {
        return SupportResult::Yes();
    }
    SupportResult result = CheckOneScale(info, place);
    return result ? CheckZeroPoint(info, place, info.GetQuantizationOffset()) : result;
}

SupportResult CheckPerTensor(const LayerView& layer, std::initializer_list<size_t> inputs,
                             std::initializer_list<size_t> outputs)
{
    for (const size_t i : inputs)
    {
        if (layer.HasInput(i))
        {
            if (SupportResult result = CheckPerTensor(layer.GetInput(i), "input " + std::to_string(i)); !result)
            {
                return result;
            }
        }
    }
    for (const size_t i : outputs)
    {
        if (SupportResult result = CheckPerTensor(layer.GetOutput(i), "output " + std::to_string(i)); !result)
        {
            return result;
        }
    }
    return SupportResult::Yes();
}

SupportResult CheckPerSlice(const TensorInfo& info, const std::string& place)
{
    SupportResult result = CheckScalesAlone(info, place);
    if (!result || !CarriesScale(info))
    {
        return result;
    }
    if (!info.HasMultipleQuantizationScales())
    {
        return CheckZeroPoint(info, place, info.GetQuantizationOffset());
    }
    for (const int32_t zeroPoint : info.GetQuantizationOffsets())
    {
        if (result = CheckZeroPoint(info, place, zeroPoint); !result)
        {
            return result;
        }
    }
    return result;
}

SupportResult CheckScalesAlone(const TensorInfo& info, const std::string& place)
{
    if (!CarriesScale(info))
    {
        return SupportResult::Yes();
    }
    if (!info.HasMultipleQuantizationScales())
    {
        return CheckOneScale(info, place);
    }
    if (info.HasBlockwiseQuantization())
    {
        return RefuseBlocks(info, place);
    }
    const Span<const float> scales = info.ViewQuantizationScales();
    if (!std::all_of(scales.begin(), scales.end(), IsUsable))
    {
        return Refuse(info, place, "needs quantization scales that are positive and finite");
    }
    const TensorShape& shape = info.GetShape();
    const Optional<unsigned int> dimension = info.GetQuantizationDim();
    bool fits = dimension.has_value();
    if (fits && shape.GetDimensionality() != Dimensionality::NotSpecified)
    {
        fits = dimension.value() < shape.GetNumDimensions() &&
               (!shape.GetDimensionSpecificity(dimension.value()) || shape[dimension.value()] == scales.size());
    }
    return fits
               ? SupportResult::Yes()
               : Refuse(info, place,
                        "has " + std::to_string(scales.size()) + " scales, but no quantization dimension of that size");
}

SupportResult CheckBlocks(const TensorInfo& info, const std::string& place)
{
    const Span<const float> scales = info.ViewQuantizationScales();
    if (!std::all_of(scales.begin(), scales.end(), [](float scale) { return scale >= 0.0f && std::isfinite(scale); }))
    {
        return Refuse(info, place, "needs quantization scales that are finite and not negative");
    }
    const TensorShape& shape = info.GetShape();
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return SupportResult::Yes();
    }
    const unsigned int dimension = info.GetQuantizationDim().value();
    const unsigned int size = info.GetQuantizationBlockSize();
    if (dimension >= shape.GetNumDimensions() ||
        (shape.GetDimensionSpecificity(dimension) && shape[dimension] % size != 0))
    {
        return Refuse(info, place, "has no quantization dimension that its blocks divide");
    }
    if (shape.AreAllDimensionsSpecified() && shape.GetNumElements64() / size != scales.size())
    {
        return Refuse(info, place, "has " + std::to_string(shape.GetNumElements64() / size) + " blocks");
    }
    return SupportResult::Yes();
}

SupportResult CheckZeroPointInt16(const TensorInfo& info, const std::string& place)
{
    if (info.GetDataType() == DataType::QSymmS16 && info.GetQuantizationOffset() != 0)
    {
        return Refuse(info, place,
                      "has zero point " + std::to_string(info.GetQuantizationOffset()) +
                          "; this operator needs 16-bit tensors with zero point 0");
    }
    return SupportResult::Yes();
}

SupportResult CheckScale(float scale, const std::string& what)
{
    if (!IsUsable(scale))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the " + what + " scale is " +
                                                                         std::to_string(scale) +
                                                                         "; it must be positive and finite");
    }
    return SupportResult::Yes();
}

SupportResult FirstRefusal(std::initializer_list<SupportResult> results)
{
    const auto refusal = std::find_if(results.begin(), results.end(), [](const SupportResult& r) { return !r; });
    return refusal == results.end() ? SupportResult::Yes() : *refusal;
}

} // namespace tenon::backends
