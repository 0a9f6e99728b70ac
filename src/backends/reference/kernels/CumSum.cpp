// SPDX-License-Identifier: Apache-2.0
// CumSum: sums of all elements up to each one, along an axis. Integers wrap; sums of floats run in double precision.
#include "backends/common/Scratch.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/SumType.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/Descriptors.hpp>

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

/// The tensor as [outer, depth, inner]; sums run along depth, those of a line of `inner` elements beside each other in
/// the scratch memory.
template <typename T>
struct CumSumRun
{
    size_t m_Outer;
    size_t m_Depth;
    size_t m_Inner;
    bool m_Exclusive;
    bool m_Reverse;

    using Sum = SumType<T>;

    void operator()(const ExecuteArgs& args) const
    {
        const T* in = args.GetInput<T>(0);
        T* out = args.GetOutput<T>(0);
        auto* sums = static_cast<Sum*>(args.m_Scratch);
        const size_t block = m_Depth * m_Inner;
        for (size_t outer = 0; outer < m_Outer; ++outer, in += block, out += block)
        {
            for (size_t step = 0; step < m_Depth; ++step)
            {
                const size_t line = (m_Reverse ? m_Depth - 1 - step : step) * m_Inner;
                for (size_t i = 0; i < m_Inner; ++i)
                {
                    const auto value = static_cast<Sum>(in[line + i]);
                    const Sum before = step == 0 ? Sum(0) : sums[i];
                    sums[i] = step == 0 && !m_Exclusive ? value : Add(before, value); // a first -0 stays
                    out[line + i] = static_cast<T>(m_Exclusive ? before : sums[i]);
                }
            }
        }
    }
};

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
    const size_t outer = CountElements(input.GetShape(), 0, axis);
    const size_t inner = CountElements(input.GetShape(), axis + 1, rank);
    return DispatchType<float, int32_t, int64_t, double>(
        input.GetDataType(),
        [&](auto tag) -> backends::Prepared
        {
            using Run = CumSumRun<typename decltype(tag)::Type>;
            return {Run{outer, input.GetShape()[axis], inner, descriptor.m_Exclusive, descriptor.m_Reverse},
                    backends::CheckedCount(inner, sizeof(typename Run::Sum))};
        });
}

} // namespace

extern const backends::Kernel RefCumSumKernel = {"RefCumSum", CumSumTypes, PrepareCumSum};

} // namespace tenon::ref
