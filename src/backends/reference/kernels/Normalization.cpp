// SPDX-License-Identifier: Apache-2.0
// Normalization: x / (k + alpha * sum of squares)^beta of NHWC data; the sum runs over a window of neighbouring
// channels (Across) or of neighbouring pixels of the channel (Within). Types are floats.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow NormalizationTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float16, DataType::BFloat16})};

/// Indices [m_Begin, m_End) of a window of `radius` to both sides.
struct Neighbours
{
    size_t m_Begin;
    size_t m_End;

    Neighbours(size_t centre, size_t radius, size_t size)
        : m_Begin(centre - std::min(centre, radius)), m_End(centre + std::min(size - centre, radius + 1))
    {
    }
};

struct Lrn
{
    size_t m_Batches = 0;
    size_t m_Height = 0;
    size_t m_Width = 0;
    size_t m_Channels = 0;
    size_t m_Radius = 0;
    float m_Alpha = 0;
    float m_Beta = 0;
    float m_K = 0;

    template <typename T>
    T Scale(T value, double squares) const
    {
        const double power = std::pow(double{m_K} + double{m_Alpha} * squares, -double{m_Beta});
        return FromAccumulator<T>(static_cast<double>(value) * power);
    }
};

template <typename T>
double Square(T value)
{
    return static_cast<double>(value) * static_cast<double>(value);
}

template <typename T>
Prepared MakeAcross(const Lrn& lrn)
{
    return [lrn](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        const size_t pixels = lrn.m_Batches * lrn.m_Height * lrn.m_Width;
        for (size_t pixel = 0; pixel < pixels; ++pixel, in += lrn.m_Channels, out += lrn.m_Channels)
        {
            for (size_t c = 0; c < lrn.m_Channels; ++c)
            {
                const Neighbours near(c, lrn.m_Radius, lrn.m_Channels);
                double squares = 0.0;
                for (size_t i = near.m_Begin; i < near.m_End; ++i)
                {
                    squares += Square(in[i]);
                }
                out[c] = lrn.Scale(in[c], squares);
            }
        }
    };
}

template <typename T>
Prepared MakeWithin(const Lrn& lrn)
{
    return [lrn](const ExecuteArgs& run)
    {
        const T* image = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        const auto index = [&](size_t y, size_t x, size_t c) { return (y * lrn.m_Width + x) * lrn.m_Channels + c; };
        const size_t rows = lrn.m_Batches * lrn.m_Height;
        for (size_t row = 0; row < rows; ++row)
        {
            const size_t y = row % lrn.m_Height;
            const T* batch = image + (row - y) * lrn.m_Width * lrn.m_Channels;
            const Neighbours nearY(y, lrn.m_Radius, lrn.m_Height);
            for (size_t x = 0; x < lrn.m_Width; ++x)
            {
                const Neighbours nearX(x, lrn.m_Radius, lrn.m_Width);
                for (size_t c = 0; c < lrn.m_Channels; ++c)
                {
                    double squares = 0.0;
                    for (size_t i = nearY.m_Begin; i < nearY.m_End; ++i)
                    {
                        for (size_t j = nearX.m_Begin; j < nearX.m_End; ++j)
                        {
                            squares += Square(batch[index(i, j, c)]);
                        }
                    }
                    *out++ = lrn.Scale(batch[index(y, x, c)], squares);
                }
            }
        }
    };
}

SupportResult CheckNormalization(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<NormalizationDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NHWC; the optimizer turns NCHW layers into NHWC ones");
    }
    if (descriptor.m_NormMethodType != NormalizationAlgorithmMethod::LocalBrightness)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "there is only the method LocalBrightness");
    }
    return SupportResult::Yes();
}

Prepared PrepareNormalization(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<NormalizationDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    if (shape.GetNumDimensions() != 4)
    {
        throw LayerValidationException("input 0 of shape " + shape.ToString() + " needs 4 dimensions");
    }
    const Lrn lrn{shape[0],           shape[1],          shape[2],      shape[3], descriptor.m_NormSize / 2,
                  descriptor.m_Alpha, descriptor.m_Beta, descriptor.m_K};
    const bool across = descriptor.m_NormChannelType == NormalizationAlgorithmChannel::Across;
    return DispatchType<float, Half, BFloat16>(args.GetInput(0).GetDataType(),
                                               [&](auto tag)
                                               {
                                                   using T = typename decltype(tag)::Type;
                                                   return across ? MakeAcross<T>(lrn) : MakeWithin<T>(lrn);
                                               });
}

} // namespace

extern const backends::Kernel RefNormalizationKernel = {"RefNormalization", NormalizationTypes, PrepareNormalization,
                                                        CheckNormalization};

} // namespace tenon::ref
