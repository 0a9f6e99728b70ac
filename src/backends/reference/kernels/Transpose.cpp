// SPDX-License-Identifier: Apache-2.0
// Transpose: dimension i of the output is dimension m[i] of the input. Permute uses this kernel, too, with its inverse.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Arrangement.hpp>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow TransposeTypes[] = {backends::SameType(backends::AnyType)};

backends::Prepared PrepareTranspose(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const PermutationVector& mappings = args.GetDescriptor<TransposeDescriptor>().m_DimMappings;
    const unsigned int rank = input.GetNumDimensions();
    bool fits = mappings.GetSize() == rank && output.GetNumDimensions() == rank;
    for (unsigned int i = 0; fits && i < rank; ++i)
    {
        fits = output.GetShape()[i] == input.GetShape()[mappings[i]];
    }
    if (!fits)
    {
        throw LayerValidationException(
            "Transpose of " + input.GetShape().ToString() + " to " + output.GetShape().ToString() +
            ": the mappings must name each dimension of the input once, in the output's order");
    }

    const Extents inputStrides = GetStrides(input.GetShape());
    Extents strides{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        strides[i] = inputStrides[mappings[i]];
    }
    return PrepareMove(input, output,
                       BoxCopy(rank, GetExtents(output.GetShape()), strides, 0, GetMovedBytes(input.GetDataType())));
}

} // namespace

extern const backends::Kernel RefTransposeKernel = {"RefTranspose", TransposeTypes, PrepareTranspose};

} // namespace tenon::ref
