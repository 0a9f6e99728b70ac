// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that carry a state from one time step to the next.
#pragma once

#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <vector>

namespace tenon
{

/// Lstm and UnidirectionalSequenceLstm. Weights arrive as LstmInputParams; each becomes a Constant layer wired to an
/// input.
struct LstmDescriptor : detail::Described<LstmDescriptor>
{
    uint32_t m_ActivationFunc = 1;    ///< 0 none, 1 ReLU, 2 ReLU within [-1, 1], 3 ReLU6, 4 tanh, 5 sign bit, 6 sigmoid
    float m_ClippingThresCell = 0.0f; ///< 0: no clipping
    float m_ClippingThresProj = 0.0f; ///< 0: no clipping
    bool m_CifgEnabled = true;        ///< input gate = 1 - forget gate
    bool m_PeepholeEnabled = false;
    bool m_ProjectionEnabled = false;
    bool m_LayerNormEnabled = false;
    bool m_TimeMajor = false;
    float m_InputIntermediateScale = 0.0f;
    float m_ForgetIntermediateScale = 0.0f;
    float m_CellIntermediateScale = 0.0f;
    float m_OutputIntermediateScale = 0.0f;
    int32_t m_HiddenStateZeroPoint = 0;
    float m_HiddenStateScale = 0.0f;
    /// Tenon: for float data with 8-bit weights. Data and output state are quantized over their own range in place of
    /// one around zero.
    bool m_AsymmetricQuantizeInputs = false;
    /// Tenon: for float data with 8-bit weights. The recurrent weights were stored as sparse ones, whose products
    /// TFLite's kernel scales as if the output state were quantized like the data.
    bool m_SparseRecurrentWeights = false;
    /// Tenon: for int8 data whose gate products are int8 too. Each gate (input, forget, cell, output) has a scale for
    /// the sum, one for the data's product and one for the output state's product: twelve in all, or none for 16-bit
    /// products.
    std::vector<float> m_ProductScales;
    std::vector<int32_t> m_ProductZeroPoints; ///< as many

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &LstmDescriptor::m_ActivationFunc);
        v("ClippingThresCell", &LstmDescriptor::m_ClippingThresCell);
        v("ClippingThresProj", &LstmDescriptor::m_ClippingThresProj);
        v("CifgEnabled", &LstmDescriptor::m_CifgEnabled);
        v("PeepholeEnabled", &LstmDescriptor::m_PeepholeEnabled);
        v("ProjectionEnabled", &LstmDescriptor::m_ProjectionEnabled);
        v("LayerNormEnabled", &LstmDescriptor::m_LayerNormEnabled);
        v("TimeMajor", &LstmDescriptor::m_TimeMajor);
        v("InputIntermediateScale", &LstmDescriptor::m_InputIntermediateScale);
        v("ForgetIntermediateScale", &LstmDescriptor::m_ForgetIntermediateScale);
        v("CellIntermediateScale", &LstmDescriptor::m_CellIntermediateScale);
        v("OutputIntermediateScale", &LstmDescriptor::m_OutputIntermediateScale);
        v("HiddenStateZeroPoint", &LstmDescriptor::m_HiddenStateZeroPoint);
        v("HiddenStateScale", &LstmDescriptor::m_HiddenStateScale);
        v("AsymmetricQuantizeInputs", &LstmDescriptor::m_AsymmetricQuantizeInputs);
        v("SparseRecurrentWeights", &LstmDescriptor::m_SparseRecurrentWeights);
        v("ProductScales", &LstmDescriptor::m_ProductScales);
        v("ProductZeroPoints", &LstmDescriptor::m_ProductZeroPoints);
    }
};
using UnidirectionalSequenceLstmDescriptor = LstmDescriptor;

