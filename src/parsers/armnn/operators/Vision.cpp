// SPDX-License-Identifier: Apache-2.0
// Rows of Resize and DetectionPostProcess.
#include "parsers/armnn/operators/Rows.hpp"

namespace tenon::arm_nn
{

namespace
{

ResizeDescriptor ReadResize(const LayerView& op)
{
    ResizeDescriptor descriptor;
    descriptor.m_TargetWidth = op.Number("targetWidth");
    descriptor.m_TargetHeight = op.Number("targetHeight");
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NHWC);
    descriptor.m_AlignCorners = op.Bool("alignCorners", false);
    descriptor.m_HalfPixelCenters = op.Bool("halfPixelCenters", false);
    return descriptor;
}

IConnectableLayer* AddResize(const LayerView& op, NetworkBuilder& network)
{
    ResizeDescriptor descriptor = ReadResize(op);
    descriptor.m_Method = op.Enumerator("method", ResizeMethod::NearestNeighbor);
    return network->AddResizeLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddResizeBilinear(const LayerView& op, NetworkBuilder& network)
{
    ResizeDescriptor descriptor = ReadResize(op);
    descriptor.m_Method = ResizeMethod::Bilinear;
    return network->AddResizeLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddDetectionPostProcess(const LayerView& op, NetworkBuilder& network)
{
    DetectionPostProcessDescriptor descriptor;
    descriptor.m_MaxDetections = op.Number("maxDetections");
    descriptor.m_MaxClassesPerDetection = op.Number("maxClassesPerDetection");
    descriptor.m_DetectionsPerClass = op.Number("detectionsPerClass");
    descriptor.m_NmsScoreThreshold = op.Float("nmsScoreThreshold", 0.0f);
    descriptor.m_NmsIouThreshold = op.Float("nmsIouThreshold", 0.0f);
    descriptor.m_NumClasses = op.Number("numClasses");
    descriptor.m_UseRegularNms = op.Bool("useRegularNms", false);
    descriptor.m_ScaleX = op.Float("scaleX", 0.0f);
    descriptor.m_ScaleY = op.Float("scaleY", 0.0f);
    descriptor.m_ScaleW = op.Float("scaleW", 0.0f);
    descriptor.m_ScaleH = op.Float("scaleH", 0.0f);
    return network->AddDetectionPostProcessLayer(descriptor, network.Keep(op.Constant("anchors")), op.LayerName());
}

constexpr LayerRow VisionRows[] = {
    {"DetectionPostProcess", AddDetectionPostProcess},
    {"Resize", AddResize},
    {"ResizeBilinear", AddResizeBilinear},
};

} // namespace

Span<const LayerRow> GetVisionRows()
{
    return {VisionRows, std::size(VisionRows)};
}

} // namespace tenon::arm_nn
