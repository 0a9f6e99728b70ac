// SPDX-License-Identifier: Apache-2.0
// The parameters of matrix products.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

/// FullyConnected: inputs are data, weights [I, O] (or [O, I]) and, with m_BiasEnabled, bias [O].
/// The input is flattened to [N, I].
struct FullyConnectedDescriptor : detail::Described<FullyConnectedDescriptor>
{
    bool m_BiasEnabled = false;
    bool m_TransposeWeightMatrix = false;    ///< weights are [O, I] in place of [I, O]
    bool m_ConstantWeights = true;           ///< kept for Arm NN; weights may come from any layer
    bool m_KeepDims = false;                 ///< Tenon: the output keeps the leading dimensions of the input
    bool m_AsymmetricQuantizeInputs = false; ///< Tenon: float input with integer weights: quantize it asymmetrically
    /// Tenon: uint8 weights are TFLite's SHUFFLED4x16INT8: blocks of 4 outputs by 16 inputs, the top bit of each weight
    /// flipped. Output 1 then is the data in that order.
    bool m_ShuffledWeights = false;
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

    uint32_t GetNumInputs() const { return m_BiasEnabled ? 3 : 2; }
    uint32_t GetNumOutputs() const { return m_ShuffledWeights ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BiasEnabled", &FullyConnectedDescriptor::m_BiasEnabled);
        v("TransposeWeightMatrix", &FullyConnectedDescriptor::m_TransposeWeightMatrix);
        v("ConstantWeights", &FullyConnectedDescriptor::m_ConstantWeights);
        v("KeepDims", &FullyConnectedDescriptor::m_KeepDims);
        v("AsymmetricQuantizeInputs", &FullyConnectedDescriptor::m_AsymmetricQuantizeInputs);
        v("ShuffledWeights", &FullyConnectedDescriptor::m_ShuffledWeights);
        v("Requantization", &FullyConnectedDescriptor::m_Requantization);
    }
};

/// BatchMatMul: out[..., M, N] = x[..., M, K] * y[..., K, N], with broadcasting of the leading dimensions.
struct BatchMatMulDescriptor : detail::Described<BatchMatMulDescriptor>
{
    BatchMatMulDescriptor(bool transposeX = false, bool transposeY = false, bool adjointX = false,
                          bool adjointY = false, DataLayout dataLayoutX = DataLayout::NCHW,
                          DataLayout dataLayoutY = DataLayout::NCHW)
        : m_TransposeX(transposeX), m_TransposeY(transposeY), m_AdjointX(adjointX), m_AdjointY(adjointY),
          m_DataLayoutX(dataLayoutX), m_DataLayoutY(dataLayoutY)
    {
    }

    bool m_TransposeX = false;
    bool m_TransposeY = false;
    bool m_AdjointX = false;
    bool m_AdjointY = false;
    DataLayout m_DataLayoutX = DataLayout::NCHW;
    DataLayout m_DataLayoutY = DataLayout::NCHW;
    bool m_AsymmetricQuantizeInputs = false; ///< Tenon: float x with integer y: quantize x asymmetrically
    RequantizationMode m_Requantization = RequantizationMode::FixedPoint; ///< Tenon; of quantized outputs

    /// The two dimensions that are multiplied: the last two, or those before the last one in NHWC and NDHWC.
    /// Each throws InvalidArgumentException for a shape of too low a rank.
    static std::pair<unsigned int, unsigned int> GetAxesToMul(DataLayout dataLayout, const TensorShape& tensorShape)
    {
        const bool isChannelsLast = dataLayout == DataLayout::NHWC || dataLayout == DataLayout::NDHWC;
        const unsigned int behind = isChannelsLast ? 1 : 0;
        const unsigned int rank = tensorShape.GetNumDimensions();
        if (rank < 2 + behind)
        {
            throw InvalidArgumentException("BatchMatMul: a tensor of rank " + std::to_string(rank) +
                                           " has not the two dimensions that are multiplied; it needs rank " +
                                           std::to_string(2 + behind));
        }
        return {rank - 2 - behind, rank - 1 - behind};
    }
    /// The other dimensions, in order.
    static std::vector<unsigned int> GetAxesNotMul(DataLayout dataLayout, const TensorShape& tensorShape)
    {
        const std::pair<unsigned int, unsigned int> multiplied = GetAxesToMul(dataLayout, tensorShape);
        std::vector<unsigned int> others;
        for (unsigned int i = 0; i < tensorShape.GetNumDimensions(); ++i)
        {
            if (i != multiplied.first && i != multiplied.second)
            {
                others.push_back(i);
            }
        }
        return others;
    }
    /// Swaps the two dimensions that are multiplied.
    static PermutationVector GetPermuteVec(DataLayout dataLayout, const TensorShape& tensorShape)
    {
        const std::pair<unsigned int, unsigned int> multiplied = GetAxesToMul(dataLayout, tensorShape);
        std::vector<unsigned int> mappings(tensorShape.GetNumDimensions());
        for (unsigned int i = 0; i < mappings.size(); ++i)
        {
            mappings[i] = i;
        }
        std::swap(mappings[multiplied.first], mappings[multiplied.second]);
        return PermutationVector(mappings.data(), static_cast<unsigned int>(mappings.size()));
    }

