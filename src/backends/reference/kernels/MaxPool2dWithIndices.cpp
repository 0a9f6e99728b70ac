// SPDX-License-Identifier: Apache-2.0
// MaxPool2dWithIndices and its inverse, MaxUnpool2d, of NHWC images, as MediaPipe's MaxPoolingWithArgmax2D and
// MaxUnpooling2D.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/PoolWindows.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <functional>
#include <limits>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow MaxPool2dWithIndicesTypes[] = {backends::SameType({DataType::Float32})};
constexpr backends::TypeRow MaxUnpool2dTypes[] = {backends::SameType({DataType::Float32}, 2)};

/// Throws LayerValidationException unless both are NHWC, of as many images and channels.
void RequireImages(const char* layer, const TensorShape& input, const TensorShape& output)
{
    if (input.GetNumDimensions() != 4 || output.GetNumDimensions() != 4 || input[0] != output[0] ||
        input[3] != output[3])
    {
        throw LayerValidationException(std::string(layer) + " of " + input.ToString() + " to " + output.ToString() +
                                       ": both must be [N, H, W, C] and differ in height and width only");
    }
}

struct MaxPool
{
    PoolWindows m_Windows;

    void operator()(const ExecuteArgs& run) const
    {
        const size_t width = m_Windows.m_X.m_Output;
        const auto part = [&](size_t begin, size_t end)
        {
            for (size_t pixel = begin * width; pixel < end * width; ++pixel)
            {
                PoolPixel(run, pixel / width / m_Windows.m_Y.m_Output, pixel / width % m_Windows.m_Y.m_Output,
                          pixel % width, pixel * m_Windows.m_Channels);
            }
        };
        constexpr size_t Grain = 4096; // elements of the output: some ten microseconds
        run.m_Parallel->Run(m_Windows.m_Batches * m_Windows.m_Y.m_Output,
                            std::max<size_t>(1, Grain / std::max<size_t>(1, width * m_Windows.m_Channels)),
                            std::ref(part));
    }

    /// `element`: the first channel of the pixel in the outputs. A NaN is passed over.
    void PoolPixel(const ExecuteArgs& run, size_t batch, size_t row, size_t column, size_t element) const
    {
        float* const values = run.GetOutput<float>(0) + element;
        float* const indices = run.GetOutput<float>(1) + element;
        std::fill_n(values, m_Windows.m_Channels, LowestPooled);
        std::fill_n(indices, m_Windows.m_Channels, IndexFraction);
        const int64_t top = m_Windows.m_Y.Origin(row);
        const int64_t left = m_Windows.m_X.Origin(column);
        for (size_t y = m_Windows.m_Y.FirstTap(top); y < m_Windows.m_Y.EndTap(top); ++y)
        {
            for (size_t x = m_Windows.m_X.FirstTap(left); x < m_Windows.m_X.EndTap(left); ++x)
            {
                const float* const pixel =
                    run.GetInput<float>(0) + m_Windows.FindPixel(batch, static_cast<size_t>(top + int64_t(y)),
                                                                 static_cast<size_t>(left + int64_t(x)));
                const float index = static_cast<float>(y * m_Windows.m_X.m_Kernel + x) + IndexFraction;
                for (size_t c = 0; c < m_Windows.m_Channels; ++c)
                {
                    const bool isLarger = pixel[c] > values[c];
                    values[c] = isLarger ? pixel[c] : values[c];
                    indices[c] = isLarger ? index : indices[c];
                }
            }
        }
    }
};

backends::Prepared PrepareMaxPool2dWithIndices(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& image = args.GetInput(0).GetShape();
    const TensorShape& pooled = args.GetOutput(0).GetShape();
    RequireImages("MaxPool2dWithIndices", image, pooled);
    if (args.GetOutput(1).GetShape() != pooled)
    {
        throw LayerValidationException("MaxPool2dWithIndices to " + pooled.ToString() +
                                       ": the indices must have this "
                                       "shape, not " +
                                       args.GetOutput(1).GetShape().ToString());
    }
    return MaxPool{PoolWindows(image, pooled, args.GetDescriptor<MaxPool2dWithIndicesDescriptor>())};
}

struct MaxUnpool2d
{
    PoolWindows m_Windows;
    int32_t m_PoolWidth = 1; ///< no index is as large as a larger one
    size_t m_OutputElements = 0;

    void operator()(const ExecuteArgs& run) const
    {
        std::fill_n(run.GetOutput<float>(0), m_OutputElements, 0.0f);
        size_t element = 0;
        for (size_t batch = 0; batch < m_Windows.m_Batches; ++batch)
        {
            for (size_t row = 0; row < m_Windows.m_Y.m_Output; ++row)
            {
                for (size_t column = 0; column < m_Windows.m_X.m_Output; ++column)
                {
                    for (size_t c = 0; c < m_Windows.m_Channels; ++c, ++element)
                    {
                        PutBack(run, element, batch, m_Windows.m_Y.Origin(row), m_Windows.m_X.Origin(column), c);
                    }
                }
            }
        }
    }

    /// An element whose index leads outside of the image is left out.
    void PutBack(const ExecuteArgs& run, size_t element, size_t batch, int64_t top, int64_t left, size_t channel) const
    {
        constexpr float Limit = 2147483648.0f; // 2^31
        const float number = run.GetInput<float>(1)[element];
        if (!(number > -Limit && number < Limit))
        {
            return;
        }
        const auto index = static_cast<int32_t>(number);
        const int64_t y = top + index / m_PoolWidth;
        const int64_t x = left + index % m_PoolWidth;
        if (y >= 0 && x >= 0 && y < static_cast<int64_t>(m_Windows.m_Y.m_Input) &&
            x < static_cast<int64_t>(m_Windows.m_X.m_Input))
        {
            run.GetOutput<float>(
                0)[m_Windows.FindPixel(batch, static_cast<size_t>(y), static_cast<size_t>(x)) + channel] =
                run.GetInput<float>(0)[element];
        }
    }
};

backends::Prepared PrepareMaxUnpool2d(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& pooled = args.GetInput(0).GetShape();
    const TensorShape& image = args.GetOutput(0).GetShape();
    RequireImages("MaxUnpool2d", pooled, image);
    if (args.GetInput(1).GetShape() != pooled)
    {
        throw LayerValidationException("MaxUnpool2d of " + pooled.ToString() +
                                       ": the indices must have this shape, "
                                       "not " +
                                       args.GetInput(1).GetShape().ToString());
    }
    const auto& pool = args.GetDescriptor<MaxUnpool2dDescriptor>();
    constexpr uint32_t MaxWidth = std::numeric_limits<int32_t>::max();
    return MaxUnpool2d{PoolWindows(image, pooled, pool),
                       static_cast<int32_t>(std::clamp<uint32_t>(pool.m_PoolWidth, 1, MaxWidth)),
                       args.GetOutput(0).GetNumElements()};
}

} // namespace

extern const backends::Kernel RefMaxPool2dWithIndicesKernel = {"RefMaxPool2dWithIndices", MaxPool2dWithIndicesTypes,
                                                               PrepareMaxPool2dWithIndices};
extern const backends::Kernel RefMaxUnpool2dKernel = {"RefMaxUnpool2d", MaxUnpool2dTypes, PrepareMaxUnpool2d};

} // namespace tenon::ref
