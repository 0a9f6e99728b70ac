// SPDX-License-Identifier: Apache-2.0
// BasicLstm and QuantizedLstm: one step of a basic LSTM. BasicLstm has one matrix for all gates and for the
// concatenation of data and output state; QuantizedLstm has a matrix for each. Types are float, and uint8 data with
// 16-bit cell state, bit for bit as TFLite's LSTM with five inputs.
#include "backends/reference/kernels/BasicLstm.hpp"

#include "backends/common/FixedPoint16.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/LstmInteger.hpp"
#include "backends/reference/kernels/RowProducts.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow BasicTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32),
    backends::Types({DataType::QAsymmU8, DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32},
                    DataType::QAsymmU8),
};
constexpr backends::TypeRow QuantizedTypes[] = {
    backends::Types({DataType::QAsymmU8, DataType::QSymmS16, DataType::QAsymmU8, DataType::QAsymmU8},
                    DataType::QSymmS16),
};

using Gate = BasicLstmGates::Gate;
using enum BasicLstmGates::Gate;
using Slots = QuantizedLstmSlots;

SupportResult CheckTypes(const LayerView& layer, size_t firstInput, size_t firstOutput,
                         std::initializer_list<DataType> inputs, std::initializer_list<DataType> outputs)
{
    const auto refuse = [](const char* kind, size_t i, DataType type, DataType wanted)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string(kind) + " " + std::to_string(i) + " has type " + GetDataTypeName(type) +
                                     "; beside this data it must be " + GetDataTypeName(wanted));
    };
    size_t i = firstInput;
    for (const DataType wanted : inputs)
    {
        if (layer.HasInput(i) && layer.GetInput(i).GetDataType() != wanted)
        {
            return refuse("input", i, layer.GetInput(i).GetDataType(), wanted);
        }
        ++i;
    }
    i = firstOutput;
    for (const DataType wanted : outputs)
    {
        if (i < layer.GetNumOutputs() && layer.GetOutput(i).GetDataType() != wanted)
        {
            return refuse("output", i, layer.GetOutput(i).GetDataType(), wanted);
        }
        ++i;
    }
    return SupportResult::Yes();
}

SupportResult CheckTensorInt8(const TensorInfo& info, const std::string& place)
{
    SupportResult result = backends::CheckPerTensor(info, place);
    if (result && info.GetQuantizationOffset() != LstmZeroPointInt8)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, place + " has zero point " +
                                                                         std::to_string(info.GetQuantizationOffset()) +
                                                                         "; it must be 128");
    }
    return result;
}

SupportResult CheckCellState(const TensorInfo& info, const std::string& place)
{
    SupportResult result = backends::CheckPerTensor(info, place);
    return result ? CheckPowerOfTwo(info.GetQuantizationScale(), -11, -11) : result;
}

SupportResult CheckBasic(const LayerView& layer)
{
    const bool isFloat = layer.GetInput(0).GetDataType() == DataType::Float32;
    const DataType data = layer.GetInput(0).GetDataType();
    const DataType state = isFloat ? DataType::Float32 : DataType::QSymmS16;
    // The sums have a scale of their own, which models need not declare.
    const bool isPlain = layer.GetNumOutputs() > 3 && layer.GetOutput(3).GetDataType() == DataType::Signed16;
    SupportResult types =
        CheckTypes(layer, 4, 1, {state}, {state, data, !isFloat && isPlain ? DataType::Signed16 : state});
    if (isFloat || !types)
    {
        return types;
    }
    return backends::FirstRefusal(
        {CheckTensorInt8(layer.GetInput(0), "input 0"), CheckTensorInt8(layer.GetInput(1), "input 1"),
         CheckTensorInt8(layer.GetOutput(0), "output 0"), CheckCellState(layer.GetInput(4), "input 4"),
         CheckCellState(layer.GetOutput(1), "output 1"), backends::CheckPerTensor(layer, {2}, {}),
         backends::CheckOneScale(layer.GetInput(3), "input 3")});
}

SupportResult CheckQuantized(const LayerView& layer)
{
    constexpr DataType Int8 = DataType::QAsymmU8;
    constexpr DataType Word = DataType::Signed32;
    SupportResult result =
        CheckTypes(layer, 4, 1, {Int8, Int8, Int8, Int8, Int8, Int8, Int8, Word, Word, Word, Word}, {Int8});
    if (result)
    {
        result = backends::FirstRefusal(
            {CheckTensorInt8(layer.GetInput(0), "input 0"), CheckTensorInt8(layer.GetInput(2), "input 2"),
             CheckTensorInt8(layer.GetOutput(1), "output 1"), CheckCellState(layer.GetInput(1), "input 1"),
             CheckCellState(layer.GetOutput(0), "output 0"), backends::CheckPerTensor(layer, {Slots::Weights}, {})});
    }
    for (size_t i = Slots::Weights + 1; i < Slots::Bias && result; ++i)
    {
        if (!layer.GetInput(i).IsTypeSpaceMatch(layer.GetInput(Slots::Weights)))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     "input " + std::to_string(i) +
                                         " is quantized unlike input 3; all weights must be alike");
        }
    }
    return result;
}

