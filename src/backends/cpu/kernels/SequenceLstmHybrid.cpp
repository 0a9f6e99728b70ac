// SPDX-License-Identifier: Apache-2.0
// UnidirectionalSequenceLstm and Lstm of CpuAcc for floats beside constant weights of 8 bits, without peepholes and
// layer normalization: data and states are quantized while running, row by row, as the reference kernel does it. One
// product for what all steps get from the data, one a step for what they get from the state, and one for a projection.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/Product8.hpp"
#include "backends/cpu/kernels/FloatLstmCell.hpp"
#include "backends/cpu/kernels/GateWeights8.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/LstmCell.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using ref::LstmOutputs;
using ref::LstmParameters;

constexpr backends::TypeRow LstmTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32)};

constexpr LstmSlots Slots = GetLstmSlots();

std::vector<size_t> GetSlots(const LstmSlots::PerGate& slots, const LstmParameters& parameters)
{
    return GetGateSlots(slots, FloatLstmCell::Order, parameters.m_HasInputGate);
}

bool HasProjection(const LayerView& layer, const LstmParameters& parameters)
{
    return parameters.m_HasProjection && layer.HasInput(Slots.m_Projection);
}

bool AreWeightsPackable(const LayerView& layer, const LstmParameters& parameters)
{
    const TensorShape& input = layer.GetInput(Slots.m_InputWeights[LstmSlots::Output]).GetShape();
    const TensorShape& recurrent = layer.GetInput(Slots.m_RecurrentWeights[LstmSlots::Output]).GetShape();
    if (!IsKnownMatrix(input) || !IsKnownMatrix(recurrent) || recurrent[0] != input[0])
    {
        return false;
    }
    const auto areConstants = [&](const std::vector<size_t>& slots, const TensorShape& shape, bool areBytes)
    {
        return std::all_of(slots.begin(), slots.end(),
                           [&](size_t slot)
                           {
                               return IsConstantOf(layer, slot, shape) &&
                                      (areBytes ? ref::IsByteWeights(layer.GetInput(slot).GetDataType())
                                                : layer.GetInput(slot).GetDataType() == DataType::Float32);
                           });
    };
    const unsigned int units = input[0];
    const unsigned int outputs = recurrent[1];
    const bool fit = areConstants(GetSlots(Slots.m_InputWeights, parameters), input, true) &&
                     areConstants(GetSlots(Slots.m_RecurrentWeights, parameters), recurrent, true) &&
                     areConstants(GetSlots(Slots.m_Bias, parameters), TensorShape({units}), false);
    if (!HasProjection(layer, parameters))
    {
        return fit && outputs == units;
    }
    const size_t bias = Slots.m_ProjectionBias;
    return fit && areConstants({Slots.m_Projection}, TensorShape({outputs, units}), true) &&
           (!layer.HasInput(bias) || areConstants({bias}, TensorShape({outputs}), false));
}

template <typename D>
SupportResult Check(const LayerView& layer)
{
    const SupportResult result = ref::FindKernel(layer.m_Type)->m_Check(layer);
    if (!result)
    {
        return result;
    }
    const LstmParameters parameters(layer.GetDescriptor<D>());
    if (parameters.m_HasPeephole || parameters.m_HasLayerNorm || parameters.m_HasSparseRecurrent ||
        parameters.m_Activation != ref::TanhCode || !AreWeightsPackable(layer, parameters))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it is no cell with constant 8-bit weights and tanh, without peepholes and layer "
                                 "normalization");
    }
    return SupportResult::Yes();
}

class PackedLstm final : public backends::PackedWeights
{
public:
    PackedLstm(const LayerView& layer, const LstmParameters& parameters, backends::PackedStore& store)
        : m_Data(PackGateWeights8(layer, GetSlots(Slots.m_InputWeights, parameters), AnyRows,
                                  JoinConstants<float>(layer, GetSlots(Slots.m_Bias, parameters)), store)),
          m_State(PackGateWeights8(layer, GetSlots(Slots.m_RecurrentWeights, parameters),
                                   GetMostRows(layer, Slots.m_OutputState), {}, store))
    {
        if (HasProjection(layer, parameters))
        {
            const size_t bias = Slots.m_ProjectionBias;
            m_Projection.emplace(PackGateWeights8(
                layer, {Slots.m_Projection}, GetMostRows(layer, Slots.m_OutputState),
                layer.HasInput(bias) ? JoinConstants<float>(layer, {bias}) : std::vector<float>(), store));
        }
    }

