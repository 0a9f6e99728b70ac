// SPDX-License-Identifier: Apache-2.0
// Svdf: each filter's product with the data is appended to its last products, the state; these are weighted over time,
// and the filters of a unit are added. Types are float data by float or 8-bit weights, and int8 data with 16-bit state
// and weights of times, whose integer arithmetic is TFLite's, or with 8-bit ones as in TFLite Micro.
#include "backends/common/FixedPoint16.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/kernels/GateProduct.hpp"
#include "backends/reference/kernels/LstmInteger.hpp"
#include "backends/reference/kernels/LstmScales.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Recurrent.hpp>

#include <algorithm>
#include <limits>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;
using backends::TypeSet;

constexpr TypeSet Int8WeightTypes = {DataType::QAsymmS8, DataType::QSymmS8, DataType::QAsymmU8, DataType::Signed8,
                                     DataType::Unsigned8};
constexpr backends::TypeRow SvdfTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32),
    backends::Types({DataType::Float32, Int8WeightTypes, Int8WeightTypes, DataType::Float32}, DataType::Float32),
    backends::Types(
        {DataType::QAsymmS8, {DataType::QAsymmS8, DataType::QSymmS8}, DataType::QSymmS16, DataType::Signed32},
        DataType::QSymmS16),
    backends::Types({DataType::QAsymmS8,
                     {DataType::QAsymmS8, DataType::QSymmS8},
                     {DataType::QAsymmS8, DataType::QSymmS8},
                     DataType::Signed32},
                    DataType::QAsymmS8),
};

enum Slot : size_t
{
    Data,
    FeatureWeights,
    TimeWeights,
    BiasSlot,
    State
};

SupportResult CheckQuantization(const LayerView& layer)
{
    if (layer.GetInput(Data).GetDataType() == DataType::Float32)
    {
        return CheckGateWeights(layer, {FeatureWeights, TimeWeights});
    }
    return backends::FirstRefusal({backends::CheckPerTensor(layer, {Data, State}, {1}),
                                   backends::CheckOneScale(layer.GetInput(FeatureWeights), "input 1"),
                                   backends::CheckOneScale(layer.GetInput(TimeWeights), "input 2")});
}

SupportResult Check(const LayerView& layer)
{
    const auto refuse = [](SupportCode code, std::string reason) { return SupportResult::No(code, std::move(reason)); };
    if (!layer.HasInput(State))
    {
        return refuse(SupportCode::UnsupportedParameters, "input 4, the state, is not connected");
    }
    const DataType data = layer.GetInput(Data).GetDataType();
    const DataType state = layer.GetOutput(0).GetDataType();
    if (layer.GetInput(State).GetDataType() != state)
    {
        return refuse(SupportCode::UnsupportedType, std::string("input 4, the state, has type ") +
                                                        GetDataTypeName(layer.GetInput(State).GetDataType()) +
                                                        "; beside this data it must be " + GetDataTypeName(state));
    }
    if (layer.GetNumOutputs() > 1 && layer.GetOutput(1).GetDataType() != data)
    {
        return refuse(SupportCode::UnsupportedType, "output 1 has another type than the data");
    }
    const uint32_t activation = layer.GetDescriptor<SvdfDescriptor>().m_ActivationFunc;
    if (data != DataType::Float32 && activation != ReluCode)
    {
        return refuse(SupportCode::UnsupportedParameters, "int8 data takes the activation ReLU alone");
    }
    return backends::FirstRefusal({CheckRecurrentActivation(activation), CheckQuantization(layer)});
}

/// Sizes, and the shift of the state, which all types share.
struct SvdfGeometry
{
    explicit SvdfGeometry(const ReshapeArgs& args)
        : m_Batches(args.GetInput(Data).GetShape()[0]), m_Inputs(args.GetInput(Data).GetShape()[1]),
          m_Filters(args.GetInput(FeatureWeights).GetShape()[0]), m_Memory(args.GetInput(TimeWeights).GetShape()[1]),
          m_Rank(args.GetDescriptor<SvdfDescriptor>().m_Rank), m_HasBias(args.HasInput(BiasSlot))
    {
        if (m_Rank == 0 || m_Filters % m_Rank != 0 || m_Memory == 0)
        {
            throw LayerValidationException(std::to_string(m_Filters) + " filters of rank " + std::to_string(m_Rank) +
                                           " with a memory of " + std::to_string(m_Memory) + " make no units");
        }
    }

    size_t NumUnits() const { return m_Filters / m_Rank; }

    /// Shifts each filter's state by one; its last element is unchanged.
    template <typename T>
    T* ShiftState(const ExecuteArgs& args) const
    {
        T* state = args.GetOutput<T>(0);
        const size_t count = m_Batches * m_Filters * m_Memory;
        std::copy_n(args.GetInput<T>(State) + (count == 0 ? 0 : 1), count == 0 ? 0 : count - 1, state);
        return state;
    }

    size_t m_Batches;
    size_t m_Inputs;
    size_t m_Filters;
    size_t m_Memory;
    size_t m_Rank;
    bool m_HasBias;
};

