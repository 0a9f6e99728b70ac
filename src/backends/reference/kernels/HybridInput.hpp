// SPDX-License-Identifier: Apache-2.0
// Float data by integer weights ("hybrid", dynamic-range quantization): each batch of the data is quantized to 8 bits
// while running, as TFLite does. Used by Convolution2d, DepthwiseConvolution2d and FullyConnected.
#pragma once

#include "backends/common/Scratch.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::ref
{

/// Quantizes `count` values to int8 with a zero point of 0 and scale max|value| / 127; the scale is 1 if all values are
/// 0. Returns the scale.
float QuantizeSymmetric(const float* values, size_t count, int8_t* quantized);

struct AsymmetricScale
{
    float m_Scale = 1.0f;
    int32_t m_ZeroPoint = 0;
};
/// The scale and zero point of int8 values over the range from `min`, at most 0, to `max`, at least 0. Precondition:
/// they differ.
AsymmetricScale FindAsymmetricScale(float min, float max);
/// Quantizes `count` values to int8 over the range from their minimum to their maximum, 0 included.
AsymmetricScale QuantizeAsymmetric(const float* values, size_t count, int8_t* quantized);

/// Whether all elements of info's type are quantized weights of a layer with float data.
bool IsHybrid(const ReshapeArgs& args);

/// The quantized data of a layer, and the scales that undo the quantization.
class HybridInput
{
public:
    HybridInput() = default;
    /// `batchElements`: values that share a scale.
    HybridInput(const ReshapeArgs& args, size_t batches, size_t batchElements, size_t outputChannels, bool asymmetric,
                backends::Scratch& scratch);

    /// Quantizes input 0 into the scratch memory.
    void Quantize(const ExecuteArgs& args) const;

    const int8_t* GetValues(void* scratch) const { return backends::Scratch::At<int8_t>(scratch, m_Values); }
    int32_t GetZeroPoint(void* scratch, size_t batch) const { return Scales(scratch)[batch].m_ZeroPoint; }

    /// Converts the accumulators of channels [first, first + count) of a pixel of a batch.
    void Run(void* scratch, size_t batch, const int64_t* accumulators, const float* bias, size_t first, size_t count,
             float* out) const
    {
        const float scale = Scales(scratch)[batch].m_Scale;
        for (size_t i = 0; i < count; ++i)
        {
            out[i] = static_cast<float>(accumulators[i]) * (scale * m_WeightScales[(first + i) * m_WeightStride]) +
                     bias[first + i];
        }
    }

private:
    AsymmetricScale* Scales(void* scratch) const { return backends::Scratch::At<AsymmetricScale>(scratch, m_Scales); }

    size_t m_Batches = 0;
    size_t m_BatchElements = 0;
    std::vector<float> m_WeightScales;
    size_t m_WeightStride = 0; ///< step in them from one output channel to the next; 0 if all share one scale
    bool m_Asymmetric = false;
    size_t m_Values = 0; ///< offsets in the scratch memory
    size_t m_Scales = 0;
};

} // namespace tenon::ref
