// SPDX-License-Identifier: Apache-2.0
// Unique: the values without repetitions, sorted or in the order of their first occurrences; the index of each
// element's value; and for each value the index of its first occurrence and its count. Values are elements, or slices
// along an axis. Their number is known only while running. Equal values are found by sorting, since that needs no
// allocation.
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow UniqueTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16, DataType::Signed8,
                        DataType::QAsymmS8, DataType::QSymmS8, DataType::Unsigned8, DataType::QAsymmU8,
                        DataType::Signed16, DataType::QSymmS16, DataType::Unsigned16, DataType::Signed32,
                        DataType::Unsigned32, DataType::Signed64, DataType::Unsigned64, DataType::Boolean})};

SupportResult CheckUnique(const LayerView& layer)
{
    const DataType type = layer.GetDescriptor<UniqueDescriptor>().m_IndexType;
    if (type != DataType::Signed32 && type != DataType::Signed64)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 std::string("indices of type ") + GetDataTypeName(type) +
                                     " are wanted; they can be Signed32 or Signed64");
    }
    for (size_t i = 1; i < layer.GetNumOutputs(); ++i)
    {
        const std::string what = "output " + std::to_string(i);
        if (const SupportResult result = CheckSameType(layer.GetOutput(i), what.c_str(), type); !result)
        {
            return result;
        }
    }
    return SupportResult::Yes();
}

/// The input as [outer, slices, inner]. A slice is the list of its elements over [outer, inner].
struct UniquePlan
{
    size_t m_Outer = 1;
    size_t m_Slices = 0;
    size_t m_Inner = 1;
    size_t m_ElementBytes = 1;
    /// Negative if slice a comes before slice b, positive if it comes after it, else 0. NaN comes after all other
    /// values.
    int (*m_Compare)(const UniquePlan& plan, const void* data, size_t a, size_t b) = nullptr;
    /// Whether an element of the slice is NaN, which equals none.
    bool (*m_HasNaN)(const UniquePlan& plan, const void* data, size_t slice) = nullptr;
    UniqueDescriptor m_Descriptor;
    unsigned int m_Axis = 0;
    TensorShape m_Shape; ///< of the input
    size_t m_Order = 0;  ///< offsets in the scratch memory
    size_t m_First = 0;
    size_t m_Number = 0;
};

template <typename T>
int CompareElements(T a, T b)
{
    if constexpr (!std::is_integral_v<T>)
    {
        if (a != a || b != b)
        {
            return (a != a ? 1 : 0) - (b != b ? 1 : 0);
        }
    }
    return (a > b ? 1 : 0) - (a < b ? 1 : 0);
}

template <typename T>
int CompareSlices(const UniquePlan& plan, const void* data, size_t a, size_t b)
{
    const T* in = static_cast<const T*>(data);
    for (size_t outer = 0; outer < plan.m_Outer; ++outer, in += plan.m_Slices * plan.m_Inner)
    {
        for (size_t inner = 0; inner < plan.m_Inner; ++inner)
        {
            const int order = CompareElements(in[a * plan.m_Inner + inner], in[b * plan.m_Inner + inner]);
            if (order != 0)
            {
                return order;
            }
        }
    }
    return 0;
}

template <typename T>
bool HasNaN(const UniquePlan& plan, const void* data, size_t slice)
{
    const T* in = static_cast<const T*>(data) + slice * plan.m_Inner;
    for (size_t outer = 0; outer < plan.m_Outer; ++outer, in += plan.m_Slices * plan.m_Inner)
    {
        if (std::any_of(in, in + plan.m_Inner, [](T value) { return value != value; }))
        {
            return true;
        }
    }
    return false;
}

/// An output of indices, whose type is in the descriptor.
class IndexOutput
{
public:
    IndexOutput(const ExecuteArgs& args, size_t output, size_t count, DataType type)
        : m_Indices(args.m_LateOutputs->Allocate(output, TensorShape({static_cast<unsigned int>(count)}))),
          m_IsWide(type == DataType::Signed64)
    {
    }

    void Set(size_t i, size_t index) const
    {
        if (m_IsWide)
        {
            static_cast<int64_t*>(m_Indices)[i] = static_cast<int64_t>(index);
        }
        else
        {
            static_cast<int32_t*>(m_Indices)[i] = static_cast<int32_t>(index);
        }
    }

private:
    void* m_Indices;
    bool m_IsWide;
};

