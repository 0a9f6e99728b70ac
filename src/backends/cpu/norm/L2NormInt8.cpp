// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of L2NormInt8.hpp.
#include "backends/cpu/norm/L2NormInt8.hpp"

#include "backends/common/FixedPoint.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/L2NormInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

constexpr size_t Lanes = HWY_LANES(uint8_t);
constexpr int OutputBits = 7; // a step of the output is 1/128

/// The sum of (x - zero)^2, where x is a stored byte XOR signXor.
int64_t SumSquares(const uint8_t* in, size_t depth, uint8_t signXor, uint8_t zero)
{
    const TagUint8 d;
    const TagInt32 dInt;
    const hn::Repartition<int16_t, TagUint8> dShort;
    const VecUint8 signXors = hn::Set(d, signXor);
    const auto zeros = hn::Set(dShort, static_cast<int16_t>(zero));
    constexpr size_t MaxBlock = 4096 * Lanes; // elements: the sum of a lane stays below 2^30
    int64_t all = 0;
    for (size_t first = 0; first < depth; first += MaxBlock)
    {
        const size_t end = std::min(depth, first + MaxBlock);
        VecInt32 sum = hn::Zero(dInt);
        VecInt32 others = hn::Zero(dInt); // on some targets, the sum of the other half of the products
        for (size_t i = first; i < end; i += Lanes)
        {
            // Lanes beyond the row hold the zero point, which adds nothing.
            const VecUint8 stored = end - i >= Lanes
                                        ? hn::LoadU(d, in + i)
                                        : LoadFirst(d, in + i, end - i, static_cast<uint8_t>(zero ^ signXor));
            const VecUint8 x = hn::Xor(stored, signXors);
            const auto low = hn::Sub(hn::BitCast(dShort, hn::InterleaveLower(d, x, hn::Zero(d))), zeros);
            const auto high = hn::Sub(hn::BitCast(dShort, hn::InterleaveUpper(d, x, hn::Zero(d))), zeros);
            sum = hn::ReorderWidenMulAccumulate(dInt, low, low, sum, others);
            sum = hn::ReorderWidenMulAccumulate(dInt, high, high, sum, others);
        }
        int32_t sums[Lanes / 4];
        hn::StoreU(hn::Add(sum, others), dInt, sums);
        for (const int32_t lane : sums)
        {
            all += lane;
        }
    }
    return all;
}

template <bool IsSigned>
void DivideRows(const uint8_t* in, size_t rows, size_t depth, uint8_t zero, uint8_t* out)
{
    const TagUint8 d;
    const TagInt32 dInt;
    const Quarters quarters;
    constexpr uint8_t SignXor = IsSigned ? 0x80 : 0;
    // As in the reference kernels: for int8 the 7 bits are in the multiplier, for uint8 in the elements.
    constexpr int MultiplierBits = IsSigned ? OutputBits : 0;
    constexpr int InputBits = OutputBits - MultiplierBits;
    const VecUint8 signXors = hn::Set(d, SignXor);
    const VecInt32 zeros = hn::Set(dInt, zero);
    const auto zeroOutput = hn::Set(hn::Repartition<int16_t, TagUint8>(), int16_t{128});
    for (size_t row = 0; row < rows; ++row, in += depth, out += depth)
    {
        const int64_t squares = SumSquares(in, depth, SignXor, zero);
        backends::QuantizedMultiplier inverse = backends::GetInverseSquareRoot(
            static_cast<int32_t>(std::min<int64_t>(squares, std::numeric_limits<int32_t>::max())));
        inverse.m_Shift += MultiplierBits;
        const BoundedMultiplier<TagInt32> multiply(inverse);
        const auto divide = [&](VecUint8 stored) HWY_ATTR
        {
            const VecUint8 bytes = hn::Xor(stored, signXors);
            const auto part = [&](VecInt32 quarter) HWY_ATTR
            { return multiply(hn::ShiftLeft<InputBits>(hn::Sub(quarter, zeros))); };
            return hn::Xor(JoinQuarters(part(quarters.Get<0>(bytes)), part(quarters.Get<1>(bytes)),
                                        part(quarters.Get<2>(bytes)), part(quarters.Get<3>(bytes)), zeroOutput),
                           signXors);
        };
        size_t i = 0;
        for (; i + Lanes <= depth; i += Lanes)
        {
            hn::StoreU(divide(hn::LoadU(d, in + i)), d, out + i);
        }
        if (i < depth)
        {
            StoreFirst(divide(LoadFirst(d, in + i, depth - i, uint8_t{0})), d, out + i, depth - i);
        }
    }
}

void Divide(const L2NormInt8& norm, const uint8_t* in, size_t rows, size_t depth, uint8_t* out)
{
    const auto divide = norm.m_IsSigned ? DivideRows<true> : DivideRows<false>;
    divide(in, rows, depth, norm.m_Zero, out);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void L2NormInt8::operator()(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const
{
    TENON_CHOOSE(Divide)(*this, in, rows, depth, out);
}

} // namespace tenon::cpu
#endif
