// SPDX-License-Identifier: Apache-2.0
// See NormalizedMean.hpp.
#include "optimizer/passes/NormalizedMean.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <vector>

namespace tenon
{

namespace
{

bool IsContiguous(const std::vector<int64_t>& axes)
{
    for (size_t i = 1; i < axes.size(); ++i)
    {
        if (axes[i] != axes[i - 1] + 1)
        {
            return false;
        }
    }
    return !axes.empty();
}

} // namespace

std::optional<NormalizedMean> GetMean(const Layer* layer, const ShapeFacts& shapeFacts)
{
    if (layer == nullptr || layer->GetType() != LayerType::Mean || !IsPlainInput(*layer, 0) ||
        !layer->Descriptor<MeanDescriptor>().m_KeepDims)
    {
        return std::nullopt;
    }
    const auto& descriptor = layer->Descriptor<MeanDescriptor>();
    std::vector<int64_t> axes(descriptor.m_Axis.begin(), descriptor.m_Axis.end());
    if (descriptor.m_ParametersAsInputs)
    {
        axes = GetIntegers(*layer, 1, MaxNumOfTensorDimensions).value_or(std::vector<int64_t>());
    }
    OutputSlot* data = layer->Input(0).GetConnectedOutputSlot();
    const std::optional<unsigned int> rank = shapeFacts.GetRank(*data);
    if (rank.has_value())
    {
        std::transform(axes.begin(), axes.end(), axes.begin(),
                       [&](int64_t axis) { return axis - (axis >= 0 ? int64_t{*rank} : 0); });
    }
    std::sort(axes.begin(), axes.end());
    if (!IsContiguous(axes) || (axes.front() < 0) != (axes.back() < 0))
    {
        return std::nullopt;
    }
    const int first = static_cast<int>(axes.front());
    const auto count = static_cast<unsigned int>(axes.size());
    if (axes.back() == -1)
    {
        return NormalizedMean{data, first};
    }
    if (rank == 4u && first == -3 && count == 2)
    {
        return NormalizedMean{data, first, count, true};
    }
    // The rank is unknown, so the run decides whether these are the last dimensions. The declared shape decides whether
    // the fold pays.
    const TensorShape& declared = data->GetTensorInfo().GetShape();
    const bool isLast =
        first >= 0 && declared.AreAllDimensionsSpecified() && axes.back() + 1 == int64_t{declared.GetNumDimensions()};
    return isLast ? std::optional(NormalizedMean{data, first, count}) : std::nullopt;
}

bool IsNormalizationParameter(const Layer& layer, unsigned int input, const OutputSlot& data, int axis,
                              unsigned int numAxes, const ShapeFacts& shapeFacts)
{
    if (layer.GetConstantInput(input) == nullptr || !IsPlainInput(layer, input) ||
        layer.Input(input).GetTensorInfo().GetDataType() != DataType::Float32 ||
        !layer.Input(input).GetTensorInfo().GetShape().AreAllDimensionsSpecified())
    {
        return false;
    }
    const TensorShape& shape = layer.Input(input).GetTensorInfo().GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    if (rank > shapeFacts.GetMinRank(data))
    {
        return false;
    }
    if (shape.GetNumElements64() == 1)
    {
        return true;
    }
    // Where that dimension is not the last of a run's, scale and bias broadcast as the constant does.
    return (axis == -1 || numAxes == 1) && rank > 0 && shape[rank - 1] == shapeFacts.GetLastSize(data) &&
           shape.GetNumElements64() == shape[rank - 1];
}

} // namespace tenon
