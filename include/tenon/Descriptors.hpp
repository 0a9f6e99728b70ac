// SPDX-License-Identifier: Apache-2.0
// Descriptors: the parameters of each layer type. Names, fields and defaults are Arm NN's; what Tenon adds says so.
//
// m_ParametersAsInputs (Tenon): parameters arrive as tensors at run time. The layer then has the extra inputs that the
// comment of its descriptor names, and the fields they replace are ignored. Integer tensors, Signed32 or Signed64.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/detail/DescriptorBase.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

/// Activation: out = f(in).
struct ActivationDescriptor : detail::Described<ActivationDescriptor>
{
    ActivationDescriptor() = default;
    explicit ActivationDescriptor(ActivationFunction function, float a = 0.0f, float b = 0.0f)
        : m_Function(function), m_A(a), m_B(b)
    {
    }

    ActivationFunction m_Function = ActivationFunction::Sigmoid;
    float m_A = 0.0f; ///< upper bound, slope or alpha: see ActivationFunction
    float m_B = 0.0f; ///< lower bound or offset

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ActivationDescriptor::m_Function);
        v("A", &ActivationDescriptor::m_A);
        v("B", &ActivationDescriptor::m_B);
    }
};

/// ArgMinMax: index of the smallest or largest element along an axis; the first one on a tie.
/// With m_ParametersAsInputs input 1 is the axis.
struct ArgMinMaxDescriptor : detail::Described<ArgMinMaxDescriptor>
{
    ArgMinMaxFunction m_Function = ArgMinMaxFunction::Min;
    int m_Axis = -1;                             ///< negative counts from the end
    DataType m_Output_Type = DataType::Signed32; ///< Signed32 or Signed64
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ArgMinMaxDescriptor::m_Function);
        v("Axis", &ArgMinMaxDescriptor::m_Axis);
        v("Output_Type", &ArgMinMaxDescriptor::m_Output_Type);
        v("ParametersAsInputs", &ArgMinMaxDescriptor::m_ParametersAsInputs);
    }
};

/// Comparison: Boolean out = in0 OP in1, with broadcasting.
struct ComparisonDescriptor : detail::Described<ComparisonDescriptor>
{
    ComparisonDescriptor() = default;
    explicit ComparisonDescriptor(ComparisonOperation operation) : m_Operation(operation) {}

    ComparisonOperation m_Operation = ComparisonOperation::Equal;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &ComparisonDescriptor::m_Operation);
    }
};

/// ElementwiseBinary: out = in0 OP in1, with broadcasting.
struct ElementwiseBinaryDescriptor : detail::Described<ElementwiseBinaryDescriptor>
{
    ElementwiseBinaryDescriptor() = default;
    explicit ElementwiseBinaryDescriptor(BinaryOperation operation) : m_Operation(operation) {}

    BinaryOperation m_Operation = BinaryOperation::Add;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &ElementwiseBinaryDescriptor::m_Operation);
    }
};

/// ElementwiseUnary: out = OP in.
struct ElementwiseUnaryDescriptor : detail::Described<ElementwiseUnaryDescriptor>
{
    ElementwiseUnaryDescriptor() = default;
    explicit ElementwiseUnaryDescriptor(UnaryOperation operation) : m_Operation(operation) {}

    UnaryOperation m_Operation = UnaryOperation::Abs;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &ElementwiseUnaryDescriptor::m_Operation);
    }
};

/// LogicalBinary: Boolean out = in0 OP in1, with broadcasting.
struct LogicalBinaryDescriptor : detail::Described<LogicalBinaryDescriptor>
{
    LogicalBinaryDescriptor() = default;
    explicit LogicalBinaryDescriptor(LogicalBinaryOperation operation) : m_Operation(operation) {}

    LogicalBinaryOperation m_Operation = LogicalBinaryOperation::LogicalAnd;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &LogicalBinaryDescriptor::m_Operation);
    }
};

/// Permute: moves source dimension i to destination m[i]; the inverse of Transpose.
struct PermuteDescriptor : detail::Described<PermuteDescriptor>
{
    PermuteDescriptor() = default;
    explicit PermuteDescriptor(const PermutationVector& dimMappings) : m_DimMappings(dimMappings) {}

    PermutationVector m_DimMappings; ///< dst_dim[m[i]] = src_dim[i]

    template <typename V>
    static void Visit(V&& v)
    {
        v("DimMappings", &PermuteDescriptor::m_DimMappings);
    }
};

/// Transpose: takes destination dimension i from source m[i].
/// With m_ParametersAsInputs input 1 holds the mappings.
struct TransposeDescriptor : detail::Described<TransposeDescriptor>
{
    TransposeDescriptor() = default;
    explicit TransposeDescriptor(const PermutationVector& dimMappings) : m_DimMappings(dimMappings) {}

    PermutationVector m_DimMappings; ///< dst_dim[i] = src_dim[m[i]]
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("DimMappings", &TransposeDescriptor::m_DimMappings);
        v("ParametersAsInputs", &TransposeDescriptor::m_ParametersAsInputs);
    }
};

/// Softmax: exp(beta * (x - max)) / sum, along one axis.
struct SoftmaxDescriptor : detail::Described<SoftmaxDescriptor>
{
    float m_Beta = 1.0f; ///< factor of the exponent
    int m_Axis = -1;     ///< negative counts from the end

    template <typename V>
    static void Visit(V&& v)
    {
        v("Beta", &SoftmaxDescriptor::m_Beta);
        v("Axis", &SoftmaxDescriptor::m_Axis);
    }
};

/// LogSoftmax: log of Softmax.
using LogSoftmaxDescriptor = SoftmaxDescriptor;

/// Concat: joins inputs in order along m_ConcatAxis; static_cast<unsigned int>(-1) and the like count from the end.
/// View origins are optional: all zero (the default), they follow from shapes; others must agree with the axis.
struct TENON_API OriginsDescriptor : detail::Described<OriginsDescriptor>
{
    OriginsDescriptor() = default;
    /// Throws InvalidArgumentException if numDimensions is above MaxNumOfTensorDimensions.
    explicit OriginsDescriptor(uint32_t numViews, uint32_t numDimensions = 4);

    /// Status::Failure, and a message in the log, for a view or coordinate out of range.
    Status SetViewOriginCoord(uint32_t view, uint32_t coord, uint32_t value);
    uint32_t GetNumViews() const { return m_NumViews; }
    uint32_t GetNumDimensions() const { return m_NumDimensions; }
    /// The coordinates of one view, GetNumDimensions() of them. Throws InvalidArgumentException out of range.
    const uint32_t* GetViewOrigin(uint32_t view) const;
    void SetConcatAxis(unsigned int concatAxis) { m_ConcatAxis = concatAxis; }
    unsigned int GetConcatAxis() const { return m_ConcatAxis; }
    /// Whether any origin is not zero.
    bool HasOrigins() const;
    uint32_t GetNumInputs() const { return m_NumViews; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("ConcatAxis", &OriginsDescriptor::m_ConcatAxis);
        v("NumViews", &OriginsDescriptor::m_NumViews);
        v("NumDimensions", &OriginsDescriptor::m_NumDimensions);
        v("ViewOrigins", &OriginsDescriptor::m_ViewOrigins);
    }

private:
    unsigned int m_ConcatAxis = 1;
    uint32_t m_NumViews = 0;
    uint32_t m_NumDimensions = 0;
    std::vector<uint32_t> m_ViewOrigins; ///< view by view
};
using ConcatDescriptor = OriginsDescriptor;
using MergerDescriptor = OriginsDescriptor;

/// Splitter: each output is the box of its view's origin and size.
/// With m_ParametersAsInputs input 1 is the axis, along which the views are equal parts, one after the other; with
/// m_SizesAsInput input 2 holds the size of each part (one may be -1: the rest).
struct TENON_API ViewsDescriptor : detail::Described<ViewsDescriptor>
{
    ViewsDescriptor() = default;
    explicit ViewsDescriptor(uint32_t numViews, uint32_t numDimensions = 4);

    Status SetViewOriginCoord(uint32_t view, uint32_t coord, uint32_t value);
    Status SetViewSize(uint32_t view, uint32_t coord, uint32_t value);
    void SetAxis(int32_t axis);
    uint32_t GetNumViews() const { return m_Origins.GetNumViews(); }
    uint32_t GetNumDimensions() const { return m_Origins.GetNumDimensions(); }
    const uint32_t* GetViewOrigin(uint32_t view) const { return m_Origins.GetViewOrigin(view); }
    /// The sizes of one view. Throws InvalidArgumentException out of range.
    const uint32_t* GetViewSizes(uint32_t view) const;
    const OriginsDescriptor& GetOrigins() const { return m_Origins; }
    bool HasAxis() const { return m_IsAxisSet; }
    int32_t GetAxis() const { return m_Axis; }
    uint32_t GetNumInputs() const { return m_SizesAsInput ? 3 : (m_ParametersAsInputs ? 2 : 1); }
    uint32_t GetNumOutputs() const { return GetNumViews(); }

