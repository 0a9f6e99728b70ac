// SPDX-License-Identifier: Apache-2.0
// Slice: copies the box of size m_Size at m_Begin.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow SliceTypes[] = {backends::SameType(backends::AnyType)};

backends::Prepared PrepareSlice(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const auto& descriptor = args.GetDescriptor<SliceDescriptor>();
    const unsigned int rank = input.GetNumDimensions();
    if (descriptor.m_Begin.size() != rank || descriptor.m_Size.size() != rank || output.GetNumDimensions() != rank)
    {
        throw LayerValidationException(
            "Slice of " + input.GetShape().ToString() + " to " + output.GetShape().ToString() + " with " +
            std::to_string(descriptor.m_Begin.size()) + " begins and " + std::to_string(descriptor.m_Size.size()) +
            " sizes: there must be one of each for each dimension");
    }
    for (unsigned int i = 0; i < rank; ++i)
    {
        const uint64_t end = uint64_t{descriptor.m_Begin[i]} + descriptor.m_Size[i];
        if (end > input.GetShape()[i] || output.GetShape()[i] != descriptor.m_Size[i])
        {
            throw LayerValidationException("Slice takes [" + std::to_string(descriptor.m_Begin[i]) + ", " +
                                           std::to_string(end) + ") of dimension " + std::to_string(i) + " of " +
                                           input.GetShape().ToString() + " as " + output.GetShape().ToString() +
                                           ": the range must lie inside and be as long as the output");
        }
    }
    const Extents strides = GetStrides(input.GetShape());
    int64_t first = 0;
    if (output.GetShape().GetNumElements64() != 0) // otherwise strides may be out of range
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            first += descriptor.m_Begin[i] * strides[i];
        }
    }
    return PrepareMove(
        input, output,
        BoxCopy(rank, GetExtents(output.GetShape()), strides, first, GetMovedBytes(input.GetDataType())));
}

} // namespace

extern const backends::Kernel RefSliceKernel = {"RefSlice", SliceTypes, PrepareSlice};

} // namespace tenon::ref
