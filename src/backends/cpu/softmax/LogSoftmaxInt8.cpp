// SPDX-License-Identifier: Apache-2.0
// LogSoftmaxInt8 of SoftmaxInt8.hpp. A row takes four steps: its range, the sum of its exponentials, the logarithm of
// the sum, and a table of results that replaces each element by one lookup.
#include "backends/cpu/softmax/SoftmaxInt8.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax/LogSoftmaxInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

void MakeResults(const int32_t* scaled, size_t count, int32_t logSum, uint8_t signXor, uint8_t* bytes)
{
    using Words = hn::CappedTag<int32_t, ResultTableInt8::MaxStoreLanes>;
    constexpr int Bits = ref::LogSoftmaxTablesInt8::BitsOfStep;
    constexpr int32_t Rest = (int32_t{1} << Bits) - 1;
    const Words d;
    const hn::Rebind<uint8_t, Words> dBytes;
    const auto log = hn::Set(d, logSum);
    const auto rest = hn::Set(d, Rest);
    const auto half = hn::Set(d, Rest / 2);
    const auto maxByte = hn::Set(d, int32_t{255});
    const auto signXors = hn::Set(dBytes, signXor);
    for (size_t i = 0; i < count; i += hn::Lanes(d))
    {
        // Halves are rounded away from zero, without a sum that could overflow, as the difference may be any int32.
        const auto x = hn::Sub(hn::LoadU(d, scaled + i), log);
        const auto isUp = hn::Gt(hn::And(x, rest), hn::Sub(half, hn::BroadcastSignBit(x)));
        const auto steps = hn::Sub(hn::ShiftRight<Bits>(x), hn::VecFromMask(d, isUp));
        hn::StoreU(hn::Xor(hn::DemoteTo(dBytes, hn::Add(steps, maxByte)), signXors), dBytes, bytes + i);
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

constexpr size_t Last = 255;

} // namespace

LogSoftmaxInt8::LogSoftmaxInt8(float beta, float scale, bool isSigned)
    : m_Reference(beta, scale), m_Rows(isSigned), m_MakeResults(TENON_CHOOSE(MakeResults))
{
    for (size_t difference = 0; difference <= Last; ++difference)
    {
        m_Scaled[Last - difference] = m_Reference.GetScaled()[difference];
        m_Rows.m_Summands.Set(difference, static_cast<uint32_t>(m_Reference.GetPowers()[difference]));
    }
}

void LogSoftmaxInt8::Rows(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const
{
    m_Rows.ForEach(
        in, rows, depth, out, [this](uint64_t sum) { return m_Reference.Finish(static_cast<int64_t>(sum)); },
        [&](const uint8_t* from, RangeInt8 range, RowSum sum, uint8_t* to) { WriteRow(from, depth, range, sum, to); },
        [&](const uint8_t* from, uint8_t maxByte, RowSum sum, uint8_t* to)
        { WriteFew(from, depth, maxByte, sum, to); });
}

void LogSoftmaxInt8::WriteRow(const uint8_t* in, size_t depth, RangeInt8 range, RowSum sum, uint8_t* out) const
{
    ResultTableInt8 results;
    const size_t count = size_t{range.m_Max} - range.m_Min + 1;
    const size_t lowest = count - std::min<size_t>(count, sum.m_Reach);
    std::fill_n(results.At(range.m_Min), lowest, m_Rows.m_SignXor);
    const size_t first = range.m_Min + lowest;
    m_MakeResults(m_Scaled + Last - range.m_Max + first, count - lowest, sum.m_LogSum, m_Rows.m_SignXor,
                  results.At(first));
    m_LookUp(results.Get(m_Rows.m_SignXor), in, out, depth);
}

void LogSoftmaxInt8::WriteFew(const uint8_t* in, size_t depth, uint8_t maxByte, RowSum sum, uint8_t* out) const
{
    for (size_t i = 0; i < depth; ++i)
    {
        const auto difference = static_cast<size_t>(maxByte - (in[i] ^ m_Rows.m_SignXor));
        const int32_t number = difference < sum.m_Reach ? m_Reference.GetSteps(difference, sum.m_LogSum) + 255 : 0;
        out[i] = static_cast<uint8_t>(std::clamp(number, 0, 255) ^ m_Rows.m_SignXor);
    }
}

} // namespace tenon::cpu
#endif
