// SPDX-License-Identifier: Apache-2.0
// OneHot: one value at the index along a new dimension, and another value everywhere else. An index outside of the
// dimension has no position.
#include "backends/reference/kernels/ChosenValues.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/descriptors/Indexing.hpp>

namespace tenon::ref
{

namespace
{

template <typename T>
struct OneHotRun
{
    IndexInput m_Indices;
    size_t m_Outer;
    size_t m_Depth;
    size_t m_Inner;
    bool m_FromEnd; ///< negative indices count from the end

    void operator()(const ExecuteArgs& args) const
    {
        const T on = *args.GetInput<T>(2);
        const T off = *args.GetInput<T>(3);
        T* out = args.GetOutput<T>(0);
        for (size_t outer = 0; outer < m_Outer; ++outer)
        {
            for (size_t depth = 0; depth < m_Depth; ++depth)
            {
                for (size_t inner = 0; inner < m_Inner; ++inner)
                {
                    const int64_t index = m_Indices.ReadAny(args, outer * m_Inner + inner);
                    const int64_t place = index < 0 && m_FromEnd ? index + static_cast<int64_t>(m_Depth) : index;
                    *out++ = place == static_cast<int64_t>(depth) ? on : off;
                }
            }
        }
    }
};

backends::Prepared PrepareOneHot(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& output = args.GetOutput(0);
    const auto& descriptor = args.GetDescriptor<OneHotDescriptor>();
    const auto axis = static_cast<unsigned int>(descriptor.m_Axis);
    const TensorShape& indices = args.GetInput(0).GetShape();
    const unsigned int rank = indices.GetNumDimensions();
    if (output.GetNumDimensions() != rank + 1 || axis > rank)
    {
        throw LayerValidationException("indices of shape " + indices.ToString() + " do not give an output of shape " +
                                       output.GetShape().ToString());
    }
    RequireElements(args.GetInput(2), "input 2", 1);
    RequireElements(args.GetInput(3), "input 3", 1);
    if (output.GetShape().GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t outer = CountElements(indices, 0, axis);
    const size_t inner = CountElements(indices, axis, rank);
    const size_t depth = output.GetShape()[axis];
    RequireElements(output, "output 0", outer * inner * depth);
    return DispatchMoved(
        output.GetDataType(),
        [&](auto tag) -> backends::Prepared
        {
            using T = typename decltype(tag)::Type;
            return OneHotRun<T>{IndexInput(args, 0), outer, depth, inner, descriptor.m_NegativeIndices};
        });
}

} // namespace

extern const backends::Kernel RefOneHotKernel = {"RefOneHot", ChosenTypes, PrepareOneHot, CheckChosen};

} // namespace tenon::ref
