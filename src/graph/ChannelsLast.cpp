// SPDX-License-Identifier: Apache-2.0
// ChannelsLast: see ChannelsLast.hpp. Here is the code of the rules of column `layout` of ops.def.
#include "graph/ChannelsLast.hpp"

#include "graph/OpRules.hpp"
#include "graph/Ranks.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace tenon
{

namespace
{

/// The descriptor with a channels-last layout, or null if it has that already or is not of the type.
using Relayout = std::unique_ptr<BaseDescriptor> (*)(const BaseDescriptor&);

template <typename D>
std::unique_ptr<BaseDescriptor> Relaid(const BaseDescriptor& descriptor)
{
    const auto* const given = dynamic_cast<const D*>(&descriptor);
    if (given == nullptr)
    {
        return nullptr;
    }
    auto copy = std::make_unique<D>(*given);
    switch (copy->m_DataLayout)
    {
    case DataLayout::NCHW: copy->m_DataLayout = DataLayout::NHWC; break;
    case DataLayout::NCDHW: copy->m_DataLayout = DataLayout::NDHWC; break;
    default: return nullptr;
    }
    if constexpr (requires { copy->m_OutputShape; }) // of transposed convolutions, which follows the layout too
    {
        if (copy->m_ParametersAsInputs) // one that arrives at run time does not
        {
            return nullptr;
        }
        if (copy->m_OutputShape.size() > 2)
        {
            std::rotate(copy->m_OutputShape.begin() + 1, copy->m_OutputShape.begin() + 2, copy->m_OutputShape.end());
        }
    }
    return copy;
}

/// Null for a layer that has no layout which kernels see.
template <typename D, LayoutRule Rule>
constexpr Relayout RelayoutOf()
{
    if constexpr (IsLowered(Rule))
    {
        return &Relaid<D>;
    }
    else
    {
        return nullptr;
    }
}

struct Row
{
    Relayout m_Relayout;
    bool m_HasWeights;
};

constexpr Row rows[] = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, rank, form,    \
                 layout, ...)                                                                                          \
    {RelayoutOf<descriptor, LayoutRule::layout>(), LayoutRule::layout == LayoutRule::DataAndWeights},
#include <tenon/ops.def>
};

/// Mappings of a Transpose from channels first to channels last: {0, 2, 3, 1}.
PermutationVector ToLast(unsigned int rank)
{
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    for (unsigned int i = 1; i + 1 < rank; ++i)
    {
        mappings[i] = i + 1;
    }
    mappings[rank - 1] = 1;
    return PermutationVector(mappings.data(), rank);
}

} // namespace

ChannelsLast ToChannelsLast(LayerType type, const BaseDescriptor& descriptor, const TensorShape& data)
{
    ChannelsLast last;
    const auto index = static_cast<size_t>(type);
    if (index >= std::size(rows) || rows[index].m_Relayout == nullptr)
    {
        return last;
    }
    const bool isRankKnown = data.GetDimensionality() == Dimensionality::Specified;
    const unsigned int operatorRank = GetOperatorRank(type, descriptor); // 0: it takes several
    const unsigned int rank = isRankKnown ? data.GetNumDimensions() : operatorRank;
    if (rank < 3 || (operatorRank != 0 && rank != operatorRank))
    {
        return last;
    }
    last.m_Descriptor = rows[index].m_Relayout(descriptor);
    last.m_Data = ToLast(rank);
    last.m_HasWeights = rows[index].m_HasWeights;
    last.m_Weights = ToLast(4);
    return last;
}

TensorInfo Transposed(const TensorInfo& info, const PermutationVector& mappings)
{
    TensorInfo result = info;
    result.SetConstant(false);
    const TensorShape& shape = info.GetShape();
    const bool isRankKnown =
        shape.GetDimensionality() == Dimensionality::Specified && shape.GetNumDimensions() == mappings.GetSize();
    TensorShape moved(mappings.GetSize(), false);
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        if (isRankKnown && shape.GetDimensionSpecificity(mappings[i]))
        {
            moved.SetDimensionSize(i, shape[mappings[i]]);
        }
        if (info.GetQuantizationDim().has_value() && info.GetQuantizationDim().value() == mappings[i])
        {
            result.SetQuantizationDim(i);
        }
    }
    result.SetShape(moved);
    return result;
}

} // namespace tenon
