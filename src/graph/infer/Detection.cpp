// SPDX-License-Identifier: Apache-2.0
// Shape inference of DetectionPostProcess.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Vision.hpp>

namespace tenon::infer
{

void InferDetectionPostProcess(InferContext& context)
{
    const auto& descriptor = context.Descriptor<DetectionPostProcessDescriptor>();
    CheckRank(context, 0, 3);
    CheckRank(context, 1, 3);
    CheckRank(context, 2, 2);
    const TensorShape& boxes = context.InputShape(0);
    const TensorShape& scores = context.InputShape(1);
    const TensorShape& anchors = context.InputShape(2);
    context.Check(boxes[0] == 1 && boxes[2] >= 4, "input 0, the boxes, has shape {}, but it must be [1, boxes, 4]",
                  boxes);
    // One more class than there are is the background.
    context.Check(scores[0] == 1 && scores[1] == boxes[1] && descriptor.m_NumClasses > 0 &&
                      (scores[2] == descriptor.m_NumClasses || scores[2] == uint64_t{descriptor.m_NumClasses} + 1),
                  "input 1, the scores, has shape {}, but it must be [1, {}, {}], or one more for the background",
                  scores, boxes[1], descriptor.m_NumClasses);
    context.Check(anchors[0] == boxes[1] && anchors[1] == 4,
                  "input 2, the anchors, has shape {}, but it must be [{}, 4]", anchors, boxes[1]);
    const unsigned int detections =
        ToSize(context, Multiply(context, descriptor.m_MaxDetections, descriptor.m_MaxClassesPerDetection));
    context.SetOutputShape(0, TensorShape({1, detections, 4}));
    context.SetOutputShape(1, TensorShape({1, detections}));
    context.SetOutputShape(2, TensorShape({1, detections}));
    context.SetOutputShape(3, TensorShape({1}));
}

} // namespace tenon::infer
