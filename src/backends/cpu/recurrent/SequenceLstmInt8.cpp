// SPDX-License-Identifier: Apache-2.0
// UnidirectionalSequenceLstm and QLstm of int8 data with 16-bit gates and constant weights, bit for bit as the
// reference kernel. One product multiplies the data of all steps by the input weights, one product a step the state by
// the recurrent weights, and one a step is the projection, if there is one.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"
#include "backends/cpu/recurrent/PackedLstmInt8.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/LstmCell.hpp"
#include "backends/reference/kernels/LstmScales.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

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
        const bool isTimeMajor = g.m_Sequence.m_IsTimeMajor;
        const size_t firstRow = isTimeMajor ? time * m_Batches : time;
        const size_t rowStride = isTimeMajor ? 1 : m_Steps; // rows from batch to batch
        auto* const sums = Scratch::At<int32_t>(args.m_Scratch, m_StateSums);
        int8_t* const hidden = m_FromHidden ? Scratch::At<int8_t>(args.m_Scratch, m_Hidden) : state;
        m_FromState.Run(args, state, sums, product);
        const LstmRowInt8 first = {Scratch::At<int32_t>(args.m_Scratch, m_DataSums) + firstRow * m_Columns, sums, cells,
                                   hidden};
        RunCells(args, {rowStride * m_Columns, m_Columns, m_CellStride, g.m_Units}, first);
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
                        output + (firstRow + batch * rowStride) * g.m_OutputStride);
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
