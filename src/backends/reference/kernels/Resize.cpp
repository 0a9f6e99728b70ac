// SPDX-License-Identifier: Apache-2.0
// Resize of NHWC images. The source of each output row and column is computed while running, a block of columns at a
// time.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/ResizeAxis.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace tenon::ref
{

namespace
{

using backends::TypeSet;

constexpr backends::TypeRow ResizeTypes[] = {backends::SameType(backends::WholeByteType)};
constexpr TypeSet BilinearTypes = {DataType::Float32,   DataType::Float16,  DataType::BFloat16, DataType::QAsymmU8,
                                   DataType::Unsigned8, DataType::QAsymmS8, DataType::QSymmS8,  DataType::Signed8,
                                   DataType::QSymmS16,  DataType::Signed16};

/// The number of output columns whose sources are computed at once, into a table in the scratch memory: a wide image
/// must not need a table that is larger than itself.
constexpr size_t ColumnBlock = 1024;

/// Both axes, and sizes of the tensors in elements.
struct Image
{
    size_t m_Batches = 0;
    ResizeAxis m_Vertical;
    ResizeAxis m_Horizontal;
    size_t m_Channels = 0;
};

/// Runs row(source of y, sources of a block of columns, number of them, input image, first output element of the block)
/// for each output row and block of columns. Locate: Nearest or Blending. Element sizes are in units of T.
template <typename Locate, typename T, typename Row>
void ForEachRow(const Image& image, size_t pixel, const T* input, T* output, void* scratch, const Row& row)
{
    const Locate locateRow(image.m_Vertical);
    const Locate locateColumn(image.m_Horizontal);
    auto* const places = static_cast<typename Locate::Place*>(scratch);
    const auto height = static_cast<size_t>(image.m_Vertical.m_Output);
    const auto width = static_cast<size_t>(image.m_Horizontal.m_Output);
    const size_t inputPixels = static_cast<size_t>(image.m_Vertical.m_Input * image.m_Horizontal.m_Input);
    for (size_t first = 0; first < width; first += ColumnBlock)
    {
        const size_t count = std::min(ColumnBlock, width - first);
        for (size_t i = 0; i < count; ++i)
        {
            places[i] = locateColumn(first + i);
        }
        for (size_t batch = 0; batch < image.m_Batches; ++batch)
        {
            for (size_t y = 0; y < height; ++y)
            {
                row(locateRow(y), places, count, input + batch * inputPixels * pixel,
                    output + ((batch * height + y) * width + first) * pixel);
            }
        }
    }
}

/// Computes a part of an output row. W is the type of the weights and sums.
template <typename T, typename W>
void BlendRow(const T* upperRow, const T* lowerRow, const Blend<W>& y, const Blend<W>* columns, size_t count,
              size_t channels, T* out)
{
    for (size_t i = 0; i < count; ++i)
    {
        const Blend<W>& x = columns[i];
        const T* in00 = upperRow + x.m_Lower * channels;
        const T* in01 = upperRow + x.m_Upper * channels;
        const T* in10 = lowerRow + x.m_Lower * channels;
        const T* in11 = lowerRow + x.m_Upper * channels;
        for (size_t c = 0; c < channels; ++c)
        {
            const W lower[] = {static_cast<W>(in00[c]), static_cast<W>(in01[c])};
            const W upper[] = {static_cast<W>(in10[c]), static_cast<W>(in11[c])};
            const W sum = BlendFour(lower, upper, y, x);
            if constexpr (std::is_integral_v<W>)
            {
                constexpr W One = W{1} << 20;
                out[c] = static_cast<T>((sum + (sum > 0 ? One / 2 : -(One / 2))) / One);
            }
            else
            {
                out[c] = static_cast<T>(sum + (std::is_integral_v<T> ? 0.5f : 0.0f));
            }
        }
        out += channels;
    }
}

template <typename Locate>
size_t GetTableBytes(const Image& image)
{
    return std::min(ColumnBlock, static_cast<size_t>(image.m_Horizontal.m_Output)) * sizeof(typename Locate::Place);
}

template <typename T, typename W>
backends::Prepared PrepareBilinear(const Image& image)
{
    const auto run = [image](const ExecuteArgs& args)
    {
        const size_t rowElements = static_cast<size_t>(image.m_Horizontal.m_Input) * image.m_Channels;
        const auto row = [&](const Blend<W>& y, const Blend<W>* columns, size_t count, const T* input, T* output)
        {
            BlendRow(input + y.m_Lower * rowElements, input + y.m_Upper * rowElements, y, columns, count,
                     image.m_Channels, output);
        };
        ForEachRow<Blending<W>>(image, image.m_Channels, args.GetInput<T>(0), args.GetOutput<T>(0), args.m_Scratch,
                                row);
    };
    return {run, GetTableBytes<Blending<W>>(image)};
}

backends::Prepared PrepareNearest(const Image& image, size_t elementBytes)
{
    const auto run = [image, pixelBytes = image.m_Channels * elementBytes](const ExecuteArgs& args)
    {
        const size_t rowBytes = static_cast<size_t>(image.m_Horizontal.m_Input) * pixelBytes;
        const auto row = [&](size_t y, const size_t* columns, size_t count, const std::byte* input, std::byte* output)
        {
            for (size_t i = 0; i < count; ++i, output += pixelBytes)
            {
                std::memcpy(output, input + y * rowBytes + columns[i] * pixelBytes, pixelBytes);
            }
        };
        ForEachRow<Nearest>(image, pixelBytes, args.GetInput<std::byte>(0), args.GetOutput<std::byte>(0),
                            args.m_Scratch, row);
    };
    return {run, GetTableBytes<Nearest>(image)};
}

void CheckShapes(const TensorShape& input, const TensorShape& output)
{
    const bool fits = input.GetNumDimensions() == 4 && output.GetNumDimensions() == 4 && input[0] == output[0] &&
                      input[3] == output[3];
    if (!fits)
    {
        throw LayerValidationException("Resize of " + input.ToString() + " to " + output.ToString() +
                                       ": both must be [batches, height, width, channels] and differ in height and "
                                       "width only");
    }
    if (output.GetNumElements() != 0 && input.GetNumElements() == 0)
    {
        throw LayerValidationException("Resize of " + input.ToString() + " to " + output.ToString() +
                                       ": there is nothing to take values from");
    }
}

backends::Prepared PrepareResize(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ResizeDescriptor>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    CheckShapes(input, output);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }

    const Image image{input[0],
                      {input[1], output[1], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters},
                      {input[2], output[2], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters},
                      input[3]};
    const DataType type = args.GetInput(0).GetDataType();
    if (descriptor.m_Method == ResizeMethod::NearestNeighbor)
    {
        return PrepareNearest(image, GetDataTypeSize(type));
    }
    switch (type)
    {
    case DataType::Float32: return PrepareBilinear<float, float>(image);
    case DataType::Float16: return PrepareBilinear<Eigen::half, float>(image);
    case DataType::BFloat16: return PrepareBilinear<Eigen::bfloat16, float>(image);
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return PrepareBilinear<uint8_t, float>(image);
    case DataType::QSymmS16:
    case DataType::Signed16: return PrepareBilinear<int16_t, int64_t>(image);
    default: return PrepareBilinear<int8_t, int32_t>(image);
    }
}

SupportResult CheckResize(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<ResizeDescriptor>();
    if (descriptor.m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the data layout is not NHWC");
    }
    if (descriptor.m_Method != ResizeMethod::Bilinear && descriptor.m_Method != ResizeMethod::NearestNeighbor)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the method is neither Bilinear nor NearestNeighbor");
    }
    const DataType type = layer.GetInput(0).GetDataType();
    if (descriptor.m_Method == ResizeMethod::Bilinear && !BilinearTypes.Has(type))
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string("Bilinear does not take ") + GetDataTypeName(type) + " values");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefResizeKernel = {"RefResize", ResizeTypes, PrepareResize, CheckResize};

} // namespace tenon::ref
