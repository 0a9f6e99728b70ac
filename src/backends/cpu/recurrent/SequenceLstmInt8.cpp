// SPDX-License-Identifier: Apache-2.0
// UnidirectionalSequenceLstm and QLstm of int8 data with 16-bit gates and constant weights, bit for bit as the
// reference kernel. One product multiplies the data of all steps by the input weights, one product a step the state by
// the recurrent weights, and one a step is the projection, if there is one.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/recurrent/GateGemmInt8.hpp"
#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"
#include "backends/cpu/recurrent/StepRows.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/LstmCell.hpp"
#include "backends/reference/kernels/LstmScales.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using ref::LstmParameters;
using ref::SequenceLstmOutputs;

constexpr backends::TypeRow LstmTypes[] = {
    backends::Types({DataType::QAsymmS8, {DataType::QAsymmS8, DataType::QSymmS16}, DataType::QSymmS16},
                    {DataType::QAsymmS8, DataType::QSymmS16})};

constexpr LstmSlots Slots = GetLstmSlots();

PackedWeightsInt8 PackInt8(const LayerView& layer, const std::vector<size_t>& slots, size_t rows,
                           backends::PackedStore& store)
{
    return PackGateWeightsInt8(layer, slots, rows, {}, store);
}

/// The packed constant weights of an LSTM cell of int8 data with 16-bit gates, for GateGemmInt8. LstmLoopsInt8 takes
/// the sums.
class PackedLstmInt8 final : public backends::PackedWeights
{
public:
    /// The order of the gates in packed weights: the input gate, which a cell may lack, is last.
    static constexpr GateOrder Order = {LstmSlots::Forget, LstmSlots::Cell, LstmSlots::Output, LstmSlots::Input};

    /// Precondition: HasPackableLstmInt8.
    PackedLstmInt8(const LayerView& layer, const ref::LstmParameters& parameters, backends::PackedStore& store);

    bool IsExact() const
    {
        return m_Data.m_Weights.IsExact() && m_State.m_Weights.IsExact() &&
               (!m_Projection || m_Projection->m_Weights.IsExact());
    }
    bool RefersToConstants() const override
    {
        return !IsExact() || m_Data.m_Weights.RefersToConstants() || m_State.m_Weights.RefersToConstants() ||
               (m_Projection && m_Projection->m_Weights.RefersToConstants());
    }

    const PackedGatesInt8& GetData() const { return m_Data; }
    const PackedGatesInt8& GetState() const { return m_State; }
    const std::optional<PackedGatesInt8>& GetProjection() const { return m_Projection; }
    /// The peephole weights of a gate; null if it has none.
    const int16_t* GetPeephole(size_t gate) const
    {
        return m_Peephole[gate].empty() ? nullptr : m_Peephole[gate].data();
    }

    /// The weights of layer normalization; null without it.
    const int16_t* GetLayerNorm(size_t gate) const
    {
        return m_LayerNorm[gate].empty() ? nullptr : m_LayerNorm[gate].data();
    }
    const int32_t* GetBias(size_t gate) const { return m_Bias[gate].empty() ? nullptr : m_Bias[gate].data(); }

private:
    PackedGatesInt8 m_Data;
    PackedGatesInt8 m_State;
    std::optional<PackedGatesInt8> m_Projection;
    std::vector<int16_t> m_Peephole[LstmSlots::NumGates];
    std::vector<int16_t> m_LayerNorm[LstmSlots::NumGates];
    std::vector<int32_t> m_Bias[LstmSlots::NumGates]; ///< with layer normalization
};

std::vector<size_t> GetSlots(const LstmSlots::PerGate& slots, const LstmParameters& parameters)
{
    return GetGateSlots(slots, PackedLstmInt8::Order, parameters.m_HasInputGate);
}

/// Whether the weights of the cell (inputs by GetLstmSlots) are constants that PackedLstmInt8 supports.
bool HasPackableLstmInt8(const LayerView& layer, const LstmParameters& parameters)
{
    const TensorShape& input = layer.GetInput(Slots.m_InputWeights[LstmSlots::Output]).GetShape();
    const TensorShape& recurrent = layer.GetInput(Slots.m_RecurrentWeights[LstmSlots::Output]).GetShape();
    if (!IsKnownMatrix(input) || !IsKnownMatrix(recurrent) || recurrent[0] != input[0])
    {
        return false;
    }
    const unsigned int units = input[0];
    const unsigned int outputs = recurrent[1];
    bool fit = IsEachConstantOf(layer, GetSlots(Slots.m_InputWeights, parameters), input) &&
               IsEachConstantOf(layer, GetSlots(Slots.m_RecurrentWeights, parameters), recurrent) &&
               IsEachConstantOf(layer, GetSlots(Slots.m_Bias, parameters), TensorShape({units})) &&
               (!parameters.m_HasLayerNorm ||
                IsEachConstantOf(layer, GetSlots(Slots.m_LayerNorm, parameters), TensorShape({units})));
    for (const size_t slot : GetSlots(Slots.m_Peephole, parameters))
    {
        // With fewer outputs than units TFLite's peephole weights shift from batch to batch.
        const bool isUsed = parameters.m_HasPeephole && slot != LstmSlots::None && layer.HasInput(slot);
        fit = fit && (!isUsed || (outputs >= units && IsConstantOf(layer, slot, TensorShape({units}))));
    }
    const bool hasProjection = parameters.m_HasProjection && layer.HasInput(Slots.m_Projection);
    if (!hasProjection)
    {
        return fit && outputs == units;
    }
    const size_t bias = Slots.m_ProjectionBias;
    return fit && IsConstantOf(layer, Slots.m_Projection, TensorShape({outputs, units})) &&
           (!layer.HasInput(bias) || IsConstantOf(layer, bias, TensorShape({outputs})));
}

