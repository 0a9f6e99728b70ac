// SPDX-License-Identifier: Apache-2.0
// BroadcastTo: dimensions of size 1, and dimensions that the input lacks, are repeated: the input's stride is 0 there.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow BroadcastToTypes[] = {backends::SameType(backends::AnyType)};

backends::Prepared PrepareBroadcastTo(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const TensorShape& from = input.GetShape();
    const TensorShape& to = output.GetShape();
    const unsigned int rank = to.GetNumDimensions();
    const unsigned int inputRank = from.GetNumDimensions();
    bool fits = inputRank <= rank;
    const Extents inputStrides = GetStrides(from);
    Extents strides{}; // 0: repeated
    for (unsigned int i = 0; fits && i < inputRank; ++i)
    {
        const unsigned int dim = rank - inputRank + i;
        fits = from[i] == 1 || from[i] == to[dim];
        strides[dim] = from[i] == 1 ? 0 : inputStrides[i];
    }
    if (!fits)
    {
        throw LayerValidationException("BroadcastTo of " + from.ToString() + " to " + to.ToString() +
                                       ": sizes, aligned at the last one, must be equal or 1");
    }
    return PrepareMove(input, output, BoxCopy(rank, GetExtents(to), strides, 0, GetMovedBytes(input.GetDataType())));
}

} // namespace

extern const backends::Kernel RefBroadcastToKernel = {"RefBroadcastTo", BroadcastToTypes, PrepareBroadcastTo};

} // namespace tenon::ref
