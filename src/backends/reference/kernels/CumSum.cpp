// SPDX-License-Identifier: Apache-2.0
// CumSum: sums of all elements up to each one, along an axis. Integers wrap; long sums of floats run in double
// precision.
#include "backends/reference/kernels/CumSum.hpp"

#include "backends/common/Scratch.hpp"
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
    backends::SameType({DataType::Float32, DataType::Float64, DataType::Signed32, DataType::Signed64})};

template <typename T>
T Add(T a, T b)
{
    if constexpr (std::is_integral_v<T>)
    {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    }
    else
    {
        return a + b;
    }
}

/// The tensor as [outer, depth, inner]; sums run along depth.
struct CumSumShape
{
    size_t m_Outer;
    size_t m_Depth;
    size_t m_Inner;
    bool m_Exclusive;
    bool m_Reverse;

    /// Where the line of a step begins.
    size_t GetLine(size_t step) const { return (m_Reverse ? m_Depth - 1 - step : step) * m_Inner; }
};

/// Each line of `inner` elements follows from the one before it.
template <typename T>
void SumLines(const CumSumShape& shape, const T* in, T* out)
{
    const size_t inner = shape.m_Inner;
    shape.m_Exclusive ? std::fill_n(out + shape.GetLine(0), inner, T(0))
                      : std::copy_n(in + shape.GetLine(0), inner, out + shape.GetLine(0));
    for (size_t step = 1; step < shape.m_Depth; ++step)
    {
        const size_t line = shape.GetLine(step);
        const size_t before = shape.GetLine(step - 1);
        const T* next = in + (shape.m_Exclusive ? before : line);
        for (size_t i = 0; i < inner; ++i)
        {
            out[line + i] = Add(out[before + i], next[i]);
        }
    }
}

/// The same of floats, whose sums are in `sums`.
void SumLines(const CumSumShape& shape, const float* in, float* out, double* sums)
{
    for (size_t step = 0; step < shape.m_Depth; ++step)
    {
        const size_t line = shape.GetLine(step);
        for (size_t i = 0; i < shape.m_Inner; ++i)
        {
            const double value = double{in[line + i]};
            const double before = step == 0 ? 0.0 : sums[i];
            sums[i] = step == 0 && !shape.m_Exclusive ? value : before + value; // a first -0 stays
            out[line + i] = static_cast<float>(shape.m_Exclusive ? before : sums[i]);
        }
    }
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
    const CumSumShape shape = {CountElements(input.GetShape(), 0, axis), input.GetShape()[axis],
                               CountElements(input.GetShape(), axis + 1, rank), descriptor.m_Exclusive,
                               descriptor.m_Reverse};
    const size_t block = shape.m_Depth * shape.m_Inner;
    if (IsCumSumInDouble(input.GetDataType(), shape.m_Depth))
    {
        return {[shape, block](const ExecuteArgs& run)
                {
                    for (size_t at = 0; at < shape.m_Outer * block; at += block)
                    {
                        SumLines(shape, run.GetInput<float>(0) + at, run.GetOutput<float>(0) + at,
                                 static_cast<double*>(run.m_Scratch));
                    }
                },
                backends::CheckedCount(shape.m_Inner, sizeof(double))};
    }
    return DispatchType<float, int32_t, int64_t, double>(
        input.GetDataType(),
        [&](auto tag) -> backends::Prepared
        {
            using T = typename decltype(tag)::Type;
            return [shape, block](const ExecuteArgs& run)
            {
                for (size_t at = 0; at < shape.m_Outer * block; at += block)
                {
                    SumLines(shape, run.GetInput<T>(0) + at, run.GetOutput<T>(0) + at);
                }
            };
        });
}

} // namespace

extern const backends::Kernel RefCumSumKernel = {"RefCumSum", CumSumTypes, PrepareCumSum};

} // namespace tenon::ref
