// SPDX-License-Identifier: Apache-2.0
// Shape inference of MediaPipe's operators on landmarks and on the parts of images around them.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Vision.hpp>

namespace tenon::infer
{

namespace
{

void CheckMatrix(const InferContext& context)
{
    const TensorShape& matrix = context.InputShape(1);
    context.Check(matrix == TensorShape({1, 4, 4}), "input 1, the matrix, has shape {}; it must be [1, 4, 4]", matrix);
}

} // namespace

void InferLandmarksToTransformMatrix(InferContext& context)
{
    const auto& descriptor = context.Descriptor<LandmarksToTransformMatrixDescriptor>();
    const TensorShape& landmarks = context.InputShape(0);
    context.Check(landmarks.GetNumDimensions() == 3 && landmarks[0] == 1 && landmarks[2] == 3,
                  "input 0, the landmarks, has shape {}; it must be [1, n, 3]", landmarks);
    const auto checkIndex = [&](const char* what, uint32_t index)
    {
        context.Check(index < landmarks[1], "{} is landmark {}, but input 0 of shape {} has {}", what, index, landmarks,
                      landmarks[1]);
    };
    checkIndex("the left end of the line", descriptor.m_LeftRotationIndex);
    checkIndex("the right end of the line", descriptor.m_RightRotationIndex);
    context.Check(!descriptor.m_Subset.empty(),
                  "no landmarks are given whose box is wanted; there must be one or more");
    for (const uint32_t index : descriptor.m_Subset)
    {
        checkIndex("a part of the box", index);
    }
    context.Check(descriptor.m_OutputHeight >= 1 && descriptor.m_OutputWidth >= 1,
                  "an image of {} x {} pixels has no scale; height and width must be at least 1",
                  descriptor.m_OutputHeight, descriptor.m_OutputWidth);
    context.SetOutputShape(0, TensorShape({1, 4, 4}));
}

void InferTransformLandmarks(InferContext& context)
{
    const TensorShape& landmarks = context.InputShape(0);
    context.Check(landmarks.GetNumDimensions() == 3 && landmarks[0] == 1 && (landmarks[2] == 2 || landmarks[2] == 3),
                  "input 0, the landmarks, has shape {}; it must be [1, n, 2 or 3]", landmarks);
    CheckMatrix(context);
    context.SetOutputShape(0, landmarks);
}

void InferTransformTensorBilinear(InferContext& context)
{
    const auto& descriptor = context.Descriptor<TransformTensorBilinearDescriptor>();
    const TensorShape& image = context.InputShape(0);
    context.Check(image.GetNumDimensions() == 4 && image[0] == 1, "input 0 has shape {}; it must be [1, H, W, C]",
                  image);
    CheckMatrix(context);
    TensorShape output = image;
    output.SetDimensionSize(1, descriptor.m_OutputHeight);
    output.SetDimensionSize(2, descriptor.m_OutputWidth);
    context.SetOutputShape(0, output);
}

} // namespace tenon::infer
