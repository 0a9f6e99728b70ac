// SPDX-License-Identifier: Apache-2.0
// Pools of images and volumes. Averages of integers round half away from zero, as in TFLite, or are rescaled by
// RequantizationMode::FloatHalfEven.
#include "backends/reference/kernels/Pooling.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

/// Sizes of a pool over NDHWC data; images have one layer.
struct Pool
{
    size_t m_Batches = 0;
    size_t m_Channels = 0;
    WindowAxis m_Z;
    WindowAxis m_Y;
    WindowAxis m_X;
    int64_t m_PadAfterZ = 0;
    int64_t m_PadAfterY = 0;
    int64_t m_PadAfterX = 0;
    bool m_CountPadding = false;
    TensorQuantization m_Input; ///< of quantized data
    TensorQuantization m_Output;
    size_t m_Sums = 0; ///< offset in the scratch memory
};

/// The part of a window that lies inside the volume, and the divisor of the average.
struct Window
{
    size_t m_BeginZ = 0;
    size_t m_EndZ = 0;
    size_t m_BeginY = 0;
    size_t m_EndY = 0;
    size_t m_BeginX = 0;
    size_t m_EndX = 0;
    size_t m_Inside = 0;
    size_t m_Divisor = 0;
};

/// The number of taps in the volume or its padding.
size_t PaddedTaps(const WindowAxis& axis, int64_t origin, int64_t padAfter)
{
    const int64_t end =
        std::min(origin + static_cast<int64_t>(axis.m_Kernel), static_cast<int64_t>(axis.m_Input) + padAfter);
    return static_cast<size_t>(std::max<int64_t>(0, end - origin));
}

Window MakeWindow(const Pool& pool, size_t outZ, size_t outY, size_t outX)
{
    const int64_t z = pool.m_Z.Origin(outZ);
    const int64_t y = pool.m_Y.Origin(outY);
    const int64_t x = pool.m_X.Origin(outX);
    Window w;
    w.m_BeginZ = static_cast<size_t>(z + static_cast<int64_t>(pool.m_Z.FirstTap(z)));
    w.m_EndZ = static_cast<size_t>(z + static_cast<int64_t>(pool.m_Z.EndTap(z)));
    w.m_BeginY = static_cast<size_t>(y + static_cast<int64_t>(pool.m_Y.FirstTap(y)));
    w.m_EndY = static_cast<size_t>(y + static_cast<int64_t>(pool.m_Y.EndTap(y)));
    w.m_BeginX = static_cast<size_t>(x + static_cast<int64_t>(pool.m_X.FirstTap(x)));
    w.m_EndX = static_cast<size_t>(x + static_cast<int64_t>(pool.m_X.EndTap(x)));
    w.m_Inside = (w.m_EndZ - w.m_BeginZ) * (w.m_EndY - w.m_BeginY) * (w.m_EndX - w.m_BeginX);
    w.m_Divisor = pool.m_CountPadding
                      ? PaddedTaps(pool.m_Z, z, pool.m_PadAfterZ) * PaddedTaps(pool.m_Y, y, pool.m_PadAfterY) *
                            PaddedTaps(pool.m_X, x, pool.m_PadAfterX)
                      : w.m_Inside;
    return w;
}

/// Calls tap(values) with the channels of each position inside the window.
template <typename T, typename Tap>
void ForEachTap(const Pool& pool, const Window& w, const T* volume, Tap tap)
{
    for (size_t z = w.m_BeginZ; z < w.m_EndZ; ++z)
    {
        for (size_t y = w.m_BeginY; y < w.m_EndY; ++y)
        {
            for (size_t x = w.m_BeginX; x < w.m_EndX; ++x)
            {
                tap(volume + ((z * pool.m_Y.m_Input + y) * pool.m_X.m_Input + x) * pool.m_Channels);
            }
        }
    }
}

/// Calls reduce(window, volume, out) for each output pixel. A window without data gives real zeros.
template <typename T, typename Reduce>
void ForEachWindow(const Pool& pool, const ExecuteArgs& args, Reduce reduce)
{
    const T* volume = args.GetInput<T>(0);
    T* out = args.GetOutput<T>(0);
    const size_t layers = pool.m_Batches * pool.m_Z.m_Output;
    for (size_t layer = 0; layer < layers; ++layer)
    {
        const size_t z = layer % pool.m_Z.m_Output;
        for (size_t y = 0; y < pool.m_Y.m_Output; ++y)
        {
            for (size_t x = 0; x < pool.m_X.m_Output; ++x, out += pool.m_Channels)
            {
                const Window window = MakeWindow(pool, z, y, x);
                if (window.m_Inside == 0)
                {
                    std::fill_n(out, pool.m_Channels, static_cast<T>(pool.m_Output.m_ZeroPoint));
                }
                else
                {
                    reduce(window, volume, out);
                }
            }
        }
        if (z + 1 == pool.m_Z.m_Output)
        {
            volume += pool.m_Z.m_Input * pool.m_Y.m_Input * pool.m_X.m_Input * pool.m_Channels;
        }
    }
}

