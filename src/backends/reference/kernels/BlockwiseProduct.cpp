// SPDX-License-Identifier: Apache-2.0
// See BlockwiseProduct.hpp.
#include "backends/reference/kernels/BlockwiseProduct.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/HybridInput.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

using backends::Scratch;

class BlockwiseProduct
{
public:
    BlockwiseProduct(const ReshapeArgs& args, const ConvolutionGeometry& g, Scratch& scratch)
        : m_Rows(g.m_Batches), m_Depth(g.m_InputChannels), m_Columns(g.m_OutputChannels), m_Bias(args),
          m_Clamp(args.m_FusedActivation), m_BlockSize(args.GetInput(1).GetQuantizationBlockSize()),
          m_Scales(args.GetInput(1).GetQuantizationScales()), m_Quantized(scratch.Add<int8_t>(m_Depth)),
          m_ZeroPointFactors(scratch.Add<float>(m_Columns)), m_BiasRow(scratch.Add<float>(m_Columns))
    {
        if (m_Depth % m_BlockSize != 0 || m_Scales.size() != m_Columns * (m_Depth / m_BlockSize))
        {
            throw LayerValidationException("weights [" + std::to_string(m_Columns) + "," + std::to_string(m_Depth) +
                                           "] have " + std::to_string(m_Scales.size()) + " scales for blocks of " +
                                           std::to_string(m_BlockSize) + "; it must be one for each block");
        }
    }

    void operator()(const ExecuteArgs& args) const
    {
        const auto* weights = args.GetInput<int8_t>(1);
        auto* const quantized = Scratch::At<int8_t>(args.m_Scratch, m_Quantized);
        auto* const factors = Scratch::At<float>(args.m_Scratch, m_ZeroPointFactors);
        auto* const bias = Scratch::At<float>(args.m_Scratch, m_BiasRow);
        m_Bias.Load(args, m_Columns, bias);
        for (size_t n = 0; n < m_Columns; ++n)
        {
            factors[n] = GetZeroPointFactor(weights + n * m_Depth, ScalesOf(n), m_Depth, m_BlockSize);
        }
        const float* row = args.GetInput<float>(0);
        float* out = args.GetOutput<float>(0);
        for (size_t r = 0; r < m_Rows; ++r, row += m_Depth, out += m_Columns)
        {
            const AsymmetricScale scale = QuantizeAsymmetric(row, m_Depth, quantized);
            const auto zeroPoint = static_cast<float>(scale.m_ZeroPoint);
            for (size_t n = 0; n < m_Columns; ++n)
            {
                const float sum = Multiply(quantized, weights + n * m_Depth, ScalesOf(n)) - zeroPoint * factors[n];
                out[n] = sum * scale.m_Scale + bias[n];
            }
            m_Clamp.Run(out, m_Columns);
        }
    }

private:
    const float* ScalesOf(size_t column) const { return m_Scales.data() + column * (m_Depth / m_BlockSize); }

    float Multiply(const int8_t* data, const int8_t* weights, const float* scales) const
    {
        float sum = 0.0f;
        for (size_t first = 0; first < m_Depth; first += m_BlockSize)
        {
            const int64_t products =
                std::inner_product(data + first, data + first + m_BlockSize, weights + first, int64_t{0});
            sum += static_cast<float>(products) * *scales++;
        }
        return sum;
    }

    size_t m_Rows;
    size_t m_Depth;
    size_t m_Columns;
    Bias m_Bias;
    backends::FloatClamp m_Clamp;
    size_t m_BlockSize;
    std::vector<float> m_Scales; ///< [columns][blocks]
    size_t m_Quantized;          ///< offsets in the scratch memory
    size_t m_ZeroPointFactors;
    size_t m_BiasRow;
};

SupportResult Refuse(const char* reason)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, reason);
}

} // namespace

SupportResult CheckBlockwiseProduct(const LayerView& layer)
{
    const TensorInfo& weights = layer.GetInput(1);
    if (layer.GetInput(0).GetDataType() != DataType::Float32 || weights.GetDataType() == DataType::QAsymmU8)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 "weights with a scale per block are of 4 or 8 bits, signed, and take Float32 data");
    }
    if (!layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix)
    {
        return Refuse("weights with a scale per block are [outputs, inputs]");
    }
    if (weights.GetQuantizationDim().value() != 1)
    {
        return Refuse("the blocks of the weights lie along another dimension than 1, that of the inputs");
    }
    if (weights.HasQuantizationOffsets())
    {
        return Refuse("the weights are quantized per block with zero points other than 0");
    }
    return backends::CheckBlocks(weights, "input 1");
}

backends::Prepared PrepareBlockwiseProduct(const ReshapeArgs& args, const ConvolutionGeometry& g)
{
    Scratch scratch;
    BlockwiseProduct product(args, g, scratch);
    return backends::Prepared(std::move(product), scratch.GetBytes());
}

float GetZeroPointFactor(const int8_t* weights, const float* scales, size_t depth, size_t blockSize)
{
    float sum = 0.0f;
    for (size_t first = 0; first < depth; first += blockSize)
    {
        sum +=
            *scales++ * static_cast<float>(std::accumulate(weights + first, weights + first + blockSize, int64_t{0}));
    }
    return sum;
}

} // namespace tenon::ref
