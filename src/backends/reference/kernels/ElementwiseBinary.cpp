// SPDX-License-Identifier: Apache-2.0
// ElementwiseBinary: out = in0 OP in1 with broadcasting. Floats and plain integers here; tensors with a scale in
// QuantizedBinary.cpp.
#include "backends/common/FusedActivation.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/reference/BinaryOperations.hpp"
#include "backends/reference/BroadcastLoop.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/QuantizedBinary.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <complex>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::FloatTypes;
using backends::Prepared;
using backends::QuantizedTypes;
using backends::SameType;
using backends::Types;
using backends::TypeSet;

constexpr TypeSet IntegerTypes = {DataType::Signed8,    DataType::Signed16,  DataType::Signed32,
                                  DataType::Signed64,   DataType::Unsigned8, DataType::Unsigned16,
                                  DataType::Unsigned32, DataType::Unsigned64};

constexpr backends::TypeRow BinaryTypes[] = {
    SameType(FloatTypes | IntegerTypes | QuantizedTypes | TypeSet({DataType::Complex64, DataType::Boolean}), 2),
    Types({DataType::QSymmS16, DataType::QSymmS16}, {DataType::QAsymmU8, DataType::QAsymmS8}),
};

SupportResult CheckBinary(const LayerView& layer)
{
    const BinaryOperation operation = layer.GetDescriptor<ElementwiseBinaryDescriptor>().m_Operation;
    const DataType type = layer.GetInput(0).GetDataType();
    const bool isInteger = IntegerTypes.Has(type) || QuantizedTypes.Has(type);
    if (IsBitwise(operation) || IsShift(operation))
    {
        const bool hasBits = isInteger || (type == DataType::Boolean && IsBitwise(operation));
        return hasBits && layer.GetOutput(0).GetDataType() == type
                   ? SupportResult::Yes()
                   : SupportResult::No(SupportCode::UnsupportedType,
                                       "bitwise operations take integers of one type or Boolean, shifts only integers");
    }
    if (type == DataType::Boolean)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "only bitwise operations take Boolean");
    }
    if (operation == BinaryOperation::Atan2 && !FloatTypes.Has(type))
    {
        return SupportResult::No(SupportCode::UnsupportedType, "Atan2 takes floats only");
    }
    if (QuantizedTypes.Has(type))
    {
        return CheckQuantizedBinary(operation, layer);
    }
    if (type == DataType::Complex64 && operation != BinaryOperation::Add && operation != BinaryOperation::Sub &&
        operation != BinaryOperation::Mul)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "complex tensors can only be added, subtracted and multiplied");
    }
    return SupportResult::Yes();
}

/// Throws for operands without an integer result: a divisor of 0, a negative exponent.
template <typename Operation, typename T>
void CheckIntegers(const T* b, size_t count)
{
    constexpr bool Divides = std::is_same_v<Operation, DivOperation> || std::is_same_v<Operation, FloorDivOperation> ||
                             std::is_same_v<Operation, FloorModOperation> ||
                             std::is_same_v<Operation, RemainderOperation>;
    if constexpr (Divides && std::is_integral_v<T>)
    {
        if (const T* zero = std::find(b, b + count, T{0}); zero != b + count)
        {
            throw RuntimeException("integer division by zero: element " + std::to_string(zero - b) +
                                   " of the divisor (input 1) is 0");
        }
    }
    if constexpr (std::is_same_v<Operation, PowerOperation> && std::is_integral_v<T>)
    {
        if (const T* negative = std::find_if(b, b + count, [](T x) { return x < 0; }); negative != b + count)
        {
            throw RuntimeException("negative power of an integer: element " + std::to_string(negative - b) +
                                   " of the exponent (input 1) is " + std::to_string(*negative));
        }
    }
}

/// Operations that networks use before activations.
template <typename Operation>
constexpr bool IsFusable = std::is_same_v<Operation, AddOperation> || std::is_same_v<Operation, SubOperation> ||
                           std::is_same_v<Operation, MulOperation> || std::is_same_v<Operation, DivOperation>;

SupportResult Fuse(const LayerView& layer, const ActivationDescriptor& activation)
{
    const BinaryOperation operation = layer.GetDescriptor<ElementwiseBinaryDescriptor>().m_Operation;
    const bool isQuantized = QuantizedTypes.Has(layer.GetInput(0).GetDataType());
    if (operation != BinaryOperation::Add && operation != BinaryOperation::Sub && operation != BinaryOperation::Mul &&
        (operation != BinaryOperation::Div || isQuantized))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "fuses no activation behind this operation");
    }
    return backends::FuseClamp(layer, activation);
}

