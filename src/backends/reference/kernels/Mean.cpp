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
    const auto& descriptor = args.GetDescriptor<MeanDescriptor>();
    return PrepareReduce(args, ReduceOperation::Mean, descriptor.m_Axis, descriptor.m_Requantization);
}

} // namespace

extern const backends::Kernel RefMeanKernel = {.m_Name = "RefMean",
                                               .m_Types = ReduceTypes,
                                               .m_Prepare = PrepareMean,
                                               .m_Check = CheckMean,
                                               .m_RoundsHalfToEven = true};

} // namespace tenon::ref
