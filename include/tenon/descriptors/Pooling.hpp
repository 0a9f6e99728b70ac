// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that reduce windows which slide over their input.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <vector>

namespace tenon
{

/// Pooling2d: max, average or L2 over windows of pixels.
struct Pooling2dDescriptor : detail::Described<Pooling2dDescriptor>
{
    PoolingAlgorithm m_PoolType = PoolingAlgorithm::Max;
    uint32_t m_PadLeft = 0;
    uint32_t m_PadRight = 0;
    uint32_t m_PadTop = 0;
    uint32_t m_PadBottom = 0;
    uint32_t m_PoolWidth = 0;
    uint32_t m_PoolHeight = 0;
    uint32_t m_StrideX = 0;
    uint32_t m_StrideY = 0;
    OutputShapeRounding m_OutputShapeRounding = OutputShapeRounding::Floor;
    PaddingMethod m_PaddingMethod = PaddingMethod::Exclude;
    DataLayout m_DataLayout = DataLayout::NCHW;
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

    template <typename V>
    static void Visit(V&& v)
    {
        v("PoolType", &Pooling2dDescriptor::m_PoolType);
        v("PadLeft", &Pooling2dDescriptor::m_PadLeft);
        v("PadRight", &Pooling2dDescriptor::m_PadRight);
        v("PadTop", &Pooling2dDescriptor::m_PadTop);
        v("PadBottom", &Pooling2dDescriptor::m_PadBottom);
        v("PoolWidth", &Pooling2dDescriptor::m_PoolWidth);
        v("PoolHeight", &Pooling2dDescriptor::m_PoolHeight);
        v("StrideX", &Pooling2dDescriptor::m_StrideX);
        v("StrideY", &Pooling2dDescriptor::m_StrideY);
        v("OutputShapeRounding", &Pooling2dDescriptor::m_OutputShapeRounding);
        v("PaddingMethod", &Pooling2dDescriptor::m_PaddingMethod);
        v("DataLayout", &Pooling2dDescriptor::m_DataLayout);
        v("PaddingScheme", &Pooling2dDescriptor::m_PaddingScheme);
        v("Requantization", &Pooling2dDescriptor::m_Requantization);
    }
};

/// Pooling3d: the same over three dimensions.
struct Pooling3dDescriptor : detail::Described<Pooling3dDescriptor>
{
    PoolingAlgorithm m_PoolType = PoolingAlgorithm::Max;
    uint32_t m_PadLeft = 0;
    uint32_t m_PadRight = 0;
    uint32_t m_PadTop = 0;
    uint32_t m_PadBottom = 0;
    uint32_t m_PadFront = 0;
    uint32_t m_PadBack = 0;
    uint32_t m_PoolWidth = 0;
    uint32_t m_PoolHeight = 0;
    uint32_t m_PoolDepth = 0;
    uint32_t m_StrideX = 0;
    uint32_t m_StrideY = 0;
    uint32_t m_StrideZ = 0;
    OutputShapeRounding m_OutputShapeRounding = OutputShapeRounding::Floor;
    PaddingMethod m_PaddingMethod = PaddingMethod::Exclude;
    DataLayout m_DataLayout = DataLayout::NCDHW;
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;

    template <typename V>
    static void Visit(V&& v)
    {
        v("PoolType", &Pooling3dDescriptor::m_PoolType);
        v("PadLeft", &Pooling3dDescriptor::m_PadLeft);
        v("PadRight", &Pooling3dDescriptor::m_PadRight);
        v("PadTop", &Pooling3dDescriptor::m_PadTop);
        v("PadBottom", &Pooling3dDescriptor::m_PadBottom);
        v("PadFront", &Pooling3dDescriptor::m_PadFront);
        v("PadBack", &Pooling3dDescriptor::m_PadBack);
        v("PoolWidth", &Pooling3dDescriptor::m_PoolWidth);
        v("PoolHeight", &Pooling3dDescriptor::m_PoolHeight);
        v("PoolDepth", &Pooling3dDescriptor::m_PoolDepth);
        v("StrideX", &Pooling3dDescriptor::m_StrideX);
        v("StrideY", &Pooling3dDescriptor::m_StrideY);
        v("StrideZ", &Pooling3dDescriptor::m_StrideZ);
        v("OutputShapeRounding", &Pooling3dDescriptor::m_OutputShapeRounding);
        v("PaddingMethod", &Pooling3dDescriptor::m_PaddingMethod);
        v("DataLayout", &Pooling3dDescriptor::m_DataLayout);
        v("PaddingScheme", &Pooling3dDescriptor::m_PaddingScheme);
    }
};

/// ReduceWindow (Tenon): reduces windows that slide over input 0 in every dimension, each starting from input 1 (one
/// element); windows lie inside the input. Tensors with a scale are taken as the integers that are stored; integers
/// wrap. With m_ParametersAsInputs inputs 2, 3 and 4 hold window sizes, strides and dilations.
struct ReduceWindowDescriptor : detail::Described<ReduceWindowDescriptor>
{
    ReduceWindowFunction m_Function = ReduceWindowFunction::Add;
    std::vector<uint32_t> m_WindowSizes; ///< one a dimension, at least 1; strides and dilations likewise
    std::vector<uint32_t> m_Strides;
    std::vector<uint32_t> m_Dilations;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 5 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ReduceWindowDescriptor::m_Function);
        v("WindowSizes", &ReduceWindowDescriptor::m_WindowSizes);
        v("Strides", &ReduceWindowDescriptor::m_Strides);
        v("Dilations", &ReduceWindowDescriptor::m_Dilations);
        v("ParametersAsInputs", &ReduceWindowDescriptor::m_ParametersAsInputs);
    }
};

