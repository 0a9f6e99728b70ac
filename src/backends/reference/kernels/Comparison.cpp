// SPDX-License-Identifier: Apache-2.0
// Comparison: out = in0 OP in1 with broadcasting. 8-bit tensors with a scale are compared as in TFLite's reference
// kernels: both are brought to a common 32-bit scale. 16-bit tensors are compared as stored, also as in TFLite.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/BroadcastLoop.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::QuantizedInt8Types;
using backends::TypeSet;

/// Types whose stored values are compared, including 16-bit quantized types, as in TFLite.
constexpr TypeSet PlainTypes =
    TypeSet{DataType::Float16,   DataType::Float32,    DataType::Float64,    DataType::BFloat16,  DataType::Boolean,
            DataType::QSymmS16,  DataType::Signed8,    DataType::Signed16,   DataType::Signed32,  DataType::Signed64,
            DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64};

constexpr backends::TypeRow ComparisonTypes[] = {
    backends::Types({PlainTypes, PlainTypes}, DataType::Boolean),
    backends::PerTensor(backends::Types({QuantizedInt8Types, QuantizedInt8Types}, DataType::Boolean))};

/// Calls f with the function object of the operation.
template <typename F>
Prepared DispatchComparison(ComparisonOperation operation, const F& f)
{
    switch (operation)
    {
    case ComparisonOperation::Equal: return f(std::equal_to<>());
    case ComparisonOperation::NotEqual: return f(std::not_equal_to<>());
    case ComparisonOperation::Greater: return f(std::greater<>());
    case ComparisonOperation::GreaterOrEqual: return f(std::greater_equal<>());
    case ComparisonOperation::Less: return f(std::less<>());
    case ComparisonOperation::LessOrEqual: return f(std::less_equal<>());
    }
    throw InvalidArgumentException("unknown comparison operation");
}

template <typename T, typename F>
Prepared MakeComparison(const ReshapeArgs& args, const F& compare)
{
    const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape());
    return [loop, compare](const ExecuteArgs& run)
    { loop.Run(run.GetInput<T>(0), run.GetInput<T>(1), run.GetOutput<uint8_t>(0), compare); };
}

/// A stored value on the scale that both inputs have in common.
struct Rescale
{
    /// `exponent`: both scales are divided by 2^exponent.
    Rescale(const TensorQuantization& quantization, int exponent)
        : m_ZeroPoint(quantization.m_ZeroPoint),
          m_Multiplier(backends::QuantizeMultiplier(std::ldexp(static_cast<double>(quantization.m_Scale), -exponent)))
    {
    }

    int32_t operator()(int32_t stored) const
    {
        constexpr int32_t More = 1 << 8; // bits below the stored value's last one
        return backends::MultiplySaturating((stored - m_ZeroPoint) * More, m_Multiplier);
    }

    int32_t m_ZeroPoint;
    backends::QuantizedMultiplier m_Multiplier;
};

template <typename T, typename F>
Prepared MakeScaledComparison(const ReshapeArgs& args, const F& compare)
{
    const TensorQuantization a = GetTensorQuantization(args.GetInput(0));
    const TensorQuantization b = GetTensorQuantization(args.GetInput(1));
    // TFLite supports scales below 1 only, which are unchanged here; larger scales are divided, which keeps the order.
    int exponent = 0;
    std::frexp(std::max(a.m_Scale, b.m_Scale), &exponent);
    exponent = std::max(exponent, 0);
    return MakeComparison<T>(args, [first = Rescale(a, exponent), second = Rescale(b, exponent), compare](T x, T y)
                             { return compare(first(x), second(y)); });
}

Prepared PrepareComparison(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const DataType type = args.GetInput(0).GetDataType();
    const auto prepare = [&](const auto& compare) -> Prepared
    {
        if (type == DataType::Boolean) // all nonzero bytes are true
        {
            return MakeComparison<uint8_t>(args, [compare](uint8_t x, uint8_t y) { return compare(x != 0, y != 0); });
        }
        if (QuantizedInt8Types.Has(type))
        {
            return type == DataType::QAsymmU8 ? MakeScaledComparison<uint8_t>(args, compare)
                                              : MakeScaledComparison<int8_t>(args, compare);
        }
        return DispatchType<float, double, Half, BFloat16, int32_t, int64_t, int16_t, int8_t, uint8_t, uint16_t,
                            uint32_t, uint64_t>(
            type,
            [&](auto tag)
            {
                using T = typename decltype(tag)::Type;
                using C = ComputeType<T>;
                return MakeComparison<T>(args,
                                         [compare](T x, T y) { return compare(static_cast<C>(x), static_cast<C>(y)); });
            });
    };
    return DispatchComparison(args.GetDescriptor<ComparisonDescriptor>().m_Operation, prepare);
}

SupportResult CheckComparison(const LayerView& layer)
{
    if (layer.GetInput(0).GetDataType() != layer.GetInput(1).GetDataType())
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string("input 0 is ") + GetDataTypeName(layer.GetInput(0).GetDataType()) +
                                     " and input 1 " + GetDataTypeName(layer.GetInput(1).GetDataType()) +
                                     "; they must be of one type");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefComparisonKernel = {"RefComparison", ComparisonTypes, PrepareComparison,
                                                     CheckComparison};

} // namespace tenon::ref