    bool m_ParametersAsInputs = false;
    bool m_SizesAsInput = false; ///< Tenon: with m_ParametersAsInputs only

    template <typename V>
    static void Visit(V&& v)
    {
        v("Origins", &ViewsDescriptor::m_Origins);
        v("ViewSizes", &ViewsDescriptor::m_ViewSizes);
        v("IsAxisSet", &ViewsDescriptor::m_IsAxisSet);
        v("Axis", &ViewsDescriptor::m_Axis);
        v("ParametersAsInputs", &ViewsDescriptor::m_ParametersAsInputs);
        v("SizesAsInput", &ViewsDescriptor::m_SizesAsInput);
    }

private:
    OriginsDescriptor m_Origins;
    std::vector<uint32_t> m_ViewSizes; ///< view by view
    bool m_IsAxisSet = false;
    int32_t m_Axis = 0;
};
using SplitterDescriptor = ViewsDescriptor;

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

/// FullyConnected: inputs are data, weights [I, O] (or [O, I]) and, with m_BiasEnabled, bias [O].
/// The input is flattened to [N, I].
struct FullyConnectedDescriptor : detail::Described<FullyConnectedDescriptor>
{
    bool m_BiasEnabled = false;
    bool m_TransposeWeightMatrix = false;    ///< weights are [O, I] in place of [I, O]
    bool m_ConstantWeights = true;           ///< kept for Arm NN; weights may come from any layer
    bool m_KeepDims = false;                 ///< Tenon: the output keeps the leading dimensions of the input
    bool m_AsymmetricQuantizeInputs = false; ///< Tenon: float input with integer weights: quantize it asymmetrically
    /// Tenon: uint8 weights are TFLite's SHUFFLED4x16INT8: blocks of 4 outputs by 16 inputs, the top bit of each weight
    /// flipped. Output 1 then is the data in that order.
    bool m_ShuffledWeights = false;

    uint32_t GetNumInputs() const { return m_BiasEnabled ? 3 : 2; }
    uint32_t GetNumOutputs() const { return m_ShuffledWeights ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BiasEnabled", &FullyConnectedDescriptor::m_BiasEnabled);
        v("TransposeWeightMatrix", &FullyConnectedDescriptor::m_TransposeWeightMatrix);
        v("ConstantWeights", &FullyConnectedDescriptor::m_ConstantWeights);
        v("KeepDims", &FullyConnectedDescriptor::m_KeepDims);
        v("AsymmetricQuantizeInputs", &FullyConnectedDescriptor::m_AsymmetricQuantizeInputs);
        v("ShuffledWeights", &FullyConnectedDescriptor::m_ShuffledWeights);
    }
};

/// Convolution2d: inputs are data, weights and, with m_BiasEnabled, bias [O]. Weights [O, H, W, I] for NHWC, [O, I, H,
/// W] for NCHW. I may be a divisor of the data's channels: then the convolution is grouped (channels / I groups).
struct Convolution2dDescriptor : detail::Described<Convolution2dDescriptor>
{
    uint32_t m_PadLeft = 0;
    uint32_t m_PadRight = 0;
    uint32_t m_PadTop = 0;
    uint32_t m_PadBottom = 0;
    uint32_t m_StrideX = 1;
    uint32_t m_StrideY = 1;
    uint32_t m_DilationX = 1;
    uint32_t m_DilationY = 1;
    bool m_BiasEnabled = false;
    DataLayout m_DataLayout = DataLayout::NCHW;
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;
    /// Tenon: 16-bit data without a bias is summed in 32 bits, as it is with a bias of 32 bits; else in 64.
    bool m_SumsOf32Bits = false;

    uint32_t GetNumInputs() const { return m_BiasEnabled ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PadLeft", &Convolution2dDescriptor::m_PadLeft);
        v("PadRight", &Convolution2dDescriptor::m_PadRight);
        v("PadTop", &Convolution2dDescriptor::m_PadTop);
        v("PadBottom", &Convolution2dDescriptor::m_PadBottom);
        v("StrideX", &Convolution2dDescriptor::m_StrideX);
        v("StrideY", &Convolution2dDescriptor::m_StrideY);
        v("DilationX", &Convolution2dDescriptor::m_DilationX);
        v("DilationY", &Convolution2dDescriptor::m_DilationY);
        v("BiasEnabled", &Convolution2dDescriptor::m_BiasEnabled);
        v("DataLayout", &Convolution2dDescriptor::m_DataLayout);
        v("PaddingScheme", &Convolution2dDescriptor::m_PaddingScheme);
        v("SumsOf32Bits", &Convolution2dDescriptor::m_SumsOf32Bits);
    }
};

/// Convolution3d: inputs are data, weights [D, H, W, I, O] and, with m_BiasEnabled, bias [O].
struct Convolution3dDescriptor : detail::Described<Convolution3dDescriptor>
{
    uint32_t m_PadLeft = 0;
    uint32_t m_PadRight = 0;
    uint32_t m_PadTop = 0;
    uint32_t m_PadBottom = 0;
    uint32_t m_PadFront = 0;
    uint32_t m_PadBack = 0;
    uint32_t m_StrideX = 1;
    uint32_t m_StrideY = 1;
    uint32_t m_StrideZ = 1;
    uint32_t m_DilationX = 1;
    uint32_t m_DilationY = 1;
    uint32_t m_DilationZ = 1;
    bool m_BiasEnabled = false;
    DataLayout m_DataLayout = DataLayout::NDHWC;
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;

    uint32_t GetNumInputs() const { return m_BiasEnabled ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PadLeft", &Convolution3dDescriptor::m_PadLeft);
        v("PadRight", &Convolution3dDescriptor::m_PadRight);
        v("PadTop", &Convolution3dDescriptor::m_PadTop);
        v("PadBottom", &Convolution3dDescriptor::m_PadBottom);
        v("PadFront", &Convolution3dDescriptor::m_PadFront);
        v("PadBack", &Convolution3dDescriptor::m_PadBack);
        v("StrideX", &Convolution3dDescriptor::m_StrideX);
        v("StrideY", &Convolution3dDescriptor::m_StrideY);
        v("StrideZ", &Convolution3dDescriptor::m_StrideZ);
        v("DilationX", &Convolution3dDescriptor::m_DilationX);
        v("DilationY", &Convolution3dDescriptor::m_DilationY);
        v("DilationZ", &Convolution3dDescriptor::m_DilationZ);
        v("BiasEnabled", &Convolution3dDescriptor::m_BiasEnabled);
        v("DataLayout", &Convolution3dDescriptor::m_DataLayout);
        v("PaddingScheme", &Convolution3dDescriptor::m_PaddingScheme);
    }
};

/// DepthwiseConvolution2d: inputs are data, weights [1, H, W, I * M] in both layouts and, with m_BiasEnabled, bias
/// [I * M]. Output channel i * M + m comes from input channel i.
struct DepthwiseConvolution2dDescriptor : detail::Described<DepthwiseConvolution2dDescriptor>
{
    uint32_t m_PadLeft = 0;
    uint32_t m_PadRight = 0;
    uint32_t m_PadTop = 0;
    uint32_t m_PadBottom = 0;
    uint32_t m_StrideX = 1;
    uint32_t m_StrideY = 1;
    uint32_t m_DilationX = 1;
    uint32_t m_DilationY = 1;
    bool m_BiasEnabled = false;
    DataLayout m_DataLayout = DataLayout::NCHW;
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;

    uint32_t GetNumInputs() const { return m_BiasEnabled ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PadLeft", &DepthwiseConvolution2dDescriptor::m_PadLeft);
        v("PadRight", &DepthwiseConvolution2dDescriptor::m_PadRight);
        v("PadTop", &DepthwiseConvolution2dDescriptor::m_PadTop);
        v("PadBottom", &DepthwiseConvolution2dDescriptor::m_PadBottom);
        v("StrideX", &DepthwiseConvolution2dDescriptor::m_StrideX);
        v("StrideY", &DepthwiseConvolution2dDescriptor::m_StrideY);
        v("DilationX", &DepthwiseConvolution2dDescriptor::m_DilationX);
        v("DilationY", &DepthwiseConvolution2dDescriptor::m_DilationY);
        v("BiasEnabled", &DepthwiseConvolution2dDescriptor::m_BiasEnabled);
        v("DataLayout", &DepthwiseConvolution2dDescriptor::m_DataLayout);
        v("PaddingScheme", &DepthwiseConvolution2dDescriptor::m_PaddingScheme);
    }
};

/// DetectionPostProcess: decodes boxes and suppresses overlaps (TFLite_Detection_PostProcess).
/// Inputs: box encodings [1, N, 4 or more], scores [1, N, C], anchors [N, 4]; C may count a background class in front.
/// Outputs: boxes [1, D, 4] as ymin, xmin, ymax, xmax, classes [1, D], scores [1, D], and how many there are [1];
/// D = m_MaxDetections * m_MaxClassesPerDetection. What lies behind the detections is zero.
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

