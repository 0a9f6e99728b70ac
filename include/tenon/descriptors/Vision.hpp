// SPDX-License-Identifier: Apache-2.0
// The parameters of layers on images and on the boxes of objects in them.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <vector>

namespace tenon
{

/// Resize. With m_ParametersAsInputs input 1 holds {height, width}.
struct ResizeDescriptor : detail::Described<ResizeDescriptor>
{
    uint32_t m_TargetWidth = 0;
    uint32_t m_TargetHeight = 0;
    ResizeMethod m_Method = ResizeMethod::NearestNeighbor;
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_AlignCorners = false;
    bool m_HalfPixelCenters = false;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("TargetWidth", &ResizeDescriptor::m_TargetWidth);
        v("TargetHeight", &ResizeDescriptor::m_TargetHeight);
        v("Method", &ResizeDescriptor::m_Method);
        v("DataLayout", &ResizeDescriptor::m_DataLayout);
        v("AlignCorners", &ResizeDescriptor::m_AlignCorners);
        v("HalfPixelCenters", &ResizeDescriptor::m_HalfPixelCenters);
        v("ParametersAsInputs", &ResizeDescriptor::m_ParametersAsInputs);
    }
};

/// DetectionPostProcess: decodes boxes and suppresses overlaps (TFLite_Detection_PostProcess).
/// Inputs: box encodings [1, N, 4 or more], scores [1, N, C], anchors [N, 4]; C may count a background class in front.
/// Outputs: boxes [1, D, 4] as ymin, xmin, ymax, xmax, classes [1, D], scores [1, D], and how many there are [1];
/// D = m_MaxDetections * m_MaxClassesPerDetection. Elements after the last detection are zero.
struct DetectionPostProcessDescriptor : detail::Described<DetectionPostProcessDescriptor>
{
    uint32_t m_MaxDetections = 0;
    uint32_t m_MaxClassesPerDetection = 1;
    uint32_t m_DetectionsPerClass = 1;
    float m_NmsScoreThreshold = 0;
    float m_NmsIouThreshold = 0;
    uint32_t m_NumClasses = 0;
    bool m_UseRegularNms = false;
    float m_ScaleX = 0;
    float m_ScaleY = 0;
    float m_ScaleW = 0;
    float m_ScaleH = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("MaxDetections", &DetectionPostProcessDescriptor::m_MaxDetections);
        v("MaxClassesPerDetection", &DetectionPostProcessDescriptor::m_MaxClassesPerDetection);
        v("DetectionsPerClass", &DetectionPostProcessDescriptor::m_DetectionsPerClass);
        v("NmsScoreThreshold", &DetectionPostProcessDescriptor::m_NmsScoreThreshold);
        v("NmsIouThreshold", &DetectionPostProcessDescriptor::m_NmsIouThreshold);
        v("NumClasses", &DetectionPostProcessDescriptor::m_NumClasses);
        v("UseRegularNms", &DetectionPostProcessDescriptor::m_UseRegularNms);
        v("ScaleX", &DetectionPostProcessDescriptor::m_ScaleX);
        v("ScaleY", &DetectionPostProcessDescriptor::m_ScaleY);
        v("ScaleW", &DetectionPostProcessDescriptor::m_ScaleW);
        v("ScaleH", &DetectionPostProcessDescriptor::m_ScaleH);
    }
};

/// NonMaxSuppression (Tenon).
struct NonMaxSuppressionDescriptor : detail::Described<NonMaxSuppressionDescriptor>
{
    bool m_Soft = false; ///< input 5 is the sigma of soft suppression, and output 1 holds the scores

    uint32_t GetNumInputs() const { return m_Soft ? 6 : 5; }
    uint32_t GetNumOutputs() const { return m_Soft ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Soft", &NonMaxSuppressionDescriptor::m_Soft);
    }
};