    bool IsExact() const { return m_Data.IsExact() && m_State.IsExact() && (!m_Projection || m_Projection->IsExact()); }
    bool RefersToConstants() const override { return !IsExact(); }

    const PackedWeights8& GetData() const { return m_Data; }
    const PackedWeights8& GetState() const { return m_State; }
    const std::optional<PackedWeights8>& GetProjection() const { return m_Projection; }

private:
    PackedWeights8 m_Data;
    PackedWeights8 m_State;
    std::optional<PackedWeights8> m_Projection;
};

template <typename D>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedLstm>(layer, LstmParameters(layer.GetDescriptor<D>()), store);
}

/// A product of rows of floats, each of which is quantized by itself.
class RowProduct
{
public:
    RowProduct(const PackedWeights8& weights, size_t rows, bool isAsymmetric)
        : m_Product(Make(weights, rows, isAsymmetric))
    {
    }

    size_t GetScratchBytes() const { return m_Product.GetScratchBytes(); }
    void Run(const ExecuteArgs& args, const float* data, float* output, std::byte* scratch) const
    {
        const void* const input = data;
        void* const to = output;
        ExecuteArgs own;
        own.m_Inputs = {&input, 1};
        own.m_Outputs = {&to, 1};
        own.m_Scratch = scratch;
        own.m_Parallel = args.m_Parallel;
        m_Product.Run(own);
    }

private:
    static Product8 Make(const PackedWeights8& weights, size_t rows, bool isAsymmetric)
    {
        const TensorInfo data(
            TensorShape({static_cast<unsigned int>(rows), static_cast<unsigned int>(weights.GetDepth())}),
            DataType::Float32);
        const TensorInfo* const input = &data;
        ReshapeArgs args;
        args.m_Inputs = {&input, 1};
        return {weights, MakeRowWindows(rows, weights.GetDepth()), rows, {rows, isAsymmetric}, args};
    }

    Product8 m_Product;
};

/// A layer of known shapes.
class Sequence
{
public:
    Sequence(const ref::LstmGeometry& geometry, const PackedLstm& packed, const LstmParameters& parameters)
        : m_Geometry(geometry), m_Cell(geometry.m_Units, parameters.m_HasInputGate, parameters.m_CellClip),
          m_ProjectionClip(parameters.m_ProjectionClip),
          m_FromData(packed.GetData(), GetDataRows(), parameters.m_Asymmetric),
          m_FromState(packed.GetState(), GetStepRows(), parameters.m_Asymmetric)
    {
        Scratch scratch;
        m_DataSums = scratch.Add<float>(GetDataRows(), m_Cell.GetNumGates(), geometry.m_Units);
        m_Gates = scratch.Add<float>(GetStepRows(), m_Cell.GetNumGates(), geometry.m_Units);
        size_t product = std::max(m_FromData.GetScratchBytes(), m_FromState.GetScratchBytes());
        if (packed.GetProjection())
        {
            m_FromHidden.emplace(*packed.GetProjection(), GetStepRows(), parameters.m_Asymmetric);
            m_Hidden = scratch.Add<float>(GetStepRows(), geometry.m_Units);
            product = std::max(product, m_FromHidden->GetScratchBytes());
        }
        m_ProductScratch = scratch.Add<std::byte>(product);
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        m_FromData.Run(args, args.GetInput<float>(m_Geometry.m_Slots.m_Data),
                       Scratch::At<float>(args.m_Scratch, m_DataSums),
                       Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch));
        m_Geometry.RunSteps<float, float>(args, [&](size_t batch, size_t row) { Step(args, batch, row); });
    }