/// Normalization: local response normalization.
struct NormalizationDescriptor : detail::Described<NormalizationDescriptor>
{
    NormalizationAlgorithmChannel m_NormChannelType = NormalizationAlgorithmChannel::Across;
    NormalizationAlgorithmMethod m_NormMethodType = NormalizationAlgorithmMethod::LocalBrightness;
    uint32_t m_NormSize = 0; ///< elements of the window
    float m_Alpha = 0.0f;
    float m_Beta = 0.0f;
    float m_K = 0.0f;
    DataLayout m_DataLayout = DataLayout::NCHW;

    template <typename V>
    static void Visit(V&& v)
    {
        v("NormChannelType", &NormalizationDescriptor::m_NormChannelType);
        v("NormMethodType", &NormalizationDescriptor::m_NormMethodType);
        v("NormSize", &NormalizationDescriptor::m_NormSize);
        v("Alpha", &NormalizationDescriptor::m_Alpha);
        v("Beta", &NormalizationDescriptor::m_Beta);
        v("K", &NormalizationDescriptor::m_K);
        v("DataLayout", &NormalizationDescriptor::m_DataLayout);
    }
};

/// L2Normalization: divides by the L2 norm over the channels.
struct L2NormalizationDescriptor : detail::Described<L2NormalizationDescriptor>
{
    float m_Eps = 1e-12f; ///< lower bound of the norm
    DataLayout m_DataLayout = DataLayout::NCHW;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Eps", &L2NormalizationDescriptor::m_Eps);
        v("DataLayout", &L2NormalizationDescriptor::m_DataLayout);
    }
};

/// BatchNormalization: inputs are data, mean, variance, beta, gamma, each but the first [C].
struct BatchNormalizationDescriptor : detail::Described<BatchNormalizationDescriptor>
{
    float m_Eps = 0.0001f; ///< added to the variance
    DataLayout m_DataLayout = DataLayout::NCHW;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Eps", &BatchNormalizationDescriptor::m_Eps);
        v("DataLayout", &BatchNormalizationDescriptor::m_DataLayout);
    }
};

/// InstanceNormalization: normalizes each image and channel by itself.
struct InstanceNormalizationDescriptor : detail::Described<InstanceNormalizationDescriptor>
{
    float m_Gamma = 1.0f;
    float m_Beta = 0.0f;
    float m_Eps = 1e-12f; ///< added to the variance
    DataLayout m_DataLayout = DataLayout::NCHW;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Gamma", &InstanceNormalizationDescriptor::m_Gamma);
        v("Beta", &InstanceNormalizationDescriptor::m_Beta);
        v("Eps", &InstanceNormalizationDescriptor::m_Eps);
        v("DataLayout", &InstanceNormalizationDescriptor::m_DataLayout);
    }
};

/// LayerNormalization (Tenon): (x - mean) / sqrt(variance + m_Epsilon), mean and variance over the dimensions from
/// m_Axis on, times scale plus bias. Semantics of ONNX's operator of that name. Inputs: x and, where they are
/// connected, scale and bias, which have the shape of those dimensions (ones may stand before it) or one element; where
/// further dimensions follow the normalized ones, scale and bias broadcast to x.
struct LayerNormalizationDescriptor : detail::Described<LayerNormalizationDescriptor>
{
    int m_Axis = -1;         ///< negative counts from the end
    float m_Epsilon = 1e-5f; ///< added to the variance
    /// How many dimensions from m_Axis on are normalized together; 0: all that follow. A kernel sees another number
    /// only where it matters: shape inference puts 0 in place of all that follow.
    uint32_t m_NumAxes = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &LayerNormalizationDescriptor::m_Axis);
        v("Epsilon", &LayerNormalizationDescriptor::m_Epsilon);
        v("NumAxes", &LayerNormalizationDescriptor::m_NumAxes);
    }
};

/// BatchToSpaceNd. With m_ParametersAsInputs inputs 1 and 2 are the block shape [M] and the crops [M, 2].
struct BatchToSpaceNdDescriptor : detail::Described<BatchToSpaceNdDescriptor>
{
    BatchToSpaceNdDescriptor() = default;
    BatchToSpaceNdDescriptor(std::vector<unsigned int> blockShape,
                             std::vector<std::pair<unsigned int, unsigned int>> crops)
        : m_BlockShape(std::move(blockShape)), m_Crops(std::move(crops))
    {
    }

    std::vector<unsigned int> m_BlockShape = {1, 1};
    std::vector<std::pair<unsigned int, unsigned int>> m_Crops = {{0, 0},
                                                                  {0, 0}}; ///< (begin, end) of each block dimension
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BlockShape", &BatchToSpaceNdDescriptor::m_BlockShape);
        v("Crops", &BatchToSpaceNdDescriptor::m_Crops);
        v("DataLayout", &BatchToSpaceNdDescriptor::m_DataLayout);
        v("ParametersAsInputs", &BatchToSpaceNdDescriptor::m_ParametersAsInputs);
    }
};

/// SpaceToBatchNd. With m_ParametersAsInputs inputs 1 and 2 are the block shape [M] and the paddings [M, 2].
struct SpaceToBatchNdDescriptor : detail::Described<SpaceToBatchNdDescriptor>
{
    SpaceToBatchNdDescriptor() = default;
    SpaceToBatchNdDescriptor(const std::vector<unsigned int>& blockShape,
                             const std::vector<std::pair<unsigned int, unsigned int>>& padList)
        : m_BlockShape(blockShape), m_PadList(padList)
    {
    }

    std::vector<unsigned int> m_BlockShape = {1, 1};
    std::vector<std::pair<unsigned int, unsigned int>> m_PadList = {
        {0, 0}, {0, 0}}; ///< (before, after) of each block dimension
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BlockShape", &SpaceToBatchNdDescriptor::m_BlockShape);
        v("PadList", &SpaceToBatchNdDescriptor::m_PadList);
        v("DataLayout", &SpaceToBatchNdDescriptor::m_DataLayout);
        v("ParametersAsInputs", &SpaceToBatchNdDescriptor::m_ParametersAsInputs);
    }
};

/// FakeQuantization: rounds to the grid of 2^bits values in [min, max], which is shifted so that 0 is on it.
struct FakeQuantizationDescriptor : detail::Described<FakeQuantizationDescriptor>
{
    float m_Min = -6.0f;
    float m_Max = 6.0f;
    uint32_t m_NumBits = 8;     ///< Tenon: 2..16
    bool m_NarrowRange = false; ///< Tenon: the grid has one value less, at the lower end

    template <typename V>
    static void Visit(V&& v)
    {
        v("Min", &FakeQuantizationDescriptor::m_Min);
        v("Max", &FakeQuantizationDescriptor::m_Max);
        v("NumBits", &FakeQuantizationDescriptor::m_NumBits);
        v("NarrowRange", &FakeQuantizationDescriptor::m_NarrowRange);
    }
};

/// Fill: input 0 holds the output's shape; every element is the value.
struct FillDescriptor : detail::Described<FillDescriptor>
{
    FillDescriptor() = default;
    explicit FillDescriptor(float value) : m_Value(value) {}

    float m_Value = 0;
    bool m_ValueAsInput = false; ///< Tenon: input 1 is the value, of any type

    uint32_t GetNumInputs() const { return m_ValueAsInput ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Value", &FillDescriptor::m_Value);
        v("ValueAsInput", &FillDescriptor::m_ValueAsInput);
    }
};

/// Gather: takes slices of input 0 by the indices of input 1.
struct GatherDescriptor : detail::Described<GatherDescriptor>
{
    GatherDescriptor() = default;
    explicit GatherDescriptor(int32_t axis) : m_Axis(axis) {}

    int32_t m_Axis = 0;      ///< negative counts from the end
    int32_t m_BatchDims = 0; ///< Tenon: leading dimensions that both inputs share

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &GatherDescriptor::m_Axis);
        v("BatchDims", &GatherDescriptor::m_BatchDims);
    }
};

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

/// Reshape. With m_ParametersAsInputs input 1 holds the target shape, where one -1 is computed.
struct ReshapeDescriptor : detail::Described<ReshapeDescriptor>
{
    ReshapeDescriptor() = default;
    explicit ReshapeDescriptor(const TensorShape& shape) : m_TargetShape(shape) {}

    TensorShape m_TargetShape; ///< one unknown dimension is computed from the rest
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("TargetShape", &ReshapeDescriptor::m_TargetShape);
        v("ParametersAsInputs", &ReshapeDescriptor::m_ParametersAsInputs);
    }
};

/// SpaceToDepth: moves blocks of pixels into channels; DepthToSpace: back.
struct SpaceToDepthDescriptor : detail::Described<SpaceToDepthDescriptor>
{
    SpaceToDepthDescriptor() = default;
    SpaceToDepthDescriptor(unsigned int blockSize, DataLayout dataLayout)
        : m_BlockSize(blockSize), m_DataLayout(dataLayout)
    {
    }