/// QLstm: quantized LSTM cell with int8 activations.
struct QLstmDescriptor : detail::Described<QLstmDescriptor>
{
    float m_CellClip = 0.0f;
    float m_ProjectionClip = 0.0f;
    bool m_CifgEnabled = true; ///< input gate = 1 - forget gate
    bool m_PeepholeEnabled = false;
    bool m_ProjectionEnabled = false;
    bool m_LayerNormEnabled = false;
    float m_InputIntermediateScale = 0.0f;
    float m_ForgetIntermediateScale = 0.0f;
    float m_CellIntermediateScale = 0.0f;
    float m_OutputIntermediateScale = 0.0f;
    int32_t m_HiddenStateZeroPoint = 0;
    float m_HiddenStateScale = 0.0f;

    template <typename V>
    static void Visit(V&& v)
    {
        v("CellClip", &QLstmDescriptor::m_CellClip);
        v("ProjectionClip", &QLstmDescriptor::m_ProjectionClip);
        v("CifgEnabled", &QLstmDescriptor::m_CifgEnabled);
        v("PeepholeEnabled", &QLstmDescriptor::m_PeepholeEnabled);
        v("ProjectionEnabled", &QLstmDescriptor::m_ProjectionEnabled);
        v("LayerNormEnabled", &QLstmDescriptor::m_LayerNormEnabled);
        v("InputIntermediateScale", &QLstmDescriptor::m_InputIntermediateScale);
        v("ForgetIntermediateScale", &QLstmDescriptor::m_ForgetIntermediateScale);
        v("CellIntermediateScale", &QLstmDescriptor::m_CellIntermediateScale);
        v("OutputIntermediateScale", &QLstmDescriptor::m_OutputIntermediateScale);
        v("HiddenStateZeroPoint", &QLstmDescriptor::m_HiddenStateZeroPoint);
        v("HiddenStateScale", &QLstmDescriptor::m_HiddenStateScale);
    }
};

