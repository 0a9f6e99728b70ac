// SPDX-License-Identifier: Apache-2.0
// LogSoftmax of rows of int8 and uint8, bit for bit as the reference kernel: beta * scale * (x - max) - log(sum), in
// output steps. As in SoftmaxInt8, the results of a row are a table by value. Softmax creates it.
#pragma once

#include "backends/cpu/elementwise/LookupTableInt8.hpp"
#include "backends/cpu/softmax/SoftmaxInt8.hpp"
#include "backends/reference/kernels/LogSoftmaxTablesInt8.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// bytes[i] = (scaled[i] - logSum), rounded to output steps, plus 255, clamped to [0, 255], XOR signXor; for `count`
/// elements and up to a vector more.
using MakeLogSoftmaxTableFunction = void (*)(const int32_t* scaled, size_t count, int32_t logSum, uint8_t signXor,
                                             uint8_t* bytes);

/// The tables of a layer. Precondition: the processor has vectors, see CpuFeatures.
class LogSoftmaxInt8
{
public:
    /// The tables of differences times beta * scale, beta > 0, for int8 (`isSigned`) or uint8.
    LogSoftmaxInt8(float beta, float scale, bool isSigned);

    /// Computes rows of `depth` elements (1 or more); `out` may be `in`.
    void Rows(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;

private:
    using RowSum = ref::LogSoftmaxTablesInt8::RowSum;

    void WriteRow(const uint8_t* in, size_t depth, RangeInt8 range, RowSum sum, uint8_t* out) const;
    void WriteFew(const uint8_t* in, size_t depth, uint8_t maxByte, RowSum sum, uint8_t* out) const;

    ref::LogSoftmaxTablesInt8 m_Reference;
    SoftmaxRowsInt8 m_Rows;
    alignas(64) int32_t m_Scaled[256 + ResultTableInt8::MaxStoreLanes] = {}; ///< indexed by 255 minus the difference
    MakeLogSoftmaxTableFunction m_MakeResults;
    LookupFunction m_LookUp = FindLookupInt8();
};

} // namespace tenon::cpu
