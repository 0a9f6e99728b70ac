// SPDX-License-Identifier: Apache-2.0
// See ByteComparison.hpp.
#include "backends/cpu/elementwise/ByteComparison.hpp"

#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/ByteComparison.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Bytes-inl.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using Relation = ByteComparison::Relation;
using Tag = hn::ScalableTag<int32_t>;
using Ints = hn::Vec<Tag>;

template <Relation Wanted, typename T, Motion M>
void Compare(const ByteComparison& comparison, const void* a, const void* b, uint8_t* out, size_t count)
{
    const Tag d;
    const FixedPointMultiplier<Tag> multiplyA(comparison.GetA().m_Multiplier);
    const FixedPointMultiplier<Tag> multiplyB(comparison.GetB().m_Multiplier);
    const Ints zeroA = hn::Set(d, comparison.GetA().m_ZeroPoint);
    const Ints zeroB = hn::Set(d, comparison.GetB().m_ZeroPoint);
    const Ints negation = hn::Set(d, comparison.IsNegated() ? 1 : 0);
    const Ints one = hn::Set(d, 1);
    constexpr int More = ByteComparison::Rescale::MoreBits;
    MapPairs<M == Motion::FixedA, M == Motion::FixedB>(
        hn::Rebind<T, Tag>(), static_cast<const T*>(a), static_cast<const T*>(b), out, count,
        [&](auto storedA, auto storedB) HWY_ATTR
        {
            const Ints x = multiplyA(hn::ShiftLeft<More>(hn::Sub(hn::PromoteTo(d, storedA), zeroA)));
            const Ints y = multiplyB(hn::ShiftLeft<More>(hn::Sub(hn::PromoteTo(d, storedB), zeroB)));
            const auto mask = Wanted == Relation::Equal  ? hn::Eq(x, y)
                              : Wanted == Relation::Less ? hn::Lt(x, y)
                                                         : hn::Gt(x, y);
            const Ints bits = hn::Xor(hn::And(hn::VecFromMask(d, mask), one), negation);
            return hn::DemoteTo(hn::Rebind<uint8_t, Tag>(), bits);
        });
}

template <Relation Wanted, typename T>
ByteComparison::Loop ForMotion(Motion motion)
{
    switch (motion)
    {
    case Motion::Both: return Compare<Wanted, T, Motion::Both>;
    case Motion::FixedB: return Compare<Wanted, T, Motion::FixedB>;
    case Motion::FixedA: break;
    }
    return Compare<Wanted, T, Motion::FixedA>;
}

template <typename T>
ByteComparison::Loop ForRelation(Relation relation, Motion motion)
{
    switch (relation)
    {
    case Relation::Equal: return ForMotion<Relation::Equal, T>(motion);
    case Relation::Less: return ForMotion<Relation::Less, T>(motion);
    case Relation::Greater: break;
    }
    return ForMotion<Relation::Greater, T>(motion);
}

ByteComparison::Loop FindLoop(Relation relation, DataType type, Motion motion)
{
    return type == DataType::QAsymmU8 ? ForRelation<uint8_t>(relation, motion) : ForRelation<int8_t>(relation, motion);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

ByteComparison::Rescale MakeRescale(const ref::TensorQuantization& quantization, int exponent)
{
    return {quantization.m_ZeroPoint,
            backends::QuantizeMultiplier(std::ldexp(static_cast<double>(quantization.m_Scale), -exponent))};
}

/// The relation that tells of an operation, or of its opposite.
ByteComparison::Relation GetRelation(ComparisonOperation operation)
{
    using Relation = ByteComparison::Relation;
    switch (operation)
    {
    case ComparisonOperation::Equal:
    case ComparisonOperation::NotEqual: return Relation::Equal;
    case ComparisonOperation::Less:
    case ComparisonOperation::GreaterOrEqual: return Relation::Less;
    default: return Relation::Greater;
    }
}

} // namespace

ByteComparison::ByteComparison(ComparisonOperation operation, const TensorInfo& a, const TensorInfo& b, Motion motion)
    : m_IsNegated(operation == ComparisonOperation::NotEqual || operation == ComparisonOperation::GreaterOrEqual ||
                  operation == ComparisonOperation::LessOrEqual),
      m_Loop(TENON_CHOOSE(FindLoop)(GetRelation(operation), a.GetDataType(), motion))
{
    const ref::TensorQuantization first = ref::GetTensorQuantization(a);
    const ref::TensorQuantization second = ref::GetTensorQuantization(b);
    // As the reference kernel: scales above 1 are brought below it, both alike.
    int exponent = 0;
    std::frexp(std::max(first.m_Scale, second.m_Scale), &exponent);
    exponent = std::max(exponent, 0);
    m_A = MakeRescale(first, exponent);
    m_B = MakeRescale(second, exponent);
}

} // namespace tenon::cpu
#endif
