// SPDX-License-Identifier: Apache-2.0
// UnsortedSegment and SegmentSum: reduce the slices that have the same number. Integers wrap; floats are added in
// double precision.
#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <limits>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet SegmentElements = {DataType::Float32, DataType::Signed32, DataType::Signed64};
constexpr backends::TypeRow SegmentTypes[] = {backends::Types({SegmentElements, IndexTypes}, SegmentElements)};

SupportResult CheckSegmentSum(const LayerView& layer)
{
    return CheckSameType(layer.GetOutput(0), "output 0", layer.GetInput(0).GetDataType());
}

SupportResult CheckUnsortedSegment(const LayerView& layer)
{
    if (layer.GetDescriptor<UnsortedSegmentDescriptor>().m_Operation == ReduceOperation::Mean)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "segments can be reduced by Sum, Max, Min and Prod, not by Mean");
    }
    return CheckSegmentSum(layer);
}

/// The unsigned type in which integers may overflow.
template <typename T>
struct Wrapping
{
    using Type = T;
};
template <>
struct Wrapping<int32_t>
{
    using Type = uint32_t;
};
template <>
struct Wrapping<int64_t>
{
    using Type = uint64_t;
};

template <ReduceOperation Operation, typename T>
T Reduce(T a, T b)
{
    using W = typename Wrapping<T>::Type;
    switch (Operation)
    {
    case ReduceOperation::Max: return std::max(a, b);
    case ReduceOperation::Min: return std::min(a, b);
    case ReduceOperation::Prod: return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    default: return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    }
}

/// The value of a segment without slices.
template <ReduceOperation Operation, typename T>
constexpr T InitialValue()
{
    switch (Operation)
    {
    case ReduceOperation::Max: return std::numeric_limits<T>::lowest();
    case ReduceOperation::Min: return std::numeric_limits<T>::max();
    case ReduceOperation::Prod: return T(1);
    default: return T(0);
    }
}

template <ReduceOperation Operation, typename T>
struct SegmentRun
{
    IndexInput m_Numbers;
    int64_t m_Lowest; ///< lowest valid number; negative numbers are left out
    size_t m_Slices;
    size_t m_SliceElements;
    size_t m_Segments;

    /// The type of accumulators: the output's type, or a wider one in the scratch memory.
    using Result = std::conditional_t<Operation == ReduceOperation::Sum, AccumulatorType<T>, T>;
    static constexpr bool IsWider = !std::is_same_v<Result, T>;

    size_t GetScratchBytes() const
    {
        return IsWider ? backends::CheckedCount(m_Segments * m_SliceElements, sizeof(Result)) : 0;
    }

    void operator()(const ExecuteArgs& args) const
    {
        const T* in = args.GetInput<T>(0);
        auto* const out = static_cast<Result*>(IsWider ? args.m_Scratch : args.m_Outputs[0]);
        std::fill_n(out, m_Segments * m_SliceElements, InitialValue<Operation, Result>());
        for (size_t i = 0; i < m_Slices; ++i, in += m_SliceElements)
        {
            const int64_t number = m_Numbers.Read(args, i, m_Lowest, static_cast<int64_t>(m_Segments));
            if (number < 0)
            {
                continue;
            }
            Result* const segment = out + static_cast<size_t>(number) * m_SliceElements;
            for (size_t k = 0; k < m_SliceElements; ++k)
            {
                segment[k] = Reduce<Operation>(segment[k], static_cast<Result>(in[k]));
            }
        }
        if constexpr (IsWider)
        {
            std::transform(out, out + m_Segments * m_SliceElements, args.GetOutput<T>(0), FromAccumulator<T>);
        }
    }
};

template <ReduceOperation Operation>
backends::Prepared PrepareSegments(const ReshapeArgs& args, int64_t lowest)
{
    const TensorInfo& data = args.GetInput(0);
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int length = args.GetInput(1).GetNumDimensions();
    RequireRank(data, "input 0", length);
    RequireRank(args.GetOutput(0), "output 0", 1);
    const size_t slices = args.GetInput(1).GetNumElements();
    RequireElements(args.GetInput(1), "input 1", CountElements(data.GetShape(), 0, length));
    // The other sizes may overflow if there are no elements; numbers are still checked.
    const bool isEmpty = data.GetShape().GetNumElements64() == 0 && output.GetNumElements64() == 0;
    const size_t sliceElements = isEmpty ? 0 : CountElements(data.GetShape(), length, data.GetNumDimensions());
    const size_t segments = output[0];
    RequireElements(args.GetOutput(0), "output 0", uint64_t{segments} * sliceElements);
    return DispatchType<float, int32_t, int64_t>(data.GetDataType(),
                                                 [&](auto tag) -> backends::Prepared
                                                 {
                                                     const SegmentRun<Operation, typename decltype(tag)::Type> run{
                                                         IndexInput(args, 1), lowest, slices, sliceElements, segments};
                                                     return {run, run.GetScratchBytes()};
                                                 });
}

backends::Prepared PrepareSegmentSum(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareSegments<ReduceOperation::Sum>(args, 0);
}

backends::Prepared PrepareUnsortedSegment(const ReshapeArgs& args, const backends::PackedWeights*)
{
    constexpr int64_t Any = std::numeric_limits<int64_t>::min();
    switch (args.GetDescriptor<UnsortedSegmentDescriptor>().m_Operation)
    {
    case ReduceOperation::Max: return PrepareSegments<ReduceOperation::Max>(args, Any);
    case ReduceOperation::Min: return PrepareSegments<ReduceOperation::Min>(args, Any);
    case ReduceOperation::Prod: return PrepareSegments<ReduceOperation::Prod>(args, Any);
    default: return PrepareSegments<ReduceOperation::Sum>(args, Any);
    }
}

} // namespace

extern const backends::Kernel RefSegmentSumKernel = {"RefSegmentSum", SegmentTypes, PrepareSegmentSum, CheckSegmentSum};
extern const backends::Kernel RefUnsortedSegmentKernel = {"RefUnsortedSegment", SegmentTypes, PrepareUnsortedSegment,
                                                          CheckUnsortedSegment};

} // namespace tenon::ref
