// SPDX-License-Identifier: Apache-2.0
// Ranks: see Ranks.hpp. Here is the code of the rules of column `rank` of ops.def.
#include "graph/Ranks.hpp"

#include "graph/FixedShapes.hpp"

#include <tenon/Descriptors.hpp>

namespace tenon
{

namespace
{

template <typename D, RankRule Rule>
unsigned int OperatorRank([[maybe_unused]] const BaseDescriptor& descriptor)
{
    if constexpr (Rule == RankRule::Mappings)
    {
        const D& d = static_cast<const D&>(descriptor);
        return d.m_ParametersAsInputs ? 0 : d.m_DimMappings.GetSize();
    }
    else
    {
        return Rule == RankRule::Rank4 ? 4 : Rule == RankRule::Rank5 ? 5 : 0;
    }
}

template <typename D, RankRule Rule>
unsigned int FixedRank(const BaseDescriptor& descriptor)
{
    if constexpr (Rule == RankRule::Target)
    {
        const D& d = static_cast<const D&>(descriptor);
        const TensorShape& target = d.m_TargetShape;
        const bool isKnown = !d.m_ParametersAsInputs && target.GetDimensionality() == Dimensionality::Specified;
        return isKnown ? target.GetNumDimensions() : 0;
    }
    else
    {
        return OperatorRank<D, Rule>(descriptor);
    }
}

template <typename D, RankRule Rule, OpFlags Flags>
bool IsRankKept([[maybe_unused]] const BaseDescriptor& descriptor)
{
    if constexpr (Rule == RankRule::KeepDims)
    {
        return static_cast<const D&>(descriptor).m_KeepDims;
    }
    else
    {
        return HasFlag(Flags, OpFlags::SameRank);
    }
}

struct RankFunctions
{
    unsigned int (*m_OfOperator)(const BaseDescriptor&);
    unsigned int (*m_Fixed)(const BaseDescriptor&);
    bool (*m_IsKept)(const BaseDescriptor&);
};

using enum OpFlags;
constexpr RankFunctions functions[] = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, rank, ...)     \
    {&OperatorRank<descriptor, RankRule::rank>, &FixedRank<descriptor, RankRule::rank>,                                \
     &IsRankKept<descriptor, RankRule::rank, flags>},
#include <tenon/ops.def>
};

const RankFunctions& FunctionsOf(LayerType type)
{
    return functions[static_cast<size_t>(type)];
}

const RankFunctions& FunctionsOf(const Layer& layer)
{
    return FunctionsOf(layer.GetType());
}

} // namespace

unsigned int GetOperatorRank(const Layer& layer)
{
    return FunctionsOf(layer).m_OfOperator(layer.GetParameters());
}

unsigned int GetOperatorRank(LayerType type, const BaseDescriptor& descriptor)
{
    return FunctionsOf(type).m_OfOperator(descriptor);
}

unsigned int GetFixedRank(const Layer& layer)
{
    if (HasFixedSizes(layer))
    {
        const TensorShape& shape = layer.Output(0).GetTensorInfo().GetShape();
        return shape.GetDimensionality() == Dimensionality::Specified ? shape.GetNumDimensions() : 0;
    }
    return FunctionsOf(layer).m_Fixed(layer.GetParameters());
}

bool KeepsRank(const Layer& layer)
{
    return FunctionsOf(layer).m_IsKept(layer.GetParameters());
}

} // namespace tenon
