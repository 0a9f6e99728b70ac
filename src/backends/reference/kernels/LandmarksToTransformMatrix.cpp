// SPDX-License-Identifier: Apache-2.0
// LandmarksToTransformMatrix: the matrix that maps an image's pixels to a rotated box around some landmarks, as
// MediaPipe's Landmarks2TransformMatrix of version 2. It is computed in float32, as there.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow LandmarksToTransformMatrixTypes[] = {backends::SameType({DataType::Float32})};

struct Point
{
    float m_X;
    float m_Y;
};

class Rotation
{
public:
    explicit Rotation(float radians) : m_Cos(std::cos(radians)), m_Sin(std::sin(radians)) {}

    Point Rotate(Point p) const { return {m_Cos * p.m_X - m_Sin * p.m_Y, m_Sin * p.m_X + m_Cos * p.m_Y}; }
    float Cos() const { return m_Cos; }
    float Sin() const { return m_Sin; }

private:
    float m_Cos;
    float m_Sin;
};

Point ReadLandmark(const float* landmarks, uint32_t index)
{
    return {landmarks[size_t{index} * 3], landmarks[size_t{index} * 3 + 1]};
}

/// The smallest box around rotated landmarks.
struct Box
{
    Point m_Min;
    Point m_Max;

    Box(const float* landmarks, const std::vector<uint32_t>& subset, const Rotation& rotation)
        : m_Min(rotation.Rotate(ReadLandmark(landmarks, subset.front()))), m_Max(m_Min)
    {
        for (const uint32_t index : subset)
        {
            const Point p = rotation.Rotate(ReadLandmark(landmarks, index));
            m_Min = {std::min(m_Min.m_X, p.m_X), std::min(m_Min.m_Y, p.m_Y)};
            m_Max = {std::max(m_Max.m_X, p.m_X), std::max(m_Max.m_Y, p.m_Y)};
        }
    }
    Point GetCenter() const { return {(m_Min.m_X + m_Max.m_X) / 2, (m_Min.m_Y + m_Max.m_Y) / 2}; }
};

/// Shifts the image's center to 0, scales it to the box, rotates it, and shifts it to the box's center.
void MakeMatrix(const LandmarksToTransformMatrixDescriptor& d, const float* landmarks, float* matrix)
{
    const Point left = ReadLandmark(landmarks, d.m_LeftRotationIndex);
    const Point right = ReadLandmark(landmarks, d.m_RightRotationIndex);
    const float radians = d.m_TargetRotation - std::atan2(right.m_Y - left.m_Y, right.m_X - left.m_X);
    const Box box(landmarks, d.m_Subset, Rotation(radians));
    const Rotation back(-radians);
    const Point center = back.Rotate(box.GetCenter());
    const auto width = static_cast<float>(d.m_OutputWidth);
    const auto height = static_cast<float>(d.m_OutputHeight);
    const float scaleX = d.m_ScaleX * (box.m_Max.m_X - box.m_Min.m_X) / width;
    const float scaleY = d.m_ScaleY * (box.m_Max.m_Y - box.m_Min.m_Y) / height;
    const float xOfX = back.Cos() * scaleX;
    const float xOfY = -back.Sin() * scaleY;
    const float yOfX = back.Sin() * scaleX;
    const float yOfY = back.Cos() * scaleY;
    const float rows[16] = {xOfX, xOfY, 0, xOfX * (-width / 2) + xOfY * (-height / 2) + center.m_X,
                            yOfX, yOfY, 0, yOfX * (-width / 2) + yOfY * (-height / 2) + center.m_Y,
                            0,    0,    1, 0,
                            0,    0,    0, 1};
    std::copy(std::begin(rows), std::end(rows), matrix);
}

backends::Prepared PrepareLandmarksToTransformMatrix(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<LandmarksToTransformMatrixDescriptor>();
    const TensorShape& landmarks = args.GetInput(0).GetShape();
    const auto isThere = [&](uint32_t index) { return index < landmarks[1]; };
    const bool fits = landmarks.GetNumDimensions() == 3 && landmarks[0] == 1 && landmarks[2] == 3 &&
                      isThere(descriptor.m_LeftRotationIndex) && isThere(descriptor.m_RightRotationIndex) &&
                      !descriptor.m_Subset.empty() &&
                      std::all_of(descriptor.m_Subset.begin(), descriptor.m_Subset.end(), isThere);
    if (!fits)
    {
        throw LayerValidationException("LandmarksToTransformMatrix of " + landmarks.ToString() +
                                       ": it must be [1, n, 3], with all landmarks that the descriptor names");
    }
    RequireElements(args.GetOutput(0), "output 0", 16);
    return [descriptor](const ExecuteArgs& run)
    { MakeMatrix(descriptor, run.GetInput<float>(0), run.GetOutput<float>(0)); };
}

} // namespace

extern const backends::Kernel RefLandmarksToTransformMatrixKernel = {
    "RefLandmarksToTransformMatrix", LandmarksToTransformMatrixTypes, PrepareLandmarksToTransformMatrix};

} // namespace tenon::ref