/// Interpolate (Tenon): ONNX's Resize. Where m_Axes is empty, all dimensions are resized, and each list has one value a
/// dimension; else each has one for each axis. Sizes are those of the output, and scales are taken as they are given.
/// Where m_Sizes is empty, a size is floor(input size * scale); where m_Scales is, a scale is size / input size.
/// With m_ParametersAsInputs input 1 holds the sizes, if it is of integers, or the scales, if it is Float32; it takes
/// the place of both lists. With m_RegionAsInput input 2 holds the starts of the region, then its ends, Float32.
struct InterpolateDescriptor : detail::Described<InterpolateDescriptor>
{
    std::vector<uint32_t> m_Axes;
    std::vector<uint32_t> m_Sizes;
    std::vector<float> m_Scales;
    InterpolationMode m_Mode = InterpolationMode::Nearest;
    InterpolationCoordinates m_Coordinates = InterpolationCoordinates::HalfPixel;
    NearestRounding m_Rounding = NearestRounding::PreferFloor; ///< of Nearest
    float m_CubicCoefficient = -0.75f;                         ///< of Cubic
    /// Elements outside of the input have weight 0, and the sum of the others becomes 1; else the border is repeated.
    bool m_ExcludeOutside = false;
    bool m_Antialias = false; ///< Linear and Cubic: a filter that shrinks a dimension is as wide as its step
    AspectRatioPolicy m_AspectRatioPolicy = AspectRatioPolicy::Stretch; ///< of sizes
    float m_ExtrapolationValue = 0;    ///< TfCropAndResize: real value of elements outside of the input
    std::vector<float> m_RegionStarts; ///< TfCropAndResize: 0 is the first element, 1 the last; empty: 0
    std::vector<float> m_RegionEnds;   ///< likewise; empty: 1
    bool m_ParametersAsInputs = false;
    bool m_RegionAsInput = false;

    uint32_t GetNumInputs() const { return m_RegionAsInput ? 3 : (m_ParametersAsInputs ? 2 : 1); }
    bool NeedsInput(uint32_t i) const
    {
        return i == 0 || (i == 1 && m_ParametersAsInputs) || (i == 2 && m_RegionAsInput);
    }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axes", &InterpolateDescriptor::m_Axes);
        v("Sizes", &InterpolateDescriptor::m_Sizes);
        v("Scales", &InterpolateDescriptor::m_Scales);
        v("Mode", &InterpolateDescriptor::m_Mode);
        v("Coordinates", &InterpolateDescriptor::m_Coordinates);
        v("Rounding", &InterpolateDescriptor::m_Rounding);
        v("CubicCoefficient", &InterpolateDescriptor::m_CubicCoefficient);
        v("ExcludeOutside", &InterpolateDescriptor::m_ExcludeOutside);
        v("Antialias", &InterpolateDescriptor::m_Antialias);
        v("AspectRatioPolicy", &InterpolateDescriptor::m_AspectRatioPolicy);
        v("ExtrapolationValue", &InterpolateDescriptor::m_ExtrapolationValue);
        v("RegionStarts", &InterpolateDescriptor::m_RegionStarts);
        v("RegionEnds", &InterpolateDescriptor::m_RegionEnds);
        v("ParametersAsInputs", &InterpolateDescriptor::m_ParametersAsInputs);
        v("RegionAsInput", &InterpolateDescriptor::m_RegionAsInput);
    }
};

/// GridSample (Tenon): ONNX's operator, and grid_sample of PyTorch; with m_InPixels MediaPipe's Resampler.
struct GridSampleDescriptor : detail::Described<GridSampleDescriptor>
{
    /// Nearest rounds halves to even; Cubic has the coefficient -0.75.
    InterpolationMode m_Mode = InterpolationMode::Linear;
    GridPadding m_Padding = GridPadding::Zeros;
    bool m_AlignCorners = false; ///< -1 and 1 are the centers of the first and last element, else their outer edges
    bool m_InPixels = false;     ///< coordinates are indices of elements, whatever m_AlignCorners says

    template <typename V>
    static void Visit(V&& v)
    {
        v("Mode", &GridSampleDescriptor::m_Mode);
        v("Padding", &GridSampleDescriptor::m_Padding);
        v("AlignCorners", &GridSampleDescriptor::m_AlignCorners);
        v("InPixels", &GridSampleDescriptor::m_InPixels);
    }
};

