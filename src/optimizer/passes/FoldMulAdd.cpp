// SPDX-License-Identifier: Apache-2.0
// Pass FoldMulAdd: x * scale[c] + shift[c] with constants becomes a BatchNormalization of mean 0 and variance 1, which
// computes the same bits in one pass over memory. FoldScaleShift has folded such pairs behind layers with weights
// before.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Normalization.hpp>

namespace tenon::passes
{

namespace
{

/// The values of the constant at `input`, one for each of `channels`, where it leaves the shape of the other input as
/// it is in every run. One value for all is none of these: it would become many.
std::optional<std::vector<float>> GetPerChannel(const Layer& layer, unsigned int input, unsigned int channels,
                                                const ShapeFacts& shapeFacts)
{
    const auto values = GetFloats(layer, input, channels);
    if (!values.has_value())
    {
        return std::nullopt;
    }
    const TensorShape& shape = layer.Input(input).GetTensorInfo().GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    if (rank == 0 || shape[rank - 1] != channels || !shapeFacts.KeepsShape(layer, 1 - input, input))
    {
        return std::nullopt;
    }
    return std::vector<float>(values->begin(), values->end());
}

/// Which input of the operation is the tensor, the other one being a constant.
std::optional<unsigned int> GetDataInput(const Layer& layer)
{
    for (const unsigned int data : {0U, 1U})
    {
        if (layer.GetConstantInput(1 - data) != nullptr && layer.GetConstantInput(data) == nullptr)
        {
            return data;
        }
    }
    return std::nullopt;
}

bool FoldMulAddAt(Graph& graph, const PassContext& context, Layer& sum, const ShapeFacts& shapeFacts)
{
    const bool isDifference = IsBinary(&sum, BinaryOperation::Sub);
    const auto product = isDifference || IsBinary(&sum, BinaryOperation::Add) ? GetDataInput(sum) : std::nullopt;
    if (!product.has_value() || (isDifference && *product != 0) ||
        sum.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    const Layer* mul = GetSoleProducer(sum, *product);
    const auto data = IsBinary(mul, BinaryOperation::Mul) ? GetDataInput(*mul) : std::nullopt;
    if (!data.has_value())
    {
        return false;
    }
    OutputSlot* x = mul->Input(*data).GetConnectedOutputSlot();
    const unsigned int channels = shapeFacts.GetLastSize(*x);
    if (channels == 0 || x->GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    const auto scale = GetPerChannel(*mul, 1 - *data, channels, shapeFacts);
    auto shift = GetPerChannel(sum, 1 - *product, channels, shapeFacts);
    if (!scale.has_value() || !shift.has_value())
    {
        return false;
    }
    if (isDifference)
    {
        for (float& value : *shift)
        {
            value = -value;
        }
    }
    const auto add = [&](std::vector<float> values, const char* what)
    { return &AddFloats(graph, TensorShape({channels}), std::move(values), sum.GetNameStr() + what).Output(0); };
    auto descriptor = std::make_unique<BatchNormalizationDescriptor>();
    descriptor->m_Eps = 0.0f;
    descriptor->m_DataLayout = DataLayout::NHWC;
    return ReplacePattern(graph, context, sum, LayerType::BatchNormalization, std::move(descriptor),
                          {x, add(std::vector<float>(channels, 0.0f), "/mean"),
                           add(std::vector<float>(channels, 1.0f), "/variance"), add(std::move(*shift), "/shift"),
                           add(*scale, "/scale")}) != nullptr;
}

} // namespace

void FoldMulAdd(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldMulAddAt);
}

} // namespace tenon::passes