PackedLstmInt8::PackedLstmInt8(const LayerView& layer, const LstmParameters& parameters, backends::PackedStore& store)
    : m_Data(PackInt8(layer, GetSlots(Slots.m_InputWeights, parameters), GetMaxRows(layer, Slots.m_Data), store),
             layer.GetInput(Slots.m_Data).GetQuantizationOffset(),
             parameters.m_HasLayerNorm ? std::vector<int32_t>()
                                       : JoinConstants<int32_t>(layer, GetSlots(Slots.m_Bias, parameters))),
      m_State(PackInt8(layer, GetSlots(Slots.m_RecurrentWeights, parameters), GetMaxRows(layer, Slots.m_OutputState),
                       store),
              layer.GetInput(Slots.m_OutputState).GetQuantizationOffset(), {})
{
    if (parameters.m_HasProjection && layer.HasInput(Slots.m_Projection))
    {
        const bool hasBias = layer.HasInput(Slots.m_ProjectionBias);
        // As in TFLite: the zero point of the hidden state in front of a projection is negated.
        m_Projection.emplace(PackInt8(layer, {Slots.m_Projection}, GetMaxRows(layer, Slots.m_OutputState), store),
                             -parameters.m_HiddenZeroPoint,
                             hasBias ? JoinConstants<int32_t>(layer, {Slots.m_ProjectionBias})
                                     : std::vector<int32_t>());
    }
    for (const LstmSlots::Gate gate : Order)
    {
        const size_t slot = Slots.m_Peephole[gate];
        const bool hasGate = gate != LstmSlots::Input || parameters.m_HasInputGate;
        if (hasGate && parameters.m_HasPeephole && slot != LstmSlots::None && layer.HasInput(slot))
        {
            m_Peephole[gate] = JoinConstants<int16_t>(layer, {slot}, LstmLoopsInt8::ExtraUnits);
        }
        if (hasGate && parameters.m_HasLayerNorm)
        {
            m_LayerNorm[gate] = JoinConstants<int16_t>(layer, {Slots.m_LayerNorm[gate]}, LstmLoopsInt8::ExtraUnits);
            m_Bias[gate] = JoinConstants<int32_t>(layer, {Slots.m_Bias[gate]}, LstmLoopsInt8::ExtraUnits);
        }
    }
}

template <typename D>
SupportResult Check(const LayerView& layer)
{
    const LstmParameters parameters(layer.GetDescriptor<D>());
    if (!parameters.m_ProductScales.empty() || !HasPackableLstmInt8(layer, parameters))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it is no cell with constant weights and 16-bit gates");
    }
    return CheckLstmSize(layer, GetLstmSlots(), parameters.m_HasInputGate,
                         parameters.m_HasProjection && layer.HasInput(GetLstmSlots().m_Projection));
}

template <typename D>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedLstmInt8>(layer, LstmParameters(layer.GetDescriptor<D>()), store);
}