    uint32_t m_BlockSize = 0; ///< at least 1
    DataLayout m_DataLayout = DataLayout::NHWC;

    template <typename V>
    static void Visit(V&& v)
    {
        v("BlockSize", &SpaceToDepthDescriptor::m_BlockSize);
        v("DataLayout", &SpaceToDepthDescriptor::m_DataLayout);
    }
};
using DepthToSpaceDescriptor = SpaceToDepthDescriptor;

/// Lstm and UnidirectionalSequenceLstm. Weights arrive as LstmInputParams; each becomes a Constant layer wired to an
/// input.
struct LstmDescriptor : detail::Described<LstmDescriptor>
{
    uint32_t m_ActivationFunc = 1;    ///< 0 none, 1 ReLU, 2 ReLU within [-1, 1], 3 ReLU6, 4 tanh, 5 sign bit, 6 sigmoid
    float m_ClippingThresCell = 0.0f; ///< 0: no clipping
    float m_ClippingThresProj = 0.0f; ///< 0: no clipping
    bool m_CifgEnabled = true;        ///< input gate = 1 - forget gate
    bool m_PeepholeEnabled = false;
    bool m_ProjectionEnabled = false;
    bool m_LayerNormEnabled = false;
    bool m_TimeMajor = false;
    float m_InputIntermediateScale = 0.0f;
    float m_ForgetIntermediateScale = 0.0f;
    float m_CellIntermediateScale = 0.0f;
    float m_OutputIntermediateScale = 0.0f;
    int32_t m_HiddenStateZeroPoint = 0;
    float m_HiddenStateScale = 0.0f;
    /// Tenon: of float data beside 8-bit weights. Data and output state are quantized over their range in place of one
    /// around zero.
    bool m_AsymmetricQuantizeInputs = false;
    /// Tenon: of float data beside 8-bit weights. The recurrent weights were stored as sparse ones, whose products
    /// TFLite's kernel scales as if the output state were quantized like the data.
    bool m_SparseRecurrentWeights = false;
    /// Tenon: of int8 data whose gate products are int8 too. For each gate (input, forget, cell, output) the scale of
    /// the sum, of the data's product and of the output state's product: twelve, or none for 16-bit products.
    std::vector<float> m_ProductScales;
    std::vector<int32_t> m_ProductZeroPoints; ///< as many

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &LstmDescriptor::m_ActivationFunc);
        v("ClippingThresCell", &LstmDescriptor::m_ClippingThresCell);
        v("ClippingThresProj", &LstmDescriptor::m_ClippingThresProj);
        v("CifgEnabled", &LstmDescriptor::m_CifgEnabled);
        v("PeepholeEnabled", &LstmDescriptor::m_PeepholeEnabled);
        v("ProjectionEnabled", &LstmDescriptor::m_ProjectionEnabled);
        v("LayerNormEnabled", &LstmDescriptor::m_LayerNormEnabled);
        v("TimeMajor", &LstmDescriptor::m_TimeMajor);
        v("InputIntermediateScale", &LstmDescriptor::m_InputIntermediateScale);
        v("ForgetIntermediateScale", &LstmDescriptor::m_ForgetIntermediateScale);
        v("CellIntermediateScale", &LstmDescriptor::m_CellIntermediateScale);
        v("OutputIntermediateScale", &LstmDescriptor::m_OutputIntermediateScale);
        v("HiddenStateZeroPoint", &LstmDescriptor::m_HiddenStateZeroPoint);
        v("HiddenStateScale", &LstmDescriptor::m_HiddenStateScale);
        v("AsymmetricQuantizeInputs", &LstmDescriptor::m_AsymmetricQuantizeInputs);
        v("SparseRecurrentWeights", &LstmDescriptor::m_SparseRecurrentWeights);
        v("ProductScales", &LstmDescriptor::m_ProductScales);
        v("ProductZeroPoints", &LstmDescriptor::m_ProductZeroPoints);
    }
};
using UnidirectionalSequenceLstmDescriptor = LstmDescriptor;

