// SPDX-License-Identifier: Apache-2.0
// Rnn of CpuAcc for floats and constant weights, floats too or of 8 bits: one product for what all steps get from the
// data, and one product a step for what they get from the state. The reference kernel runs the rest.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/elementwise/FloatUnary.hpp"
#include "backends/cpu/kernels/FloatGates.hpp"
#include "backends/cpu/kernels/SequenceRows.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/GateProduct.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow RnnTypes[] = {backends::Types({DataType::Float32}, DataType::Float32)};

enum Slot : size_t
{
    Data,
    Weights,
    Recurrent,
    Bias,
    State
};

enum Out : size_t
{
    StateOut,
    SequenceOut
};

SupportResult Check(const LayerView& layer)
{
    const SupportResult result = ref::FindKernel(LayerType::Rnn)->m_Check(layer);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(Weights).GetShape();
    if (!IsKnownMatrix(weights) || !IsConstantOf(layer, Weights, weights) ||
        !IsConstantOf(layer, Recurrent, TensorShape({weights[0], weights[0]})) ||
        !IsConstantOf(layer, Bias, TensorShape({weights[0]})))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are not constant");
    }
    const SupportResult size = CheckGateSize(layer, Weights, 1);
    return size ? CheckGateSize(layer, Recurrent, 1) : size;
}

class PackedRnn final : public backends::PackedWeights
{
public:
    PackedRnn(const LayerView& layer, backends::PackedStore& store)
        : m_Data(layer, {Weights}, GetMostRows(layer, Data), JoinConstants<float>(layer, {Bias}), store),
          m_State(layer, {Recurrent}, GetMostRows(layer, State), {}, store)
    {
    }

    bool IsExact() const { return m_Data.IsExact() && m_State.IsExact(); }
    bool RefersToConstants() const override { return m_Data.RefersToConstants() || m_State.RefersToConstants(); }
    const FloatGates& GetData() const { return m_Data; }
    const FloatGates& GetState() const { return m_State; }

private:
    FloatGates m_Data;
    FloatGates m_State;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedRnn>(layer, store);
}

void Activate(uint32_t code, float* values, size_t count)
{
    switch (code)
    {
    case ref::TanhCode: return FindFloatLoop(FloatFunction::TanH)(values, values, count, 1.0f, 1.0f);
    case ref::SigmoidCode: return FindFloatLoop(FloatFunction::Sigmoid)(values, values, count, 0.0f, 0.0f);
    default: return ref::ApplyRecurrentActivation(code, values, count);
    }
}

/// A layer of known shapes.
class Sequence
{
public:
    Sequence(const ref::SequenceShape& shape, const RnnDescriptor& descriptor, const PackedRnn& packed)
        : m_Shape(shape), m_Activation(descriptor.m_ActivationFunc), m_Units(packed.GetData().GetColumns()),
          m_FromData(packed.GetData(), backends::CheckedCount(shape.m_Batches, shape.m_Steps),
                     descriptor.m_AsymmetricQuantizeInputs),
          m_FromState(packed.GetState(), shape.m_Batches, descriptor.m_AsymmetricQuantizeInputs)
    {
        Scratch scratch;
        m_DataSums = scratch.Add<float>(shape.m_Batches, shape.m_Steps, m_Units);
        m_StateSums = scratch.Add<float>(shape.m_Batches, m_Units);
        m_ProductScratch =
            scratch.Add<std::byte>(std::max(m_FromData.GetScratchBytes(), m_FromState.GetScratchBytes()));
        m_ScratchBytes = scratch.GetBytes();
    }

    size_t GetScratchBytes() const { return m_ScratchBytes; }

    void operator()(const ExecuteArgs& args) const
    {
        auto* const product = Scratch::At<std::byte>(args.m_Scratch, m_ProductScratch);
        auto* const dataSums = Scratch::At<float>(args.m_Scratch, m_DataSums);
        auto* const sums = Scratch::At<float>(args.m_Scratch, m_StateSums);
        auto* const state = args.GetOutput<float>(StateOut);
        m_FromData.Run(args, args.GetInput<float>(Data), dataSums, product);
        std::copy_n(args.GetInput<float>(State), m_Shape.m_Batches * m_Units, state);
        for (size_t t = 0; t < m_Shape.m_Steps; ++t)
        {
            m_FromState.Run(args, state, sums, product);
            const StepRows rows = GetStepRows(m_Shape, t);
            for (size_t batch = 0; batch < m_Shape.m_Batches; ++batch)
            {
                const size_t at = (rows.m_First + batch * rows.m_Stride) * m_Units;
                float* const values = state + batch * m_Units;
                std::transform(dataSums + at, dataSums + at + m_Units, sums + batch * m_Units, values,
                               [](float a, float b) { return a + b; });
                Activate(m_Activation, values, m_Units);
                std::copy_n(values, m_Units, args.GetOutput<float>(SequenceOut) + at);
            }
        }
    }

private:
    ref::SequenceShape m_Shape;
    uint32_t m_Activation;
    size_t m_Units;
    FloatGatesProduct m_FromData;
    FloatGatesProduct m_FromState;
    size_t m_DataSums = 0; ///< offsets in the scratch memory: of all rows of data
    size_t m_StateSums = 0;
    size_t m_ProductScratch = 0;
    size_t m_ScratchBytes = 0;
};

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& descriptor = args.GetDescriptor<RnnDescriptor>();
    const auto& weights = static_cast<const PackedRnn&>(*packed);
    const TensorShape& data = args.GetInput(Data).GetShape();
    if (!weights.IsExact() || data.GetNumElements() == 0 ||
        data[data.GetNumDimensions() - 1] != weights.GetData().GetDepth())
    {
        return ref::FindKernel(LayerType::Rnn)->Prepare(args, nullptr);
    }
    Sequence sequence(ref::SequenceShape(data, descriptor.m_TimeMajor), descriptor, weights);
    const size_t bytes = sequence.GetScratchBytes();
    return {std::move(sequence), bytes};
}

} // namespace

extern const backends::Kernel CpuRnnKernel = {"CpuRnn", RnnTypes, Prepare, Check, Pack};

} // namespace tenon::cpu