private:
    size_t GetStepRows() const { return m_Geometry.m_Sequence.RowsPerStep(); }
    size_t GetDataRows() const
    {
        return backends::CheckedCount(m_Geometry.m_Sequence.m_Batches, m_Geometry.m_Sequence.m_Steps);
    }

    void Step(const ExecuteArgs& args, size_t batch, size_t row) const
    {
        const size_t units = m_Cell.GetUnits();
        const size_t columns = m_Cell.GetNumGates() * units;
        const size_t outputs = m_Geometry.m_Outputs;
        float* const state = args.GetOutput<float>(m_Geometry.m_Places.m_OutputState) + batch * outputs;
        float* const cell = args.GetOutput<float>(m_Geometry.m_Places.m_CellState) + batch * units;
        float* const values = Scratch::At<float>(args.m_Scratch, m_Gates);
        float* const hidden = m_FromHidden ? Scratch::At<float>(args.m_Scratch, m_Hidden) : state;
        auto* const product = Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch);
        m_FromState.Run(args, state, values, product);
        const float* const sums = Scratch::At<float>(args.m_Scratch, m_DataSums) + row * columns;
        for (size_t i = 0; i < GetStepRows() * columns; ++i)
        {
            values[i] += sums[i];
        }
        for (size_t r = 0; r < GetStepRows(); ++r)
        {
            m_Cell.Run(values + r * columns, cell + r * units, hidden + r * units);
        }
        if (m_FromHidden)
        {
            m_FromHidden->Run(args, hidden, state, product);
            ref::ClipValues(state, GetStepRows() * outputs, m_ProjectionClip);
        }
    }

    ref::LstmGeometry m_Geometry;
    FloatLstmCell m_Cell;
    float m_ProjectionClip;
    RowProduct m_FromData;
    RowProduct m_FromState;
    std::optional<RowProduct> m_FromHidden;
    size_t m_DataSums = 0; ///< offsets in the scratch memory: of all rows of data
    size_t m_Gates = 0;    ///< of one step
    size_t m_Hidden = 0;
    size_t m_ProductScratch = 0;
    size_t m_ScratchBytes = 0;
};

template <typename D>
Prepared Prepare(const ReshapeArgs& args, const LstmOutputs& outputs, LayerType type,
                 const backends::PackedWeights* packed)
{
    const LstmParameters parameters(args.GetDescriptor<D>());
    const ref::LstmGeometry geometry(args, Slots, parameters, outputs, false);
    const auto& weights = static_cast<const PackedLstm&>(*packed);
    if (!weights.IsExact() || args.GetInput(0).GetNumElements() == 0 ||
        geometry.m_Inputs != weights.GetData().GetDepth())
    {
        return ref::FindKernel(type)->Prepare(args, nullptr);
    }
    Sequence sequence(geometry, weights, parameters);
    const size_t bytes = sequence.GetScratchBytes();
    return {std::move(sequence), bytes};
}

Prepared PrepareSequence(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return Prepare<UnidirectionalSequenceLstmDescriptor>(args, ref::SequenceLstmOutputs,
                                                         LayerType::UnidirectionalSequenceLstm, packed);
}

/// Output 0 gets zeros.
Prepared PrepareStep(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    Prepared cell = Prepare<LstmDescriptor>(args, ref::StepLstmOutputs, LayerType::Lstm, packed);
    cell.m_Run = [run = std::move(cell.m_Run), count = args.GetOutput(0).GetNumElements()](const ExecuteArgs& runArgs)
    {
        std::fill_n(runArgs.GetOutput<float>(0), count, 0.0f);
        run(runArgs);
    };
    return cell;
}

} // namespace

extern const backends::Kernel CpuUnidirectionalSequenceLstmHybridKernel = {
    "CpuUnidirectionalSequenceLstmHybrid", LstmTypes, PrepareSequence, Check<UnidirectionalSequenceLstmDescriptor>,
    Pack<UnidirectionalSequenceLstmDescriptor>};
extern const backends::Kernel CpuLstmHybridKernel = {"CpuLstmHybrid", LstmTypes, PrepareStep, Check<LstmDescriptor>,
                                                     Pack<LstmDescriptor>};

} // namespace tenon::cpu
