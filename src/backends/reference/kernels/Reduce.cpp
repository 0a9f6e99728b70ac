// SPDX-License-Identifier: Apache-2.0
// Reduce: sum, mean, product, largest and smallest element over some axes, and whether all or any are true. Quantized
// tensors are computed as in TFLite's reference kernels.
#include "backends/reference/kernels/Reduce.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/BinaryOperations.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/ReduceLoop.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <type_traits>
#include <utility>

namespace tenon::ref
{

namespace
{

using backends::MultiplyReducedSaturating;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

/// Accumulates in scratch memory, from `first` on, and writes finish(accumulator). If there are no elements to reduce,
/// the outputs become `empty`.
template <typename T, typename Accumulator, typename Step, typename Finish>
Prepared MakeReduce(const ReduceLoop& loop, Accumulator first, const Step& step, const Finish& finish, T empty)
{
    const size_t numOutputs = loop.GetNumOutputs();
    return {[=](const ExecuteArgs& run)
            {
                T* out = run.GetOutput<T>(0);
                if (loop.GetNumReduced() == 0)
                {
                    std::fill(out, out + numOutputs, empty);
                    return;
                }
                auto* accumulators = static_cast<Accumulator*>(run.m_Scratch);
                std::fill(accumulators, accumulators + numOutputs, first);
                loop.Run(run.GetInput<T>(0), accumulators, step);
                for (size_t i = 0; i < numOutputs; ++i)
                {
                    out[i] = finish(accumulators[i]);
                }
            },
            numOutputs * sizeof(Accumulator)};
}

/// Max and Min, which compare stored values. NaN is ignored, as in TFLite's reference kernel. A reduction over every
/// axis starts with the first element there, so that a first NaN stays.
template <typename T>
Prepared MakeExtreme(const ReduceLoop& loop, bool isMax, bool startsFromFirst)
{
    using C = ComputeType<T>;
    constexpr C Lowest = std::is_same_v<C, T> ? std::numeric_limits<C>::lowest() : -std::numeric_limits<C>::infinity();
    constexpr C Highest = std::is_same_v<C, T> ? std::numeric_limits<C>::max() : std::numeric_limits<C>::infinity();
    // The initial value of an output. The maximum of -infinities must not become the lowest number.
    constexpr C Below = std::is_floating_point_v<C> ? -std::numeric_limits<C>::infinity() : Lowest;
    constexpr C Above = std::is_floating_point_v<C> ? std::numeric_limits<C>::infinity() : Highest;
    const auto finish = [](C value) { return static_cast<T>(value); };
    const auto greater = [](C a, T x) { return static_cast<C>(x) > a ? static_cast<C>(x) : a; };
    const auto less = [](C a, T x) { return static_cast<C>(x) < a ? static_cast<C>(x) : a; };
    Prepared prepared = isMax ? MakeReduce<T>(loop, Below, greater, finish, static_cast<T>(Lowest))
                              : MakeReduce<T>(loop, Above, less, finish, static_cast<T>(Highest));
    return startsFromFirst && std::is_floating_point_v<C> && loop.GetNumReduced() != 0
               ? KeepFirstNaN<T>(std::move(prepared))
               : std::move(prepared);
}

template <typename T>
Prepared MakeFloat(const ReduceLoop& loop, ReduceOperation operation, bool reducesEveryAxis)
{
    using C = ComputeType<T>;
    const auto sum = [](double a, T x) { return a + static_cast<double>(x); };
    const auto round = [](double value) { return FromAccumulator<T>(value); };
    switch (operation)
    {
    case ReduceOperation::Sum: return MakeReduce<T>(loop, 0.0, sum, round, T{0});
    case ReduceOperation::Mean:
        return MakeReduce<T>(
            loop, 0.0, sum,
            [round, count = static_cast<double>(loop.GetNumReduced())](double value) { return round(value / count); },
            std::numeric_limits<T>::quiet_NaN());
    case ReduceOperation::Prod:
        return MakeReduce<T>(
            loop, C{1}, [](C a, T x) { return a * static_cast<C>(x); }, [](C value) { return static_cast<T>(value); },
            T{1});
    default: return MakeExtreme<T>(loop, operation == ReduceOperation::Max, reducesEveryAxis);
    }
}

/// Plain integers: sums have 64 bits; sum and product wrap in the end, a mean is truncated towards zero.
template <typename T>
Prepared MakeInteger(const ReduceLoop& loop, ReduceOperation operation)
{
    const auto sum = [](int64_t a, T x) { return AddOperation::Apply(a, static_cast<int64_t>(x)); };
    const auto finish = [](int64_t value) { return static_cast<T>(value); };
    switch (operation)
    {
    case ReduceOperation::Sum: return MakeReduce<T>(loop, int64_t{0}, sum, finish, T{0});
    case ReduceOperation::Mean:
        return MakeReduce<T>(
            loop, int64_t{0}, sum,
            [count = static_cast<int64_t>(loop.GetNumReduced())](int64_t value)
            { return static_cast<T>(value / count); },
            T{0});
    case ReduceOperation::Prod:
        return MakeReduce<T>(
            loop, int64_t{1}, [](int64_t a, T x) { return MulOperation::Apply(a, static_cast<int64_t>(x)); }, finish,
            T{1});
    default: return MakeExtreme<T>(loop, operation == ReduceOperation::Max, false);
    }
}

/// All and Any of Booleans, which may be any byte.
Prepared MakeLogical(const ReduceLoop& loop, ReduceOperation operation)
{
    const auto finish = [](uint8_t value) { return value; };
    if (operation == ReduceOperation::All)
    {
        return MakeReduce<uint8_t>(
            loop, uint8_t{1}, [](uint8_t a, uint8_t x) { return static_cast<uint8_t>(x != 0 ? a : 0); }, finish,
            uint8_t{1});
    }
    return MakeReduce<uint8_t>(
        loop, uint8_t{0}, [](uint8_t a, uint8_t x) { return static_cast<uint8_t>(x != 0 ? 1 : a); }, finish,
        uint8_t{0});
}

template <typename T>
T ClampTo(int32_t value)
{
    return static_cast<T>(std::clamp<int32_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Sums of stored values have 64 bits; the zero points are subtracted at the end. Rescale: SumRescale or HalfEvenMean.
template <typename T, typename Rescale>
Prepared MakeQuantizedSum(const ReduceLoop& loop, const Rescale& rescale)
{
    return MakeReduce<T>(
        loop, int64_t{0}, [](int64_t a, T x) { return a + x; },
        [rescale](int64_t sum) { return rescale.template Apply<T>(sum); }, T{0});
}

/// Each factor is multiplied by the input's scale and by its share of the output's, so that 32 bits are enough.
template <typename T>
Prepared MakeQuantizedProd(const ReduceLoop& loop, const TensorQuantization& input, const TensorQuantization& output)
{
    const auto count = static_cast<double>(std::max<size_t>(loop.GetNumReduced(), 1));
    const QuantizedMultiplier multiplier = QuantizeMultiplier(
        static_cast<double>(input.m_Scale) / std::pow(static_cast<double>(output.m_Scale), 1.0 / count));
    constexpr int64_t None = std::numeric_limits<int64_t>::max(); // no factor yet
    return MakeReduce<T>(
        loop, None,
        [multiplier, zeroInput = input.m_ZeroPoint](int64_t a, T x) -> int64_t
        {
            const int64_t factor = x - zeroInput;
            return a == None ? factor : MultiplyReducedSaturating(a * factor, multiplier);
        },
        [multiplier, zeroOutput = output.m_ZeroPoint](int64_t product)
        { return ClampTo<T>(backends::SaturatingAdd(MultiplyReducedSaturating(product, multiplier), zeroOutput)); },
        T{0});
}

template <typename T>
Prepared MakeQuantized(const ReshapeArgs& args, const ReduceLoop& loop, ReduceOperation operation,
                       RequantizationMode mode)
{
    const size_t count = loop.GetNumReduced();
    const TensorQuantization input = GetTensorQuantization(args.GetInput(0));
    const TensorQuantization output = GetTensorQuantization(args.GetOutput(0));
    switch (operation)
    {
    case ReduceOperation::Sum: return MakeQuantizedSum<T>(loop, SumRescale(input, output, count, false));
    case ReduceOperation::Mean:
        return mode == RequantizationMode::FloatHalfEven
                   ? MakeQuantizedSum<T>(loop, HalfEvenMean(input, output, count))
                   : MakeQuantizedSum<T>(loop, SumRescale(input, output, count, true));
    case ReduceOperation::Prod: return MakeQuantizedProd<T>(loop, input, output);
    default: return MakeExtreme<T>(loop, operation == ReduceOperation::Max, false);
    }
}

SupportResult CheckReduceLayer(const LayerView& layer)
{
    return CheckReduce(layer.GetDescriptor<ReduceDescriptor>().m_ReduceOperation, layer);
}

Prepared PrepareReduceLayer(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ReduceDescriptor>();
    return PrepareReduce(args, descriptor.m_ReduceOperation, descriptor.m_vAxis);
}

} // namespace

constexpr backends::TypeRow ReduceTypes[2] = {
    backends::SameType(backends::FloatTypes | backends::SignedTypes |
                       backends::TypeSet{DataType::Unsigned8, DataType::Boolean}),
    backends::PerTensor(backends::SameType(backends::QuantizedTypes))};

SumRescale::SumRescale(const TensorQuantization& input, const TensorQuantization& output, size_t count, bool isMean)
    : m_Multiplier(QuantizeMultiplier(static_cast<double>(input.m_Scale) / static_cast<double>(output.m_Scale))),
      m_ZeroPoints(input.m_ZeroPoint * static_cast<int64_t>(count)), m_ZeroOutput(output.m_ZeroPoint)
{
    if (isMean && count > 0)
    {
        // The division by count uses additional fraction bits, as many as neither overflow nor exceed the shift's
        // range.
        const int bits = std::min({63 - std::countl_zero(static_cast<uint64_t>(count)), 32, 31 + m_Multiplier.m_Shift});
        m_Multiplier.m_Multiplier = static_cast<int32_t>((static_cast<int64_t>(m_Multiplier.m_Multiplier) << bits) /
                                                         static_cast<int64_t>(count));
        m_Multiplier.m_Shift -= bits;
    }
}

bool ReducesEveryAxis(const ReshapeArgs& args, const std::vector<unsigned int>& axes)
{
    return std::set<unsigned int>(axes.begin(), axes.end()).size() == args.GetInput(0).GetNumDimensions();
}

SupportResult CheckReduce(ReduceOperation operation, const LayerView& layer)
{
    const bool isLogical = operation == ReduceOperation::All || operation == ReduceOperation::Any;
    if (isLogical != (layer.GetInput(0).GetDataType() == DataType::Boolean))
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 "All and Any take Boolean as input 0, and nothing else does");
    }
    const bool keepsValues = operation == ReduceOperation::Max || operation == ReduceOperation::Min;
    if (keepsValues && !layer.GetInput(0).IsTypeSpaceMatch(layer.GetOutput(0)))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "Max and Min need an output with the quantization of the input");
    }
    return SupportResult::Yes();
}

