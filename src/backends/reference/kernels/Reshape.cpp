// SPDX-License-Identifier: Apache-2.0
// Reshape, Squeeze, ExpandDims: the bytes of the input in the same order. The runtime lets the output share the input's
// memory if possible; otherwise the kernel copies.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>

namespace tenon::ref
{

namespace
{

using backends::AnyType;
using backends::SameType;

constexpr backends::TypeRow ReshapeTypes[] = {SameType(AnyType)};

backends::Prepared PrepareReshape(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& from = args.GetInput(0).GetShape();
    const TensorShape& to = args.GetOutput(0).GetShape();
    if (from.GetNumElements64() != to.GetNumElements64())
    {
        throw LayerValidationException("this layer cannot turn " + from.ToString() + " into " + to.ToString() +
                                       ": the numbers of elements differ; give a target shape of as many elements");
    }
    return PrepareCopy(args.GetInput(0));
}

} // namespace

extern const backends::Kernel RefReshapeKernel = {"RefReshape", ReshapeTypes, PrepareReshape};
extern const backends::Kernel RefSqueezeKernel = {"RefSqueeze", ReshapeTypes, PrepareReshape};
extern const backends::Kernel RefExpandDimsKernel = {"RefExpandDims", ReshapeTypes, PrepareReshape};

} // namespace tenon::ref
