// SPDX-License-Identifier: Apache-2.0
// Mean over some axes: the reduction Mean as a layer type of its own.
#include "backends/reference/kernels/Reduce.hpp"

#include <tenon/descriptors/Reduction.hpp>

namespace tenon::ref
{

namespace
{

SupportResult CheckMean(const LayerView& layer)
{
    return CheckReduce(ReduceOperation::Mean, layer);
}

backends::Prepared PrepareMean(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareReduce(args, ReduceOperation::Mean, args.GetDescriptor<MeanDescriptor>().m_Axis);
}

} // namespace

extern const backends::Kernel RefMeanKernel = {"RefMean", ReduceTypes, PrepareMean, CheckMean};

} // namespace tenon::ref
