// SPDX-License-Identifier: Apache-2.0
// BinaryTableInt8: the table of all pairs of bytes, and its lookups.
#include "backends/cpu/elementwise/BinaryTableInt8.hpp"

#include <numeric>

namespace tenon::cpu
{

BinaryTableInt8::BinaryTableInt8(const ReshapeArgs& args, const backends::Kernel& reference, bool isScalarB, bool swaps)
    : m_LookUp(isScalarB ? FindLookupInt8() : nullptr)
{
    LookupTableInt8 all{};
    std::iota(all.begin(), all.end(), uint8_t{0});
    const auto values = static_cast<unsigned int>(all.size());
    const InputInt8 a = {TensorShape({1, values}), all.data()};
    const InputInt8 b = {TensorShape({values, 1}), all.data()};
    RunReferenceInt8(args, reference, {swaps ? b : a, swaps ? a : b}, TensorShape({values, values}),
                     m_Rows.front().data());
}

void BinaryTableInt8::Run(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count) const
{
    if (m_LookUp != nullptr)
    {
        m_LookUp(m_Rows[*b], a, out, count);
        return;
    }
    for (size_t i = 0; i < count; ++i)
    {
        out[i] = m_Rows[b[i]][a[i]];
    }
}

} // namespace tenon::cpu