template <typename T, typename Operation>
Prepared MakePlain(const ReshapeArgs& args)
{
    const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape());
    const size_t countB = loop.IsEmpty() ? 0 : args.GetInput(1).GetNumElements();
    const auto apply = [](T x, T y)
    {
        using C = ComputeType<T>;
        return static_cast<T>(Operation::Apply(static_cast<C>(x), static_cast<C>(y)));
    };
    if constexpr (std::is_floating_point_v<ComputeType<T>> && IsFusable<Operation>)
    {
        if (args.m_FusedActivation != nullptr)
        {
            const backends::FloatClamp clamp(args.m_FusedActivation);
            const auto applyAndClamp = [apply, clamp](T x, T y)
            { return static_cast<T>(clamp(static_cast<ComputeType<T>>(apply(x, y)))); };
            return [loop, applyAndClamp](const ExecuteArgs& run)
            { loop.Run(run.GetInput<T>(0), run.GetInput<T>(1), run.GetOutput<T>(0), applyAndClamp); };
        }
    }
    return [loop, countB, apply](const ExecuteArgs& run)
    {
        const T* b = run.GetInput<T>(1);
        CheckIntegers<Operation>(b, countB);
        loop.Run(run.GetInput<T>(0), b, run.GetOutput<T>(0), apply);
    };
}

Prepared MakeComplex(const ReshapeArgs& args, BinaryOperation operation)
{
    using T = std::complex<float>;
    switch (operation)
    {
    case BinaryOperation::Add: return MakePlain<T, AddOperation>(args);
    case BinaryOperation::Sub: return MakePlain<T, SubOperation>(args);
    default: return MakePlain<T, MulOperation>(args);
    }
}

/// Bitwise operations and shifts of the stored integers, independent of their quantization.
Prepared MakeBits(const ReshapeArgs& args, BinaryOperation operation, DataType type)
{
    if (type == DataType::Boolean) // a byte may hold more than 0 and 1
    {
        const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(),
                                 args.GetOutput(0).GetShape());
        return DispatchBits(operation,
                            [&](auto op) -> Prepared
                            {
                                using Operation = decltype(op);
                                return [loop](const ExecuteArgs& run)
                                {
                                    loop.Run(run.GetInput<uint8_t>(0), run.GetInput<uint8_t>(1),
                                             run.GetOutput<uint8_t>(0),
                                             [](uint8_t x, uint8_t y)
                                             {
                                                 const auto a = static_cast<uint8_t>(x != 0 ? 1 : 0);
                                                 const auto b = static_cast<uint8_t>(y != 0 ? 1 : 0);
                                                 return Operation::Apply(a, b);
                                             });
                                };
                            });
    }
    return DispatchBits(
        operation,
        [&](auto op)
        {
            return DispatchType<int32_t, int64_t, int16_t, int8_t, uint8_t, uint16_t, uint32_t, uint64_t>(
                type, [&](auto tag) { return MakePlain<typename decltype(tag)::Type, decltype(op)>(args); });
        });
}

Prepared PrepareBinary(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const BinaryOperation operation = args.GetDescriptor<ElementwiseBinaryDescriptor>().m_Operation;
    const DataType type = args.GetInput(0).GetDataType();
    if (IsBitwise(operation) || IsShift(operation))
    {
        return MakeBits(args, operation, type);
    }
    if (operation == BinaryOperation::Atan2)
    {
        return DispatchType<float, double, Half, BFloat16>(
            type, [&](auto tag) { return MakePlain<typename decltype(tag)::Type, Atan2Operation>(args); });
    }
    if (QuantizedTypes.Has(type))
    {
        return PrepareQuantizedBinary(args, operation);
    }
    if (type == DataType::Complex64)
    {
        return MakeComplex(args, operation);
    }
    return DispatchOperation(operation,
                             [&](auto op)
                             {
                                 return DispatchType<float, double, Half, BFloat16, int32_t, int64_t, int16_t, int8_t,
                                                     uint8_t, uint16_t, uint32_t, uint64_t>(
                                     type, [&](auto tag)
                                     { return MakePlain<typename decltype(tag)::Type, decltype(op)>(args); });
                             });
}

} // namespace

extern const backends::Kernel RefElementwiseBinaryKernel = {
    "RefElementwiseBinary", BinaryTypes, PrepareBinary, CheckBinary, nullptr, Fuse};

} // namespace tenon::ref
