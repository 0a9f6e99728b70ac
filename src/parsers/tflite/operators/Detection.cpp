// SPDX-License-Identifier: Apache-2.0
// Row of TFLite_Detection_PostProcess.
#include "parsers/tflite/operators/Rows.hpp"

#include <limits>

namespace tenon::tflite
{

namespace
{

/// Of boxes, classes, scores and how many of them there are: they follow from the options alone. Files leave them out
/// as a rule, and TFLite does not look at them.
void DeclareShapes(const DetectionPostProcessDescriptor& descriptor, IConnectableLayer& layer)
{
    const uint64_t product = uint64_t{descriptor.m_MaxDetections} * descriptor.m_MaxClassesPerDetection;
    if (product > std::numeric_limits<unsigned int>::max())
    {
        return; // shape inference refuses it
    }
    const auto detections = static_cast<unsigned int>(product);
    const TensorShape shapes[] = {TensorShape({1, detections, 4}), TensorShape({1, detections}),
                                  TensorShape({1, detections}), TensorShape({1})};
    for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
    {
        IOutputSlot& slot = layer.GetOutputSlot(i);
        TensorInfo info = slot.GetTensorInfo();
        if (slot.IsTensorInfoSet()) // the operator has this output
        {
            info.SetShape(shapes[i]);
            slot.SetTensorInfo(info);
        }
    }
}

void AddDetectionPostProcess(const OperatorView& op, NetworkBuilder& builder)
{
    constexpr int32_t DetectionsPerClass = 100; // unless the options say otherwise
    DetectionPostProcessDescriptor descriptor;
    descriptor.m_MaxDetections = op.Unsigned("max_detections", 0, 0);
    descriptor.m_MaxClassesPerDetection = op.Unsigned("max_classes_per_detection", 0, 1);
    descriptor.m_DetectionsPerClass = op.Unsigned("detections_per_class", DetectionsPerClass, 0);
    descriptor.m_UseRegularNms = op.Bool("use_regular_nms", false);
    descriptor.m_NmsScoreThreshold = op.Float("nms_score_threshold", 0.0f);
    descriptor.m_NmsIouThreshold = op.Float("nms_iou_threshold", 0.0f);
    descriptor.m_NumClasses = op.Unsigned("num_classes", 0, 1);
    descriptor.m_ScaleY = op.Float("y_scale", 0.0f);
    descriptor.m_ScaleX = op.Float("x_scale", 0.0f);
    descriptor.m_ScaleH = op.Float("h_scale", 0.0f);
    descriptor.m_ScaleW = op.Float("w_scale", 0.0f);
    IConnectableLayer* layer = builder.Network().AddDetectionPostProcessLayer(descriptor, op.LayerName().c_str());
    builder.Wire(op, layer, {0, 1, 2});
    DeclareShapes(descriptor, *layer);
}

} // namespace

Span<const OperatorRow> GetDetectionRows()
{
    static constexpr OperatorRow rows[] = {
        {"TFLite_Detection_PostProcess", AddDetectionPostProcess, 3, 3, 4, 4, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