template <typename T>
Prepared PrepareMax(const Pool& pool)
{
    return [pool](const ExecuteArgs& args)
    {
        const auto reduce = [&](const Window& window, const T* volume, T* out)
        {
            std::fill_n(out, pool.m_Channels, std::numeric_limits<T>::lowest());
            const auto tap = [&](const T* values) {
                std::transform(values, values + pool.m_Channels, out, out, [](T v, T max) { return std::max(max, v); });
            };
            ForEachTap(pool, window, volume, tap);
        };
        ForEachWindow<T>(pool, args, reduce);
    };
}

/// sum / count, half away from zero.
template <typename Sum>
Sum DivideRounding(Sum sum, Sum count)
{
    return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

/// The result of an average pool from the sum of a window of `count` elements.
template <typename T, typename Sum>
class WindowMean
{
public:
    static constexpr bool AddsSquares = false;

    WindowMean(const Pool&, size_t count) : m_Count(static_cast<Sum>(count)) {}

    T operator()(Sum sum) const
    {
        if constexpr (std::is_floating_point_v<Sum>)
        {
            return static_cast<T>(sum / m_Count);
        }
        else
        {
            return static_cast<T>(DivideRounding(sum, m_Count));
        }
    }

private:
    Sum m_Count;
};

/// The same by RequantizationMode::FloatHalfEven.
template <typename T, typename Sum>
class HalfEvenWindowMean
{
public:
    static constexpr bool AddsSquares = false;

    HalfEvenWindowMean(const Pool& pool, size_t count) : m_Mean(pool.m_Input, pool.m_Output, count) {}

    T operator()(Sum sum) const { return m_Mean.Apply<T>(int64_t{sum}); }

private:
    HalfEvenMean m_Mean;
};

/// The result of an L2 pool from the sum of the squares.
template <typename T, typename Sum>
class WindowRootMeanSquare
{
public:
    static constexpr bool AddsSquares = true;

    WindowRootMeanSquare(const Pool&, size_t count) : m_Count(static_cast<Sum>(count)) {}

    T operator()(Sum sum) const { return static_cast<T>(std::sqrt(sum / m_Count)); }

private:
    Sum m_Count;
};

/// Sum: double, or an integer that holds the sum of a window.
template <template <typename, typename> typename Mean, typename T, typename Sum>
Prepared PrepareMean(Pool pool)
{
    Scratch scratch;
    pool.m_Sums = scratch.Add<Sum>(pool.m_Channels);
    const auto run = [pool](const ExecuteArgs& args)
    {
        Sum* sums = Scratch::At<Sum>(args.m_Scratch, pool.m_Sums);
        const auto reduce = [&](const Window& window, const T* volume, T* out)
        {
            // Padding that counts consists of real zeros.
            const auto padding = static_cast<Sum>(window.m_Divisor - window.m_Inside);
            std::fill_n(sums, pool.m_Channels, static_cast<Sum>(padding * static_cast<Sum>(pool.m_Input.m_ZeroPoint)));
            const auto tap = [&](const T* values)
            {
                for (size_t c = 0; c < pool.m_Channels; ++c)
                {
                    const auto value = static_cast<Sum>(values[c]);
                    sums[c] += Mean<T, Sum>::AddsSquares ? value * value : value;
                }
            };
            ForEachTap(pool, window, volume, tap);
            std::transform(sums, sums + pool.m_Channels, out, Mean<T, Sum>(pool, window.m_Divisor));
        };
        ForEachWindow<T>(pool, args, reduce);
    };
    return Prepared(run, scratch.GetBytes());
}

template <template <typename, typename> typename Mean, typename T>
Prepared PrepareIntegerMean(const Pool& pool)
{
    constexpr auto Fits =
        static_cast<double>(uint64_t{1} << (31 - 8 * sizeof(T))); // window sizes whose sums surely fit 32 bits
    const auto size = static_cast<double>(pool.m_Z.m_Kernel) * static_cast<double>(pool.m_Y.m_Kernel) *
                      static_cast<double>(pool.m_X.m_Kernel);
    return size < Fits ? PrepareMean<Mean, T, int32_t>(pool) : PrepareMean<Mean, T, int64_t>(pool);
}

template <typename T>
Prepared PrepareIntegers(const Pool& pool, PoolingAlgorithm algorithm, RequantizationMode mode)
{
    if (algorithm == PoolingAlgorithm::Max)
    {
        return PrepareMax<T>(pool);
    }
    return mode == RequantizationMode::FloatHalfEven ? PrepareIntegerMean<HalfEvenWindowMean, T>(pool)
                                                     : PrepareIntegerMean<WindowMean, T>(pool);
}

/// `mode`: of averages of quantized data.
Prepared PreparePool(const Pool& pool, PoolingAlgorithm algorithm, DataType type,
                     RequantizationMode mode = RequantizationMode::FixedPoint)
{
    switch (type)
    {
    case DataType::QAsymmU8: return PrepareIntegers<uint8_t>(pool, algorithm, mode);
    case DataType::QAsymmS8: return PrepareIntegers<int8_t>(pool, algorithm, mode);
    case DataType::QSymmS16: return PrepareIntegers<int16_t>(pool, algorithm, mode);
    default: break;
    }
    switch (algorithm)
    {
    case PoolingAlgorithm::Max: return PrepareMax<float>(pool);
    case PoolingAlgorithm::L2: return PrepareMean<WindowRootMeanSquare, float, double>(pool);
    case PoolingAlgorithm::Average: break;
    }
    return PrepareMean<WindowMean, float, double>(pool);
}

/// The part of preparing a pool that images and volumes share. D: the layer's descriptor; `first`: dimension of the
/// height.
template <typename D>
Pool MakePool(const ReshapeArgs& args, unsigned int first)
{
    const D& descriptor = args.GetDescriptor<D>();
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const unsigned int channels = first + 2;
    if (input.GetNumDimensions() != channels + 1 || output.GetNumDimensions() != channels + 1 ||
        input[0] != output[0] || input[channels] != output[channels])
    {
        throw LayerValidationException("input " + input.ToString() + " and output " + output.ToString() +
                                       " do not fit together: both have " + std::to_string(channels + 1) +
                                       " dimensions, and the same batches and channels");
    }
    Pool pool;
    pool.m_Batches = input[0];
    pool.m_Channels = input[channels];
    pool.m_Y = {input[first], output[first], descriptor.m_PoolHeight, descriptor.m_StrideY, 1, descriptor.m_PadTop};
    pool.m_X = {input[first + 1],    output[first + 1], descriptor.m_PoolWidth, descriptor.m_StrideX, 1,
                descriptor.m_PadLeft};
    pool.m_PadAfterY = descriptor.m_PadBottom;
    pool.m_PadAfterX = descriptor.m_PadRight;
    pool.m_CountPadding = descriptor.m_PaddingMethod == PaddingMethod::IgnoreValue;
    if (args.GetInput(0).IsQuantized())
    {
        pool.m_Input = GetTensorQuantization(args.GetInput(0));
        pool.m_Output = GetTensorQuantization(args.GetOutput(0));
    }
    return pool;
}

Prepared PrepareImages(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<Pooling2dDescriptor>();
    return PreparePool(MakePool<Pooling2dDescriptor>(args, 1), descriptor.m_PoolType, args.GetInput(0).GetDataType(),
                       descriptor.m_Requantization);
}

Prepared PrepareVolumes(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<Pooling3dDescriptor>();
    Pool pool = MakePool<Pooling3dDescriptor>(args, 2);
    pool.m_Z = {args.GetInput(0).GetShape()[1],
                args.GetOutput(0).GetShape()[1],
                descriptor.m_PoolDepth,
                descriptor.m_StrideZ,
                1,
                descriptor.m_PadFront};
    pool.m_PadAfterZ = descriptor.m_PadBack;
    return PreparePool(pool, descriptor.m_PoolType, args.GetInput(0).GetDataType());
}

} // namespace

