// SPDX-License-Identifier: Apache-2.0
// NetworkBuilder: see NetworkBuilder.hpp.
#include "parsers/armnn/NetworkBuilder.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tenon::arm_nn
{

namespace
{

constexpr unsigned int WeightsInput = 1;
constexpr unsigned int BiasInput = 2;

} // namespace

NetworkBuilder::NetworkBuilder(const Limits& limits, std::shared_ptr<const void> file, ReadBudget& budget)
    : m_Network(INetwork::Create()), m_Size(limits, "layers"), m_Budget(budget),
      m_Memory(std::make_shared<Memory>(Memory{std::move(file)}))
{
}

ConstTensor NetworkBuilder::Keep(const parsers::TensorView& tensor)
{
    if (tensor.m_Owner != nullptr)
    {
        m_Memory->push_back(tensor.m_Owner);
    }
    return {tensor.m_Info, tensor.m_Data.data()};
}

parsers::TensorView NetworkBuilder::TransposeDepthwiseWeights(const parsers::TensorView& weights)
{
    const TensorShape& shape = weights.m_Info.GetShape();
    constexpr unsigned int rank = 4;
    if (shape.GetNumDimensions() != rank)
    {
        throw ParseException(fmt::format("weights of a depthwise convolution have shape {}, should have rank {}",
                                         shape.ToString(), rank));
    }
    const unsigned int multiplier = shape[0];
    const unsigned int channels = shape[1];
    const size_t pixels = size_t{shape[2]} * shape[3];
    const size_t elementBytes = GetDataTypeSize(weights.m_Info.GetDataType());
    const size_t outputs = size_t{multiplier} * channels;
    if (weights.m_Data.empty()) // without elements, no memory bounds the sizes
    {
        throw ParseException(
            fmt::format("weights of a depthwise convolution, of shape {}, have no elements", shape.ToString()));
    }
    m_Budget.Charge(weights.m_Data.size());
    std::vector<uint8_t> bytes(weights.m_Data.size());
    for (size_t m = 0; m < multiplier; ++m)
    {
        for (size_t i = 0; i < channels; ++i)
        {
            for (size_t pixel = 0; pixel < pixels; ++pixel)
            {
                const size_t from = (m * channels + i) * pixels + pixel;
                const size_t to = pixel * outputs + i * multiplier + m;
                std::memcpy(bytes.data() + to * elementBytes, weights.m_Data.data() + from * elementBytes,
                            elementBytes);
            }
        }
    }
    parsers::TensorView transposed = weights;
    const TensorShape newShape({1, shape[2], shape[3], multiplier * channels});
    const TensorInfo& info = weights.m_Info;
    transposed.m_Info.SetShape(newShape);
    if (info.HasPerAxisQuantization()) // a scale for each of the channels I * M, in their order
    {
        const std::vector<float> scales = info.GetQuantizationScales();
        if (scales.size() != outputs)
        {
            throw ParseException(fmt::format("{} scales do not fit the {} channels of weights {} of a depthwise "
                                             "convolution",
                                             scales.size(), outputs, shape.ToString()));
        }
        transposed.m_Info = TensorInfo(newShape, info.GetDataType(), scales, rank - 1, true);
    }
    transposed.m_Owner = AlignedCopy(bytes);
    transposed.m_Data = {static_cast<const uint8_t*>(transposed.m_Owner.get()), bytes.size()};
    return transposed;
}

void NetworkBuilder::FeedConstant(const parsers::TensorView& tensor, IConnectableLayer& layer, unsigned int input)
{
    CountLayer();
    IConnectableLayer* const constant = m_Network->AddConstantLayer(Keep(tensor), "");
    constant->GetOutputSlot(0).Connect(layer.GetInputSlot(input));
}

void NetworkBuilder::FeedWeights(const LayerView& op, IConnectableLayer& layer)
{
    const bool hasBias = layer.GetNumInputSlots() > BiasInput;
    if (op.NumInputs() != 1)
    {
        for (const char* member : {"weights", "biases"})
        {
            if (op.FindConstant(member) != nullptr)
            {
                op.Fail(fmt::format("holds {} itself, but has {} inputs, should have 1", member, op.NumInputs()));
            }
        }
        return;
    }
    const parsers::TensorView& weights = op.Constant("weights");
    FeedConstant(op.HasOldDepthwiseWeights() ? TransposeDepthwiseWeights(weights) : weights, layer, WeightsInput);
    if (hasBias)
    {
        FeedConstant(op.Constant("biases"), layer, BiasInput);
    }
}

} // namespace tenon::arm_nn
