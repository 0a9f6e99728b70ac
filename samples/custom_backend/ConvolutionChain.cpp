// SPDX-License-Identifier: Apache-2.0
// ConvolutionChain: see ConvolutionChain.hpp.
#include "ConvolutionChain.hpp"

#include "Reader.hpp"

#include <limits>

namespace sample
{

namespace
{

// Numbers of tenon::ActivationFunction, tenon::DataLayout and tenon::PaddingScheme; see <tenon/Types.hpp>.
constexpr int64_t ReLu = 3;
constexpr int64_t BoundedReLu = 4;
constexpr int64_t Nhwc = 2;
constexpr int64_t PaddingExplicit = 0;
constexpr int64_t PaddingValid = 2;

constexpr uint32_t Magic = 0x43484e31; // of a saved chain: "CHN1"

/// One row of output pixels.
void RunRow(const Convolution& c, const float* input, float* output, int64_t y)
{
    const int64_t outChannels = c.m_Out[2];
    for (int64_t x = 0; x < c.m_Out[1]; ++x)
    {
        float* pixel = output + x * outChannels;
        std::copy(c.m_Bias.begin(), c.m_Bias.end(), pixel);
        for (int64_t ky = 0; ky < c.m_Kernel[0]; ++ky)
        {
            const int64_t inY = y * c.m_Stride[0] - c.m_PadBegin[0] + ky * c.m_Dilation[0];
            for (int64_t kx = 0; kx < c.m_Kernel[1]; ++kx)
            {
                const int64_t inX = x * c.m_Stride[1] - c.m_PadBegin[1] + kx * c.m_Dilation[1];
                if (inY < 0 || inY >= c.m_In[0] || inX < 0 || inX >= c.m_In[1])
                {
                    continue;
                }
                const float* source = input + (inY * c.m_In[1] + inX) * c.m_In[2];
                const float* weights = c.m_Weights.data() + (ky * c.m_Kernel[1] + kx) * c.m_In[2] * outChannels;
                for (int64_t i = 0; i < c.m_In[2]; ++i, weights += outChannels)
                {
                    for (int64_t o = 0; o < outChannels; ++o)
                    {
                        pixel[o] += source[i] * weights[o];
                    }
                }
            }
        }
        std::transform(pixel, pixel + outChannels, pixel,
                       [&c](float v) { return std::min(c.m_Highest, std::max(c.m_Lowest, v)); });
    }
}

/// The rows of one stage as a loop body of the host.
struct Rows
{
    const Convolution* m_Convolution;
    const float* m_Input;
    float* m_Output;
};

void RunRows(void* data, size_t begin, size_t end)
{
    const Rows& rows = *static_cast<const Rows*>(data);
    const Convolution& c = *rows.m_Convolution;
    for (size_t row = begin; row < end; ++row)
    {
        const auto image = static_cast<int64_t>(row) / c.m_Out[0];
        const auto y = static_cast<int64_t>(row) % c.m_Out[0];
        RunRow(c, rows.m_Input + image * c.m_In[0] * c.m_In[1] * c.m_In[2],
               rows.m_Output + static_cast<int64_t>(row) * c.m_Out[1] * c.m_Out[2], y);
    }
}

template <typename T>
void Append(std::vector<uint8_t>& bytes, const T* values, size_t count)
{
    const size_t size = bytes.size();
    bytes.resize(size + count * sizeof(T));
    std::memcpy(bytes.data() + size, values, count * sizeof(T));
}

/// Takes values from the front of some bytes.
class Bytes
{
public:
    Bytes(const uint8_t* bytes, size_t count) : m_Bytes(bytes), m_Left(count) {}
    template <typename T>
    bool Take(T* values, size_t count)
    {
        if (count > m_Left / sizeof(T))
        {
            return false;
        }
        std::memcpy(values, m_Bytes, count * sizeof(T));
        m_Bytes += count * sizeof(T);
        m_Left -= count * sizeof(T);
        return true;
    }
    bool TakeFloats(std::vector<float>& values, int64_t count)
    {
        if (count < 0 || static_cast<uint64_t>(count) > m_Left / sizeof(float))
        {
            return false;
        }
        values.resize(static_cast<size_t>(count));
        return Take(values.data(), values.size());
    }
    bool IsEmpty() const { return m_Left == 0; }

private:
    const uint8_t* m_Bytes;
    size_t m_Left;
};

/// Sizes, strides, dilations and paddings: what a stage's integers are, for Save and Load.
std::vector<int64_t*> Integers(Convolution& c)
{
    return {&c.m_In[0],       &c.m_In[1],       &c.m_In[2],       &c.m_Out[0],     &c.m_Out[1],
            &c.m_Out[2],      &c.m_Kernel[0],   &c.m_Kernel[1],   &c.m_Stride[0],  &c.m_Stride[1],
            &c.m_Dilation[0], &c.m_Dilation[1], &c.m_PadBegin[0], &c.m_PadBegin[1]};
}

/// Whether products of a few such sizes stay far below what int64 holds.
bool IsSane(Convolution& c)
{
    constexpr int64_t most = 1 << 15;
    for (const int64_t* value : Integers(c))
    {
        if (*value < 0 || *value > most)
        {
            return false;
        }
    }
    return true;
}

} // namespace

size_t ConvolutionChain::LargestBetween() const
{
    int64_t largest = 0;
    for (size_t s = 0; s + 1 < m_Stages.size(); ++s)
    {
        largest = std::max(largest, m_Stages[s].m_Out[0] * m_Stages[s].m_Out[1] * m_Stages[s].m_Out[2]);
    }
    return static_cast<size_t>(largest * m_Batch);
}

size_t ConvolutionChain::ScratchBytes() const
{
    return LargestBetween() * 2 * sizeof(float);
}

void ConvolutionChain::Run(const float* input, float* output, float* scratch, const tenon_parallel& parallel) const
{
    const size_t between = LargestBetween();
    const float* source = input;
    for (size_t s = 0; s < m_Stages.size(); ++s)
    {
        const Convolution& stage = m_Stages[s];
        float* target = s + 1 == m_Stages.size() ? output : scratch + (s % 2) * between;
        Rows rows{&stage, source, target};
        parallel.run(parallel.self, static_cast<size_t>(m_Batch * stage.m_Out[0]), 1, &RunRows, &rows);
        source = target;
    }
}

std::vector<uint8_t> ConvolutionChain::Save() const
{
    std::vector<uint8_t> bytes;
    const uint32_t numStages = static_cast<uint32_t>(m_Stages.size());
    Append(bytes, &Magic, 1);
    Append(bytes, &m_Batch, 1);
    Append(bytes, &numStages, 1);
    for (Convolution stage : m_Stages)
    {
        for (const int64_t* value : Integers(stage))
        {
            Append(bytes, value, 1);
        }
        Append(bytes, &stage.m_Lowest, 1);
        Append(bytes, &stage.m_Highest, 1);
        Append(bytes, stage.m_Weights.data(), stage.m_Weights.size());
        Append(bytes, stage.m_Bias.data(), stage.m_Bias.size());
    }
    return bytes;
}

bool ConvolutionChain::Load(const uint8_t* bytes, size_t count)
{
    Bytes source(bytes, count);
    uint32_t magic = 0;
    uint32_t numStages = 0;
    if (!source.Take(&magic, 1) || magic != Magic || !source.Take(&m_Batch, 1) || m_Batch < 0 ||
        m_Batch > std::numeric_limits<int16_t>::max() || !source.Take(&numStages, 1))
    {
        return false;
    }
    for (uint32_t s = 0; s < numStages; ++s)
    {
        Convolution stage;
        for (int64_t* value : Integers(stage))
        {
            if (!source.Take(value, 1))
            {
                return false;
            }
        }
        const bool follows = m_Stages.empty() || std::equal(stage.m_In, stage.m_In + 3, m_Stages.back().m_Out);
        if (!IsSane(stage) || !follows || !source.Take(&stage.m_Lowest, 1) || !source.Take(&stage.m_Highest, 1) ||
            !source.TakeFloats(stage.m_Weights,
                               stage.m_Kernel[0] * stage.m_Kernel[1] * stage.m_In[2] * stage.m_Out[2]) ||
            !source.TakeFloats(stage.m_Bias, stage.m_Out[2]))
        {
            return false;
        }
        m_Stages.push_back(std::move(stage));
    }
    return source.IsEmpty() && !m_Stages.empty();
}

tenon_support_code CheckConvolution(const tenon_layer& layer, std::string& reason)
{
    const bool biased = layer.num_inputs > 2 && layer.inputs[2] != nullptr;
    if (layer.num_inputs < 2 || !IsFloat(layer.inputs[0]) || !IsFloat(layer.inputs[1]) || !IsFloat(layer.outputs[0]) ||
        (biased && !IsFloat(layer.inputs[2])))
    {
        reason = "only Float32";
        return TENON_UNSUPPORTED_TYPE;
    }
    if (layer.input_is_constant[1] == 0 || (biased && layer.input_is_constant[2] == 0))
    {
        reason = "weights and bias must be constant";
        return TENON_UNSUPPORTED_DYNAMIC;
    }
    // What is compiled holds for these sizes only.
    if (!IsShapeKnown(layer.inputs[0]) || !IsShapeKnown(layer.outputs[0]))
    {
        reason = "all sizes must be known";
        return TENON_UNSUPPORTED_DYNAMIC;
    }
    if (layer.inputs[0]->rank != 4 || layer.inputs[1]->rank != 4 ||
        layer.inputs[1]->dims[3] != layer.inputs[0]->dims[3])
    {
        reason = "no grouped convolution";
        return TENON_UNSUPPORTED_PARAMETERS;
    }
    if (Int(layer, "DataLayout", Nhwc) != Nhwc)
    {
        reason = "only NHWC";
        return TENON_UNSUPPORTED_PARAMETERS;
    }
    if (layer.num_activation_attributes != 0)
    {
        reason = "no activation fused by the host";
        return TENON_UNSUPPORTED_PARAMETERS;
    }
    return TENON_SUPPORTED;
}

Convolution MakeConvolution(const tenon_layer& layer)
{
    Convolution c;
    std::copy_n(layer.inputs[0]->dims + 1, 3, c.m_In);
    std::copy_n(layer.outputs[0]->dims + 1, 3, c.m_Out);
    const int64_t* weightDims = layer.inputs[1]->dims; // [out channels, height, width, in channels]
    std::copy_n(weightDims + 1, 2, c.m_Kernel);
    c.m_Stride[0] = Int(layer, "StrideY", 1);
    c.m_Stride[1] = Int(layer, "StrideX", 1);
    c.m_Dilation[0] = Int(layer, "DilationY", 1);
    c.m_Dilation[1] = Int(layer, "DilationX", 1);
    c.m_PadBegin[0] = Int(layer, "PadTop", 0);
    c.m_PadBegin[1] = Int(layer, "PadLeft", 0);
    const int64_t scheme = Int(layer, "PaddingScheme", PaddingExplicit);
    for (int axis = 0; axis < 2 && scheme != PaddingExplicit; ++axis)
    {
        // SAME: what the output needs beyond the input, the smaller half in front.
        const int64_t reach = (c.m_Out[axis] - 1) * c.m_Stride[axis] + (c.m_Kernel[axis] - 1) * c.m_Dilation[axis] + 1;
        c.m_PadBegin[axis] = scheme == PaddingValid ? 0 : std::max<int64_t>(0, reach - c.m_In[axis]) / 2;
    }
    c.m_Lowest = std::numeric_limits<float>::lowest();
    c.m_Highest = std::numeric_limits<float>::max();

    const int64_t outChannels = c.m_Out[2];
    const int64_t perOutput = c.m_Kernel[0] * c.m_Kernel[1] * c.m_In[2];
    const auto* weights = static_cast<const float*>(layer.constant_data[1]);
    c.m_Weights.resize(static_cast<size_t>(outChannels * perOutput));
    for (int64_t o = 0; o < outChannels; ++o)
    {
        for (int64_t i = 0; i < perOutput; ++i)
        {
            c.m_Weights[static_cast<size_t>(i * outChannels + o)] = weights[o * perOutput + i];
        }
    }
    c.m_Bias.resize(static_cast<size_t>(outChannels), 0.0f);
    if (layer.num_inputs > 2 && layer.inputs[2] != nullptr)
    {
        const auto* bias = static_cast<const float*>(layer.constant_data[2]);
        std::copy(bias, bias + outChannels, c.m_Bias.begin());
    }
    return c;
}

bool IsClamp(const tenon_layer& layer)
{
    const int64_t function = Int(layer, "Function", -1);
    return Is(layer, "Activation") && (function == ReLu || function == BoundedReLu);
}

void SetClamp(Convolution& convolution, const tenon_layer& activation)
{
    const bool bounded = Int(activation, "Function", -1) == BoundedReLu;
    convolution.m_Lowest = bounded ? Float(activation, "B", 0.0f) : 0.0f;
    convolution.m_Highest = bounded ? Float(activation, "A", 0.0f) : std::numeric_limits<float>::max();
}

} // namespace sample
