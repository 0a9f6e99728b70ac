// SPDX-License-Identifier: Apache-2.0
// Resize of NHWC images. Where each output row and column comes from is computed once for known shapes, in the same
// arithmetic as TFLite's reference kernels: float for floats and uint8, 10-bit fixed point for int8 and int16.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::TypeSet;

constexpr backends::TypeRow ResizeTypes[] = {backends::SameType(backends::WholeByteType)};
constexpr TypeSet BilinearTypes = {DataType::Float32,   DataType::Float16,  DataType::BFloat16, DataType::QAsymmU8,
                                   DataType::Unsigned8, DataType::QAsymmS8, DataType::QSymmS8,  DataType::Signed8,
                                   DataType::QSymmS16,  DataType::Signed16};

/// One spatial axis.
struct Axis
{
    int64_t m_Input = 0;
    int64_t m_Output = 0;
    bool m_AlignCorners = false;
    bool m_HalfPixelCenters = false;

    /// Input elements from one output element to the next.
    float GetScale() const
    {
        return m_AlignCorners && m_Output > 1 ? static_cast<float>(m_Input - 1) / static_cast<float>(m_Output - 1)
                                              : static_cast<float>(m_Input) / static_cast<float>(m_Output);
    }
    size_t Clamp(int64_t index) const { return static_cast<size_t>(std::clamp<int64_t>(index, 0, m_Input - 1)); }
};

/// The input element of each output element.
std::vector<size_t> FindNearest(const Axis& axis)
{
    const float scale = axis.GetScale();
    const float offset = axis.m_HalfPixelCenters ? 0.5f : 0.0f;
    std::vector<size_t> nearest(static_cast<size_t>(axis.m_Output));
    for (int64_t i = 0; i < axis.m_Output; ++i)
    {
        const float position = (static_cast<float>(i) + offset) * scale;
        nearest[static_cast<size_t>(i)] =
            axis.Clamp(static_cast<int64_t>(axis.m_AlignCorners ? std::round(position) : std::floor(position)));
    }
    return nearest;
}

/// An output element as two input elements and what each weighs: W is float, or an integer in units of 1/1024.
template <typename W>
struct Blend
{
    size_t m_Lower = 0;
    size_t m_Upper = 0;
    W m_LowerWeight = 0;
    W m_UpperWeight = 0;
};

template <typename W>
using Blends = std::vector<Blend<W>>;

void FindBlends(const Axis& axis, Blends<float>& blends)
{
    const float scale = axis.GetScale();
    for (int64_t i = 0; i < axis.m_Output; ++i)
    {
        const auto index = static_cast<float>(i);
        const float position = axis.m_HalfPixelCenters ? (index + 0.5f) * scale - 0.5f : index * scale;
        Blend<float> blend;
        blend.m_Lower = axis.Clamp(static_cast<int64_t>(std::floor(position)));
        blend.m_Upper = axis.Clamp(static_cast<int64_t>(std::ceil(position)));
        blend.m_UpperWeight = position - static_cast<float>(blend.m_Lower);
        blend.m_LowerWeight = 1.0f - blend.m_UpperWeight;
        blends.push_back(blend);
    }
}

template <typename W>
void FindBlends(const Axis& axis, Blends<W>& blends)
{
    constexpr int64_t One = 1 << 10;
    const bool corners = axis.m_AlignCorners && axis.m_Output > 1;
    const int64_t from = corners ? axis.m_Input - 1 : axis.m_Input;
    const int64_t to = corners ? axis.m_Output - 1 : axis.m_Output;
    const int64_t scale = (One * from + to / 2) / to;
    for (int64_t i = 0; i < axis.m_Output; ++i)
    {
        const int64_t position = axis.m_HalfPixelCenters ? i * scale + scale / 2 - One / 2 : i * scale;
        Blend<W> blend;
        blend.m_Lower = axis.Clamp(position / One);
        blend.m_Upper = axis.Clamp((position + One - 1) / One);
        // At the edges both are one element, which then has all the weight, however far outside the position is.
        const int64_t beyond =
            blend.m_Lower == blend.m_Upper ? 0 : position - One * static_cast<int64_t>(blend.m_Lower);
        blend.m_UpperWeight = static_cast<W>(beyond);
        blend.m_LowerWeight = static_cast<W>(One - beyond);
        blends.push_back(blend);
    }
}