/// Sets order[i], slices in an order in which equal ones are neighbours, and first[slice], the first slice that equals
/// it. Returns the number of different slices.
size_t FindFirst(const UniquePlan& plan, const void* data, uint32_t* order, uint32_t* first)
{
    std::iota(order, order + plan.m_Slices, 0U);
    std::sort(order, order + plan.m_Slices,
              [&](uint32_t a, uint32_t b)
              {
                  const int compared = plan.m_Compare(plan, data, a, b);
                  return compared < 0 || (compared == 0 && a < b);
              });
    size_t distinct = 0;
    for (size_t i = 0; i < plan.m_Slices; ++i)
    {
        const bool repeats = i != 0 && plan.m_Compare(plan, data, order[i], order[i - 1]) == 0 &&
                             (plan.m_HasNaN == nullptr || !plan.m_HasNaN(plan, data, order[i]));
        first[order[i]] = repeats ? first[order[i - 1]] : order[i];
        distinct += repeats ? 0 : 1;
    }
    return distinct;
}

void RunUnique(const UniquePlan& plan, const ExecuteArgs& args)
{
    uint32_t* order = backends::Scratch::At<uint32_t>(args.m_Scratch, plan.m_Order);
    uint32_t* first = backends::Scratch::At<uint32_t>(args.m_Scratch, plan.m_First);
    // The numbers of values, by first slice.
    uint32_t* number = backends::Scratch::At<uint32_t>(args.m_Scratch, plan.m_Number);
    const auto* in = args.GetInput<std::byte>(0);
    const size_t distinct = FindFirst(plan, in, order, first);
    const DataType type = plan.m_Descriptor.m_IndexType;
    uint32_t next = 0;
    for (size_t i = 0; i < plan.m_Slices; ++i)
    {
        const size_t slice = plan.m_Descriptor.m_Sorted ? order[i] : i;
        if (first[slice] == slice)
        {
            number[slice] = next++;
        }
    }
    TensorShape shape = plan.m_Shape;
    shape.SetDimensionSize(plan.m_Axis, static_cast<unsigned int>(distinct));
    auto* values = static_cast<std::byte*>(args.m_LateOutputs->Allocate(0, shape));
    const IndexOutput numbers(args, 1, plan.m_Slices, type);
    const size_t bytes = plan.m_Inner * plan.m_ElementBytes;
    for (size_t i = 0; i < plan.m_Slices; ++i)
    {
        numbers.Set(i, number[first[i]]);
        for (size_t outer = 0; first[i] == i && bytes != 0 && outer < plan.m_Outer; ++outer)
        {
            std::memcpy(values + (outer * distinct + number[i]) * bytes, in + (outer * plan.m_Slices + i) * bytes,
                        bytes);
        }
    }
    if (plan.m_Descriptor.m_FirstsAndCounts)
    {
        const IndexOutput firsts(args, 2, distinct, type);
        const IndexOutput counts(args, 3, distinct, type);
        uint32_t* count = order; // counts by value
        std::fill_n(count, distinct, 0U);
        for (size_t i = 0; i < plan.m_Slices; ++i)
        {
            const uint32_t value = number[first[i]];
            if (first[i] == i)
            {
                firsts.Set(value, i);
            }
            counts.Set(value, ++count[value]);
        }
    }
}

backends::Prepared PrepareUnique(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& shape = input.GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    UniquePlan plan;
    plan.m_Descriptor = args.GetDescriptor<UniqueDescriptor>();
    plan.m_Axis = plan.m_Descriptor.m_AxisEnabled ? static_cast<unsigned int>(plan.m_Descriptor.m_Axis) : 0;
    if (plan.m_Axis >= rank || (!plan.m_Descriptor.m_AxisEnabled && rank != 1))
    {
        throw LayerValidationException("the input of shape " + shape.ToString() +
                                       (plan.m_Descriptor.m_AxisEnabled
                                            ? " has no axis " + std::to_string(plan.m_Descriptor.m_Axis)
                                            : " must be flat, as no axis is enabled"));
    }
    plan.m_Shape = shape;
    plan.m_Outer = CountElements(shape, 0, plan.m_Axis);
    plan.m_Slices = shape[plan.m_Axis];
    plan.m_Inner = CountElements(shape, plan.m_Axis + 1, rank);
    plan.m_ElementBytes = GetMovedBytes(input.GetDataType());
    backends::Scratch scratch;
    plan.m_Order = scratch.Add<uint32_t>(plan.m_Slices);
    plan.m_First = scratch.Add<uint32_t>(plan.m_Slices);
    plan.m_Number = scratch.Add<uint32_t>(plan.m_Slices);
    DispatchType<float, int32_t, int64_t, int8_t, uint8_t, int16_t, uint16_t, uint32_t, uint64_t, double, Half,
                 BFloat16>(input.GetDataType(),
                           [&](auto tag)
                           {
                               using T = typename decltype(tag)::Type;
                               plan.m_Compare = CompareSlices<T>;
                               if constexpr (!std::is_integral_v<T>)
                               {
                                   plan.m_HasNaN = HasNaN<T>;
                               }
                           });
    return {[plan](const ExecuteArgs& run) { RunUnique(plan, run); }, scratch.GetBytes()};
}

} // namespace

extern const backends::Kernel RefUniqueKernel = {"RefUnique", UniqueTypes, PrepareUnique, CheckUnique};

} // namespace tenon::ref
