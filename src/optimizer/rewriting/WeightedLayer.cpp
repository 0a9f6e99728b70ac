// SPDX-License-Identifier: Apache-2.0
// See WeightedLayer.hpp.
#include "optimizer/rewriting/WeightedLayer.hpp"

#include "common/HalfFloat.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace tenon
{

namespace
{

constexpr unsigned int Weights = 1; // slots
constexpr unsigned int Bias = 2;

/// Which dimension of the weights is that of the output channels. The same in NHWC and NCHW.
std::optional<unsigned int> GetChannelDimension(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Convolution2d: return 0;
    case LayerType::DepthwiseConvolution2d: return 3;
    case LayerType::FullyConnected: return layer.Descriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix ? 0 : 1;
    default: return std::nullopt;
    }
}

bool HasBias(const Layer& layer)
{
    return layer.NumInputs() > Bias && layer.Input(Bias).GetConnectedOutputSlot() != nullptr;
}

bool IsConstant(const Layer& layer, unsigned int input)
{
    return IsPlainInput(layer, input) && layer.GetConstantInput(input) != nullptr &&
           layer.Input(input).GetTensorInfo().GetShape().AreAllDimensionsSpecified();
}

bool IsConstantFloat(const Layer& layer, unsigned int input)
{
    return IsConstant(layer, input) && layer.Input(input).GetTensorInfo().GetDataType() == DataType::Float32;
}

/// Weights of Float32, or of Float16 as ReadWeightsF16 leaves them.
bool HasScalableWeights(const Layer& layer)
{
    return IsConstantFloat(layer, Weights) ||
           (IsConstant(layer, Weights) && layer.Input(Weights).GetTensorInfo().GetDataType() == DataType::Float16);
}

template <typename D>
std::unique_ptr<BaseDescriptor> WithBias(const Layer& layer)
{
    auto copy = std::make_unique<D>(layer.Descriptor<D>());
    copy->m_BiasEnabled = true;
    return copy;
}

std::unique_ptr<BaseDescriptor> WithBias(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Convolution2d: return WithBias<Convolution2dDescriptor>(layer);
    case LayerType::DepthwiseConvolution2d: return WithBias<DepthwiseConvolution2dDescriptor>(layer);
    default: return WithBias<FullyConnectedDescriptor>(layer);
    }
}

/// Whether a normal number that is scaled to `scaled` loses digits, being below the normal numbers. A factor of 0 loses
/// none.
bool LosesDigits(double value, double scale, double scaled)
{
    constexpr double MinNormal = std::numeric_limits<float>::min();
    return scale != 0.0 && std::abs(value) >= MinNormal && std::abs(scaled) < MinNormal;
}

/// Nothing where a weight loses digits or is no longer finite.
std::optional<std::vector<float>> ScaledWeights(const Layer& layer, const std::vector<double>& scales)
{
    const TensorShape& shape = layer.Input(Weights).GetTensorInfo().GetShape();
    size_t inner = 1;
    for (unsigned int i = *GetChannelDimension(layer) + 1; i < shape.GetNumDimensions(); ++i)
    {
        inner *= shape[i];
    }
    const bool isF16 = layer.Input(Weights).GetTensorInfo().GetDataType() == DataType::Float16;
    const auto* floats = static_cast<const float*>(layer.GetConstantInput(Weights));
    const auto* valuesF16 = static_cast<const uint16_t*>(layer.GetConstantInput(Weights));
    std::vector<float> scaled(shape.GetNumElements());
    for (size_t i = 0; i < scaled.size(); ++i)
    {
        const float value = isF16 ? HalfToFloat(valuesF16[i]) : floats[i];
        const double scale = scales[i / inner % scales.size()];
        scaled[i] = static_cast<float>(value * scale);
        if (!std::isfinite(scaled[i]) || LosesDigits(value, scale, value * scale))
        {
            return std::nullopt;
        }
    }
    return scaled;
}

