// SPDX-License-Identifier: Apache-2.0
// TransformTensorBilinear: the pixels of an image at the points that an affine matrix gives, as MediaPipe's operator of
// version 2. Floats are rounded where the operator rounds them.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/MatrixPoints.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow TransformTensorBilinearTypes[] = {backends::SameType({DataType::Float32}, 2)};

/// The two pixels around a coordinate.
struct Neighbours
{
    size_t m_First;
    bool m_HasSecond;
    float m_SecondWeight;

    /// `coordinate`: in [0, size - 1], where floats may round size - 1 up.
    Neighbours(float coordinate, size_t size)
        : m_First(std::min(static_cast<size_t>(coordinate), size - 1)), m_HasSecond(m_First + 1 < size),
          m_SecondWeight(coordinate - std::floor(coordinate))
    {
    }
};

/// A second pixel without a weight is left out, so that infinities do not spread.
float Interpolate(float first, float second, float secondWeight)
{
    return secondWeight == 0.0f ? first : static_cast<float>((1.0 - secondWeight) * first + secondWeight * second);
}

struct TransformRun
{
    size_t m_InputHeight;
    size_t m_InputWidth;
    size_t m_OutputHeight;
    size_t m_OutputWidth;
    size_t m_Channels;

    void operator()(const ExecuteArgs& run) const
    {
        const MatrixPoints points(run.GetInput<float>(1), m_InputHeight, m_InputWidth);
        const auto part = [&](size_t begin, size_t end)
        {
            for (size_t row = begin; row < end; ++row)
            {
                float* out = run.GetOutput<float>(0) + row * m_OutputWidth * m_Channels;
                for (size_t column = 0; column < m_OutputWidth; ++column, out += m_Channels)
                {
                    const ImagePoint point = points.Find(row, column);
                    if (points.IsInside(point))
                    {
                        Sample(run.GetInput<float>(0), point, out);
                    }
                    else
                    {
                        std::fill_n(out, m_Channels, 0.0f);
                    }
                }
            }
        };
        constexpr size_t Grain = 1024; // elements: some microseconds
        run.m_Parallel->Run(m_OutputHeight,
                            std::max<size_t>(1, Grain / std::max<size_t>(1, m_OutputWidth * m_Channels)),
                            std::ref(part));
    }

    void Sample(const float* in, const ImagePoint& point, float* out) const
    {
        const Neighbours rows(point.m_Y, m_InputHeight);
        const Neighbours columns(point.m_X, m_InputWidth);
        const float* const corner = in + (rows.m_First * m_InputWidth + columns.m_First) * m_Channels;
        const auto pixel = [&](size_t row, size_t column, size_t channel)
        {
            const bool isInside = (row == 0 || rows.m_HasSecond) && (column == 0 || columns.m_HasSecond);
            return isInside ? corner[(row * m_InputWidth + column) * m_Channels + channel] : 0.0f;
        };
        for (size_t c = 0; c < m_Channels; ++c)
        {
            const float upper = Interpolate(pixel(0, 0, c), pixel(0, 1, c), columns.m_SecondWeight);
            const float lower = Interpolate(pixel(1, 0, c), pixel(1, 1, c), columns.m_SecondWeight);
            out[c] = Interpolate(upper, lower, rows.m_SecondWeight);
        }
    }
};

backends::Prepared PrepareTransformTensorBilinear(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const bool fits = input.GetNumDimensions() == 4 && output.GetNumDimensions() == 4 && input[0] == 1 &&
                      output[0] == 1 && input[3] == output[3];
    if (!fits)
    {
        throw LayerValidationException("TransformTensorBilinear of " + input.ToString() + " to " + output.ToString() +
                                       ": both must be [1, H, W, C] with as many channels");
    }
    RequireElements(args.GetInput(1), "input 1, the matrix,", 16);
    return TransformRun{input[1], input[2], output[1], output[2], output[3]};
}

} // namespace

extern const backends::Kernel RefTransformTensorBilinearKernel = {
    "RefTransformTensorBilinear", TransformTensorBilinearTypes, PrepareTransformTensorBilinear};

} // namespace tenon::ref
