// SPDX-License-Identifier: Apache-2.0
// TopK: the largest elements along an axis, largest first, or the smallest, smallest first; equal elements keep their
// order. NaN comes last.
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet TopKElements = {
    DataType::Float32,   DataType::Float16,    DataType::BFloat16,   DataType::Float64,
    DataType::QAsymmU8,  DataType::QAsymmS8,   DataType::QSymmS8,    DataType::QSymmS16,
    DataType::Signed8,   DataType::Signed16,   DataType::Signed32,   DataType::Signed64,
    DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64};
constexpr backends::TypeRow TopKTypes[] = {backends::Types({TopKElements, IndexTypes}, TopKElements)};

SupportResult CheckTopK(const LayerView& layer)
{
    const SupportResult values = CheckSameType(layer.GetOutput(0), "output 0", layer.GetInput(0).GetDataType());
    if (!values || layer.GetNumOutputs() < 2 || IndexTypes.Has(layer.GetOutput(1).GetDataType()))
    {
        return values;
    }
    return SupportResult::No(SupportCode::UnsupportedType, std::string("output 1 is ") +
                                                               GetDataTypeName(layer.GetOutput(1).GetDataType()) +
                                                               "; indices are Signed16, Signed32 or Signed64");
}

/// The candidates, which are `step` elements apart.
template <typename T>
struct TopKLine
{
    const T* m_Elements;
    size_t m_Step;
    bool m_Largest;

    /// Whether element a comes before element b.
    bool operator()(uint32_t a, uint32_t b) const
    {
        const ComputeType<T> left = m_Elements[a * m_Step];
        const ComputeType<T> right = m_Elements[b * m_Step];
        if constexpr (!std::is_integral_v<T>)
        {
            if (left != left || right != right)
            {
                return right != right && (left == left || a < b);
            }
        }
        return left == right ? a < b : m_Largest ? left > right : left < right;
    }
};

/// The input as [outer, length, inner], the outputs as [outer, count, inner].
struct TopKPlan
{
    size_t m_Outer;
    size_t m_Length;
    size_t m_Count;
    size_t m_Inner;
    bool m_Largest;
    void (*m_StoreIndex)(void* indices, size_t i, uint32_t index);
};

template <typename Index>
void StoreIndex(void* indices, size_t i, uint32_t index)
{
    static_cast<Index*>(indices)[i] = static_cast<Index>(index);
}

template <typename T>
void RunTopK(const TopKPlan& plan, const ExecuteArgs& args)
{
    auto* order = static_cast<uint32_t*>(args.m_Scratch);
    for (size_t line = 0; line < plan.m_Outer * plan.m_Inner; ++line)
    {
        const size_t outer = line / plan.m_Inner;
        const size_t inner = line % plan.m_Inner;
        const T* elements = args.GetInput<T>(0) + outer * plan.m_Length * plan.m_Inner + inner;
        std::iota(order, order + plan.m_Length, 0U);
        std::partial_sort(order, order + plan.m_Count, order + plan.m_Length,
                          TopKLine<T>{elements, plan.m_Inner, plan.m_Largest});
        for (size_t i = 0; i < plan.m_Count; ++i)
        {
            const size_t to = (outer * plan.m_Count + i) * plan.m_Inner + inner;
            args.GetOutput<T>(0)[to] = elements[order[i] * plan.m_Inner];
            plan.m_StoreIndex(args.m_Outputs[1], to, order[i]);
        }
    }
}

template <typename Index>
void CheckLargestIndex(const TensorInfo& indices, size_t length)
{
    if (length - 1 > static_cast<uint64_t>(std::numeric_limits<Index>::max()))
    {
        throw LayerValidationException("output 1 is " + indices.ToString() + ", but there are indices up to " +
                                       std::to_string(length - 1));
    }
}

backends::Prepared PrepareTopK(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<TopKDescriptor>();
    const TensorInfo& values = args.GetOutput(0);
    const TensorInfo& input = args.GetInput(0);
    const unsigned int rank = input.GetNumDimensions();
    const int positive = descriptor.m_Axis < 0 ? descriptor.m_Axis + static_cast<int>(rank) : descriptor.m_Axis;
    const auto axis = static_cast<unsigned int>(positive);
    if (positive < 0 || axis >= rank || values.GetNumDimensions() != rank)
    {
        throw LayerValidationException("TopK along axis " + std::to_string(descriptor.m_Axis) + " from " +
                                       input.GetShape().ToString() + " to " + values.GetShape().ToString() +
                                       ": both must have one rank, and the axis");
    }
    if (values.GetShape().GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    TopKPlan plan = {CountElements(input.GetShape(), 0, axis),        input.GetShape()[axis], values.GetShape()[axis],
                     CountElements(input.GetShape(), axis + 1, rank), descriptor.m_Largest,   nullptr};
    RequireElements(values, "output 0", plan.m_Outer * plan.m_Count * plan.m_Inner);
    RequireElements(args.GetOutput(1), "output 1", plan.m_Outer * plan.m_Count * plan.m_Inner);
    if (plan.m_Count > plan.m_Length)
    {
        throw LayerValidationException("an axis of " + std::to_string(plan.m_Length) + " elements does not have the " +
                                       std::to_string(plan.m_Count) + " that output 0 wants");
    }
    DispatchType<int32_t, int16_t, int64_t>(args.GetOutput(1).GetDataType(),
                                            [&](auto tag)
                                            {
                                                using Index = typename decltype(tag)::Type;
                                                CheckLargestIndex<Index>(args.GetOutput(1), plan.m_Length);
                                                plan.m_StoreIndex = StoreIndex<Index>;
                                            });
    backends::Scratch scratch;
    scratch.Add<uint32_t>(plan.m_Length);
    return DispatchType<float, Half, BFloat16, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                        uint64_t>(
        input.GetDataType(),
        [&](auto tag)
        {
            using T = typename decltype(tag)::Type;
            return backends::Prepared([plan](const ExecuteArgs& run) { RunTopK<T>(plan, run); }, scratch.GetBytes());
        });
}

} // namespace

extern const backends::Kernel RefTopKKernel = {"RefTopK", TopKTypes, PrepareTopK, CheckTopK};

} // namespace tenon::ref