Prepared PrepareReduce(const ReshapeArgs& args, ReduceOperation operation, const std::vector<unsigned int>& axes,
                       RequantizationMode mode)
{
    const DataType type = args.GetInput(0).GetDataType();
    const ReduceLoop loop(args.GetInput(0).GetShape(), axes);
    if (args.GetOutput(0).GetShape().GetNumElements64() != loop.GetNumOutputs())
    {
        throw LayerValidationException("the output's shape " + args.GetOutput(0).GetShape().ToString() +
                                       " is not what is left of the input's " + args.GetInput(0).GetShape().ToString());
    }
    if (type == DataType::Boolean)
    {
        return MakeLogical(loop, operation);
    }
    if (backends::QuantizedTypes.Has(type))
    {
        return DispatchType<int8_t, uint8_t, int16_t>(
            type, [&](auto tag) { return MakeQuantized<typename decltype(tag)::Type>(args, loop, operation, mode); });
    }
    if (backends::FloatTypes.Has(type))
    {
        return DispatchType<float, double, Half, BFloat16>(
            type, [&](auto tag)
            { return MakeFloat<typename decltype(tag)::Type>(loop, operation, ReducesEveryAxis(args, axes)); });
    }
    return DispatchType<int32_t, int64_t, int16_t, int8_t, uint8_t>(
        type, [&](auto tag) { return MakeInteger<typename decltype(tag)::Type>(loop, operation); });
}

extern const backends::Kernel RefReduceKernel = {"RefReduce", ReduceTypes, PrepareReduceLayer, CheckReduceLayer};

} // namespace tenon::ref
