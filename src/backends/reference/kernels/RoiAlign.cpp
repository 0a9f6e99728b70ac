// SPDX-License-Identifier: Apache-2.0
// RoiAlign, as in ONNX (and Mask R-CNN): each cell of a region is the average, or the maximum, of points in it, which
// are interpolated linearly between four elements. A point more than one element outside of the image is 0. The maximum
// in ONNX is taken over the four products of element and weight of all points, and not over the points' values.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"
#include "backends/reference/kernels/RegionPoints.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow RoiAlignTypes[] = {backends::SameType(backends::FloatTypes, 2)};

SupportResult CheckRoiAlign(const LayerView& layer)
{
    const PoolingAlgorithm pool = layer.GetDescriptor<RoiAlignDescriptor>().m_PoolType;
    if (pool != PoolingAlgorithm::Average && pool != PoolingAlgorithm::Max)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "regions are pooled by Average or Max alone");
    }
    return CheckIndexType(layer, 2);
}

/// The number of channels that are pooled at once.
constexpr size_t Chunk = 64;

/// Pools one cell of `channels` channels, at most Chunk, which begin at `image`.
template <typename T>
std::array<double, Chunk> PoolCell(const T* image, size_t channels, const RegionAxis& rows, const RegionAxis& columns,
                                   int64_t row, int64_t column, bool isMax)
{
    std::array<double, Chunk> results{};
    const int64_t plane = rows.m_Size * columns.m_Size;
    bool isFirst = true;
    for (int64_t i = 0; i < rows.m_Points; ++i)
    {
        const RegionPoint y(rows, row, i);
        for (int64_t j = 0; j < columns.m_Points; ++j)
        {
            const RegionPoint x(columns, column, j);
            const bool isInside = !y.m_IsOutside && !x.m_IsOutside;
            const double weights[4] = {y.m_LowWeight * x.m_LowWeight, y.m_LowWeight * x.m_HighWeight,
                                       y.m_HighWeight * x.m_LowWeight, y.m_HighWeight * x.m_HighWeight};
            const int64_t places[4] = {y.m_Low * columns.m_Size + x.m_Low, y.m_Low * columns.m_Size + x.m_High,
                                       y.m_High * columns.m_Size + x.m_Low, y.m_High * columns.m_Size + x.m_High};
            const T* at = image;
            for (size_t c = 0; c < channels && (isInside || isMax); ++c, at += plane)
            {
                double products[4] = {};
                for (size_t k = 0; k < 4 && isInside; ++k)
                {
                    products[k] = weights[k] * static_cast<double>(at[places[k]]);
                }
                if (isMax)
                {
                    const double largest = *std::max_element(products, products + 4);
                    results[c] = isFirst ? largest : std::max(results[c], largest);
                }
                else
                {
                    results[c] += products[0] + products[1] + products[2] + products[3];
                }
            }
            isFirst = false;
        }
    }
    const auto count = static_cast<double>(std::max<int64_t>(rows.m_Points * columns.m_Points, 1));
    for (double& result : results)
    {
        result /= isMax ? 1.0 : count;
    }
    return results;
}

template <typename T>
struct RoiAlignRun
{
    RoiAlignDescriptor m_Descriptor;
    IndexInput m_Images;
    TensorShape m_Input;
    TensorShape m_Output;

    void operator()(const ExecuteArgs& run) const
    {
        const size_t regions = m_Output[0];
        for (size_t i = 0; i < regions; ++i)
        {
            m_Images.Read(run, i, 0, m_Input[0]);
        }
        const size_t chunks = (m_Input[1] + Chunk - 1) / Chunk;
        const auto part = [&](size_t begin, size_t end)
        {
            for (size_t i = begin; i < end; ++i)
            {
                PoolChannels(run, i / chunks, i % chunks * Chunk);
            }
        };
        run.m_Parallel->Run(regions * chunks, 1, std::ref(part));
    }

    /// Pools up to Chunk channels of a region, from `first` on.
    void PoolChannels(const ExecuteArgs& run, size_t region, size_t first) const
    {
        const size_t channels = m_Input[1];
        const size_t count = std::min(Chunk, channels - first);
        const auto image = static_cast<size_t>(m_Images.ReadAny(run, region));
        const T* const corners = run.GetInput<T>(1) + region * 4;
        const auto corner = [&](size_t i) { return static_cast<double>(corners[i]); };
        const RegionAxis rows(corner(1), corner(3), m_Descriptor, m_Output[2], m_Input[2]);
        const RegionAxis columns(corner(0), corner(2), m_Descriptor, m_Output[3], m_Input[3]);
        const T* const in = run.GetInput<T>(0) + (image * channels + first) * m_Input[2] * m_Input[3];
        const size_t cells = size_t{m_Output[2]} * m_Output[3];
        T* const out = run.GetOutput<T>(0) + (region * channels + first) * cells;
        for (size_t cell = 0; cell < cells; ++cell)
        {
            const std::array<double, Chunk> pooled =
                PoolCell(in, count, rows, columns, static_cast<int64_t>(cell / m_Output[3]),
                         static_cast<int64_t>(cell % m_Output[3]), m_Descriptor.m_PoolType == PoolingAlgorithm::Max);
            for (size_t c = 0; c < count; ++c)
            {
                out[c * cells + cell] = static_cast<T>(pooled[c]);
            }
        }
    }
};

backends::Prepared PrepareRoiAlign(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const bool fits = input.GetNumDimensions() == 4 && output.GetNumDimensions() == 4 && input[1] == output[1] &&
                      (input.GetNumElements() != 0 || output.GetNumElements() == 0);
    if (!fits)
    {
        throw LayerValidationException("RoiAlign of " + input.ToString() + " to " + output.ToString() +
                                       ": both must be [N, C, H, W] with as many channels, and images not empty");
    }
    RequireElements(args.GetInput(1), "input 1", uint64_t{output[0]} * 4);
    RequireElements(args.GetInput(2), "input 2", output[0]);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    return DispatchType<float, double, Half, BFloat16>(
        args.GetInput(0).GetDataType(),
        [&](auto tag) -> backends::Prepared
        {
            using T = typename decltype(tag)::Type;
            return RoiAlignRun<T>{args.GetDescriptor<RoiAlignDescriptor>(), IndexInput(args, 2), input, output};
        });
}

} // namespace

extern const backends::Kernel RefRoiAlignKernel = {"RefRoiAlign", RoiAlignTypes, PrepareRoiAlign, CheckRoiAlign};

} // namespace tenon::ref
