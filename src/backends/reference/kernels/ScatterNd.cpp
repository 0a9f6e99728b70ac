// SPDX-License-Identifier: Apache-2.0
// ScatterNd: updates go to the slices that tuples of indices name, see ScatterUpdates.hpp.
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/ScatterUpdates.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Indexing.hpp>

#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::WholeByteType;

constexpr backends::TypeRow ScatterNdTypes[] = {backends::Types({{}, IndexTypes, WholeByteType}, WholeByteType)};

Prepared PrepareScatterNd(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ScatterNdDescriptor>();
    const TensorInfo& output = args.GetOutput(0);
    const TensorShape& updates = args.GetInput(2).GetShape();
    const IndexTuples tuples(args, 1, output.GetShape(), descriptor.m_NegativeIndices);
    const std::vector<unsigned int>& slices = tuples.GetSlicesShape();
    bool fits = updates.GetNumDimensions() == slices.size();
    for (unsigned int i = 0; fits && i < slices.size(); ++i)
    {
        fits = updates[i] == slices[i];
    }
    if (!fits || (descriptor.m_InputEnabled && args.GetInput(0).GetShape() != output.GetShape()))
    {
        throw LayerValidationException("ScatterNd of updates " + updates.ToString() + " by indices " +
                                       args.GetInput(1).GetShape().ToString() + " to " + output.GetShape().ToString() +
                                       ": there must be an update for each index tuple, and input 0, if it is the "
                                       "tensor to update, must have the output's shape");
    }
    return PrepareScatter(output, tuples, tuples.GetSliceElements(), descriptor.m_Function, descriptor.m_InputEnabled);
}

SupportResult CheckScatterNd(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<ScatterNdDescriptor>();
    if (descriptor.m_AxisEnabled || descriptor.m_Axis != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "updates along an axis are not possible");
    }
    return CheckScatter(layer, descriptor.m_Function, descriptor.m_InputEnabled);
}

} // namespace

extern const backends::Kernel RefScatterNdKernel = {"RefScatterNd", ScatterNdTypes, PrepareScatterNd, CheckScatterNd};

} // namespace tenon::ref
