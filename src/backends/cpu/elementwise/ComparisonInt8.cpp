// SPDX-License-Identifier: Apache-2.0
// ComparisonInt8: the tables of bounds, and the loops that compare with them.
#include "backends/cpu/elementwise/ComparisonInt8.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/ComparisonInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/LookupInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using SignedTag = hn::RebindToSigned<TagUint8>;

/// The lookup if both inputs have the same quantization: a key is its own bound.
class SameByte
{
public:
    HWY_INLINE explicit SameByte(const ComparisonInt8::Bounds& bounds)
        : m_SignXor(hn::Set(TagUint8(), bounds.m_SignXor))
    {
    }

    HWY_INLINE VecUint8 operator()(VecUint8 x) const { return hn::Xor(x, m_SignXor); }

private:
    VecUint8 m_SignXor;
};

template <typename Lookup>
Lookup MakeLookup(const ComparisonInt8::Bounds& bounds, const LookupTableInt8& table)
{
    if constexpr (std::is_same_v<Lookup, SameByte>)
    {
        return Lookup(bounds);
    }
    else
    {
        return Lookup(table.data());
    }
}

/// `HasMin`: keys have a lower bound, too (Equal, NotEqual).
template <typename Lookup, bool HasMin, bool IsScalarValue, bool IsScalarKey>
void Compare(const ComparisonInt8::Bounds& bounds, const uint8_t* value, const uint8_t* key, uint8_t* out, size_t count)
{
    const TagUint8 d;
    const SignedTag dSigned;
    const Lookup findMax = MakeLookup<Lookup>(bounds, bounds.m_Max);
    const Lookup findMin = MakeLookup<Lookup>(bounds, bounds.m_Min);
    const auto scalarMax = hn::BitCast(dSigned, hn::Set(d, bounds.m_Max[*key]));
    const auto scalarMin = hn::BitCast(dSigned, hn::Set(d, bounds.m_Min[*key]));
    const VecUint8 signXor = hn::Set(d, bounds.m_SignXor);
    const VecUint8 outside = hn::Set(d, bounds.m_Outside);
    const VecUint8 inside = hn::Set(d, bounds.m_Inside);
    MapPairs<IsScalarValue, IsScalarKey>(
        d, value, key, out, count,
        [&](VecUint8 x, VecUint8 y) HWY_ATTR
        {
            const auto compared = hn::BitCast(dSigned, hn::Xor(x, signXor));
            auto isOutside = hn::Gt(compared, IsScalarKey ? scalarMax : hn::BitCast(dSigned, findMax(y)));
            if constexpr (HasMin)
            {
                const auto minimum = IsScalarKey ? scalarMin : hn::BitCast(dSigned, findMin(y));
                isOutside = hn::Or(isOutside, hn::Gt(minimum, compared));
            }
            return hn::IfThenElse(hn::RebindMask(d, isOutside), outside, inside);
        });
}

template <typename Lookup, bool HasMin>
ComparisonInt8::Loop ForOperandForms(bool isScalarValue, bool isScalarKey)
{
    return isScalarKey     ? Compare<Lookup, HasMin, false, true>
           : isScalarValue ? Compare<Lookup, HasMin, true, false>
                           : Compare<Lookup, HasMin, false, false>;
}

ComparisonInt8::Loop FindLoop(bool isSame, bool hasMin, bool isScalarValue, bool isScalarKey)
{
    const auto find = [&](auto tag)
    {
        using Lookup = typename decltype(tag)::Lookup;
        return hasMin ? ForOperandForms<Lookup, true>(isScalarValue, isScalarKey)
                      : ForOperandForms<Lookup, false>(isScalarValue, isScalarKey);
    };
    return isSame ? find(LookupTag<SameByte>()) : WithBestLookup(find);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

constexpr int Values = 256;
/// The rescaled values of all bytes of an input, in ascending order.
using Rescaled = std::array<int32_t, Values>;

/// `exponent`: scales are divided by 2^exponent.
Rescaled Rescale(const ref::TensorQuantization& quantization, int32_t lowest, int exponent)
{
    constexpr int32_t More = 1 << 8; // 8 fraction bits, as the reference kernel has
    const backends::QuantizedMultiplier multiplier =
        backends::QuantizeMultiplier(std::ldexp(static_cast<double>(quantization.m_Scale), -exponent));
    Rescaled rescaled{};
    for (int32_t i = 0; i < Values; ++i)
    {
        rescaled[static_cast<size_t>(i)] =
            backends::MultiplySaturating((lowest + i - quantization.m_ZeroPoint) * More, multiplier);
    }
    return rescaled;
}

/// The number of rescaled values below `bound`.
int CountBelow(const Rescaled& values, int32_t bound)
{
    return static_cast<int>(std::lower_bound(values.begin(), values.end(), bound) - values.begin());
}

/// The number of rescaled values up to `bound`.
int CountUpTo(const Rescaled& values, int32_t bound)
{
    return static_cast<int>(std::upper_bound(values.begin(), values.end(), bound) - values.begin());
}

/// Calls set(stored key, rescaled key) for all keys. `offset`: 128 for signed types, else 0.
template <typename F>
void ForKeys(const Rescaled& keys, unsigned int offset, const F& set)
{
    for (size_t i = 0; i < keys.size(); ++i)
    {
        set((i + Values - offset) % Values, keys[i]);
    }
}

/// The bound as int8; `value` counts from the smallest value.
uint8_t ToBound(int value)
{
    return static_cast<uint8_t>(value - Values / 2);
}

bool HasIdentityBounds(const LookupTableInt8& table, uint8_t signXor)
{
    for (size_t key = 0; key < table.size(); ++key)
    {
        if (table[key] != (key ^ signXor))
        {
            return false;
        }
    }
    return true;
}

} // namespace