/// BidirectionalSequenceLstm (Tenon). Which weights each direction has says what its cell is: without input-to-input
/// weights the input gate is 1 - forget gate; peephole and projection weights are optional.
struct BidirectionalSequenceLstmDescriptor : detail::Described<BidirectionalSequenceLstmDescriptor>
{
    uint32_t m_ActivationFunc = 4;    ///< as LstmDescriptor
    float m_ClippingThresCell = 0.0f; ///< 0: no clipping
    float m_ClippingThresProj = 0.0f; ///< 0: no clipping
    bool m_MergeOutputs = false;      ///< the outputs of both directions side by side in one tensor
    bool m_TimeMajor = true;
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    uint32_t GetNumOutputs() const { return m_MergeOutputs ? 5 : 6; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &BidirectionalSequenceLstmDescriptor::m_ActivationFunc);
        v("ClippingThresCell", &BidirectionalSequenceLstmDescriptor::m_ClippingThresCell);
        v("ClippingThresProj", &BidirectionalSequenceLstmDescriptor::m_ClippingThresProj);
        v("MergeOutputs", &BidirectionalSequenceLstmDescriptor::m_MergeOutputs);
        v("TimeMajor", &BidirectionalSequenceLstmDescriptor::m_TimeMajor);
        v("AsymmetricQuantizeInputs", &BidirectionalSequenceLstmDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// Rnn (Tenon): state = output = f(weights * data + recurrent weights * state + bias).
struct RnnDescriptor : detail::Described<RnnDescriptor>
{
    uint32_t m_ActivationFunc = 4; ///< as LstmDescriptor
    bool m_TimeMajor = false;
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &RnnDescriptor::m_ActivationFunc);
        v("TimeMajor", &RnnDescriptor::m_TimeMajor);
        v("AsymmetricQuantizeInputs", &RnnDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// BidirectionalSequenceRnn (Tenon).
struct BidirectionalSequenceRnnDescriptor : detail::Described<BidirectionalSequenceRnnDescriptor>
{
    uint32_t m_ActivationFunc = 4; ///< as LstmDescriptor
    bool m_MergeOutputs = false;   ///< the outputs of both directions side by side in one tensor
    bool m_TimeMajor = false;
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    uint32_t GetNumOutputs() const { return m_MergeOutputs ? 3 : 4; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &BidirectionalSequenceRnnDescriptor::m_ActivationFunc);
        v("MergeOutputs", &BidirectionalSequenceRnnDescriptor::m_MergeOutputs);
        v("TimeMajor", &BidirectionalSequenceRnnDescriptor::m_TimeMajor);
        v("AsymmetricQuantizeInputs", &BidirectionalSequenceRnnDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// Svdf (Tenon): a matrix product taken apart into filters over features and filters over time.
struct SvdfDescriptor : detail::Described<SvdfDescriptor>
{
    uint32_t m_Rank = 1;                     ///< filters per unit
    uint32_t m_ActivationFunc = 1;           ///< as LstmDescriptor; int8 data takes ReLU alone
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    template <typename V>
    static void Visit(V&& v)
    {
        v("Rank", &SvdfDescriptor::m_Rank);
        v("ActivationFunc", &SvdfDescriptor::m_ActivationFunc);
        v("AsymmetricQuantizeInputs", &SvdfDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// QLstm: quantized LSTM cell with int8 activations.
struct QLstmDescriptor : detail::Described<QLstmDescriptor>
{
    float m_CellClip = 0.0f;
    float m_ProjectionClip = 0.0f;
    bool m_CifgEnabled = true; ///< input gate = 1 - forget gate
    bool m_PeepholeEnabled = false;
    bool m_ProjectionEnabled = false;
    bool m_LayerNormEnabled = false;
    float m_InputIntermediateScale = 0.0f;
    float m_ForgetIntermediateScale = 0.0f;
    float m_CellIntermediateScale = 0.0f;
    float m_OutputIntermediateScale = 0.0f;
    int32_t m_HiddenStateZeroPoint = 0;
    float m_HiddenStateScale = 0.0f;

    template <typename V>
    static void Visit(V&& v)
    {
        v("CellClip", &QLstmDescriptor::m_CellClip);
        v("ProjectionClip", &QLstmDescriptor::m_ProjectionClip);
        v("CifgEnabled", &QLstmDescriptor::m_CifgEnabled);
        v("PeepholeEnabled", &QLstmDescriptor::m_PeepholeEnabled);
        v("ProjectionEnabled", &QLstmDescriptor::m_ProjectionEnabled);
        v("LayerNormEnabled", &QLstmDescriptor::m_LayerNormEnabled);
        v("InputIntermediateScale", &QLstmDescriptor::m_InputIntermediateScale);
        v("ForgetIntermediateScale", &QLstmDescriptor::m_ForgetIntermediateScale);
        v("CellIntermediateScale", &QLstmDescriptor::m_CellIntermediateScale);
        v("OutputIntermediateScale", &QLstmDescriptor::m_OutputIntermediateScale);
        v("HiddenStateZeroPoint", &QLstmDescriptor::m_HiddenStateZeroPoint);
        v("HiddenStateScale", &QLstmDescriptor::m_HiddenStateScale);
    }
};

/// Mean over some axes. With m_ParametersAsInputs input 1 holds the axes (negative ones count from the end).
struct MeanDescriptor : detail::Described<MeanDescriptor>
{
    MeanDescriptor() = default;
    MeanDescriptor(const std::vector<unsigned int>& axis, bool keepDims) : m_Axis(axis), m_KeepDims(keepDims) {}

    std::vector<unsigned int> m_Axis; ///< empty: all
    bool m_KeepDims = false;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &MeanDescriptor::m_Axis);
        v("KeepDims", &MeanDescriptor::m_KeepDims);
        v("ParametersAsInputs", &MeanDescriptor::m_ParametersAsInputs);
    }
};

/// Reduce over some axes. With m_ParametersAsInputs input 1 holds the axes (negative ones count from the end).
struct ReduceDescriptor : detail::Described<ReduceDescriptor>
{
    bool m_KeepDims = false;
    std::vector<uint32_t> m_vAxis; ///< empty: all
    ReduceOperation m_ReduceOperation = ReduceOperation::Sum;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("KeepDims", &ReduceDescriptor::m_KeepDims);
        v("vAxis", &ReduceDescriptor::m_vAxis);
        v("ReduceOperation", &ReduceDescriptor::m_ReduceOperation);
        v("ParametersAsInputs", &ReduceDescriptor::m_ParametersAsInputs);
    }
};

/// Pad. With m_ParametersAsInputs input 1 holds the paddings [rank, 2].
struct PadDescriptor : detail::Described<PadDescriptor>
{
    PadDescriptor() = default;
    explicit PadDescriptor(const std::vector<std::pair<unsigned int, unsigned int>>& padList, float padValue = 0,
                           PaddingMode paddingMode = PaddingMode::Constant)
        : m_PadList(padList), m_PadValue(padValue), m_PaddingMode(paddingMode)
    {
    }

    std::vector<std::pair<unsigned int, unsigned int>> m_PadList; ///< (before, after) of each dimension
    float m_PadValue = 0; ///< as stored: for a quantized tensor its zero point pads with real 0
    PaddingMode m_PaddingMode = PaddingMode::Constant;
    bool m_ParametersAsInputs = false;
    bool m_ValueAsInput = false; ///< Tenon: input 2 is the value, of the type of input 0

    uint32_t GetNumInputs() const { return m_ValueAsInput ? 3 : (m_ParametersAsInputs ? 2 : 1); }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PadList", &PadDescriptor::m_PadList);
        v("PadValue", &PadDescriptor::m_PadValue);
        v("PaddingMode", &PadDescriptor::m_PaddingMode);
        v("ParametersAsInputs", &PadDescriptor::m_ParametersAsInputs);
        v("ValueAsInput", &PadDescriptor::m_ValueAsInput);
    }
};

/// Slice: the box at m_Begin of m_Size.
/// With m_ParametersAsInputs inputs 1 and 2 are begin and size (-1: to the end).
struct SliceDescriptor : detail::Described<SliceDescriptor>
{
    SliceDescriptor() = default;
    SliceDescriptor(const std::vector<unsigned int>& begin, const std::vector<unsigned int>& size)
        : m_Begin(begin), m_Size(size)
    {
    }

    std::vector<unsigned int> m_Begin;
    std::vector<unsigned int> m_Size;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Begin", &SliceDescriptor::m_Begin);
        v("Size", &SliceDescriptor::m_Size);
        v("ParametersAsInputs", &SliceDescriptor::m_ParametersAsInputs);
    }
};

/// Stack: joins inputs along a new axis.
struct StackDescriptor : detail::Described<StackDescriptor>
{
    StackDescriptor() = default;
    StackDescriptor(uint32_t axis, uint32_t numInputs, const TensorShape& inputShape)
        : m_Axis(axis), m_NumInputs(numInputs), m_InputShape(inputShape)
    {
    }

    uint32_t m_Axis = 0; ///< axis of the output; static_cast<uint32_t>(-1) and the like count from the end
    uint32_t m_NumInputs = 0;
    TensorShape m_InputShape; ///< optional: the shape that all inputs must have

    uint32_t GetNumInputs() const { return m_NumInputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &StackDescriptor::m_Axis);
        v("NumInputs", &StackDescriptor::m_NumInputs);
        v("InputShape", &StackDescriptor::m_InputShape);
    }
};

/// StandIn: holds the place of a layer that nothing can run.
struct StandInDescriptor : detail::Described<StandInDescriptor>
{
    StandInDescriptor() = default;
    StandInDescriptor(uint32_t numInputs, uint32_t numOutputs) : m_NumInputs(numInputs), m_NumOutputs(numOutputs) {}

    uint32_t m_NumInputs = 0;
    uint32_t m_NumOutputs = 0;

    uint32_t GetNumInputs() const { return m_NumInputs; }
    uint32_t GetNumOutputs() const { return m_NumOutputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputs", &StandInDescriptor::m_NumInputs);
        v("NumOutputs", &StandInDescriptor::m_NumOutputs);
    }
};

/// StridedSlice: as in TFLite and NumPy, with masks.
/// With m_ParametersAsInputs inputs 1, 2 and 3 are begin, end and stride.
struct StridedSliceDescriptor : detail::Described<StridedSliceDescriptor>
{
    StridedSliceDescriptor() = default;
    StridedSliceDescriptor(const std::vector<int>& begin, const std::vector<int>& end, const std::vector<int>& stride)
        : m_Begin(begin), m_End(end), m_Stride(stride)
    {
    }

    std::vector<int> m_Begin;
    std::vector<int> m_End;
    std::vector<int> m_Stride;
    int32_t m_BeginMask = 0;      ///< bit i stands for entry i
    int32_t m_EndMask = 0;        ///< bit i stands for entry i
    int32_t m_ShrinkAxisMask = 0; ///< bit i stands for entry i
    int32_t m_EllipsisMask = 0;   ///< bit i stands for entry i
    int32_t m_NewAxisMask = 0;    ///< bit i stands for entry i
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_Offset = false; ///< Tenon: ends are relative to begins, as TFLite's `offset`
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 4 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Begin", &StridedSliceDescriptor::m_Begin);
        v("End", &StridedSliceDescriptor::m_End);
        v("Stride", &StridedSliceDescriptor::m_Stride);
        v("BeginMask", &StridedSliceDescriptor::m_BeginMask);
        v("EndMask", &StridedSliceDescriptor::m_EndMask);
        v("ShrinkAxisMask", &StridedSliceDescriptor::m_ShrinkAxisMask);
        v("EllipsisMask", &StridedSliceDescriptor::m_EllipsisMask);
        v("NewAxisMask", &StridedSliceDescriptor::m_NewAxisMask);
        v("DataLayout", &StridedSliceDescriptor::m_DataLayout);
        v("Offset", &StridedSliceDescriptor::m_Offset);
        v("ParametersAsInputs", &StridedSliceDescriptor::m_ParametersAsInputs);
    }
};

/// PreCompiled: a blob that a backend compiled.
struct PreCompiledDescriptor : detail::Described<PreCompiledDescriptor>
{
    PreCompiledDescriptor() = default;
    PreCompiledDescriptor(uint32_t numInputSlots, uint32_t numOutputSlots)
        : m_NumInputSlots(numInputSlots), m_NumOutputSlots(numOutputSlots)
    {
    }

    uint32_t m_NumInputSlots = 0;
    uint32_t m_NumOutputSlots = 0;

