// SPDX-License-Identifier: Apache-2.0
// ConvolutionChain: the program of this "device": 2-D convolutions one after the other, each followed by a clamp.
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
    float m_Lowest = 0;         ///< the clamp of the activation after it
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
    /// Reads the bytes of Save; false for other bytes.
    bool Load(const uint8_t* bytes, size_t count);

private:
    size_t LargestBetween() const;
};

/// Whether one stage can compute the layer; if not, `reason` says why.
tenon_support_code CheckConvolution(const tenon_layer& layer, std::string& reason);
/// Precondition: CheckConvolution accepted the layer.
Convolution MakeConvolution(const tenon_layer& layer);

/// Whether the activation is a clamp, which a stage can end with.
bool IsClamp(const tenon_layer& layer);
void SetClamp(Convolution& convolution, const tenon_layer& activation);

} // namespace sample