/// Likewise.
std::optional<std::vector<float>> ChangedBias(const Layer& layer, const std::vector<double>& scales,
                                              const std::vector<double>& shifts)
{
    const auto* from = HasBias(layer) ? static_cast<const float*>(layer.GetConstantInput(Bias)) : nullptr;
    std::vector<float> bias(scales.size());
    for (size_t c = 0; c < bias.size(); ++c)
    {
        const double before = from != nullptr ? double{from[c]} : 0.0;
        const double scaled = before * scales[c];
        bias[c] = static_cast<float>(scaled + shifts[c]);
        // A shift that is a float of its own is as exact as it was; one that was computed loses what it is rounded by.
        const bool isTiny = std::abs(scaled + shifts[c]) < double{std::numeric_limits<float>::min()};
        const bool losesShift = isTiny && static_cast<double>(static_cast<float>(shifts[c])) != shifts[c];
        if (!std::isfinite(bias[c]) || losesShift || (isTiny && LosesDigits(before, scales[c], scaled)))
        {
            return std::nullopt;
        }
    }
    return bias;
}

} // namespace

std::optional<unsigned int> GetFoldableChannels(const Layer& layer)
{
    const std::optional<unsigned int> dimension = GetChannelDimension(layer);
    if (!dimension.has_value() || layer.GetFusedActivation() != nullptr || layer.GetNumOutputSlots() != 1 ||
        GetSoleConsumer(layer) == nullptr || !IsPlainInput(layer, 0) ||
        layer.Input(0).GetTensorInfo().GetDataType() != DataType::Float32 ||
        layer.Output(0).GetTensorInfo().GetDataType() != DataType::Float32 || !HasScalableWeights(layer) ||
        (HasBias(layer) && !IsConstantFloat(layer, Bias)))
    {
        return std::nullopt;
    }
    const TensorShape& shape = layer.Input(Weights).GetTensorInfo().GetShape();
    const unsigned int rank = layer.GetType() == LayerType::FullyConnected ? 2 : 4;
    // Without weights, FullyConnected leaves even its bias out.
    if (shape.GetNumDimensions() != rank || shape.GetNumElements64() == 0 ||
        (HasBias(layer) && layer.Input(Bias).GetTensorInfo().GetShape().GetNumElements64() != shape[*dimension]))
    {
        return std::nullopt;
    }
    return shape[*dimension];
}

Layer* ScaleOutput(Graph& graph, Layer& layer, const std::vector<double>& scales, const std::vector<double>& shifts,
                   ConstantBudget& budget)
{
    const bool scales1 = std::all_of(scales.begin(), scales.end(), [](double s) { return s == 1.0; });
    const bool shifts0 = std::all_of(shifts.begin(), shifts.end(), [](double s) { return s == 0.0; });
    const TensorShape shape = layer.Input(Weights).GetTensorInfo().GetShape();
    const uint64_t floats = (scales1 ? 0 : shape.GetNumElements64()) + scales.size();
    if (!budget.Take(floats * sizeof(float)))
    {
        return nullptr;
    }
    std::optional<std::vector<float>> weights = scales1 ? std::vector<float>() : ScaledWeights(layer, scales);
    std::optional<std::vector<float>> bias = ChangedBias(layer, scales, shifts);
    if (!weights.has_value() || !bias.has_value())
    {
        return nullptr;
    }
    if (!scales1)
    {
        Layer& constant = AddFloats(graph, shape, std::move(*weights), layer.GetNameStr() + ":weights");
        Rewire(layer.Input(Weights), constant.Output(0));
    }
    if (shifts0 && !HasBias(layer))
    {
        return &layer;
    }
    const TensorShape biasShape({static_cast<unsigned int>(bias->size())});
    Layer& constant = AddFloats(graph, biasShape, std::move(*bias), layer.GetNameStr() + ":bias");
    Layer& target = layer.NumInputs() > Bias ? layer : ReplaceLayer(graph, layer, WithBias(layer));
    Rewire(target.Input(Bias), constant.Output(0));
    return &target;
}

} // namespace tenon
