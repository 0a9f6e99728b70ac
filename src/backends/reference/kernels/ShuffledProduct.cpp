// SPDX-License-Identifier: Apache-2.0
// FullyConnected with shuffled weights. They lie in blocks of 4 outputs by 16 inputs, block after block along the
// inputs. Their bytes are biased by 128 (XOR 0x80), so that they are signed numbers: TFLite assumes a zero point of 128
// for data and weights, independent of their infos.
#include "backends/reference/kernels/ShuffledProduct.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "backends/reference/kernels/SumRequantizer.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

#include <utility>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr size_t BlockOutputs = 4;
constexpr size_t BlockInputs = 16;
constexpr uint8_t TopBit = 0x80;

class ShuffledProduct
{
public:
    ShuffledProduct(const ReshapeArgs& args, const ConvolutionGeometry& g, SumRequantizer::Method method,
                    Scratch& scratch)
        : m_Rows(g.m_Batches), m_Inputs(g.m_InputChannels), m_Outputs(g.m_OutputChannels), m_Bias(args),
          m_Requantizer(args, g.m_OutputChannels, method), m_BiasRow(scratch.Add<int32_t>(g.m_OutputChannels))
    {
    }

    void operator()(const ExecuteArgs& args) const
    {
        int32_t* bias = Scratch::At<int32_t>(args.m_Scratch, m_BiasRow);
        m_Bias.Load(args, m_Outputs, bias);
        const uint8_t* data = args.GetInput<uint8_t>(0);
        const uint8_t* weights = args.GetInput<uint8_t>(1);
        int16_t* output = args.GetOutput<int16_t>(0);
        for (size_t row = 0; row < m_Rows; ++row, data += m_Inputs)
        {
            for (size_t first = 0; first < m_Outputs; first += BlockOutputs)
            {
                uint32_t sums[BlockOutputs] = {};
                const uint8_t* block = weights + first * m_Inputs;
                for (size_t d = 0; d < m_Inputs; d += BlockInputs)
                {
                    for (size_t o = 0; o < BlockOutputs; ++o, block += BlockInputs)
                    {
                        sums[o] += MultiplyBlock(data + d, block);
                    }
                }
                int32_t wrapped[BlockOutputs];
                std::copy_n(sums, BlockOutputs, wrapped);
                m_Requantizer.Run(wrapped, bias, first, BlockOutputs, output + row * m_Outputs + first);
            }
        }
        Shuffle(args.GetInput<uint8_t>(0), args.GetOutput<uint8_t>(1));
    }

private:
    static uint32_t MultiplyBlock(const uint8_t* data, const uint8_t* weights)
    {
        int32_t sum = 0;
        for (size_t i = 0; i < BlockInputs; ++i)
        {
            sum += (data[i] - TopBit) * static_cast<int8_t>(weights[i]);
        }
        return static_cast<uint32_t>(sum);
    }

    /// Writes the data in the layout of the workspace of TFLite's kernel: 16 inputs of each row in turn, biased by 128
    /// (XOR 0x80).
    void Shuffle(const uint8_t* data, uint8_t* shuffled) const
    {
        for (size_t d = 0; d < m_Inputs; d += BlockInputs)
        {
            for (size_t row = 0; row < m_Rows; ++row)
            {
                for (size_t i = 0; i < BlockInputs; ++i)
                {
                    *shuffled++ = data[row * m_Inputs + d + i] ^ TopBit;
                }
            }
        }
    }

    size_t m_Rows;
    size_t m_Inputs;
    size_t m_Outputs;
    Bias m_Bias;
    SumRequantizer m_Requantizer;
    size_t m_BiasRow; ///< offset in the scratch memory
};

} // namespace

SupportResult CheckShuffledProduct(const LayerView& layer)
{
    if (layer.GetInput(0).GetDataType() != DataType::QAsymmU8 ||
        layer.GetInput(1).GetDataType() != DataType::QAsymmU8 ||
        layer.GetOutput(0).GetDataType() != DataType::QSymmS16 ||
        GetDataTypeSize(layer.GetOutput(1).GetDataType()) != 1)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 "shuffled weights take QAsymmU8 data and weights, QSymmS16 output and bytes for the "
                                 "shuffled data");
    }
    if (!layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "shuffled weights are [O, I], not [I, O]");
    }
    return SupportResult::Yes();
}

Prepared PrepareShuffledProduct(const ReshapeArgs& args, const ConvolutionGeometry& g)
{
    if (g.m_InputChannels % BlockInputs != 0 || g.m_OutputChannels % BlockOutputs != 0)
    {
        throw LayerValidationException("shuffled weights " + args.GetInput(1).GetShape().ToString() +
                                       " are no multiple of 4 outputs by 16 inputs");
    }
    if (args.GetOutput(1).GetNumElements() != args.GetInput(0).GetNumElements())
    {
        throw LayerValidationException("output 1, the shuffled data, has shape " +
                                       args.GetOutput(1).GetShape().ToString() + " for data of shape " +
                                       args.GetInput(0).GetShape().ToString());
    }
    Scratch scratch;
    const auto method = SumRequantizer::ChooseMethod(args.GetDescriptor<FullyConnectedDescriptor>().m_Requantization,
                                                     SumRequantizer::Method::FixedPoint);
    ShuffledProduct run(args, g, method, scratch);
    return Prepared(std::move(run), scratch.GetBytes());
}

} // namespace tenon::ref