Prepared PrepareFloat(const ReshapeArgs& args)
{
    const SvdfGeometry g(args);
    const auto& descriptor = args.GetDescriptor<SvdfDescriptor>();
    const GateWeights features(args, FeatureWeights);
    const GateWeights times(args, TimeWeights);
    Scratch scratch;
    const GateRows rows(g.m_Batches, g.m_Inputs, features.m_IsInteger, descriptor.m_AsymmetricQuantizeInputs, scratch);
    const size_t partial = scratch.Add<float>(g.m_Filters);
    const size_t sums = scratch.Add<float>(g.m_Batches, g.m_Filters);
    const uint32_t activation = descriptor.m_ActivationFunc;
    const auto run = [=](const ExecuteArgs& runArgs)
    {
        float* state = g.ShiftState<float>(runArgs);
        float* products = Scratch::At<float>(runArgs.m_Scratch, sums);
        const auto* data = runArgs.GetInput<float>(Data);
        std::fill_n(products, g.m_Batches * g.m_Filters, 0.0f);
        rows.Load(runArgs.m_Scratch, data, g.m_Batches);
        rows.Accumulate(runArgs, features, data, g.m_Batches, g.m_Filters,
                        Scratch::At<float>(runArgs.m_Scratch, partial), products);
        for (size_t i = 0; i < g.m_Batches * g.m_Filters; ++i)
        {
            float* memory = state + i * g.m_Memory;
            memory[g.m_Memory - 1] = products[i];
            double sum = 0.0;
            for (size_t t = 0; t < g.m_Memory; ++t)
            {
                sum += double{times.At(runArgs, i % g.m_Filters * g.m_Memory + t)} * double{memory[t]};
            }
            products[i] = static_cast<float>(sum);
        }
        float* output = runArgs.GetOutput<float>(1);
        const size_t count = g.m_Batches * g.NumUnits();
        for (size_t i = 0; i < count; ++i)
        {
            double sum = 0.0;
            for (size_t r = 0; r < g.m_Rank; ++r)
            {
                sum += double{products[i * g.m_Rank + r]};
            }
            const float bias = g.m_HasBias ? runArgs.GetInput<float>(BiasSlot)[i % g.NumUnits()] : 0.0f;
            output[i] = static_cast<float>(sum + double{bias});
        }
        ApplyRecurrentActivation(activation, output, count);
    };
    return Prepared(run, scratch.GetBytes());
}

/// Moved: the type of the state and of the weights of times.
template <typename Moved>
Prepared PrepareInteger(const ReshapeArgs& args)
{
    const SvdfGeometry g(args);
    const TensorQuantization data = GetTensorQuantization(args.GetInput(Data));
    const TensorQuantization output = GetTensorQuantization(args.GetOutput(1));
    // TFLite's 16-bit state has no zero point, independent of its tensor.
    const int32_t stateZeroPoint = sizeof(Moved) == 1 ? GetTensorQuantization(args.GetInput(State)).m_ZeroPoint : 0;
    const SvdfScales scales(args);
    const backends::SumRescaler toState(scales.m_ToState);
    const backends::SumRescaler toOutput(scales.m_ToOutput);
    Scratch scratch;
    MatVecInt8 products;
    products.Reserve(scratch, g.m_Inputs, g.m_Filters);
    const auto run = [=](const ExecuteArgs& runArgs)
    {
        auto* memory = g.ShiftState<Moved>(runArgs);
        products.Run(runArgs.m_Scratch, runArgs.GetInput<int8_t>(Data), data.m_ZeroPoint, g.m_Batches, g.m_Inputs,
                     runArgs.GetInput<int8_t>(FeatureWeights), g.m_Filters,
                     [&](size_t i, size_t, int32_t product)
                     {
                         const int32_t moved = WrappingAdd(toState(product), stateZeroPoint);
                         memory[(i + 1) * g.m_Memory - 1] = static_cast<Moved>(std::clamp<int32_t>(
                             moved, std::numeric_limits<Moved>::min(), std::numeric_limits<Moved>::max()));
                     });
        const auto* times = runArgs.GetInput<Moved>(TimeWeights);
        auto* out = runArgs.GetOutput<int8_t>(1);
        const size_t units = g.NumUnits();
        const size_t unitSize = g.m_Rank * g.m_Memory;
        for (size_t i = 0; i < g.m_Batches * units; ++i)
        {
            int32_t sum = g.m_HasBias ? runArgs.GetInput<int32_t>(BiasSlot)[i % units] : 0;
            for (size_t j = 0; j < unitSize; ++j)
            {
                const int32_t centred = memory[i * unitSize + j] - stateZeroPoint;
                sum = WrappingAdd(sum, int32_t{times[i % units * unitSize + j]} * centred);
            }
            out[i] = SaturateToInt8(backends::SaturatingAdd(toOutput(sum), output.m_ZeroPoint));
        }
    };
    return Prepared(run, scratch.GetBytes());
}

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    switch (args.GetOutput(0).GetDataType())
    {
    case DataType::Float32: return PrepareFloat(args);
    case DataType::QSymmS16: return PrepareInteger<int16_t>(args);
    default: return PrepareInteger<int8_t>(args);
    }
}

} // namespace

extern const backends::Kernel RefSvdfKernel = {"RefSvdf", SvdfTypes, Prepare, Check};

} // namespace tenon::ref