float Sigmoid(float x)
{
    return 1.0f / (1.0f + std::exp(-x));
}

void RunFloat(const BasicLstmSizes& sizes, const ExecuteArgs& args)
{
    const size_t columns = sizes.GetColumns();
    const size_t units = sizes.m_Units;
    float* joined = args.GetOutput<float>(2);
    float* sums = args.GetOutput<float>(3);
    JoinLstmRows(args.GetInput<float>(0), args.GetInput<float>(1), sizes, joined);
    for (size_t batch = 0; batch < sizes.m_Batches; ++batch, sums += NumBasicLstmGates * units)
    {
        MultiplyPatches(joined + batch * columns, 1, args.GetInput<float>(2), 0, NumBasicLstmGates * units, columns,
                        sums);
        std::transform(sums, sums + NumBasicLstmGates * units, args.GetInput<float>(3), sums,
                       [](float sum, float bias) { return sum + bias; });
        for (size_t unit = 0; unit < units; ++unit)
        {
            const auto sum = [&](Gate gate) { return sums[gate * units + unit]; };
            const size_t i = batch * units + unit;
            const float state =
                Sigmoid(sum(Input)) * std::tanh(sum(Update)) + Sigmoid(sum(Forget)) * args.GetInput<float>(4)[i];
            args.GetOutput<float>(1)[i] = state;
            args.GetOutput<float>(0)[i] = Sigmoid(sum(Output)) * std::tanh(state);
        }
    }
}

struct UnitResult
{
    int16_t m_CellState;
    uint8_t m_Output;
};

/// One unit: the sums of its gates and its cell state, which has 4 bits left of the binary point.
UnitResult RunUnit(int16_t input, int16_t update, int16_t forget, int16_t output, int16_t cellState)
{
    using backends::Fixed16;
    const Fixed16<0> added = backends::Sigmoid(Fixed16<3>{input}) * backends::Tanh(Fixed16<3>{update});
    const Fixed16<4> kept = backends::Sigmoid(Fixed16<3>{forget}) * Fixed16<4>{cellState};
    const Fixed16<4> state{backends::SaturateToInt16(backends::Rescale<4>(added).m_Raw + kept.m_Raw)};
    const Fixed16<0> result = backends::Sigmoid(Fixed16<3>{output}) * backends::Tanh(backends::Rescale<3>(state));
    const int32_t rounded = std::clamp(backends::RoundingDivideByPot(result.m_Raw, 8), -128, 127);
    return {state.m_Raw, static_cast<uint8_t>(LstmZeroPointInt8 + rounded)};
}

Prepared PrepareBytes(const ReshapeArgs& args, const BasicLstmSizes& sizes)
{
    const int32_t weightsZeroPoint = GetTensorQuantization(args.GetInput(2)).m_ZeroPoint;
    const backends::SumRescaler toSum(GetLstmSumMultiplier(args.GetInput(3).GetQuantizationScale()));
    const size_t columns = sizes.GetColumns();
    Scratch scratch;
    const size_t row = scratch.Add<int16_t>(columns);
    const size_t products = scratch.Add<int32_t>(NumBasicLstmGates, sizes.m_Units);
    const auto run = [=](const ExecuteArgs& runArgs)
    {
        auto* joined = runArgs.GetOutput<uint8_t>(2);
        auto* sums = runArgs.GetOutput<int16_t>(3);
        auto* centred = Scratch::At<int16_t>(runArgs.m_Scratch, row);
        auto* product = Scratch::At<int32_t>(runArgs.m_Scratch, products);
        const auto* bias = runArgs.GetInput<int32_t>(3);
        const size_t units = sizes.m_Units;
        JoinLstmRows(runArgs.GetInput<uint8_t>(0), runArgs.GetInput<uint8_t>(1), sizes, joined);
        for (size_t batch = 0; batch < sizes.m_Batches; ++batch, joined += columns, sums += NumBasicLstmGates * units)
        {
            std::transform(joined, joined + columns, centred,
                           [](uint8_t x) { return static_cast<int16_t>(x - LstmZeroPointInt8); });
            MultiplyPatches(centred, 1, runArgs.GetInput<uint8_t>(2), weightsZeroPoint, NumBasicLstmGates * units,
                            columns, product);
            for (size_t i = 0; i < NumBasicLstmGates * units; ++i)
            {
                sums[i] = backends::SaturateToInt16(toSum(WrappingAdd(product[i], bias[i])));
            }
            for (size_t unit = 0; unit < units; ++unit)
            {
                const size_t i = batch * units + unit;
                const UnitResult result = RunUnit(sums[unit], sums[Update * units + unit], sums[Forget * units + unit],
                                                  sums[Output * units + unit], runArgs.GetInput<int16_t>(4)[i]);
                runArgs.GetOutput<int16_t>(1)[i] = result.m_CellState;
                runArgs.GetOutput<uint8_t>(0)[i] = result.m_Output;
            }
        }
    };
    return Prepared(run, scratch.GetBytes());
}