    uint32_t GetNumInputs() const { return m_NumInputSlots; }
    uint32_t GetNumOutputs() const { return m_NumOutputSlots; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputSlots", &PreCompiledDescriptor::m_NumInputSlots);
        v("NumOutputSlots", &PreCompiledDescriptor::m_NumOutputSlots);
    }
};

/// TransposeConvolution2d: inputs are data, weights and, with m_BiasEnabled, bias [O]. Weights [O, H, W, I] for NHWC,
/// [O, I, H, W] for NCHW.
struct TransposeConvolution2dDescriptor : detail::Described<TransposeConvolution2dDescriptor>
{
    uint32_t m_PadLeft = 0;
    uint32_t m_PadRight = 0;
    uint32_t m_PadTop = 0;
    uint32_t m_PadBottom = 0;
    uint32_t m_StrideX = 0;
    uint32_t m_StrideY = 0;
    bool m_BiasEnabled = false;
    DataLayout m_DataLayout = DataLayout::NCHW;
    bool m_OutputShapeEnabled = false;
    std::vector<unsigned int> m_OutputShape;
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;
    bool m_ParametersAsInputs = false; ///< Tenon: input 3 holds the output's shape
    bool m_SumsOf32Bits = false;       ///< Tenon: see Convolution2dDescriptor

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 4 : (m_BiasEnabled ? 3 : 2); }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PadLeft", &TransposeConvolution2dDescriptor::m_PadLeft);
        v("PadRight", &TransposeConvolution2dDescriptor::m_PadRight);
        v("PadTop", &TransposeConvolution2dDescriptor::m_PadTop);
        v("PadBottom", &TransposeConvolution2dDescriptor::m_PadBottom);
        v("StrideX", &TransposeConvolution2dDescriptor::m_StrideX);
        v("StrideY", &TransposeConvolution2dDescriptor::m_StrideY);
        v("BiasEnabled", &TransposeConvolution2dDescriptor::m_BiasEnabled);
        v("DataLayout", &TransposeConvolution2dDescriptor::m_DataLayout);
        v("OutputShapeEnabled", &TransposeConvolution2dDescriptor::m_OutputShapeEnabled);
        v("OutputShape", &TransposeConvolution2dDescriptor::m_OutputShape);
        v("PaddingScheme", &TransposeConvolution2dDescriptor::m_PaddingScheme);
        v("ParametersAsInputs", &TransposeConvolution2dDescriptor::m_ParametersAsInputs);
        v("SumsOf32Bits", &TransposeConvolution2dDescriptor::m_SumsOf32Bits);
    }
};

/// TransposeConvolution3d: inputs are data, weights [D, H, W, O, I] and, with m_BiasEnabled, bias [O]. With
/// m_ParametersAsInputs input 3 holds the output's shape, and input 2 stays unconnected without a bias.
struct TransposeConvolution3dDescriptor : detail::Described<TransposeConvolution3dDescriptor>
{
    uint32_t m_PadLeft = 0;
    uint32_t m_PadRight = 0;
    uint32_t m_PadTop = 0;
    uint32_t m_PadBottom = 0;
    uint32_t m_PadFront = 0;
    uint32_t m_PadBack = 0;
    uint32_t m_StrideX = 1;
    uint32_t m_StrideY = 1;
    uint32_t m_StrideZ = 1;
    uint32_t m_DilationX = 1;
    uint32_t m_DilationY = 1;
    uint32_t m_DilationZ = 1;
    bool m_BiasEnabled = false;
    DataLayout m_DataLayout = DataLayout::NDHWC;
    bool m_OutputShapeEnabled = false;
    std::vector<unsigned int> m_OutputShape;
    PaddingScheme m_PaddingScheme = PaddingScheme::Explicit;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 4 : (m_BiasEnabled ? 3 : 2); }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PadLeft", &TransposeConvolution3dDescriptor::m_PadLeft);
        v("PadRight", &TransposeConvolution3dDescriptor::m_PadRight);
        v("PadTop", &TransposeConvolution3dDescriptor::m_PadTop);
        v("PadBottom", &TransposeConvolution3dDescriptor::m_PadBottom);
        v("PadFront", &TransposeConvolution3dDescriptor::m_PadFront);
        v("PadBack", &TransposeConvolution3dDescriptor::m_PadBack);
        v("StrideX", &TransposeConvolution3dDescriptor::m_StrideX);
        v("StrideY", &TransposeConvolution3dDescriptor::m_StrideY);
        v("StrideZ", &TransposeConvolution3dDescriptor::m_StrideZ);
        v("DilationX", &TransposeConvolution3dDescriptor::m_DilationX);
        v("DilationY", &TransposeConvolution3dDescriptor::m_DilationY);
        v("DilationZ", &TransposeConvolution3dDescriptor::m_DilationZ);
        v("BiasEnabled", &TransposeConvolution3dDescriptor::m_BiasEnabled);
        v("DataLayout", &TransposeConvolution3dDescriptor::m_DataLayout);
        v("OutputShapeEnabled", &TransposeConvolution3dDescriptor::m_OutputShapeEnabled);
        v("OutputShape", &TransposeConvolution3dDescriptor::m_OutputShape);
        v("PaddingScheme", &TransposeConvolution3dDescriptor::m_PaddingScheme);
        v("ParametersAsInputs", &TransposeConvolution3dDescriptor::m_ParametersAsInputs);
    }
};

/// ChannelShuffle: regroups slices of an axis.
struct ChannelShuffleDescriptor : detail::Described<ChannelShuffleDescriptor>
{
    ChannelShuffleDescriptor() = default;
    ChannelShuffleDescriptor(const uint32_t& numGroups, const uint32_t& axis) : m_NumGroups(numGroups), m_Axis(axis) {}

    uint32_t m_NumGroups = 0;
    uint32_t m_Axis = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumGroups", &ChannelShuffleDescriptor::m_NumGroups);
        v("Axis", &ChannelShuffleDescriptor::m_Axis);
    }
};

/// BatchMatMul: out[..., M, N] = x[..., M, K] * y[..., K, N], with broadcasting of the leading dimensions.
struct BatchMatMulDescriptor : detail::Described<BatchMatMulDescriptor>
{
    BatchMatMulDescriptor() = default;
    explicit BatchMatMulDescriptor(bool transposeX, bool transposeY, bool adjointX = false, bool adjointY = false)
        : m_TransposeX(transposeX), m_TransposeY(transposeY), m_AdjointX(adjointX), m_AdjointY(adjointY)
    {
    }

    bool m_TransposeX = false;
    bool m_TransposeY = false;
    bool m_AdjointX = false;
    bool m_AdjointY = false;
    DataLayout m_DataLayoutX = DataLayout::NCHW;
    DataLayout m_DataLayoutY = DataLayout::NCHW;
    bool m_AsymmetricQuantizeInputs = false; ///< Tenon: float x with integer y: quantize x asymmetrically

    template <typename V>
    static void Visit(V&& v)
    {
        v("TransposeX", &BatchMatMulDescriptor::m_TransposeX);
        v("TransposeY", &BatchMatMulDescriptor::m_TransposeY);
        v("AdjointX", &BatchMatMulDescriptor::m_AdjointX);
        v("AdjointY", &BatchMatMulDescriptor::m_AdjointY);
        v("DataLayoutX", &BatchMatMulDescriptor::m_DataLayoutX);
        v("DataLayoutY", &BatchMatMulDescriptor::m_DataLayoutY);
        v("AsymmetricQuantizeInputs", &BatchMatMulDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// Tile: repeats along each dimension. With m_ParametersAsInputs input 1 holds the multiples.
struct TileDescriptor : detail::Described<TileDescriptor>
{
    TileDescriptor() = default;
    explicit TileDescriptor(std::vector<uint32_t> multiples) : m_Multiples(std::move(multiples)) {}

    std::vector<uint32_t> m_Multiples;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Multiples", &TileDescriptor::m_Multiples);
        v("ParametersAsInputs", &TileDescriptor::m_ParametersAsInputs);
    }
};

/// BroadcastTo. With m_ParametersAsInputs input 1 holds the target shape.
struct BroadcastToDescriptor : detail::Described<BroadcastToDescriptor>
{
    BroadcastToDescriptor() = default;
    explicit BroadcastToDescriptor(const TensorShape& shape) : m_BroadcastToShape(shape) {}

    TensorShape m_BroadcastToShape;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BroadcastToShape", &BroadcastToDescriptor::m_BroadcastToShape);
        v("ParametersAsInputs", &BroadcastToDescriptor::m_ParametersAsInputs);
    }
};

/// ScatterNd: inputs are the tensor (or shape), indices and updates.
struct ScatterNdDescriptor : detail::Described<ScatterNdDescriptor>
{
    ScatterNdDescriptor() = default;
    ScatterNdDescriptor(ScatterNdFunction function, bool inputEnabled)
        : m_Function(function), m_InputEnabled(inputEnabled)
    {
    }

    ScatterNdFunction m_Function = ScatterNdFunction::Update;
    bool m_InputEnabled = true; ///< input 0 is a tensor to update; else it holds the output's shape
    int32_t m_Axis = 0;         ///< only 0
    bool m_AxisEnabled = false; ///< only false

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &ScatterNdDescriptor::m_Function);
        v("InputEnabled", &ScatterNdDescriptor::m_InputEnabled);
        v("Axis", &ScatterNdDescriptor::m_Axis);
        v("AxisEnabled", &ScatterNdDescriptor::m_AxisEnabled);
    }
};

/// Fused: several layers as one.
struct FusedDescriptor : detail::Described<FusedDescriptor>
{
    FusedDescriptor() = default;
    FusedDescriptor(uint32_t numInputSlots, uint32_t numOutputSlots, FusedKernelType fusedKernelType)
        : m_NumInputSlots(numInputSlots), m_NumOutputSlots(numOutputSlots), m_FusedKernelType(fusedKernelType)
    {
    }

    uint32_t m_NumInputSlots = 4;
    uint32_t m_NumOutputSlots = 2;
    FusedKernelType m_FusedKernelType = FusedKernelType::AddMulAdd;

