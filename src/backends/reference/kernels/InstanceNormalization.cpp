// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization: each channel of each image (NHWC) is normalized to mean 0 and variance 1, then multiplied by
// gamma; beta is added. Types are floats.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
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
using backends::Scratch;

constexpr backends::TypeRow InstanceNormalizationTypes[] = {
    backends::SameType({DataType::Float32, DataType::Float16, DataType::BFloat16})};

SupportResult Check(const LayerView& layer)
{
    if (layer.GetDescriptor<InstanceNormalizationDescriptor>().m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NHWC; the optimizer turns NCHW layers into NHWC ones");
    }
    return SupportResult::Yes();
}

template <typename T>
class InstanceNormalization
{
public:
    InstanceNormalization(const InstanceNormalizationDescriptor& descriptor, const TensorShape& shape, Scratch& scratch)
        : m_Batches(shape[0]), m_Pixels(size_t{shape[1]} * shape[2]), m_Channels(shape[3]), m_Gamma(descriptor.m_Gamma),
          m_Beta(descriptor.m_Beta), m_Epsilon(descriptor.m_Eps), m_Means(scratch.Add<double>(m_Channels)),
          m_Variances(scratch.Add<double>(m_Channels))
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        double* means = Scratch::At<double>(args.m_Scratch, m_Means);
        double* variances = Scratch::At<double>(args.m_Scratch, m_Variances);
        const T* in = args.GetInput<T>(0);
        T* out = args.GetOutput<T>(0);
        const size_t image = m_Pixels * m_Channels;
        for (size_t batch = 0; batch < m_Batches; ++batch, in += image, out += image)
        {
            Average(in, means, [](double value, size_t) { return value; });
            Average(in, variances, [means](double value, size_t c) { return (value - means[c]) * (value - means[c]); });
            for (size_t i = 0, c = 0; i < image; ++i, c = c + 1 == m_Channels ? 0 : c + 1)
            {
                const double scale = double{m_Gamma} / std::sqrt(variances[c] + double{m_Epsilon});
                out[i] = FromAccumulator<T>((static_cast<double>(in[i]) - means[c]) * scale + double{m_Beta});
            }
        }
    }

private:
    /// averages[c] = the mean of f(value, c) over an image.
    template <typename F>
    void Average(const T* image, double* averages, const F& f) const
    {
        std::fill_n(averages, m_Channels, 0.0);
        for (size_t pixel = 0; pixel < m_Pixels; ++pixel, image += m_Channels)
        {
            for (size_t c = 0; c < m_Channels; ++c)
            {
                averages[c] += f(static_cast<double>(image[c]), c);
            }
        }
        for (size_t c = 0; c < m_Channels; ++c)
        {
            averages[c] /= static_cast<double>(m_Pixels);
        }
    }

    size_t m_Batches;
    size_t m_Pixels; ///< pixels of an image
    size_t m_Channels;
    float m_Gamma;
    float m_Beta;
    float m_Epsilon;
    size_t m_Means; ///< offsets in the scratch memory
    size_t m_Variances;
};

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& shape = args.GetInput(0).GetShape();
    if (shape.GetNumDimensions() != 4)
    {
        throw LayerValidationException("input 0 of shape " + shape.ToString() + " needs 4 dimensions");
    }
    return DispatchType<float, Half, BFloat16>(args.GetInput(0).GetDataType(),
                                               [&](auto tag)
                                               {
                                                   Scratch scratch;
                                                   InstanceNormalization<typename decltype(tag)::Type> run(
                                                       args.GetDescriptor<InstanceNormalizationDescriptor>(), shape,
                                                       scratch);
                                                   return Prepared(run, scratch.GetBytes());
                                               });
}

} // namespace

extern const backends::Kernel RefInstanceNormalizationKernel = {"RefInstanceNormalization", InstanceNormalizationTypes,
                                                                Prepare, Check};

} // namespace tenon::ref