Prepared PrepareBasic(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const BasicLstmSizes sizes(args.GetInput(0).GetShape(), args.GetInput(1).GetShape());
    if (args.GetInput(0).GetDataType() != DataType::Float32)
    {
        return PrepareBytes(args, sizes);
    }
    return Prepared([sizes](const ExecuteArgs& run) { RunFloat(sizes, run); });
}

Prepared PrepareQuantized(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorQuantization weights = GetTensorQuantization(args.GetInput(Slots::Weights));
    const backends::SumRescaler toSum(GetLstmSumMultiplier(args.GetInput(0).GetQuantizationScale() * weights.m_Scale));
    const BasicLstmSizes sizes(args.GetInput(0).GetShape(), args.GetInput(2).GetShape());
    Scratch scratch;
    const size_t row = scratch.Add<int16_t>(std::max(sizes.m_Inputs, sizes.m_Units));
    const size_t products = scratch.Add<int32_t>(sizes.m_Units);
    const size_t allSums = scratch.Add<int32_t>(NumBasicLstmGates, sizes.m_Units);
    const auto run = [=](const ExecuteArgs& runArgs)
    {
        auto* centred = Scratch::At<int16_t>(runArgs.m_Scratch, row);
        auto* product = Scratch::At<int32_t>(runArgs.m_Scratch, products);
        auto* sums = Scratch::At<int32_t>(runArgs.m_Scratch, allSums);
        const size_t units = sizes.m_Units;
        const auto add = [&](const uint8_t* values, size_t columns, size_t firstWeights)
        {
            std::transform(values, values + columns, centred,
                           [](uint8_t x) { return static_cast<int16_t>(x - LstmZeroPointInt8); });
            for (size_t i = 0; i < NumBasicLstmGates; ++i)
            {
                MultiplyPatches(centred, 1, runArgs.GetInput<uint8_t>(firstWeights + i), weights.m_ZeroPoint, units,
                                columns, product);
                int32_t* to = sums + Slots::Gates[i] * units;
                std::transform(to, to + units, product, to, WrappingAdd);
            }
        };
        for (size_t batch = 0; batch < sizes.m_Batches; ++batch)
        {
            for (size_t i = 0; i < NumBasicLstmGates; ++i)
            {
                std::copy_n(runArgs.GetInput<int32_t>(Slots::Bias + i), units, sums + Slots::Gates[i] * units);
            }
            add(runArgs.GetInput<uint8_t>(0) + batch * sizes.m_Inputs, sizes.m_Inputs, Slots::Weights);
            add(runArgs.GetInput<uint8_t>(2) + batch * units, units, Slots::Recurrent);
            for (size_t unit = 0; unit < units; ++unit)
            {
                const auto sum = [&](Gate gate) { return backends::SaturateToInt16(toSum(sums[gate * units + unit])); };
                const size_t i = batch * units + unit;
                const UnitResult result =
                    RunUnit(sum(Input), sum(Update), sum(Forget), sum(Output), runArgs.GetInput<int16_t>(1)[i]);
                runArgs.GetOutput<int16_t>(0)[i] = result.m_CellState;
                runArgs.GetOutput<uint8_t>(1)[i] = result.m_Output;
            }
        }
    };
    return Prepared(run, scratch.GetBytes());
}

} // namespace

extern const backends::Kernel RefBasicLstmKernel = {"RefBasicLstm", BasicTypes, PrepareBasic, CheckBasic};
extern const backends::Kernel RefQuantizedLstmKernel = {"RefQuantizedLstm", QuantizedTypes, PrepareQuantized,
                                                        CheckQuantized};

} // namespace tenon::ref
