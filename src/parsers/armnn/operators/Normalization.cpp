// SPDX-License-Identifier: Apache-2.0
// Rows of normalizations and softmax.
#include "parsers/armnn/operators/Rows.hpp"

namespace tenon::arm_nn
{

namespace
{

IConnectableLayer* AddBatchNormalization(const LayerView& op, NetworkBuilder& network)
{
    BatchNormalizationDescriptor descriptor;
    descriptor.m_Eps = op.Float("eps", 0.0f);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NHWC);
    return network->AddBatchNormalizationLayer(descriptor, network.Keep(op.Constant("mean")),
                                               network.Keep(op.Constant("variance")), network.Keep(op.Constant("beta")),
                                               network.Keep(op.Constant("gamma")), op.LayerName());
}

IConnectableLayer* AddInstanceNormalization(const LayerView& op, NetworkBuilder& network)
{
    InstanceNormalizationDescriptor descriptor;
    descriptor.m_Gamma = op.Float("gamma", 0.0f);
    descriptor.m_Beta = op.Float("beta", 0.0f);
    descriptor.m_Eps = op.Float("eps", 0.0f);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NHWC);
    return network->AddInstanceNormalizationLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddL2Normalization(const LayerView& op, NetworkBuilder& network)
{
    L2NormalizationDescriptor descriptor;
    descriptor.m_Eps = op.Float("eps", 1e-12f);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NCHW);
    return network->AddL2NormalizationLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddNormalization(const LayerView& op, NetworkBuilder& network)
{
    NormalizationDescriptor descriptor;
    descriptor.m_NormChannelType = op.Enumerator("normChannelType", NormalizationAlgorithmChannel::Across);
    descriptor.m_NormMethodType = op.Enumerator("normMethodType", NormalizationAlgorithmMethod::LocalBrightness);
    descriptor.m_NormSize = op.Number("normSize");
    descriptor.m_Alpha = op.Float("alpha", 0.0f);
    descriptor.m_Beta = op.Float("beta", 0.0f);
    descriptor.m_K = op.Float("k", 0.0f);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NCHW);
    return network->AddNormalizationLayer(descriptor, op.LayerName());
}

SoftmaxDescriptor ReadSoftmax(const LayerView& op, float beta)
{
    SoftmaxDescriptor descriptor;
    descriptor.m_Beta = op.Float("beta", beta);
    descriptor.m_Axis = op.Int("axis", -1);
    return descriptor;
}

IConnectableLayer* AddSoftmax(const LayerView& op, NetworkBuilder& network)
{
    return network->AddSoftmaxLayer(ReadSoftmax(op, 0.0f), op.LayerName());
}

IConnectableLayer* AddLogSoftmax(const LayerView& op, NetworkBuilder& network)
{
    return network->AddLogSoftmaxLayer(ReadSoftmax(op, 1.0f), op.LayerName());
}

constexpr LayerRow NormalizationRows[] = {
    {"BatchNormalization", AddBatchNormalization}, {"InstanceNormalization", AddInstanceNormalization},
    {"L2Normalization", AddL2Normalization},       {"LogSoftmax", AddLogSoftmax},
    {"Normalization", AddNormalization},           {"Softmax", AddSoftmax},
};

} // namespace

Span<const LayerRow> GetNormalizationRows()
{
    return {NormalizationRows, std::size(NormalizationRows)};
}

} // namespace tenon::arm_nn
