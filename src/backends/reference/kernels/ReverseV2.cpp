// SPDX-License-Identifier: Apache-2.0
// ReverseV2: the input read backwards along the axes in input 1. Each axis may be named once.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/ReversedAxes.hpp"

#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow ReverseTypes[] = {backends::SameType(backends::AnyType)};

struct ReversePlan
{
    unsigned int m_Rank = 0;
    Extents m_Sizes{};
    Extents m_Strides{};
    size_t m_ElementBytes = 0;
    ReversedAxes m_Axes;

    void operator()(const ExecuteArgs& args, const std::byte* input, std::byte* output) const
    {
        const unsigned int reversed = m_Axes.Read(args);
        Extents strides = m_Strides;
        int64_t first = 0;
        for (unsigned int axis = 0; axis < m_Rank; ++axis)
        {
            if (((reversed >> axis) & 1U) != 0)
            {
                first += (m_Sizes[axis] - 1) * m_Strides[axis];
                strides[axis] = -m_Strides[axis];
            }
        }
        BoxCopy(m_Rank, m_Sizes, strides, first, m_ElementBytes)(input, output);
    }
};

backends::Prepared PrepareReverse(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& shape = input.GetShape();
    std::vector<unsigned int> sizes;
    AppendSizes(sizes, shape, 0, shape.GetNumDimensions());
    CheckOutputShape(args, "ReverseV2", sizes);
    if (input.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    return PrepareIndexedMove(input, args.GetOutput(0),
                              ReversePlan{shape.GetNumDimensions(), GetExtents(shape), GetStrides(shape),
                                          GetMovedBytes(input.GetDataType()), ReversedAxes(args)});
}

SupportResult CheckReverse(const LayerView& layer)
{
    return CheckIndexType(layer, 1);
}

} // namespace

extern const backends::Kernel RefReverseV2Kernel = {"RefReverseV2", ReverseTypes, PrepareReverse, CheckReverse};

} // namespace tenon::ref
