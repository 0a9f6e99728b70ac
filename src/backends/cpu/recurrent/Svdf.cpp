// SPDX-License-Identifier: Apache-2.0
// Svdf with constant weights: floats, floats with 8-bit weights (hybrid), and int8 bit for bit as the reference kernel.
// feature[t] = W x[t] is a product; out = sum over time and rank of weights_time * state + bias.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/recurrent/GateGemmF32.hpp"
#include "backends/cpu/recurrent/GateGemmInt8.hpp"
#include "backends/cpu/recurrent/LstmLoopsInt8.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/LstmScales.hpp"

#include <tenon/descriptors/Recurrent.hpp>

#include <algorithm>
#include <optional>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeSet WeightTypesInt8 = {DataType::QAsymmS8, DataType::QSymmS8, DataType::QAsymmU8,
                                               DataType::Signed8, DataType::Unsigned8};
constexpr backends::TypeRow SvdfTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32),
    backends::Types({DataType::Float32, WeightTypesInt8, WeightTypesInt8, DataType::Float32}, DataType::Float32),
    backends::Types(
        {DataType::QAsymmS8, {DataType::QAsymmS8, DataType::QSymmS8}, DataType::QSymmS16, DataType::Signed32},
        DataType::QSymmS16),
};

enum Slot : size_t
{
    Data,
    Features,
    Times,
    Bias,
    State
};

enum Out : size_t
{
    StateOut,
    UnitsOut
};

SupportResult Check(const LayerView& layer)
{
    const uint32_t rank = layer.GetDescriptor<SvdfDescriptor>().m_Rank;
    const TensorShape& features = layer.GetInput(Features).GetShape();
    const TensorShape& times = layer.GetInput(Times).GetShape();
    const bool fits = IsKnownMatrix(features) && IsKnownMatrix(times) && times[0] == features[0] && rank != 0 &&
                      features[0] % rank == 0 && IsConstantOf(layer, Features, features) &&
                      IsConstantOf(layer, Times, times) &&
                      (!layer.HasInput(Bias) || IsConstantOf(layer, Bias, TensorShape({features[0] / rank})));
    return fits ? CheckGateSize(layer, Features, 1)
                : SupportResult::No(SupportCode::UnsupportedParameters, "its weights are not constant");
}

bool IsInteger(const LayerView& layer)
{
    return layer.GetInput(Data).GetDataType() != DataType::Float32;
}

/// The weights of each unit over time and rank, padded as RowDotsInt16 reads them.
std::vector<int16_t> PadTimes(const LayerView& layer)
{
    const std::vector<int16_t> times = JoinConstants<int16_t>(layer, {Times});
    const size_t rank = layer.GetDescriptor<SvdfDescriptor>().m_Rank;
    const size_t depth = rank * layer.GetInput(Times).GetShape()[1];
    const size_t units = times.size() / depth;
    const size_t stride = DivideUp(depth, RowDotsInt16::Unit) * RowDotsInt16::Unit;
    std::vector<int16_t> padded(units * stride);
    for (size_t unit = 0; unit < units; ++unit)
    {
        std::copy_n(times.begin() + static_cast<ptrdiff_t>(unit * depth), depth,
                    padded.begin() + static_cast<ptrdiff_t>(unit * stride));
    }
    return padded;
}

class PackedSvdf final : public backends::PackedWeights
{
public:
    PackedSvdf(const LayerView& layer, backends::PackedStore& store)
        : m_Filters(layer.GetInput(Features).GetShape()[0]), m_Memory(layer.GetInput(Times).GetShape()[1])
    {
        const size_t rows = GetMaxRows(layer, Data);
        if (IsInteger(layer))
        {
            m_Integers.emplace(PackGateWeightsInt8(layer, {Features}, rows, {}, store),
                               layer.GetInput(Data).GetQuantizationOffset(), std::vector<int32_t>());
            m_TimesInt16 = PadTimes(layer);
            m_BiasInt32.assign(m_Filters, 0);
            if (layer.HasInput(Bias))
            {
                m_BiasInt32 = JoinConstants<int32_t>(layer, {Bias});
            }
            return;
        }
        m_Floats.emplace(layer, std::vector<size_t>{Features}, rows, std::vector<float>(), store);
        m_TimesF32 = ReadGateFloats(layer, Times);
        m_BiasF32.assign(m_Filters, 0.0f);
        if (layer.HasInput(Bias))
        {
            m_BiasF32 = JoinConstants<float>(layer, {Bias});
        }
    }

    bool IsExact() const { return m_Integers ? m_Integers->m_Weights.IsExact() : m_Floats->IsExact(); }
    bool RefersToConstants() const override
    {
        return m_Integers ? m_Integers->m_Weights.RefersToConstants() : m_Floats->RefersToConstants();
    }
    size_t GetInputs() const { return m_Integers ? m_Integers->m_Weights.GetDepth() : m_Floats->GetDepth(); }

    size_t m_Filters;
    size_t m_Memory;
    std::optional<PackedGatesF32> m_Floats;
    std::optional<PackedGatesInt8> m_Integers;
    std::vector<float> m_TimesF32;
    std::vector<float> m_BiasF32;
    std::vector<int16_t> m_TimesInt16;
    std::vector<int32_t> m_BiasInt32;
};

std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<PackedSvdf>(layer, store);
}

/// Shifts each filter's state by one step and appends `values`, one for each filter of each batch.
template <typename T>
void UpdateState(const ExecuteArgs& args, const T* values, size_t count, size_t memory, T* state)
{
    std::copy_n(args.GetInput<T>(State) + 1, count * memory - 1, state);
    for (size_t i = 0; i < count; ++i)
    {
        state[(i + 1) * memory - 1] = values[i];
    }
}

