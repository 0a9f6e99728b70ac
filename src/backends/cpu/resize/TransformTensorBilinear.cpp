// SPDX-License-Identifier: Apache-2.0
// Kernel row of TransformTensorBilinear: the four taps of each point, found as those of GridSample, combine pixels of
// all channels. Points outside of the image have no weights.
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/InterpolateVectors.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/MatrixPoints.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow TransformTensorBilinearTypes[] = {backends::SameType({DataType::Float32}, 2)};

constexpr size_t PixelsOfBlock = 128;
constexpr size_t TapsOfPixel = 4;

struct TransformRun
{
    GridPoints m_Points;
    size_t m_OutputHeight = 0;
    size_t m_OutputWidth = 0;
    size_t m_Channels = 0;
    const InterpolateFunctions* m_Functions = nullptr;

    void operator()(const ExecuteArgs& run) const
    {
        const ref::MatrixPoints points(run.GetInput<float>(1), static_cast<size_t>(m_Points.m_Rows.m_Size),
                                       static_cast<size_t>(m_Points.m_Columns.m_Size));
        const size_t rowBytes = m_OutputWidth * m_Channels * (TapsOfPixel + 1) * sizeof(float);
        RunRanges(*run.m_Parallel, m_OutputHeight, GetGrain(rowBytes),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t row = begin; row < end; ++row)
                      {
                          for (size_t column = 0; column < m_OutputWidth; column += PixelsOfBlock)
                          {
                              SampleBlock(run, points, row, column);
                          }
                      }
                  });
    }

    void SampleBlock(const ExecuteArgs& run, const ref::MatrixPoints& points, size_t row, size_t column) const
    {
        constexpr float Outside = -2.0f;
        std::array<float, 2 * PixelsOfBlock> places;
        std::array<int32_t, TapsOfPixel * PixelsOfBlock> offsets;
        std::array<float, TapsOfPixel * PixelsOfBlock> weights;
        const size_t count = std::min(PixelsOfBlock, m_OutputWidth - column);
        for (size_t i = 0; i < count; ++i)
        {
            const ref::ImagePoint point = points.Find(row, column + i);
            const bool isInside = points.IsInside(point);
            places[2 * i] = isInside ? point.m_X : Outside;
            places[2 * i + 1] = isInside ? point.m_Y : Outside;
        }
        m_Functions->m_FindGridTaps(m_Points, places.data(), count, offsets.data(), weights.data());
        m_Functions->m_CombineColumns(run.GetInput<float>(0),
                                      {count, TapsOfPixel, m_Channels, offsets.data(), weights.data()},
                                      run.GetOutput<float>(0) + (row * m_OutputWidth + column) * m_Channels);
    }
};

Prepared RefineTransformTensorBilinear(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (input.GetNumElements() == 0 || output.GetNumElements() == 0)
    {
        return Prepared::Declined("it is empty");
    }
    if (std::max(input[1], input[2]) > MaxGridSize ||
        input.GetNumElements() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    {
        return Prepared::Declined("the image is very large");
    }
    TransformRun run;
    run.m_Points.m_Rows = GridDimension::InPixels(input[1], size_t{input[2]} * input[3]);
    run.m_Points.m_Columns = GridDimension::InPixels(input[2], input[3]);
    run.m_OutputHeight = output[1];
    run.m_OutputWidth = output[2];
    run.m_Channels = output[3];
    run.m_Functions = &GetInterpolateFunctions();
    return run;
}

} // namespace

extern const backends::Kernel CpuTransformTensorBilinearKernel = {.m_Name = "CpuTransformTensorBilinear",
                                                                  .m_Types = TransformTensorBilinearTypes,
                                                                  .m_Reference = &ref::RefTransformTensorBilinearKernel,
                                                                  .m_Refine = RefineTransformTensorBilinear};

} // namespace tenon::cpu