SupportResult CheckPooling(const LayerView& layer, PoolingAlgorithm algorithm)
{
    const TensorInfo& input = layer.GetInput(0);
    const TensorInfo& output = layer.GetOutput(0);
    if (algorithm == PoolingAlgorithm::L2 && input.IsQuantized())
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string("L2 pooling takes floats, not ") + GetDataTypeName(input.GetDataType()));
    }
    if (input.IsQuantized() && algorithm == PoolingAlgorithm::Average &&
        backends::GetRequantization(layer.m_Type, layer.m_Descriptor) == RequantizationMode::FloatHalfEven)
    {
        return backends::CheckPerTensor(layer, {0}, {0});
    }
    if (input.IsQuantized() && !input.IsTypeSpaceMatch(output))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "input and output have different quantization; pooling keeps the stored values");
    }
    if (input.IsQuantized() && input.HasMultipleQuantizationScales())
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its data is quantized per axis");
    }
    if (input.IsQuantized())
    {
        // The size of sums of windows assumes zero points that the type can store.
        const backends::QuantizedRange range = backends::GetTypeRange(input.GetDataType());
        const int32_t zeroPoint = input.GetQuantizationOffset();
        if (zeroPoint < range.m_Min || zeroPoint > range.m_Max)
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     "its zero point, " + std::to_string(zeroPoint) + ", is outside its type");
        }
    }
    return SupportResult::Yes();
}

Prepared PreparePooling2d(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareImages, packed);
}

Prepared PreparePooling3d(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return PrepareF16AsF32(args, PrepareVolumes, packed);
}

} // namespace tenon::ref
