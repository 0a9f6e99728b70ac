// SPDX-License-Identifier: Apache-2.0
// UnidirectionalSequenceLstm and Lstm of CpuAcc for floats and constant weights, without peepholes, projection and
// layer normalization: one product for what all steps get from the data, and one product a step for what they get from
// the state. The reference kernel runs the rest.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/ProductF32.hpp"
#include "backends/cpu/kernels/FloatLstmCell.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/LstmCell.hpp"

#include <algorithm>
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

constexpr auto& Order = FloatLstmCell::Order;
constexpr size_t NumGates = LstmSlots::NumGates;

bool IsConstantOf(const LayerView& layer, size_t slot, const TensorShape& shape)
{
    return layer.HasInput(slot) && layer.IsConstant(slot) && layer.GetInput(slot).GetDataType() == DataType::Float32 &&
           layer.GetInput(slot).GetShape() == shape;
}

bool HasPlainGates(const LayerView& layer)
{
    constexpr LstmSlots slots = GetLstmSlots();
    const TensorShape& input = layer.GetInput(slots.m_InputWeights[LstmSlots::Output]).GetShape();
    if (!input.AreAllDimensionsSpecified() || input.GetNumDimensions() != 2 || input.GetNumElements64() == 0)
    {
        return false;
    }
    const unsigned int units = input[0];
    return std::all_of(std::begin(Order), std::end(Order),
                       [&](LstmSlots::Gate gate)
                       {
                           return IsConstantOf(layer, slots.m_InputWeights[gate], input) &&
                                  IsConstantOf(layer, slots.m_RecurrentWeights[gate], TensorShape({units, units})) &&
                                  IsConstantOf(layer, slots.m_Bias[gate], TensorShape({units}));
                       });
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
    if (!parameters.m_HasInputGate || parameters.m_HasPeephole || parameters.m_HasProjection ||
        parameters.m_HasLayerNorm || parameters.m_Activation != ref::TanhCode || !HasPlainGates(layer))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "it is no plain cell of four gates with constant weights and tanh");
    }
    return SupportResult::Yes();
}

/// Weights and bias of all gates, one behind the other in Order.
class PackedLstm final : public backends::PackedWeights
{
public:
    PackedLstm(const LayerView& layer, backends::PackedStore& store)
        : m_Units(layer.GetInput(Slots.m_Bias[LstmSlots::Output]).GetNumElements()),
          m_Input(Pack(layer, Slots.m_InputWeights, store)), m_Recurrent(Pack(layer, Slots.m_RecurrentWeights, store)),
          m_Bias(Join(layer, Slots.m_Bias))
    {
    }

    size_t GetUnits() const { return m_Units; }
    const PackedWeightsF32& GetInput() const { return m_Input; }
    const PackedWeightsF32& GetRecurrent() const { return m_Recurrent; }
    const float* GetBias() const { return m_Bias.data(); }

private:
    static constexpr LstmSlots Slots = GetLstmSlots();

    static std::vector<float> Join(const LayerView& layer, const LstmSlots::PerGate& slots)
    {
        std::vector<float> joined;
        for (const LstmSlots::Gate gate : Order)
        {
            const auto* values = static_cast<const float*>(layer.m_ConstantData[slots[gate]]);
            joined.insert(joined.end(), values, values + layer.GetInput(slots[gate]).GetNumElements());
        }
        return joined;
    }

    PackedWeightsF32 Pack(const LayerView& layer, const LstmSlots::PerGate& slots, backends::PackedStore& store) const
    {
        std::vector<float> joined;
        const auto join = [&]() -> const float*
        {
            joined = Join(layer, slots);
            return joined.data();
        };
        const size_t depth = layer.GetInput(slots[LstmSlots::Output]).GetShape()[1];
        return PackedWeightsF32(join, {1, NumGates * m_Units, depth}, WeightOrder::Columns, store);
    }

