// SPDX-License-Identifier: Apache-2.0
// Conditions and scales of quantized sums of products.
#include "backends/reference/kernels/Requantizer.hpp"

#include "backends/common/KernelTable.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <tenon/Tensor.hpp>

#include <limits>
#include <string>
#include <utility>

namespace tenon::ref
{

namespace
{

SupportResult Refuse(std::string reason)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, std::move(reason));
}

/// Checks data or output: one usable scale, and a zero point that the type can store (0 for 16 bits, as in TFLite).
SupportResult CheckData(const TensorInfo& info, const std::string& place)
{
    SupportResult result = backends::CheckPerTensor(info, place);
    return result ? backends::CheckZeroPointInt16(info, place) : result;
}

/// Whether all scales are positive and finite. Loading calls it often, for thousands of channels: the loop has neither
/// a call per scale nor an early exit.
bool IsScaleList(const std::vector<float>& scales)
{
    bool isValid = true;
    for (const float scale : scales)
    {
        isValid &= scale > 0.0f && scale <= std::numeric_limits<float>::max();
    }
    return isValid;
}

SupportResult CheckWeights(const TensorInfo& weights, unsigned int axis)
{
    if (!weights.IsQuantized())
    {
        return SupportResult::Yes();
    }
    if (weights.HasBlockwiseQuantization())
    {
        return Refuse("the weights have a scale per block, which this layer does not take");
    }
    const std::vector<float> scales = weights.GetQuantizationScales();
    if (scales.empty() || !IsScaleList(scales))
    {
        return Refuse("a scale of the weights is missing, not positive or not finite");
    }
    const std::vector<int32_t> zeroPoints = weights.GetQuantizationOffsets();
    const backends::QuantizedRange range = backends::GetTypeRange(weights.GetDataType());
    if (scales.size() == 1 && weights.GetDataType() == DataType::QSymmS16)
    {
        return backends::CheckZeroPointInt16(weights, "input 1");
    }
    if (scales.size() == 1)
    {
        const int32_t zeroPoint = zeroPoints.empty() ? 0 : zeroPoints[0];
        return zeroPoint >= range.m_Min && zeroPoint <= range.m_Max
                   ? SupportResult::Yes()
                   : Refuse("the zero point of the weights, " + std::to_string(zeroPoint) + ", is outside their type");
    }
    if (std::any_of(zeroPoints.begin(), zeroPoints.end(), [](int32_t z) { return z != 0; }))
    {
        return Refuse("the weights are quantized per axis with zero points other than 0");
    }
    const Optional<unsigned int> dim = weights.GetQuantizationDim();
    if (!dim.has_value() || dim.value() != axis)
    {
        return Refuse("the weights are quantized along a dimension other than that of the output channels, " +
                      std::to_string(axis));
    }
    const TensorShape& shape = weights.GetShape();
    if (shape.GetDimensionality() == Dimensionality::Specified && axis < shape.GetNumDimensions() &&
        shape.GetDimensionSpecificity(axis) && shape[axis] != scales.size())
    {
        return Refuse("the weights have " + std::to_string(scales.size()) + " scales for " +
                      std::to_string(shape[axis]) + " output channels");
    }
    return SupportResult::Yes();
}

} // namespace

SupportResult CheckWeightsQuantization(const LayerView& layer, unsigned int weightsAxis)
{
    if (!layer.HasInput(0) || !layer.HasInput(1))
    {
        return Refuse("its data or weights are not connected");
    }
    const DataType weights = layer.GetInput(1).GetDataType();
    if (layer.GetInput(0).GetDataType() == DataType::QAsymmU8 && weights != DataType::QAsymmU8 &&
        backends::GetRequantization(layer.m_Type, layer.m_Descriptor) != RequantizationMode::FloatHalfEven)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string("input 1 of type ") + GetDataTypeName(weights) +
                                     " beside QAsymmU8 data is only for RequantizationMode::FloatHalfEven");
    }
    SupportResult result = CheckData(layer.GetInput(0), "input 0");
    if (result)
    {
        result = CheckData(layer.GetOutput(0), "output 0");
    }
    return result ? CheckWeights(layer.GetInput(1), weightsAxis) : result;
}

SupportResult CheckSignedWeights(const LayerView& layer, unsigned int weightsAxis)
{
    SupportResult result = CheckWeightsQuantization(layer, weightsAxis);
    if (result && layer.GetInput(0).GetDataType() == DataType::Float32 &&
        layer.GetInput(1).GetDataType() == DataType::QAsymmU8)
    {
        return SupportResult::No(
            SupportCode::UnsupportedType,
            "input 1 is QAsymmU8; beside Float32 data it takes Float32, QSymmS8, QAsymmS8 or QSymmS4");
    }
    return result;
}

int32_t GetWeightsZeroPoint(const TensorInfo& weights)
{
    return weights.HasMultipleQuantizationScales() ? 0 : weights.GetQuantizationOffset();
}

std::vector<double> GetSumScales(const TensorInfo& input, const TensorInfo& weights, const TensorInfo& output,
                                 bool inFixedPoint)
{
    const float inputScale = input.GetQuantizationScale();
    const double outputScale = output.GetQuantizationScale();
    const std::vector<float> weightScales = weights.GetQuantizationScales();
    std::vector<double> reals;
    reals.reserve(weightScales.size());
    for (const float weightScale : weightScales)
    {
        // TFLite's uint8 kernels multiply the scales as floats, which affects the last bits.
        const double product = inFixedPoint && weights.GetDataType() == DataType::QAsymmU8
                                   ? static_cast<double>(inputScale * weightScale)
                                   : static_cast<double>(inputScale) * static_cast<double>(weightScale);
        reals.push_back(product / outputScale);
    }
    return reals;
}

std::vector<double> GetSumFactors(const TensorInfo& input, const TensorInfo& weights, const TensorInfo& output)
{
    const float inputScale = input.GetQuantizationScale();
    const float outputScale = output.GetQuantizationScale();
    const std::vector<float> weightScales = weights.GetQuantizationScales();
    std::vector<double> factors;
    factors.reserve(weightScales.size());
    for (const float weightScale : weightScales)
    {
        factors.push_back(double{BoundFactor(inputScale * weightScale / outputScale)});
    }
    return factors;
}

Bias::Bias(const ReshapeArgs& args)
    : m_Present(args.HasInput(2)), m_Is64Bit(m_Present && args.GetInput(2).GetDataType() == DataType::Signed64)
{
}

} // namespace tenon::ref
