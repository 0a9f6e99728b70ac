// SPDX-License-Identifier: Apache-2.0
// The parameters of convolutions.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <vector>

namespace tenon
{

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
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

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
        v("Requantization", &Convolution2dDescriptor::m_Requantization);
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
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

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
        v("Requantization", &DepthwiseConvolution2dDescriptor::m_Requantization);
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
    bool m_ParametersAsInputs = false;                                    ///< Tenon: input 3 holds the output's shape
    bool m_SumsOf32Bits = false;                                          ///< Tenon: see Convolution2dDescriptor
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs
    /// Tenon: with PaddingScheme::Same, and no output shape, the paddings are kernel - 1 - (input - 1) % stride, or 0
    /// if that is negative, as in MediaPipe.
    bool m_SameByInput = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 4 : (m_BiasEnabled ? 3 : 2); }
    /// Whether input i must be connected: input 2 is the bias, also in front of the output's shape.
    bool NeedsInput(uint32_t i) const { return i < GetNumInputs() && (i != 2 || m_BiasEnabled); }

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
        v("Requantization", &TransposeConvolution2dDescriptor::m_Requantization);
        v("SameByInput", &TransposeConvolution2dDescriptor::m_SameByInput);
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
    /// Whether input i must be connected: input 2 is the bias, also in front of the output's shape.
    bool NeedsInput(uint32_t i) const { return i < GetNumInputs() && (i != 2 || m_BiasEnabled); }

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

} // namespace tenon
