// SPDX-License-Identifier: Apache-2.0
// CumSum: sums or products of all elements up to each one, along an axis. Integers wrap; long sums of floats run in
// double precision, as do products and half-precision floats.
#include "backends/reference/kernels/CumSum.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/BinaryOperations.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow CumSumTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16, DataType::Signed32,
                        DataType::Signed64, DataType::Unsigned32, DataType::Unsigned64})};

/// The tensor as [outer, depth, inner]; sums run along depth.
struct CumSumShape
{
    size_t m_Outer;
    size_t m_Depth;
    size_t m_Inner;
    bool m_Exclusive;
    bool m_Reverse;
    bool m_IsProduct;

    /// The index at which the line of a step begins.
    size_t GetLine(size_t step) const { return (m_Reverse ? m_Depth - 1 - step : step) * m_Inner; }
};

/// Each line of `inner` elements follows from the previous one.
template <typename Operation, typename T>
void SumLines(const CumSumShape& shape, const T* in, T* out)
{
    const size_t inner = shape.m_Inner;
    shape.m_Exclusive ? std::fill_n(out + shape.GetLine(0), inner, T(shape.m_IsProduct ? 1 : 0))
                      : std::copy_n(in + shape.GetLine(0), inner, out + shape.GetLine(0));
    for (size_t step = 1; step < shape.m_Depth; ++step)
    {
        const size_t line = shape.GetLine(step);
        const size_t before = shape.GetLine(step - 1);
        const T* next = in + (shape.m_Exclusive ? before : line);
        for (size_t i = 0; i < inner; ++i)
        {
            out[line + i] = Operation::Apply(out[before + i], next[i]);
        }
    }
}

/// The same for floats, whose sums or products are in `sums`.
template <typename T>
void SumLines(const CumSumShape& shape, const T* in, T* out, double* sums)
{
    for (size_t step = 0; step < shape.m_Depth; ++step)
    {
        const size_t line = shape.GetLine(step);
        for (size_t i = 0; i < shape.m_Inner; ++i)
        {
            const auto value = static_cast<double>(in[line + i]);
            const double before = step != 0 ? sums[i] : shape.m_IsProduct ? 1.0 : 0.0;
            const double next = shape.m_IsProduct ? before * value : before + value;
            sums[i] = step == 0 && !shape.m_Exclusive ? value : next; // a first -0 stays
            out[line + i] = FromAccumulator<T>(shape.m_Exclusive ? before : sums[i]);
        }
    }
}

template <typename T>
backends::Prepared MakeInDouble(const CumSumShape& shape)
{
    return {[shape](const ExecuteArgs& run)
            {
                const size_t block = shape.m_Depth * shape.m_Inner;
                for (size_t at = 0; at < shape.m_Outer * block; at += block)
                {
                    SumLines(shape, run.GetInput<T>(0) + at, run.GetOutput<T>(0) + at,
                             static_cast<double*>(run.m_Scratch));
                }
            },
            backends::CheckedCount(shape.m_Inner, sizeof(double))};
}

template <typename Operation, typename T>
backends::Prepared MakeCumSum(const CumSumShape& shape)
{
    return [shape](const ExecuteArgs& run)
    {
        const size_t block = shape.m_Depth * shape.m_Inner;
        for (size_t at = 0; at < shape.m_Outer * block; at += block)
        {
            SumLines<Operation>(shape, run.GetInput<T>(0) + at, run.GetOutput<T>(0) + at);
        }
    };
}

backends::Prepared PrepareCumSum(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<CumSumDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const unsigned int rank = input.GetNumDimensions();
    const auto axis = static_cast<unsigned int>(descriptor.m_Axis);
    if (axis >= rank)
    {
        throw LayerValidationException("axis " + std::to_string(descriptor.m_Axis) + " is outside the input's shape " +
                                       input.GetShape().ToString());
    }
    RequireElements(args.GetOutput(0), "output 0", input.GetShape().GetNumElements64());
    if (input.GetShape().GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const CumSumShape shape = {CountElements(input.GetShape(), 0, axis),
                               input.GetShape()[axis],
                               CountElements(input.GetShape(), axis + 1, rank),
                               descriptor.m_Exclusive,
                               descriptor.m_Reverse,
                               descriptor.m_Operation == ReduceOperation::Prod};
    const DataType type = input.GetDataType();
    if (backends::F16Types.Has(type) || IsCumSumInDouble(type, shape.m_Depth) ||
        (shape.m_IsProduct && type == DataType::Float32))
    {
        return DispatchType<float, Half, BFloat16>(type, [&](auto tag)
                                                   { return MakeInDouble<typename decltype(tag)::Type>(shape); });
    }
    // Signed and unsigned integers wrap alike.
    const DataType stored = type == DataType::Unsigned32   ? DataType::Signed32
                            : type == DataType::Unsigned64 ? DataType::Signed64
                                                           : type;
    if (shape.m_IsProduct)
    {
        return DispatchType<int32_t, int64_t, double>(
            stored, [&](auto tag) { return MakeCumSum<MulOperation, typename decltype(tag)::Type>(shape); });
    }
    return DispatchType<float, int32_t, int64_t, double>(
        stored, [&](auto tag) { return MakeCumSum<AddOperation, typename decltype(tag)::Type>(shape); });
}

SupportResult CheckCumSum(const LayerView& layer)
{
    const ReduceOperation operation = layer.GetDescriptor<CumSumDescriptor>().m_Operation;
    return operation == ReduceOperation::Sum || operation == ReduceOperation::Prod
               ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedParameters,
                                   "elements can be summed or multiplied up, with Operation Sum or Prod");
}

} // namespace

extern const backends::Kernel RefCumSumKernel = {"RefCumSum", CumSumTypes, PrepareCumSum, CheckCumSum};

} // namespace tenon::ref
