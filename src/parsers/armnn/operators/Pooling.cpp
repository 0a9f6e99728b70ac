// SPDX-License-Identifier: Apache-2.0
// Rows of pools.
#include "parsers/armnn/operators/Rows.hpp"

namespace tenon::arm_nn
{

namespace
{

template <typename Descriptor>
Descriptor ReadPool(const LayerView& op)
{
    Descriptor descriptor;
    descriptor.m_PoolType = op.Enumerator("poolType", PoolingAlgorithm::Max);
    descriptor.m_PadLeft = op.Number("padLeft");
    descriptor.m_PadRight = op.Number("padRight");
    descriptor.m_PadTop = op.Number("padTop");
    descriptor.m_PadBottom = op.Number("padBottom");
    descriptor.m_PoolWidth = op.Number("poolWidth");
    descriptor.m_PoolHeight = op.Number("poolHeight");
    descriptor.m_StrideX = op.Number("strideX");
    descriptor.m_StrideY = op.Number("strideY");
    descriptor.m_OutputShapeRounding = op.Enumerator("outputShapeRounding", OutputShapeRounding::Floor);
    descriptor.m_PaddingMethod = op.Enumerator("paddingMethod", PaddingMethod::IgnoreValue);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NHWC);
    return descriptor;
}

IConnectableLayer* AddPooling2d(const LayerView& op, NetworkBuilder& network)
{
    return network->AddPooling2dLayer(ReadPool<Pooling2dDescriptor>(op), op.LayerName());
}

IConnectableLayer* AddPooling3d(const LayerView& op, NetworkBuilder& network)
{
    auto descriptor = ReadPool<Pooling3dDescriptor>(op);
    descriptor.m_PadFront = op.Number("padFront");
    descriptor.m_PadBack = op.Number("padBack");
    descriptor.m_PoolDepth = op.Number("poolDepth");
    descriptor.m_StrideZ = op.Number("strideZ");
    return network->AddPooling3dLayer(descriptor, op.LayerName());
}

constexpr LayerRow PoolingRows[] = {
    {"Pooling2d", AddPooling2d},
    {"Pooling3d", AddPooling3d},
};

} // namespace

Span<const LayerRow> GetPoolingRows()
{
    return {PoolingRows, std::size(PoolingRows)};
}

} // namespace tenon::arm_nn
