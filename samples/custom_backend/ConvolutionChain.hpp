// SPDX-License-Identifier: Apache-2.0
// ConvolutionChain: what this "device" executes: 2-D convolutions one after the other, each followed by a clamp.
// Float32, NHWC. A real driver would hold a compiled command stream here.
#pragma once

#include <tenon/backend/plugin.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sample
{

struct Convolution
{
    // Sizes of one image: input height, width, channels; output height, width, channels.
    int64_t m_In[3] = {};
    int64_t m_Out[3] = {};
    int64_t m_Kernel[2] = {}; ///< height, width
    int64_t m_Stride[2] = {1, 1};
    int64_t m_Dilation[2] = {1, 1};
    int64_t m_PadBegin[2] = {}; ///< top, left
    float m_Lowest = 0;         ///< the clamp of the activation behind it
    float m_Highest = 0;
    std::vector<float> m_Weights; ///< [kernel height, kernel width, in channels, out channels]
    std::vector<float> m_Bias;    ///< [out channels]
};

struct ConvolutionChain
{
    int64_t m_Batch = 1;
    std::vector<Convolution> m_Stages;

    /// Bytes of the two buffers between the stages.
    size_t ScratchBytes() const;
    void Run(const float* input, float* output, float* scratch, const tenon_parallel& parallel) const;

    std::vector<uint8_t> Save() const;
    /// False where the bytes are not what Save gave.
    bool Load(const uint8_t* bytes, size_t count);

private:
    size_t LargestBetween() const;
};

/// Whether one stage can stand for the layer; `reason` says why not.
tenon_support_code CheckConvolution(const tenon_layer& layer, std::string& reason);
/// Precondition: CheckConvolution took it.
Convolution MakeConvolution(const tenon_layer& layer);

/// Activations that a stage ends with.
bool IsClamp(const tenon_layer& layer);
void SetClamp(Convolution& convolution, const tenon_layer& activation);

} // namespace sample