ComparisonInt8::ComparisonInt8(ComparisonOperation operation, const TensorInfo& a, const TensorInfo& b,
                               OperandForms forms)
{
    const bool isSigned = a.GetDataType() != DataType::QAsymmU8;
    const unsigned int offset = isSigned ? Values / 2 : 0;
    const ref::TensorQuantization first = ref::GetTensorQuantization(a);
    const ref::TensorQuantization second = ref::GetTensorQuantization(b);
    // As the reference kernel: scales above 1 are divided by a power of two, both by the same.
    int exponent = 0;
    std::frexp(std::max(first.m_Scale, second.m_Scale), &exponent);
    exponent = std::max(exponent, 0);
    const int32_t lowest = isSigned ? -Values / 2 : 0;
    Rescaled values = Rescale(first, lowest, exponent);
    Rescaled keys = Rescale(second, lowest, exponent);
    m_Bounds.m_SignXor = isSigned ? 0 : 0x80;

    const bool isEquality = operation == ComparisonOperation::Equal || operation == ComparisonOperation::NotEqual;
    bool isInside = operation == ComparisonOperation::Equal; // the result for values within the bounds
    if (isEquality)
    {
        ForKeys(keys, offset,
                [&](size_t key, int32_t x)
                {
                    const int below = CountBelow(values, x);
                    const int upTo = CountUpTo(values, x);
                    const bool hasValues = below < upTo;
                    m_Bounds.m_Min[key] = ToBound(hasValues ? below : Values - 1);
                    m_Bounds.m_Max[key] = ToBound(hasValues ? upTo - 1 : 0);
                });
    }
    else
    {
        // One input is the key, which selects a bound, and the other one is the value, which is compared with it. a > b
        // is "value > bound of key" with a as the value. a < b is b > a: swapped. a <= b is not a > b: the inside is
        // true.
        m_Swaps = operation == ComparisonOperation::Less || operation == ComparisonOperation::GreaterOrEqual;
        isInside = operation == ComparisonOperation::GreaterOrEqual || operation == ComparisonOperation::LessOrEqual;
        if (m_Swaps)
        {
            std::swap(values, keys);
        }
        // The bound is the largest value up to the key, so each key must have one. If the smallest value is above the
        // smallest key, some keys have none. Then values and keys are exchanged, value > key becomes key < value, and
        // the bound is the largest of the other input's values below.
        const bool isExchanged = values.front() > keys.front();
        if (isExchanged)
        {
            std::swap(values, keys);
            m_Swaps = !m_Swaps;
            isInside = !isInside;
        }
        ForKeys(keys, offset,
                [&](size_t key, int32_t x)
                { m_Bounds.m_Max[key] = ToBound((isExchanged ? CountBelow(values, x) : CountUpTo(values, x)) - 1); });
    }
    m_Bounds.m_Inside = isInside ? 1 : 0;
    m_Bounds.m_Outside = isInside ? 0 : 1;
    const bool isSame = HasIdentityBounds(m_Bounds.m_Max, m_Bounds.m_SignXor) &&
                        (!isEquality || HasIdentityBounds(m_Bounds.m_Min, m_Bounds.m_SignXor));
    m_Loop = TENON_CHOOSE(FindLoop)(isSame, isEquality,
                                    forms == (m_Swaps ? OperandForms::VectorScalar : OperandForms::ScalarVector),
                                    forms == (m_Swaps ? OperandForms::ScalarVector : OperandForms::VectorScalar));
}

} // namespace tenon::cpu
#endif
