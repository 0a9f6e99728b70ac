// SPDX-License-Identifier: Apache-2.0
// Pooling2d: pools over windows of NHWC data; the work is done in Pooling.cpp.
#include "backends/reference/kernels/Pooling.hpp"

#include <tenon/descriptors/Pooling.hpp>

namespace tenon::ref
{

namespace
{

SupportResult Check(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<Pooling2dDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NHWC; the optimizer turns NCHW layers into NHWC ones");
    }
    return CheckPooling(layer, descriptor.m_PoolType);
}

} // namespace

extern const backends::Kernel RefPooling2dKernel = {.m_Name = "RefPooling2d",
                                                    .m_Types = PoolingTypes,
                                                    .m_Prepare = PreparePooling2d,
                                                    .m_Check = Check,
                                                    .m_RoundsHalfToEven = true};

} // namespace tenon::ref
