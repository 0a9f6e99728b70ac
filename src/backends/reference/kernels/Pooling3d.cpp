// SPDX-License-Identifier: Apache-2.0
// Pooling3d: pools over windows of NDHWC data; the work is done in Pooling.cpp.
#include "backends/reference/kernels/Pooling.hpp"

#include <tenon/descriptors/Pooling.hpp>

namespace tenon::ref
{

namespace
{

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<Pooling3dDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NDHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NDHWC; the optimizer turns NCDHW layers into NDHWC ones");
    }
    return CheckPooling(layer, descriptor.m_PoolType);
}

} // namespace

extern const backends::Kernel RefPooling3dKernel = {"RefPooling3d", PoolingTypes, PreparePooling3d, Check};

} // namespace tenon::ref