/// A layer of known shapes.
class Sequence
{
public:
    Sequence(const ReshapeArgs& args, const ref::LstmGeometry& geometry, const LstmParameters& parameters,
             const PackedLstmInt8& packed)
        : m_Geometry(geometry), m_Batches(geometry.m_Sequence.m_Batches), m_Steps(geometry.m_Sequence.m_Steps),
          m_Columns(packed.GetData().m_Weights.GetColumns()), m_IsNormalized(parameters.m_HasLayerNorm),
          m_FromData(packed.GetData(), backends::CheckedCount(m_Batches, m_Steps), args.m_MaxThreads),
          m_FromState(packed.GetState(), m_Batches, args.m_MaxThreads)
    {
        SetCell(args, parameters, packed);
        constexpr size_t Extra = LstmLoopsInt8::ExtraUnits;
        m_CellStride = geometry.m_Units + Extra;
        Scratch scratch;
        m_DataSums = scratch.Add<int32_t>(backends::CheckedCount(m_Batches, m_Steps) * m_Columns + Extra);
        m_StateSums = scratch.Add<int32_t>(m_Batches * m_Columns + Extra);
        m_State = scratch.Add<int8_t>(m_Batches * geometry.m_Outputs + Extra);
        m_Cells = scratch.Add<int16_t>(m_Batches, m_CellStride);
        m_Values = scratch.Add<int16_t>(m_IsNormalized ? LstmSlots::NumGates : size_t{0}, m_CellStride);
        size_t product = std::max(m_FromData.GetScratchBytes(), m_FromState.GetScratchBytes());
        if (packed.GetProjection())
        {
            m_FromHidden.emplace(*packed.GetProjection(), m_Batches, args.m_MaxThreads);
            m_Hidden = scratch.Add<int8_t>(m_Batches * geometry.m_Units + Extra);
            m_HiddenSums = scratch.Add<int32_t>(m_Batches * geometry.m_Outputs + Extra);
            product = std::max(product, m_FromHidden->GetScratchBytes());
        }
        m_ProductScratch = scratch.Add<std::byte>(product);
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        const ref::LstmGeometry& g = m_Geometry;
        auto* const product = Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch);
        auto* const state = Scratch::At<int8_t>(args.m_Scratch, m_State);
        auto* const cells = Scratch::At<int16_t>(args.m_Scratch, m_Cells);
        m_FromData.Run(args, args.GetInput<int8_t>(g.m_Slots.m_Data), Scratch::At<int32_t>(args.m_Scratch, m_DataSums),
                       product);
        std::memcpy(args.m_Outputs[g.m_OutputSlots.m_OutputState], args.m_Inputs[g.m_Slots.m_OutputState],
                    g.m_StateBytes);
        std::copy_n(args.GetOutput<int8_t>(g.m_OutputSlots.m_OutputState), m_Batches * g.m_Outputs, state);
        for (size_t batch = 0; batch < m_Batches; ++batch)
        {
            std::copy_n(args.GetInput<int16_t>(g.m_Slots.m_CellState) + batch * g.m_Units, g.m_Units,
                        cells + batch * m_CellStride);
        }
        for (size_t t = 0; t < m_Steps; ++t)
        {
            Step(args, t, state, cells, product);
        }
        std::copy_n(state, m_Batches * g.m_Outputs, args.GetOutput<int8_t>(g.m_OutputSlots.m_OutputState));
        for (size_t batch = 0; batch < m_Batches; ++batch)
        {
            std::copy_n(cells + batch * m_CellStride, g.m_Units,
                        args.GetOutput<int16_t>(g.m_OutputSlots.m_CellState) + batch * g.m_Units);
        }
    }