    size_t m_Units;
    PackedWeightsF32 m_Input;
    PackedWeightsF32 m_Recurrent;
    std::vector<float> m_Bias;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedLstm>(layer, store);
}

/// A layer of known shapes.
class Sequence
{
public:
    Sequence(const ref::LstmGeometry& geometry, const PackedLstm& packed, float cellClip)
        : m_Geometry(geometry), m_Packed(&packed), m_Cell(packed.GetUnits(), true, cellClip),
          m_FromData(packed.GetInput(), MakeRowWindows(GetDataRows(), geometry.m_Inputs), GetDataRows(),
                     backends::FloatClamp()),
          m_FromState(packed.GetRecurrent(), MakeRowWindows(GetStepRows(), packed.GetUnits()), GetStepRows(),
                      backends::FloatClamp())
    {
        const size_t gates = NumGates * packed.GetUnits();
        Scratch scratch;
        m_DataSums = scratch.Add<float>(backends::CheckedCount(GetDataRows(), gates));
        m_Gates = scratch.Add<float>(backends::CheckedCount(GetStepRows(), gates));
        m_ProductScratch =
            scratch.Add<std::byte>(std::max(m_FromData.GetScratchBytes(), m_FromState.GetScratchBytes()));
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        m_FromData.Run(args.GetInput<float>(m_Geometry.m_Slots.m_Data), m_Packed->GetBias(),
                       Scratch::At<float>(args.m_Scratch, m_DataSums),
                       Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch), *args.m_Parallel);
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
        const size_t units = m_Packed->GetUnits();
        const size_t gates = NumGates * units;
        float* state = args.GetOutput<float>(m_Geometry.m_Places.m_OutputState) + batch * units;
        float* cell = args.GetOutput<float>(m_Geometry.m_Places.m_CellState) + batch * units;
        float* values = Scratch::At<float>(args.m_Scratch, m_Gates);
        m_FromState.Run(state, nullptr, values, Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch),
                        *args.m_Parallel);
        const float* sums = Scratch::At<float>(args.m_Scratch, m_DataSums) + row * gates;
        for (size_t i = 0; i < GetStepRows() * gates; ++i)
        {
            values[i] += sums[i];
        }
        for (size_t r = 0; r < GetStepRows(); ++r, values += gates, state += units, cell += units)
        {
            m_Cell.Run(values, cell, state);
        }
    }

    ref::LstmGeometry m_Geometry;
    const PackedLstm* m_Packed;
    FloatLstmCell m_Cell;
    ProductF32 m_FromData;
    ProductF32 m_FromState;
    size_t m_DataSums = 0; ///< offsets in the scratch memory: of all rows of data
    size_t m_Gates = 0;    ///< of one step
    size_t m_ProductScratch = 0;
    size_t m_ScratchBytes = 0;
};

template <typename D>
Prepared Prepare(const ReshapeArgs& args, const LstmOutputs& outputs, LayerType type,
                 const backends::PackedWeights* packed)
{
    const LstmParameters parameters(args.GetDescriptor<D>());
    const ref::LstmGeometry geometry(args, GetLstmSlots(), parameters, outputs, false);
    const auto& weights = static_cast<const PackedLstm&>(*packed);
    if (args.GetInput(0).GetNumElements() == 0 || geometry.m_Inputs != weights.GetInput().GetSizes().m_Depth)
    {
        return ref::FindKernel(type)->Prepare(args, nullptr);
    }
    Sequence sequence(geometry, weights, parameters.m_CellClip);
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

extern const backends::Kernel CpuUnidirectionalSequenceLstmF32Kernel = {
    "CpuUnidirectionalSequenceLstmF32", LstmTypes, PrepareSequence, Check<UnidirectionalSequenceLstmDescriptor>, Pack};
extern const backends::Kernel CpuLstmF32Kernel = {"CpuLstmF32", LstmTypes, PrepareStep, Check<LstmDescriptor>, Pack};

} // namespace tenon::cpu