    uint32_t GetNumInputs() const { return m_NumInputSlots; }
    uint32_t GetNumOutputs() const { return m_NumOutputSlots; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputSlots", &FusedDescriptor::m_NumInputSlots);
        v("NumOutputSlots", &FusedDescriptor::m_NumOutputSlots);
        v("FusedKernelType", &FusedDescriptor::m_FusedKernelType);
    }
};

/// AudioSpectrogram (Tenon): how strong each frequency is in windows that slide over audio, as in TensorFlow. The input
/// is [samples, channels], the output [channels, windows, n / 2 + 1], where n is the power of two from the window's
/// size up. A window is weighted by a periodic Hann function and padded with zeros to n samples.
struct AudioSpectrogramDescriptor : detail::Described<AudioSpectrogramDescriptor>
{
    uint32_t m_WindowSize = 0;       ///< samples; at least 2
    uint32_t m_Stride = 0;           ///< samples from one window to the next; at least 1
    bool m_MagnitudeSquared = false; ///< squares of the magnitudes in place of the magnitudes

    template <typename V>
    static void Visit(V&& v)
    {
        v("WindowSize", &AudioSpectrogramDescriptor::m_WindowSize);
        v("Stride", &AudioSpectrogramDescriptor::m_Stride);
        v("MagnitudeSquared", &AudioSpectrogramDescriptor::m_MagnitudeSquared);
    }
};

/// ComplexPart (Tenon): one part of each complex number. Complex64 gives Float32, Complex128 gives Float64.
struct ComplexPartDescriptor : detail::Described<ComplexPartDescriptor>
{
    ComplexPartDescriptor() = default;
    explicit ComplexPartDescriptor(ComplexComponent component) : m_Component(component) {}

    ComplexComponent m_Component = ComplexComponent::Real;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Component", &ComplexPartDescriptor::m_Component);
    }
};

/// Mfcc (Tenon): mel-frequency cepstral coefficients of a spectrogram of squared magnitudes, as in TensorFlow.
/// [channels, windows, frequencies] becomes [channels, windows, m_DctCoefficientCount].
/// With m_ParametersAsInputs input 1, one element, is the sample rate.
struct MfccDescriptor : detail::Described<MfccDescriptor>
{
    uint32_t m_SampleRate = 0;             ///< of the audio, in Hz
    float m_UpperFrequencyLimit = 4000.0f; ///< Hz; at most half the sample rate
    float m_LowerFrequencyLimit = 20.0f;   ///< Hz
    uint32_t m_FilterbankChannelCount = 40;
    uint32_t m_DctCoefficientCount = 13; ///< at most m_FilterbankChannelCount
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("SampleRate", &MfccDescriptor::m_SampleRate);
        v("UpperFrequencyLimit", &MfccDescriptor::m_UpperFrequencyLimit);
        v("LowerFrequencyLimit", &MfccDescriptor::m_LowerFrequencyLimit);
        v("FilterbankChannelCount", &MfccDescriptor::m_FilterbankChannelCount);
        v("DctCoefficientCount", &MfccDescriptor::m_DctCoefficientCount);
        v("ParametersAsInputs", &MfccDescriptor::m_ParametersAsInputs);
    }
};

/// RealFft2d (Tenon): the Fourier transform of real numbers over the last two dimensions, Float32 to Complex64, or
/// back. It gives m_Height x (m_Width / 2 + 1) frequencies; those that are left out mirror them. The way back takes as
/// many and divides by m_Height * m_Width. What the input has too much is left out, what is missing counts as zero.
/// With m_ParametersAsInputs input 1 holds height and width.
struct RealFft2dDescriptor : detail::Described<RealFft2dDescriptor>
{
    uint32_t m_Height = 1; ///< of the real side; a power of two
    uint32_t m_Width = 1;  ///< of the real side; a power of two
    bool m_Inverse = false;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Height", &RealFft2dDescriptor::m_Height);
        v("Width", &RealFft2dDescriptor::m_Width);
        v("Inverse", &RealFft2dDescriptor::m_Inverse);
        v("ParametersAsInputs", &RealFft2dDescriptor::m_ParametersAsInputs);
    }
};

/// AddN (Tenon): the sum of inputs of one shape and type, taken from the first to the last.
struct AddNDescriptor : detail::Described<AddNDescriptor>
{
    uint32_t m_NumInputs = 0; ///< at least 1

    uint32_t GetNumInputs() const { return m_NumInputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputs", &AddNDescriptor::m_NumInputs);
    }
};

/// Bucketize (Tenon): for each element how many boundaries are not above it; Signed32. NaN is above all.
struct BucketizeDescriptor : detail::Described<BucketizeDescriptor>
{
    std::vector<float> m_Boundaries; ///< ascending

    template <typename V>
    static void Visit(V&& v)
    {
        v("Boundaries", &BucketizeDescriptor::m_Boundaries);
    }
};

/// Dilate (Tenon): spreads the elements of input 0, with copies of input 1 (one element) between them. The output has
/// (size - 1) * dilation + 1 elements in a dimension. With m_ParametersAsInputs input 2 holds the dilations.
struct DilateDescriptor : detail::Described<DilateDescriptor>
{
    std::vector<uint32_t> m_Dilations; ///< one a dimension, at least 1
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Dilations", &DilateDescriptor::m_Dilations);
        v("ParametersAsInputs", &DilateDescriptor::m_ParametersAsInputs);
    }
};

/// Random (Tenon): random Float32 numbers; input 0 holds the output's shape. The numbers are those of TensorFlow's
/// generator: Philox4x32-10 with m_Seed as key and m_Seed2 as the upper half of the counter. They depend on the seeds
/// alone: every run of the layer gives the same ones, and 0 is a seed like any other.
struct RandomDescriptor : detail::Described<RandomDescriptor>
{
    RandomDistribution m_Distribution = RandomDistribution::Uniform;
    int64_t m_Seed = 0;
    int64_t m_Seed2 = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Distribution", &RandomDescriptor::m_Distribution);
        v("Seed", &RandomDescriptor::m_Seed);
        v("Seed2", &RandomDescriptor::m_Seed2);
    }
};

/// Multinomial (Tenon): draws classes with the probabilities softmax(input 0). Input 0: logits [batch, classes]; input
/// 1: how many to draw for each row. Output [batch, count], Signed64 (or Signed32 where declared so). Seeds: see
/// RandomDescriptor. Where no logit of a row is finite, the number of classes stands for a class.
struct MultinomialDescriptor : detail::Described<MultinomialDescriptor>
{
    int64_t m_Seed = 0;
    int64_t m_Seed2 = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Seed", &MultinomialDescriptor::m_Seed);
        v("Seed2", &MultinomialDescriptor::m_Seed2);
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

/// RngBitGenerator (Tenon): StableHLO's rng_bit_generator. Input 0: the state, Unsigned64 [2] (for Philox also [3]):
/// key, then counter. Outputs: the next state, and 32- or 64-bit integers whose type and shape must be declared.
struct RngBitGeneratorDescriptor : detail::Described<RngBitGeneratorDescriptor>
{
    RngAlgorithm m_Algorithm = RngAlgorithm::Default;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Algorithm", &RngBitGeneratorDescriptor::m_Algorithm);
    }
};

/// StablehloGather (Tenon): StableHLO's gather of slices. Input 1 holds index vectors along m_IndexVectorDim (or single
/// indices where that is its rank); each says where in input 0 a slice starts, moved inwards where it would stick out.
struct StablehloGatherDescriptor : detail::Described<StablehloGatherDescriptor>
{
    std::vector<uint32_t> m_OffsetDims;         ///< dimensions of the output that walk within a slice; ascending
    std::vector<uint32_t> m_CollapsedSliceDims; ///< dimensions of input 0 that the output does not have
    std::vector<uint32_t> m_StartIndexMap;      ///< the dimension of input 0 that each entry of an index vector is for
    uint32_t m_IndexVectorDim = 0;
    std::vector<uint32_t> m_SliceSizes; ///< one a dimension of input 0; 1 where collapsed

    template <typename V>
    static void Visit(V&& v)
    {
        v("OffsetDims", &StablehloGatherDescriptor::m_OffsetDims);
        v("CollapsedSliceDims", &StablehloGatherDescriptor::m_CollapsedSliceDims);
        v("StartIndexMap", &StablehloGatherDescriptor::m_StartIndexMap);
        v("IndexVectorDim", &StablehloGatherDescriptor::m_IndexVectorDim);
        v("SliceSizes", &StablehloGatherDescriptor::m_SliceSizes);
    }
};

/// StablehloPad (Tenon): StableHLO's pad. Copies of input 1 (one element) around and between the elements of input 0;
/// negative edges cut off elements. Where nothing remains in a dimension all sizes of the output are 0, as in TFLite.
struct StablehloPadDescriptor : detail::Described<StablehloPadDescriptor>
{
    std::vector<int32_t> m_EdgeLow;  ///< one a dimension; may be negative
    std::vector<int32_t> m_EdgeHigh; ///< likewise
    std::vector<int32_t> m_Interior; ///< between two elements; not negative