private:
    void SetCell(const ReshapeArgs& args, const LstmParameters& parameters, const PackedLstmInt8& packed)
    {
        const ref::IntegerLstmScales scales(args, m_Geometry, parameters);
        m_Cell.m_HasInputGate = parameters.m_HasInputGate;
        m_Cell.m_Units = m_Geometry.m_Units;
        m_Cell.m_CellExponent = scales.m_CellExponent;
        m_Cell.m_CellClip = scales.m_CellClip;
        m_Cell.m_Hidden = scales.m_Hidden;
        m_Cell.m_HiddenZeroPoint =
            m_Geometry.HasProjection() ? -parameters.m_HiddenZeroPoint : parameters.m_HiddenZeroPoint;
        for (size_t i = 0; i < LstmSlots::NumGates; ++i)
        {
            const ref::IntegerLstmScales::Gate& gate = scales.m_Gates[PackedLstmInt8::Order[i]];
            LstmGateInt8& to = m_Cell.m_Gates[PackedLstmInt8::Order[i]];
            to = {i * m_Geometry.m_Units,
                  gate.m_Input,
                  gate.m_Recurrent,
                  gate.m_Peephole,
                  packed.GetPeephole(PackedLstmInt8::Order[i]),
                  gate.m_LayerNorm,
                  gate.m_MinVariance,
                  packed.GetLayerNorm(PackedLstmInt8::Order[i]),
                  packed.GetBias(PackedLstmInt8::Order[i])};
        }
        m_Projection.m_Multiplier = scales.m_Projection;
        m_Projection.m_ZeroPoint = args.GetInput(m_Geometry.m_Slots.m_OutputState).GetQuantizationOffset();
        if (scales.m_ProjectionClip > 0)
        {
            m_Projection.m_Min = static_cast<int8_t>(-scales.m_ProjectionClip);
            m_Projection.m_Max = scales.m_ProjectionClip;
        }
    }

    void Step(const ExecuteArgs& args, size_t time, int8_t* state, int16_t* cells, std::byte* product) const
    {
        const ref::LstmGeometry& g = m_Geometry;
        const StepRows rows = GetStepRows(g.m_Sequence, time);
        auto* const sums = Scratch::At<int32_t>(args.m_Scratch, m_StateSums);
        int8_t* const hidden = m_FromHidden ? Scratch::At<int8_t>(args.m_Scratch, m_Hidden) : state;
        m_FromState.Run(args, state, sums, product);
        const LstmRowInt8 first = {Scratch::At<int32_t>(args.m_Scratch, m_DataSums) + rows.m_First * m_Columns, sums,
                                   cells, hidden};
        RunCells(args, {rows.m_Stride * m_Columns, m_Columns, m_CellStride, g.m_Units}, first);
        if (m_FromHidden)
        {
            auto* const hiddenSums = Scratch::At<int32_t>(args.m_Scratch, m_HiddenSums);
            m_FromHidden->Run(args, hidden, hiddenSums, product);
            m_Loops->m_Project(m_Projection, hiddenSums, m_Batches * g.m_Outputs, state);
        }
        auto* const output = args.GetOutput<int8_t>(g.m_OutputSlots.m_Output) + g.m_OutputSlots.m_Offset;
        for (size_t batch = 0; batch < m_Batches; ++batch)
        {
            std::copy_n(state + batch * g.m_Outputs, g.m_Outputs,
                        output + (rows.m_First + batch * rows.m_Stride) * g.m_OutputStride);
        }
    }

    void RunCells(const ExecuteArgs& args, const size_t (&strides)[4], LstmRowInt8 row) const
    {
        if (!m_IsNormalized)
        {
            m_Loops->m_Step(m_Cell, row, strides, m_Batches);
            return;
        }
        for (size_t batch = 0; batch < m_Batches; ++batch)
        {
            m_Loops->m_NormalizedStep(m_Cell, row, Scratch::At<int16_t>(args.m_Scratch, m_Values));
            row.m_Data += strides[0];
            row.m_State += strides[1];
            row.m_Cell += strides[2];
            row.m_Hidden += strides[3];
        }
    }

    ref::LstmGeometry m_Geometry;
    size_t m_Batches;
    size_t m_Steps;
    size_t m_Columns; ///< columns of all gates
    bool m_IsNormalized;
    GateGemmInt8 m_FromData;
    GateGemmInt8 m_FromState;
    std::optional<GateGemmInt8> m_FromHidden;
    LstmCellInt8 m_Cell;
    LstmProjectionInt8 m_Projection;
    const LstmLoopsInt8* m_Loops = &GetLstmLoopsInt8();
    size_t m_CellStride = 0;
    size_t m_DataSums = 0;  ///< offset in scratch memory: sums of all rows of data
    size_t m_StateSums = 0; ///< offset of the sums of one step
    size_t m_State = 0;
    size_t m_Cells = 0;
    size_t m_Values = 0; ///< offset of the values of a cell's gates, with layer normalization
    size_t m_Hidden = 0;
    size_t m_HiddenSums = 0;
    size_t m_ProductScratch = 0;
    size_t m_ScratchBytes = 0;
};

template <typename D>
Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const LstmParameters parameters(args.GetDescriptor<D>());
    const ref::LstmGeometry geometry(args, GetLstmSlots(), parameters, SequenceLstmOutputs, false);
    const auto& weights = static_cast<const PackedLstmInt8&>(*packed);
    if (!weights.IsExact())
    {
        return Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (args.GetInput(0).GetNumElements() == 0 || geometry.m_Inputs != weights.GetData().m_Weights.GetDepth())
    {
        return Prepared::Declined("the data are empty, or not of the depth of the weights");
    }
    Sequence sequence(args, geometry, parameters, weights);
    const size_t bytes = sequence.GetScratchBytes();
    return {std::move(sequence), bytes};
}

} // namespace

extern const backends::Kernel CpuUnidirectionalSequenceLstmInt8Kernel = {
    .m_Name = "CpuUnidirectionalSequenceLstmInt8",
    .m_Types = LstmTypes,
    .m_Prepare = Prepare<UnidirectionalSequenceLstmDescriptor>,
    .m_Check = Check<UnidirectionalSequenceLstmDescriptor>,
    .m_Pack = Pack<UnidirectionalSequenceLstmDescriptor>,
    .m_Reference = &ref::RefUnidirectionalSequenceLstmKernel};
extern const backends::Kernel CpuQLstmInt8Kernel = {.m_Name = "CpuQLstmInt8",
                                                    .m_Types = LstmTypes,
                                                    .m_Prepare = Prepare<QLstmDescriptor>,
                                                    .m_Check = Check<QLstmDescriptor>,
                                                    .m_Pack = Pack<QLstmDescriptor>,
                                                    .m_Reference = &ref::RefQLstmKernel};

} // namespace tenon::cpu
