// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: (x - mean) * gamma / sqrt(variance + eps) + beta, with one of each per channel (the last
// dimension). Inputs: data, mean, variance, beta, gamma. Float types.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Normalization.hpp>

#include <cmath>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Types;
using backends::TypeSet;

/// Parameters are Float32, or have the data's type. Check checks the type of the fifth input, gamma.
constexpr backends::TypeRow MakeRow(DataType type)
{
    const TypeSet parameter = {type, DataType::Float32};
    return Types({type, parameter, parameter, parameter}, type);
}

constexpr backends::TypeRow BatchNormalizationTypes[] = {MakeRow(DataType::Float32), MakeRow(DataType::Float16),
                                                         MakeRow(DataType::BFloat16)};

SupportResult Check(const LayerView& layer)
{
    if (layer.GetDescriptor<BatchNormalizationDescriptor>().m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NHWC; the optimizer turns NCHW layers into NHWC ones");
    }
    const DataType gamma = layer.GetInput(4).GetDataType();
    if (gamma != DataType::Float32 && gamma != layer.GetInput(0).GetDataType())
    {
        return SupportResult::No(SupportCode::UnsupportedType, std::string("input 4 of type ") +
                                                                   GetDataTypeName(gamma) +
                                                                   " is neither Float32 nor of the data's type");
    }
    return SupportResult::Yes();
}

Prepared PrepareFloat(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& data = args.GetInput(0);
    const unsigned int rank = data.GetNumDimensions();
    const size_t channels = rank == 0 ? 0 : data.GetShape()[rank - 1];
    bool fits = rank > 0;
    for (size_t i = 1; i < 5; ++i)
    {
        fits = fits && args.GetInput(i).GetNumElements() == channels;
    }
    if (!fits)
    {
        throw LayerValidationException("mean, variance, beta and gamma need one element for each channel, the last "
                                       "dimension of the data's shape " +
                                       data.GetShape().ToString());
    }
    const size_t pixels = channels == 0 ? 0 : data.GetNumElements() / channels;
    const float epsilon = args.GetDescriptor<BatchNormalizationDescriptor>().m_Eps;
    return [pixels, channels, epsilon](const ExecuteArgs& run)
    {
        const float* in = run.GetInput<float>(0);
        const float* mean = run.GetInput<float>(1);
        const float* variance = run.GetInput<float>(2);
        const float* beta = run.GetInput<float>(3);
        const float* gamma = run.GetInput<float>(4);
        float* out = run.GetOutput<float>(0);
        for (size_t pixel = 0; pixel < pixels; ++pixel, in += channels, out += channels)
        {
            for (size_t c = 0; c < channels; ++c)
            {
                out[c] = (in[c] - mean[c]) * (gamma[c] / std::sqrt(variance[c] + epsilon)) + beta[c];
            }
        }
    };
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareFloat, packed);
}

} // namespace

extern const backends::Kernel RefBatchNormalizationKernel = {"RefBatchNormalization", BatchNormalizationTypes, Prepare,
                                                             Check};

} // namespace tenon::ref