/// RoiAlign (Tenon): ONNX's operator.
struct RoiAlignDescriptor : detail::Described<RoiAlignDescriptor>
{
    PoolingAlgorithm m_PoolType = PoolingAlgorithm::Average; ///< Average or Max
    uint32_t m_OutputHeight = 1;
    uint32_t m_OutputWidth = 1;
    uint32_t m_SamplingRatio = 0; ///< points of a cell along a dimension; 0: its size in elements, rounded up
    float m_SpatialScale = 1;     ///< elements of input 0 for 1 in the coordinates of regions
    /// Coordinate 0 is the outer edge of the first element; else it is its center, and no region is smaller than 1.
    bool m_HalfPixel = true;

    template <typename V>
    static void Visit(V&& v)
    {
        v("PoolType", &RoiAlignDescriptor::m_PoolType);
        v("OutputHeight", &RoiAlignDescriptor::m_OutputHeight);
        v("OutputWidth", &RoiAlignDescriptor::m_OutputWidth);
        v("SamplingRatio", &RoiAlignDescriptor::m_SamplingRatio);
        v("SpatialScale", &RoiAlignDescriptor::m_SpatialScale);
        v("HalfPixel", &RoiAlignDescriptor::m_HalfPixel);
    }
};

/// LandmarksToTransformMatrix (Tenon): MediaPipe's Landmarks2TransformMatrix of version 2. Landmarks are rotated so
/// that the line between two of them has a wanted angle; the matrix maps an image to the box around some of them,
/// scaled about its center.
struct LandmarksToTransformMatrixDescriptor : detail::Described<LandmarksToTransformMatrixDescriptor>
{
    std::vector<uint32_t> m_Subset;   ///< indices of the landmarks in the box, one or more
    uint32_t m_LeftRotationIndex = 0; ///< the landmark where the line begins
    uint32_t m_RightRotationIndex = 0;
    float m_TargetRotation = 0;  ///< the angle of the line, in radians
    uint32_t m_OutputHeight = 1; ///< of the image, in pixels
    uint32_t m_OutputWidth = 1;
    float m_ScaleX = 1; ///< the sizes of the box are multiplied by this
    float m_ScaleY = 1;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Subset", &LandmarksToTransformMatrixDescriptor::m_Subset);
        v("LeftRotationIndex", &LandmarksToTransformMatrixDescriptor::m_LeftRotationIndex);
        v("RightRotationIndex", &LandmarksToTransformMatrixDescriptor::m_RightRotationIndex);
        v("TargetRotation", &LandmarksToTransformMatrixDescriptor::m_TargetRotation);
        v("OutputHeight", &LandmarksToTransformMatrixDescriptor::m_OutputHeight);
        v("OutputWidth", &LandmarksToTransformMatrixDescriptor::m_OutputWidth);
        v("ScaleX", &LandmarksToTransformMatrixDescriptor::m_ScaleX);
        v("ScaleY", &LandmarksToTransformMatrixDescriptor::m_ScaleY);
    }
};

/// TransformTensorBilinear (Tenon): MediaPipe's operator of version 2.
struct TransformTensorBilinearDescriptor : detail::Described<TransformTensorBilinearDescriptor>
{
    uint32_t m_OutputHeight = 1;
    uint32_t m_OutputWidth = 1;

    template <typename V>
    static void Visit(V&& v)
    {
        v("OutputHeight", &TransformTensorBilinearDescriptor::m_OutputHeight);
        v("OutputWidth", &TransformTensorBilinearDescriptor::m_OutputWidth);
    }
};

/// MulticlassNonMaxSuppression (Tenon): ONNX's NonMaxSuppression.
struct MulticlassNonMaxSuppressionDescriptor : detail::Described<MulticlassNonMaxSuppressionDescriptor>
{
    bool m_CenterPointBox = false; ///< boxes are center x, center y, width, height, else corners y, x, y, x

    template <typename V>
    static void Visit(V&& v)
    {
        v("CenterPointBox", &MulticlassNonMaxSuppressionDescriptor::m_CenterPointBox);
    }
};

} // namespace tenon
