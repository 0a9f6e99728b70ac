// SPDX-License-Identifier: Apache-2.0
// Code that the convolutions and FullyConnected share around their sums of products: the conditions on quantization,
// the scales and the bias. Set up in prepare, applied per pixel; SumRequantizer converts to stored values.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tenon::ref
{

/// Adds, wrapping around on overflow. Only senseless models overflow, but the behaviour must be defined for them, too.
template <typename T>
T WrapAdd(T a, T b)
{
    if constexpr (std::is_integral_v<T>)
    {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    }
    else
    {
        return a + b;
    }
}

/// Refuses quantization that these operators do not support, and signed weights with uint8 data in fixed point, which
/// TFLite has no kernels for. `weightsAxis`: the output channels' dimension in the weights.
SupportResult CheckWeightsQuantization(const LayerView& layer, unsigned int weightsAxis);

/// The same, for operators that do not support uint8 weights with float data.
SupportResult CheckSignedWeights(const LayerView& layer, unsigned int weightsAxis);

/// The weights' zero point; 0 when they are quantized per axis.
int32_t GetWeightsZeroPoint(const TensorInfo& weights);

/// The real scales of sums of products, computed from the scales of data, weights and output as in TFLite's reference
/// kernels: one for each scale of the weights. In fixed point the scale becomes a 31-bit multiplier afterwards, else it
/// is applied in double precision, rounding once; the last bits depend on that.
std::vector<double> GetSumScales(const TensorInfo& input, const TensorInfo& weights, const TensorInfo& output,
                                 bool inFixedPoint);

/// The Float32 factors of RequantizationMode::FloatHalfEven, one for each scale of the weights:
/// (scale of the input * scale of the weights) / scale of the output, see BoundFactor.
std::vector<double> GetSumFactors(const TensorInfo& input, const TensorInfo& weights, const TensorInfo& output);

/// The bias at input 2, which is optional.
class Bias
{
public:
    Bias() = default;
    explicit Bias(const ReshapeArgs& args);

    /// Fills `row` with the bias of each output channel; zeros without one. A bias of floats has the type of `row`.
    template <typename Acc>
    void Load(const ExecuteArgs& args, size_t outputChannels, Acc* row) const
    {
        if (!m_Present)
        {
            std::fill_n(row, outputChannels, Acc{0});
        }
        else if (std::is_integral_v<Acc> && m_Is64Bit)
        {
            Copy(args.GetInput<int64_t>(2), outputChannels, row);
        }
        else
        {
            Copy(args.GetInput<std::conditional_t<std::is_integral_v<Acc>, int32_t, Acc>>(2), outputChannels, row);
        }
    }

private:
    template <typename From, typename To>
    static void Copy(const From* from, size_t count, To* to)
    {
        std::transform(from, from + count, to, [](From value) { return static_cast<To>(value); });
    }

    bool m_Present = false;
    bool m_Is64Bit = false;
};

} // namespace tenon::ref
