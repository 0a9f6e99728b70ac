// SPDX-License-Identifier: Apache-2.0
// Loops of logical operations.
#include "backends/cpu/elementwise/LogicalLoops.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/LogicalLoops.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// 0 stays 0, any other byte becomes 1.
HWY_INLINE Bytes Truth(Bytes bytes)
{
    return hn::Min(bytes, hn::Set(ByteTag(), uint8_t{1}));
}

struct And
{
    HWY_INLINE Bytes operator()(Bytes a, Bytes b) const { return hn::And(Truth(a), Truth(b)); }
};

struct Or
{
    HWY_INLINE Bytes operator()(Bytes a, Bytes b) const { return Truth(hn::Or(a, b)); }
};

template <typename Operation, Motion M>
void Run(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    MapPairs<M == Motion::FixedA, M == Motion::FixedB>(ByteTag(), a, b, out, count,
                                                       [](Bytes x, Bytes y) HWY_ATTR { return Operation()(x, y); });
}

template <typename Operation>
LogicalLoop ForMotion(Motion motion)
{
    switch (motion)
    {
    case Motion::Both: return Run<Operation, Motion::Both>;
    case Motion::FixedB: return Run<Operation, Motion::FixedB>;
    case Motion::FixedA: break;
    }
    return Run<Operation, Motion::FixedA>;
}

LogicalLoop FindLoop(LogicalBinaryOperation operation, Motion motion)
{
    return operation == LogicalBinaryOperation::LogicalAnd ? ForMotion<And>(motion) : ForMotion<Or>(motion);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

LogicalLoop FindLogical(LogicalBinaryOperation operation, Motion motion)
{
    return TENON_CHOOSE(FindLoop)(operation, motion);
}

} // namespace tenon::cpu
#endif
