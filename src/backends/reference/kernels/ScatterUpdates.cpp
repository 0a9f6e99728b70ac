// SPDX-License-Identifier: Apache-2.0
// See ScatterUpdates.hpp.
#include "backends/reference/kernels/ScatterUpdates.hpp"

#include "backends/reference/ElementTypes.hpp"

#include <tenon/Exceptions.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace tenon::ref
{

namespace
{

/// The type of sums and products of integers, which wrap. Sums of floats are not computed here, see ScatterUpdates.
template <typename T>
auto ToSum(T value)
{
    if constexpr (std::is_integral_v<T>)
    {
        return static_cast<uint64_t>(value);
    }
    else
    {
        return static_cast<ComputeType<T>>(value);
    }
}

template <ScatterNdFunction function, typename T>
T Combine(T a, T b)
{
    switch (function)
    {
    case ScatterNdFunction::Add: return static_cast<T>(ToSum(a) + ToSum(b));
    case ScatterNdFunction::Sub: return static_cast<T>(ToSum(a) - ToSum(b));
    case ScatterNdFunction::Mul: return static_cast<T>(ToSum(a) * ToSum(b));
    case ScatterNdFunction::Max: return b > a || b != b ? b : a; // NaN stays, whichever it is
    case ScatterNdFunction::Min: return b < a || b != b ? b : a;
    default: return b;
    }
}

template <ScatterNdFunction function, typename T>
void UpdateSlice(const std::byte* update, size_t count, std::byte* slice)
{
    const auto* from = reinterpret_cast<const T*>(update);
    auto* to = reinterpret_cast<T*>(slice);
    for (size_t i = 0; i < count; ++i)
    {
        to[i] = Combine<function>(to[i], from[i]);
    }
}

/// The sum of Booleans is their disjunction, the product their conjunction, and the difference their exclusive or.
template <ScatterNdFunction function>
void UpdateBooleans(const std::byte* update, size_t count, std::byte* slice)
{
    for (size_t i = 0; i < count; ++i)
    {
        const bool a = slice[i] != std::byte{0};
        const bool b = update[i] != std::byte{0};
        constexpr bool IsAnd = function == ScatterNdFunction::Min || function == ScatterNdFunction::Mul;
        const bool result = function == ScatterNdFunction::Sub ? a != b : IsAnd ? a && b : a || b;
        slice[i] = std::byte{result};
    }
}

template <ScatterNdFunction function>
UpdateFunction ChooseUpdate(DataType type)
{
    if (type == DataType::Boolean)
    {
        return UpdateBooleans<function>;
    }
    return DispatchType<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                        uint64_t>(
        type, [](auto tag) -> UpdateFunction { return UpdateSlice<function, typename decltype(tag)::Type>; });
}

} // namespace

UpdateFunction ChooseUpdate(ScatterNdFunction function, DataType type)
{
    switch (function)
    {
    case ScatterNdFunction::Add: return ChooseUpdate<ScatterNdFunction::Add>(type);
    case ScatterNdFunction::Sub: return ChooseUpdate<ScatterNdFunction::Sub>(type);
    case ScatterNdFunction::Max: return ChooseUpdate<ScatterNdFunction::Max>(type);
    case ScatterNdFunction::Min: return ChooseUpdate<ScatterNdFunction::Min>(type);
    case ScatterNdFunction::Mul: return ChooseUpdate<ScatterNdFunction::Mul>(type);
    default: return nullptr;
    }
}

SupportResult CheckScatter(const LayerView& layer, ScatterNdFunction function, bool hasInput)
{
    const DataType type = layer.GetOutput(0).GetDataType();
    for (const size_t i : {size_t{0}, size_t{2}})
    {
        if ((i == 2 || hasInput) && layer.GetInput(i).GetDataType() != type)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "input " + std::to_string(i) + " is " +
                                         GetDataTypeName(layer.GetInput(i).GetDataType()) + " and the output " +
                                         GetDataTypeName(type) + "; they must be of one type");
        }
    }
    const bool isComplex = type == DataType::Complex64 || type == DataType::Complex128;
    if (isComplex && function != ScatterNdFunction::Update)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "complex elements can only be overwritten");
    }
    return SupportResult::Yes();
}

} // namespace tenon::ref
