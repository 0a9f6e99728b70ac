// SPDX-License-Identifier: Apache-2.0
// ArgMinMax: the index of the smallest or largest element along an axis, the first one on a tie. Stored values are
// compared, since quantization does not change their order.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::TypeSet;

constexpr backends::TypeRow ArgMinMaxTypes[] = {
    backends::Types({{DataType::Float16, DataType::Float32, DataType::Float64, DataType::BFloat16, DataType::QAsymmU8,
                      DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16, DataType::Boolean, DataType::Signed8,
                      DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8}},
                    {DataType::Signed32, DataType::Signed64})};

/// The input as [outer, depth, inner]; the search runs along depth.
struct Extents
{
    size_t m_Outer = 1;
    size_t m_Depth = 1;
    size_t m_Inner = 1;
};

Extents GetExtents(const ReshapeArgs& args)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    const auto rank = static_cast<int>(shape.GetNumDimensions());
    const int axis = args.GetDescriptor<ArgMinMaxDescriptor>().m_Axis;
    const int positive = axis < 0 ? axis + rank : axis;
    if (positive < 0 || positive >= rank)
    {
        throw LayerValidationException("axis " + std::to_string(axis) + " is outside the input's shape " +
                                       shape.ToString());
    }
    Extents extents;
    for (int i = 0; i < rank; ++i)
    {
        size_t& extent = i < positive ? extents.m_Outer : (i == positive ? extents.m_Depth : extents.m_Inner);
        extent *= shape[static_cast<unsigned int>(i)];
    }
    if (args.GetOutput(0).GetShape().GetNumElements64() != extents.m_Outer * extents.m_Inner)
    {
        throw LayerValidationException("the output's shape " + args.GetOutput(0).GetShape().ToString() +
                                       " is not the input's " + shape.ToString() + " without axis " +
                                       std::to_string(positive));
    }
    if (extents.m_Depth == 0 && extents.m_Outer * extents.m_Inner != 0)
    {
        throw LayerValidationException("an empty axis has no smallest or largest element: axis " +
                                       std::to_string(positive) + " of " + shape.ToString());
    }
    return extents;
}

/// Whether `value` takes the place of `best`. NaN only counts where there is nothing else.
template <bool IsMax, typename T>
bool IsBetter(T value, T best)
{
    if constexpr (!std::is_integral_v<T>)
    {
        if (best != best)
        {
            return value == value;
        }
    }
    return IsMax ? value > best : value < best;
}

template <typename T, typename Index, bool IsMax>
Prepared MakeSearch(const Extents& extents)
{
    return [extents](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        Index* out = run.GetOutput<Index>(0);
        for (size_t outer = 0; outer < extents.m_Outer; ++outer, in += extents.m_Depth * extents.m_Inner)
        {
            for (size_t inner = 0; inner < extents.m_Inner; ++inner)
            {
                T best = in[inner];
                size_t index = 0;
                for (size_t i = 1; i < extents.m_Depth; ++i)
                {
                    const T value = in[i * extents.m_Inner + inner];
                    if (IsBetter<IsMax>(value, best))
                    {
                        best = value;
                        index = i;
                    }
                }
                *out++ = static_cast<Index>(index);
            }
        }
    };
}

template <typename T, typename Index>
Prepared MakeArgMinMax(const Extents& extents, ArgMinMaxFunction function)
{
    return function == ArgMinMaxFunction::Max ? MakeSearch<T, Index, true>(extents)
                                              : MakeSearch<T, Index, false>(extents);
}

Prepared PrepareArgMinMax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const Extents extents = GetExtents(args);
    const ArgMinMaxFunction function = args.GetDescriptor<ArgMinMaxDescriptor>().m_Function;
    const bool isWide = args.GetOutput(0).GetDataType() == DataType::Signed64;
    return DispatchType<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, int32_t, int64_t>(
        args.GetInput(0).GetDataType(),
        [&](auto tag)
        {
            using T = typename decltype(tag)::Type;
            return isWide ? MakeArgMinMax<T, int64_t>(extents, function) : MakeArgMinMax<T, int32_t>(extents, function);
        });
}

} // namespace

extern const backends::Kernel RefArgMinMaxKernel = {"RefArgMinMax", ArgMinMaxTypes, PrepareArgMinMax};

} // namespace tenon::ref