    template <typename V>
    static void Visit(V&& v)
    {
        v("EdgeLow", &StablehloPadDescriptor::m_EdgeLow);
        v("EdgeHigh", &StablehloPadDescriptor::m_EdgeHigh);
        v("Interior", &StablehloPadDescriptor::m_Interior);
    }
};

/// StablehloScatter (Tenon): StableHLO's scatter. The output is input 0 with windows of input 2 put in, in the order of
/// their elements, where the index vectors of input 1 say. What lies outside is left out.
struct StablehloScatterDescriptor : detail::Described<StablehloScatterDescriptor>
{
    ScatterNdFunction m_Function = ScatterNdFunction::Update;
    std::vector<uint32_t> m_UpdateWindowDims;         ///< dimensions of input 2 that walk within a window; ascending
    std::vector<uint32_t> m_InsertedWindowDims;       ///< dimensions of input 0 that windows do not have
    std::vector<uint32_t> m_ScatterDimsToOperandDims; ///< the dimension of input 0 of each entry of an index vector
    uint32_t m_IndexVectorDim = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Function", &StablehloScatterDescriptor::m_Function);
        v("UpdateWindowDims", &StablehloScatterDescriptor::m_UpdateWindowDims);
        v("InsertedWindowDims", &StablehloScatterDescriptor::m_InsertedWindowDims);
        v("ScatterDimsToOperandDims", &StablehloScatterDescriptor::m_ScatterDimsToOperandDims);
        v("IndexVectorDim", &StablehloScatterDescriptor::m_IndexVectorDim);
    }
};

/// CumSum (Tenon): sums from the first element along an axis on. With m_ParametersAsInputs input 1 is the axis.
struct CumSumDescriptor : detail::Described<CumSumDescriptor>
{
    int32_t m_Axis = 0;       ///< negative counts from the end
    bool m_Exclusive = false; ///< an element's own value is not in its sum
    bool m_Reverse = false;   ///< from the last element on
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &CumSumDescriptor::m_Axis);
        v("Exclusive", &CumSumDescriptor::m_Exclusive);
        v("Reverse", &CumSumDescriptor::m_Reverse);
        v("ParametersAsInputs", &CumSumDescriptor::m_ParametersAsInputs);
    }
};

/// EmbeddingLookupSparse (Tenon).
struct EmbeddingLookupSparseDescriptor : detail::Described<EmbeddingLookupSparseDescriptor>
{
    EmbeddingCombiner m_Combiner = EmbeddingCombiner::Sum;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Combiner", &EmbeddingLookupSparseDescriptor::m_Combiner);
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

/// OneHot (Tenon).
struct OneHotDescriptor : detail::Described<OneHotDescriptor>
{
    int32_t m_Axis = -1; ///< the place of the new dimension; negative counts from the end, -1 adds the last one

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &OneHotDescriptor::m_Axis);
    }
};

/// ReverseSequence (Tenon): turns around the first elements along one dimension, as many as the batch says.
struct ReverseSequenceDescriptor : detail::Described<ReverseSequenceDescriptor>
{
    int32_t m_SequenceDimension = 0; ///< what is turned around; negative counts from the end
    int32_t m_BatchDimension = 0;    ///< each index of it has its own length

    template <typename V>
    static void Visit(V&& v)
    {
        v("SequenceDimension", &ReverseSequenceDescriptor::m_SequenceDimension);
        v("BatchDimension", &ReverseSequenceDescriptor::m_BatchDimension);
    }
};

/// Select (Tenon).
struct SelectDescriptor : detail::Described<SelectDescriptor>
{
    /// The data inputs must be of one shape, and a condition of rank 1 chooses among their slices along dimension 0, as
    /// TFLite's SELECT does; else all three inputs are broadcast to each other.
    bool m_ConditionBySlice = false;

    template <typename V>
    static void Visit(V&& v)
    {
        v("ConditionBySlice", &SelectDescriptor::m_ConditionBySlice);
    }
};

/// Unique (Tenon).
struct UniqueDescriptor : detail::Described<UniqueDescriptor>
{
    DataType m_IndexType = DataType::Signed32; ///< of output 1: Signed32 or Signed64

    template <typename V>
    static void Visit(V&& v)
    {
        v("IndexType", &UniqueDescriptor::m_IndexType);
    }
};

/// UnsortedSegment (Tenon): reduces the slices that have the same number.
struct UnsortedSegmentDescriptor : detail::Described<UnsortedSegmentDescriptor>
{
    ReduceOperation m_Operation = ReduceOperation::Sum; ///< Sum, Max, Min or Prod

    template <typename V>
    static void Visit(V&& v)
    {
        v("Operation", &UnsortedSegmentDescriptor::m_Operation);
    }
};

/// ReadState and WriteState (Tenon): memory that lives on from run to run, known by its name within the network.
struct StateDescriptor : detail::Described<StateDescriptor>
{
    StateDescriptor() = default;
    explicit StateDescriptor(std::string name, uint32_t batchDimension = 0)
        : m_Name(std::move(name)), m_BatchDimension(batchDimension)
    {
    }

    std::string m_Name;
    /// Of ReadState with a batch reference: the dimension of that tensor which gives the state's dimension 0.
    uint32_t m_BatchDimension = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Name", &StateDescriptor::m_Name);
        v("BatchDimension", &StateDescriptor::m_BatchDimension);
    }
};

/// If (Tenon). Set by INetwork::AddIfLayer.
struct IfDescriptor : detail::Described<IfDescriptor>
{
    uint32_t m_NumInputs = 1; ///< the condition and what both branches take
    uint32_t m_NumOutputs = 0;

    uint32_t GetNumInputs() const { return m_NumInputs; }
    uint32_t GetNumOutputs() const { return m_NumOutputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputs", &IfDescriptor::m_NumInputs);
        v("NumOutputs", &IfDescriptor::m_NumOutputs);
    }
};

/// While (Tenon). Set by INetwork::AddWhileLayer.
struct WhileDescriptor : detail::Described<WhileDescriptor>
{
    uint32_t m_NumVariables = 0; ///< as many inputs and outputs

    uint32_t GetNumInputs() const { return m_NumVariables; }
    uint32_t GetNumOutputs() const { return m_NumVariables; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumVariables", &WhileDescriptor::m_NumVariables);
    }
};

/// Squeeze (Tenon): drops dimensions of size 1.
struct SqueezeDescriptor : detail::Described<SqueezeDescriptor>
{
    /// Dimensions to drop, negative ones counted from the end; none: all of size 1.
    std::vector<int32_t> m_Axis;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &SqueezeDescriptor::m_Axis);
    }
};

/// ExpandDims (Tenon): adds a dimension of size 1.
struct ExpandDimsDescriptor : detail::Described<ExpandDimsDescriptor>
{
    int32_t m_Axis = 0; ///< the place of the new dimension; negative counts from the end, -1 adds the last one
    bool m_ParametersAsInputs = false; ///< input 1 holds the axis, in place of m_Axis

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &ExpandDimsDescriptor::m_Axis);
        v("ParametersAsInputs", &ExpandDimsDescriptor::m_ParametersAsInputs);
    }
};

class ICustomOperator;

/// Custom (Tenon): an operator that Tenon itself does not know, by name and options.
struct CustomDescriptor : detail::Described<CustomDescriptor>
{
    std::string m_Name;             ///< e.g. "TFLite_Detection_PostProcess" or "SVDF"
    std::vector<uint8_t> m_Options; ///< options as the model's file has them
    uint32_t m_NumInputs = 0;
    uint32_t m_NumOutputs = 0;
    /// The application's implementation, which CpuRef runs. Null: only a backend that knows the name can run it.
    std::shared_ptr<const ICustomOperator> m_Operator;

    uint32_t GetNumInputs() const { return m_NumInputs; }
    uint32_t GetNumOutputs() const { return m_NumOutputs; }
    /// As the implementation says; see ICustomOperator.
    TENON_API uint32_t GetValueInputs() const;
    TENON_API bool HasLateOutputs() const;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Name", &CustomDescriptor::m_Name);
        v("Options", &CustomDescriptor::m_Options);
        v("NumInputs", &CustomDescriptor::m_NumInputs);
        v("NumOutputs", &CustomDescriptor::m_NumOutputs);
    }
};

namespace detail
{
TENON_API OriginsDescriptor MakeConcatDescriptor(const std::vector<TensorShape>& shapes, unsigned int axis);
}

/// Sets up Concat's descriptor from the shapes [first, last) joined along `concatenationDimension`.
/// Throws InvalidArgumentException when the shapes do not fit.
template <typename TensorShapeIt>
OriginsDescriptor CreateDescriptorForConcatenation(TensorShapeIt first, TensorShapeIt last,
                                                   unsigned int concatenationDimension)
{
    return detail::MakeConcatDescriptor(std::vector<TensorShape>(first, last), concatenationDimension);
}

} // namespace tenon
