// SPDX-License-Identifier: Apache-2.0
// The parameters of layers on images and on the boxes of objects in them.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>

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

} // namespace tenon