/// Sizes of the tensors in elements.
struct Image
{
    size_t m_Batches = 0;
    size_t m_InputHeight = 0;
    size_t m_InputWidth = 0;
    size_t m_Channels = 0;
};

/// One output row: W is the type of the weights and sums.
template <typename T, typename W>
void BlendRow(const T* upperRow, const T* lowerRow, const Blend<W>& y, const Blends<W>& columns, size_t channels,
              T* out)
{
    for (const Blend<W>& x : columns)
    {
        const T* in00 = upperRow + x.m_Lower * channels;
        const T* in01 = upperRow + x.m_Upper * channels;
        const T* in10 = lowerRow + x.m_Lower * channels;
        const T* in11 = lowerRow + x.m_Upper * channels;
        for (size_t c = 0; c < channels; ++c)
        {
            // The order of products and sums is TFLite's, because it shows in the last bit.
            const W sum = static_cast<W>(in00[c]) * y.m_LowerWeight * x.m_LowerWeight +
                          static_cast<W>(in10[c]) * y.m_UpperWeight * x.m_LowerWeight +
                          static_cast<W>(in01[c]) * y.m_LowerWeight * x.m_UpperWeight +
                          static_cast<W>(in11[c]) * y.m_UpperWeight * x.m_UpperWeight;
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

template <typename T, typename W>
backends::Prepared PrepareBilinear(const Axis& vertical, const Axis& horizontal, const Image& image)
{
    Blends<W> rows;
    Blends<W> columns;
    FindBlends(vertical, rows);
    FindBlends(horizontal, columns);
    return [rows = std::move(rows), columns = std::move(columns), image](const ExecuteArgs& args)
    {
        const T* input = args.GetInput<T>(0);
        T* output = args.GetOutput<T>(0);
        const size_t rowElements = image.m_InputWidth * image.m_Channels;
        for (size_t batch = 0; batch < image.m_Batches; ++batch)
        {
            for (const Blend<W>& y : rows)
            {
                BlendRow(input + y.m_Lower * rowElements, input + y.m_Upper * rowElements, y, columns, image.m_Channels,
                         output);
                output += columns.size() * image.m_Channels;
            }
            input += image.m_InputHeight * rowElements;
        }
    };
}

backends::Prepared PrepareNearest(const Axis& vertical, const Axis& horizontal, const Image& image, size_t elementBytes)
{
    return [rows = FindNearest(vertical), columns = FindNearest(horizontal), image,
            pixelBytes = image.m_Channels * elementBytes](const ExecuteArgs& args)
    {
        const auto* input = args.GetInput<std::byte>(0);
        auto* output = args.GetOutput<std::byte>(0);
        const size_t rowBytes = image.m_InputWidth * pixelBytes;
        for (size_t batch = 0; batch < image.m_Batches; ++batch)
        {
            for (const size_t y : rows)
            {
                for (const size_t x : columns)
                {
                    std::memcpy(output, input + y * rowBytes + x * pixelBytes, pixelBytes);
                    output += pixelBytes;
                }
            }
            input += image.m_InputHeight * rowBytes;
        }
    };
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

    const Axis vertical{input[1], output[1], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters};
    const Axis horizontal{input[2], output[2], descriptor.m_AlignCorners, descriptor.m_HalfPixelCenters};
    const Image image{input[0], input[1], input[2], input[3]};
    const DataType type = args.GetInput(0).GetDataType();
    if (descriptor.m_Method == ResizeMethod::NearestNeighbor)
    {
        return PrepareNearest(vertical, horizontal, image, GetDataTypeSize(type));
    }
    switch (type)
    {
    case DataType::Float32: return PrepareBilinear<float, float>(vertical, horizontal, image);
    case DataType::Float16: return PrepareBilinear<Eigen::half, float>(vertical, horizontal, image);
    case DataType::BFloat16: return PrepareBilinear<Eigen::bfloat16, float>(vertical, horizontal, image);
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return PrepareBilinear<uint8_t, float>(vertical, horizontal, image);
    case DataType::QSymmS16:
    case DataType::Signed16: return PrepareBilinear<int16_t, int64_t>(vertical, horizontal, image);
    default: return PrepareBilinear<int8_t, int32_t>(vertical, horizontal, image);
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
