// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that scale their input by its own statistics.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>

namespace tenon
{

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
/// m_Axis on, times scale plus bias. Semantics of ONNX's operator of that name, or of its RMSNormalization where
/// m_SubtractMean is false. Inputs: x and, where they are connected, scale and bias, which have the shape of those
/// dimensions (ones may stand before it) or one element; where further dimensions follow the normalized ones, scale and
/// bias broadcast to x.
struct LayerNormalizationDescriptor : detail::Described<LayerNormalizationDescriptor>
{
    int m_Axis = -1;         ///< negative counts from the end
    float m_Epsilon = 1e-5f; ///< added to the variance
    /// How many dimensions from m_Axis on are normalized together; 0: all that follow. A kernel sees another number
    /// only where it matters: shape inference puts 0 in place of all that follow.
    uint32_t m_NumAxes = 0;
    /// False: RMS normalization, x / sqrt(mean of squares + m_Epsilon) times scale plus bias.
    bool m_SubtractMean = true;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Axis", &LayerNormalizationDescriptor::m_Axis);
        v("Epsilon", &LayerNormalizationDescriptor::m_Epsilon);
        v("NumAxes", &LayerNormalizationDescriptor::m_NumAxes);
        v("SubtractMean", &LayerNormalizationDescriptor::m_SubtractMean);
    }
};

} // namespace tenon
