// SPDX-License-Identifier: Apache-2.0
// ArgMinMax: the index of the smallest or largest element along an axis; the first or the last of equal elements.
// Stored values are compared, since quantization does not change their order.
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
                      DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8,
                      DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64}},
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

/// Whether `value` takes the place of `best`. NaN counts only if there are no numbers.
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

/// The index of the chosen one of `depth` elements that are `step` apart.
template <bool IsMax, typename T>
size_t FindBest(const T* in, size_t depth, size_t step, bool isLast)
{
    T best = in[0];
    size_t place = 0;
    for (size_t i = 1; i < depth; ++i)
    {
        const T value = in[i * step];
        if (IsBetter<IsMax>(value, best) || (isLast && value == best))
        {
            best = value;
            place = i;
        }
    }
    return place;
}

template <typename T, bool IsMax>
Prepared MakeSearch(const Extents& extents, bool isLast, bool isWide)
{
    return [=](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        size_t next = 0;
        for (size_t outer = 0; outer < extents.m_Outer; ++outer, in += extents.m_Depth * extents.m_Inner)
        {
            for (size_t inner = 0; inner < extents.m_Inner; ++inner, ++next)
            {
                const size_t place = FindBest<IsMax>(in + inner, extents.m_Depth, extents.m_Inner, isLast);
                if (isWide)
                {
                    run.GetOutput<int64_t>(0)[next] = static_cast<int64_t>(place);
                }
                else
                {
                    run.GetOutput<int32_t>(0)[next] = static_cast<int32_t>(place);
                }
            }
        }
    };
}

Prepared PrepareArgMinMax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const Extents extents = GetExtents(args);
    const auto& descriptor = args.GetDescriptor<ArgMinMaxDescriptor>();
    const bool isWide = args.GetOutput(0).GetDataType() == DataType::Signed64;
    const bool isLast = descriptor.m_SelectLastIndex;
    return DispatchType<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                        uint64_t>(args.GetInput(0).GetDataType(),
                                  [&](auto tag)
                                  {
                                      using T = typename decltype(tag)::Type;
                                      return descriptor.m_Function == ArgMinMaxFunction::Max
                                                 ? MakeSearch<T, true>(extents, isLast, isWide)
                                                 : MakeSearch<T, false>(extents, isLast, isWide);
                                  });
}

} // namespace

extern const backends::Kernel RefArgMinMaxKernel = {"RefArgMinMax", ArgMinMaxTypes, PrepareArgMinMax};

} // namespace tenon::ref