/// The dot product with several accumulators, so that it can be vectorized.
float Dot(const float* a, const float* b, size_t count)
{
    constexpr size_t Lanes = 8;
    float sums[Lanes] = {};
    size_t i = 0;
    for (; i + Lanes <= count; i += Lanes)
    {
        for (size_t lane = 0; lane < Lanes; ++lane)
        {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    float sum = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    for (; i < count; ++i)
    {
        sum += a[i] * b[i];
    }
    return sum;
}

Prepared PrepareFloat(const ReshapeArgs& args, const PackedSvdf& packed)
{
    const auto& descriptor = args.GetDescriptor<SvdfDescriptor>();
    const size_t batches = args.GetInput(Data).GetShape()[0];
    const GateGemmF32 product(*packed.m_Floats, batches, descriptor.m_AsymmetricQuantizeInputs, args.m_MaxThreads);
    Scratch scratch;
    const size_t values = scratch.Add<float>(batches, packed.m_Filters);
    const size_t ofProduct = scratch.Add<std::byte>(product.GetScratchBytes());
    const size_t unitSize = descriptor.m_Rank * packed.m_Memory;
    const size_t units = packed.m_Filters / descriptor.m_Rank;
    const auto run = [=, activation = descriptor.m_ActivationFunc, weights = &packed](const ExecuteArgs& runArgs)
    {
        auto* const features = Scratch::At<float>(runArgs.m_Scratch, values);
        product.Run(runArgs, runArgs.GetInput<float>(Data), features,
                    Scratch::At<std::byte>(runArgs.m_Scratch, ofProduct));
        auto* const state = runArgs.GetOutput<float>(StateOut);
        UpdateState(runArgs, features, batches * weights->m_Filters, weights->m_Memory, state);
        auto* const out = runArgs.GetOutput<float>(UnitsOut);
        for (size_t i = 0; i < batches * units; ++i)
        {
            const size_t unit = i % units;
            out[i] = Dot(weights->m_TimesF32.data() + unit * unitSize, state + i * unitSize, unitSize) +
                     weights->m_BiasF32[unit];
        }
        ref::ApplyRecurrentActivation(activation, out, batches * units);
    };
    return {run, scratch.GetBytes()};
}

Prepared PrepareInteger(const ReshapeArgs& args, const PackedSvdf& packed)
{
    const size_t rank = args.GetDescriptor<SvdfDescriptor>().m_Rank;
    const size_t batches = args.GetInput(Data).GetShape()[0];
    const ref::SvdfScales scales(args);
    const GateGemmInt8 product(*packed.m_Integers, batches, args.m_MaxThreads);
    Scratch scratch;
    constexpr size_t Extra = LstmLoopsInt8::ExtraUnits;
    const size_t count = backends::CheckedCount(batches, packed.m_Filters);
    const size_t sums = scratch.Add<int32_t>(count + Extra);
    const size_t values = scratch.Add<int16_t>(count + Extra);
    const size_t states = scratch.Add<int16_t>(backends::CheckedCount(count, packed.m_Memory) + RowDotsInt16::Unit);
    const size_t units = packed.m_Filters / rank;
    const size_t bytes = scratch.Add<int8_t>(batches * units + Extra);
    const size_t ofProduct = scratch.Add<std::byte>(product.GetScratchBytes());
    const size_t unitSize = rank * packed.m_Memory;
    const LstmProjectionInt8 toOutput = {scales.m_ToOutput,
                                         ref::GetTensorQuantization(args.GetOutput(UnitsOut)).m_ZeroPoint};
    const auto run = [=, loops = &GetLstmLoopsInt8(), weights = &packed](const ExecuteArgs& runArgs)
    {
        auto* const features = Scratch::At<int16_t>(runArgs.m_Scratch, values);
        auto* const products = Scratch::At<int32_t>(runArgs.m_Scratch, sums);
        auto* const state = Scratch::At<int16_t>(runArgs.m_Scratch, states);
        auto* const out = Scratch::At<int8_t>(runArgs.m_Scratch, bytes);
        product.Run(runArgs, runArgs.GetInput<int8_t>(Data), products,
                    Scratch::At<std::byte>(runArgs.m_Scratch, ofProduct));
        loops->m_ToInt16(scales.m_ToState, products, count, features);
        UpdateState(runArgs, features, count, weights->m_Memory, state);
        for (size_t batch = 0; batch < batches; ++batch)
        {
            RunRowDotsInt16({state + batch * units * unitSize, weights->m_TimesInt16.data(),
                             weights->m_BiasInt32.data(), units, unitSize, products + batch * units});
        }
        loops->m_Project(toOutput, products, batches * units, out);
        std::copy_n(state, count * weights->m_Memory, runArgs.GetOutput<int16_t>(StateOut));
        std::copy_n(out, batches * units, runArgs.GetOutput<int8_t>(UnitsOut));
    };
    return {run, scratch.GetBytes()};
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& weights = static_cast<const PackedSvdf&>(*packed);
    const TensorShape& data = args.GetInput(Data).GetShape();
    if (!weights.IsExact())
    {
        return Prepared::Declined("its weights are not exact in sums of 32 bits");
    }
    if (data.GetNumElements() == 0 || data[1] != weights.GetInputs())
    {
        return Prepared::Declined("the data are empty, or not of the depth of the weights");
    }
    return weights.m_Integers ? PrepareInteger(args, weights) : PrepareFloat(args, weights);
}

} // namespace

extern const backends::Kernel CpuSvdfKernel = {.m_Name = "CpuSvdf",
                                               .m_Types = SvdfTypes,
                                               .m_Prepare = Prepare,
                                               .m_Check = Check,
                                               .m_Pack = Pack,
                                               .m_Reference = &ref::RefSvdfKernel};

} // namespace tenon::cpu