    template <typename V>
    static void Visit(V&& v)
    {
        v("TransposeX", &BatchMatMulDescriptor::m_TransposeX);
        v("TransposeY", &BatchMatMulDescriptor::m_TransposeY);
        v("AdjointX", &BatchMatMulDescriptor::m_AdjointX);
        v("AdjointY", &BatchMatMulDescriptor::m_AdjointY);
        v("DataLayoutX", &BatchMatMulDescriptor::m_DataLayoutX);
        v("DataLayoutY", &BatchMatMulDescriptor::m_DataLayoutY);
        v("AsymmetricQuantizeInputs", &BatchMatMulDescriptor::m_AsymmetricQuantizeInputs);
        v("Requantization", &BatchMatMulDescriptor::m_Requantization);
    }
};

/// Attention (Tenon): softmax(scale * Q K^T + mask) V, the softmax over the keys. Inputs are Q [..., heads, S, D], K
/// [..., heads, T, D], V [..., heads, T, E] and, where enabled, mask and offset; the output is [..., heads, S, E].
/// Inputs of rank 2 have one head. The number of heads of K and V may be a divisor of the number of heads of Q: then
/// consecutive heads of Q form groups, each of which shares a head of K and V. Sizes of 1 before the matrices are
/// repeated, as in BatchMatMul. Semantics of ONNX's operator of that name. A query that sees no key gives zeros.
struct AttentionDescriptor : detail::Described<AttentionDescriptor>
{
    float m_Scale = 0.0f; ///< 0: 1 / sqrt(D)
    /// Input 3 is the mask, which is broadcast to [..., heads, S, T]. A Boolean one hides keys where it is false; one
    /// of the type of Q is added.
    bool m_MaskEnabled = false;
    bool m_IsCausal = false; ///< query i sees keys up to i + offset alone
    /// Query i sees no keys before i + offset - m_LeftWindow, nor behind i + offset + m_RightWindow; negative: no
    /// bound.
    int32_t m_LeftWindow = -1;
    int32_t m_RightWindow = -1;
    /// The last input is the offset, the number of keys before the key of query 0: Signed32 or Signed64, one element,
    /// or one for each index of the first dimension. Without it the offset is 0.
    bool m_OffsetEnabled = false;
    float m_Softcap = 0.0f; ///< above 0: products x become softcap * tanh(x / softcap), before the mask
    /// Q is [..., S, heads, D] in place of [..., heads, S, D], and likewise K, V and the output; the mask is the same.
    bool m_RowsBeforeHeads = false;

    uint32_t GetNumInputs() const { return 3 + (m_MaskEnabled ? 1U : 0U) + (m_OffsetEnabled ? 1U : 0U); }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Scale", &AttentionDescriptor::m_Scale);
        v("MaskEnabled", &AttentionDescriptor::m_MaskEnabled);
        v("IsCausal", &AttentionDescriptor::m_IsCausal);
        v("LeftWindow", &AttentionDescriptor::m_LeftWindow);
        v("RightWindow", &AttentionDescriptor::m_RightWindow);
        v("OffsetEnabled", &AttentionDescriptor::m_OffsetEnabled);
        v("Softcap", &AttentionDescriptor::m_Softcap);
        v("RowsBeforeHeads", &AttentionDescriptor::m_RowsBeforeHeads);
    }
};

} // namespace tenon
