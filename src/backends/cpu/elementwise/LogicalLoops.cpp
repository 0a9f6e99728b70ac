// SPDX-License-Identifier: Apache-2.0
// Loops of logical operations.
#include "backends/cpu/elementwise/BinaryUnquantized.hpp"

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
HWY_INLINE VecUint8 Truth(VecUint8 bytes)
{
    return hn::Min(bytes, hn::Set(TagUint8(), uint8_t{1}));
}

struct And
{
    HWY_INLINE VecUint8 operator()(VecUint8 a, VecUint8 b) const { return hn::And(Truth(a), Truth(b)); }
};

struct Or
{
    HWY_INLINE VecUint8 operator()(VecUint8 a, VecUint8 b) const { return Truth(hn::Or(a, b)); }
};

template <typename Operation, OperandForms M>
void Run(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    MapPairs<M == OperandForms::ScalarVector, M == OperandForms::VectorScalar>(
        TagUint8(), a, b, out, count, [](VecUint8 x, VecUint8 y) HWY_ATTR { return Operation()(x, y); });
}

template <typename Operation>
LogicalLoop ForOperandForms(OperandForms forms)
{
    switch (forms)
    {
    case OperandForms::VectorVector: return Run<Operation, OperandForms::VectorVector>;
    case OperandForms::VectorScalar: return Run<Operation, OperandForms::VectorScalar>;
    case OperandForms::ScalarVector: break;
    }
    return Run<Operation, OperandForms::ScalarVector>;
}

LogicalLoop FindLoop(LogicalBinaryOperation operation, OperandForms forms)
{
    return operation == LogicalBinaryOperation::LogicalAnd ? ForOperandForms<And>(forms) : ForOperandForms<Or>(forms);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

LogicalLoop FindLogical(LogicalBinaryOperation operation, OperandForms forms)
{
    return TENON_CHOOSE(FindLoop)(operation, forms);
}

} // namespace tenon::cpu
#endif