/// BidirectionalSequenceLstm (Tenon). The weights that a direction has decide on its cell: without input-to-input
/// weights the input gate is 1 - forget gate; peephole and projection weights are optional.
struct BidirectionalSequenceLstmDescriptor : detail::Described<BidirectionalSequenceLstmDescriptor>
{
    uint32_t m_ActivationFunc = 4;    ///< as LstmDescriptor
    float m_ClippingThresCell = 0.0f; ///< 0: no clipping
    float m_ClippingThresProj = 0.0f; ///< 0: no clipping
    bool m_MergeOutputs = false;      ///< the outputs of both directions side by side in one tensor
    bool m_TimeMajor = true;
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    uint32_t GetNumOutputs() const { return m_MergeOutputs ? 5 : 6; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &BidirectionalSequenceLstmDescriptor::m_ActivationFunc);
        v("ClippingThresCell", &BidirectionalSequenceLstmDescriptor::m_ClippingThresCell);
        v("ClippingThresProj", &BidirectionalSequenceLstmDescriptor::m_ClippingThresProj);
        v("MergeOutputs", &BidirectionalSequenceLstmDescriptor::m_MergeOutputs);
        v("TimeMajor", &BidirectionalSequenceLstmDescriptor::m_TimeMajor);
        v("AsymmetricQuantizeInputs", &BidirectionalSequenceLstmDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// Rnn (Tenon): state = output = f(weights * data + recurrent weights * state + bias).
struct RnnDescriptor : detail::Described<RnnDescriptor>
{
    uint32_t m_ActivationFunc = 4; ///< as LstmDescriptor
    bool m_TimeMajor = false;
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &RnnDescriptor::m_ActivationFunc);
        v("TimeMajor", &RnnDescriptor::m_TimeMajor);
        v("AsymmetricQuantizeInputs", &RnnDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// BidirectionalSequenceRnn (Tenon).
struct BidirectionalSequenceRnnDescriptor : detail::Described<BidirectionalSequenceRnnDescriptor>
{
    uint32_t m_ActivationFunc = 4; ///< as LstmDescriptor
    bool m_MergeOutputs = false;   ///< the outputs of both directions side by side in one tensor
    bool m_TimeMajor = false;
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    uint32_t GetNumOutputs() const { return m_MergeOutputs ? 3 : 4; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("ActivationFunc", &BidirectionalSequenceRnnDescriptor::m_ActivationFunc);
        v("MergeOutputs", &BidirectionalSequenceRnnDescriptor::m_MergeOutputs);
        v("TimeMajor", &BidirectionalSequenceRnnDescriptor::m_TimeMajor);
        v("AsymmetricQuantizeInputs", &BidirectionalSequenceRnnDescriptor::m_AsymmetricQuantizeInputs);
    }
};

/// RecurrentSequence (Tenon): a recurrent layer over sequences, with the semantics of ONNX's RNN, GRU and LSTM. A GRU
/// has the gates z, r, h, an LSTM i, o, f, c, in this order.
struct RecurrentSequenceDescriptor : detail::Described<RecurrentSequenceDescriptor>
{
    RecurrentCell m_Cell = RecurrentCell::Lstm;
    SequenceDirection m_Direction = SequenceDirection::Forward;
    /// For each direction the function f of an RNN; f and g of a GRU, for z and r, and for h; f, g and h of an LSTM,
    /// for i, o and f, for c, and for the cell state. Empty: Sigmoid for f and Tanh for the others, Tanh for an RNN's
    /// f.
    std::vector<RecurrentActivation> m_Activations;
    /// One for each of m_Activations, also for functions that have no such parameter; may be empty where none has one.
    std::vector<float> m_Alphas;
    std::vector<float> m_Betas; ///< likewise
    /// The arguments of the functions f and g are clipped to [-m_Clip, m_Clip], as ONNX Runtime does; 0: they are not
    /// clipped.
    float m_Clip = 0.0f;
    /// For a GRU: the gate r multiplies the product with the state and its bias, in place of the state.
    bool m_LinearBeforeReset = false;
    bool m_CoupledInputForget = false; ///< of an LSTM: gate f = 1 - gate i
    bool m_BatchMajor = false;         ///< the batch is the first dimension of data, states and outputs

    /// How many directions there are: D.
    uint32_t GetNumDirections() const { return m_Direction == SequenceDirection::Bidirectional ? 2 : 1; }
    uint32_t GetNumOutputs() const { return m_Cell == RecurrentCell::Lstm ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Cell", &RecurrentSequenceDescriptor::m_Cell);
        v("Direction", &RecurrentSequenceDescriptor::m_Direction);
        v("Activations", &RecurrentSequenceDescriptor::m_Activations);
        v("Alphas", &RecurrentSequenceDescriptor::m_Alphas);
        v("Betas", &RecurrentSequenceDescriptor::m_Betas);
        v("Clip", &RecurrentSequenceDescriptor::m_Clip);
        v("LinearBeforeReset", &RecurrentSequenceDescriptor::m_LinearBeforeReset);
        v("CoupledInputForget", &RecurrentSequenceDescriptor::m_CoupledInputForget);
        v("BatchMajor", &RecurrentSequenceDescriptor::m_BatchMajor);
    }
};

/// Svdf (Tenon): a matrix product factored into filters over features and filters over time.
struct SvdfDescriptor : detail::Described<SvdfDescriptor>
{
    uint32_t m_Rank = 1;                     ///< filters per unit
    uint32_t m_ActivationFunc = 1;           ///< as LstmDescriptor; int8 data takes ReLU alone
    bool m_AsymmetricQuantizeInputs = false; ///< as LstmDescriptor

    template <typename V>
    static void Visit(V&& v)
    {
        v("Rank", &SvdfDescriptor::m_Rank);
        v("ActivationFunc", &SvdfDescriptor::m_ActivationFunc);
        v("AsymmetricQuantizeInputs", &SvdfDescriptor::m_AsymmetricQuantizeInputs);
    }
};

} // namespace tenon