/// PoolingNd (Tenon): ONNX's pools, [N, C, spatial...]. Lists have one value a spatial dimension.
struct PoolingNdDescriptor : detail::Described<PoolingNdDescriptor>
{
    PoolingNdFunction m_Function = PoolingNdFunction::Max;
    std::vector<uint32_t> m_PoolSizes;
    std::vector<uint32_t> m_Strides;    ///< empty: 1
    std::vector<uint32_t> m_Dilations;  ///< empty: 1
    std::vector<uint32_t> m_PadsBefore; ///< empty: 0
    std::vector<uint32_t> m_PadsAfter;  ///< empty: 0
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;
    bool m_OddPadBefore = false; ///< with PaddingScheme::Same: the odd element goes to the start
    /// Ceiling adds a window that hangs over the end, if it does not start in the padding there.
    OutputShapeRounding m_OutputShapeRounding = OutputShapeRounding::Floor;
    PaddingMethod m_PaddingMethod = PaddingMethod::Exclude; ///< of Average; an overhang never counts
    uint32_t m_P = 2;                                       ///< of Lp, at least 1
    bool m_IndicesEnabled = false;     ///< of Max: output 1 holds where each element stands in input 0
    bool m_IndicesColumnMajor = false; ///< these count spatial dimensions with the first one running fastest

    uint32_t GetNumOutputs() const { return m_IndicesEnabled ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &PoolingNdDescriptor::m_Function);
        v("PoolSizes", &PoolingNdDescriptor::m_PoolSizes);
        v("Strides", &PoolingNdDescriptor::m_Strides);
        v("Dilations", &PoolingNdDescriptor::m_Dilations);
        v("PadsBefore", &PoolingNdDescriptor::m_PadsBefore);
        v("PadsAfter", &PoolingNdDescriptor::m_PadsAfter);
        v("PaddingScheme", &PoolingNdDescriptor::m_PaddingScheme);
        v("OddPadBefore", &PoolingNdDescriptor::m_OddPadBefore);
        v("OutputShapeRounding", &PoolingNdDescriptor::m_OutputShapeRounding);
        v("PaddingMethod", &PoolingNdDescriptor::m_PaddingMethod);
        v("P", &PoolingNdDescriptor::m_P);
        v("IndicesEnabled", &PoolingNdDescriptor::m_IndicesEnabled);
        v("IndicesColumnMajor", &PoolingNdDescriptor::m_IndicesColumnMajor);
    }
};

/// MaxPool2dWithIndices (Tenon): MediaPipe's MaxPoolingWithArgmax2D.
struct MaxPool2dWithIndicesDescriptor : detail::Described<MaxPool2dWithIndicesDescriptor>
{
    uint32_t m_PoolWidth = 1;
    uint32_t m_PoolHeight = 1;
    uint32_t m_StrideX = 1;
    uint32_t m_StrideY = 1;
    PaddingScheme m_PaddingScheme = PaddingScheme::Valid; ///< or Same

    template <typename V>
    static void Visit(V&& v)
    {
        v("PoolWidth", &MaxPool2dWithIndicesDescriptor::m_PoolWidth);
        v("PoolHeight", &MaxPool2dWithIndicesDescriptor::m_PoolHeight);
        v("StrideX", &MaxPool2dWithIndicesDescriptor::m_StrideX);
        v("StrideY", &MaxPool2dWithIndicesDescriptor::m_StrideY);
        v("PaddingScheme", &MaxPool2dWithIndicesDescriptor::m_PaddingScheme);
    }
};

/// MaxUnpool2d (Tenon): MediaPipe's MaxUnpooling2D. Where windows by the strides reach beyond the output, half of that
/// is padding in front of it.
struct MaxUnpool2dDescriptor : detail::Described<MaxUnpool2dDescriptor>
{
    uint32_t m_PoolWidth = 1;
    uint32_t m_PoolHeight = 1;
    uint32_t m_StrideX = 1;
    uint32_t m_StrideY = 1;

    template <typename V>
    static void Visit(V&& v)
    {
        v("PoolWidth", &MaxUnpool2dDescriptor::m_PoolWidth);
        v("PoolHeight", &MaxUnpool2dDescriptor::m_PoolHeight);
        v("StrideX", &MaxUnpool2dDescriptor::m_StrideX);
        v("StrideY", &MaxUnpool2dDescriptor::m_StrideY);
    }
};

/// MaxUnpool (Tenon): ONNX's operator, [N, C, spatial...]. Lists have one value a spatial dimension, m_OutputShape one
/// for each dimension. With m_ParametersAsInputs input 2 holds the output's shape.
struct MaxUnpoolDescriptor : detail::Described<MaxUnpoolDescriptor>
{
    std::vector<uint32_t> m_PoolSizes;
    std::vector<uint32_t> m_Strides;     ///< empty: 1
    std::vector<uint32_t> m_PadsBefore;  ///< empty: 0
    std::vector<uint32_t> m_PadsAfter;   ///< empty: 0
    std::vector<uint32_t> m_OutputShape; ///< empty: (input - 1) * stride + pool size - pads
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PoolSizes", &MaxUnpoolDescriptor::m_PoolSizes);
        v("Strides", &MaxUnpoolDescriptor::m_Strides);
        v("PadsBefore", &MaxUnpoolDescriptor::m_PadsBefore);
        v("PadsAfter", &MaxUnpoolDescriptor::m_PadsAfter);
        v("OutputShape", &MaxUnpoolDescriptor::m_OutputShape);
        v("ParametersAsInputs", &MaxUnpoolDescriptor::m_ParametersAsInputs);
    }
};

} // namespace tenon
