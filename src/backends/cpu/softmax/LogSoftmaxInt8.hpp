// SPDX-License-Identifier: Apache-2.0
// LogSoftmax of rows of bytes with the reference kernel's numbers: as with Softmax, a row's results are a table by
// which its numbers are replaced. Used by LogSoftmax.
#pragma once

#include "backends/cpu/elementwise/LookupTableInt8.hpp"
#include "backends/cpu/softmax/SoftmaxInt8.hpp"
#include "backends/reference/kernels/LogSoftmaxTablesInt8.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// bytes[i] = (scaled[i] - logSum), rounded to steps, plus 255, from 0 to 255, with `flip` applied; for `count` of them
/// and up to a vector more.
using LogSoftmaxResults = void (*)(const int32_t* scaled, size_t count, int32_t logSum, uint8_t flip, uint8_t* bytes);

/// A layer's tables. Precondition: the processor has vectors, see CpuFeatures.
class LogSoftmaxOfBytes
{
public:
    /// Of differences times beta * scale, beta > 0. Unsigned bytes, or signed ones.
    LogSoftmaxOfBytes(float beta, float scale, bool isSigned);

    /// Rows of `depth` bytes, one at least; `out` may be `in`.
    void Rows(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;

private:
    using RowSum = ref::ByteLogSoftmax::RowSum;

    void WriteRow(const uint8_t* in, size_t depth, ByteRange range, RowSum sum, uint8_t* out) const;
    void WriteFew(const uint8_t* in, size_t depth, uint8_t most, RowSum sum, uint8_t* out) const;

    ref::ByteLogSoftmax m_Reference;
    ByteSoftmaxRows m_Rows;
    alignas(64) int32_t m_Scaled[256 + ByteResults::MostLanes] = {}; ///< by 255 minus the difference
    LogSoftmaxResults m_MakeResults;
    LookupFunction m_LookUp = FindByteLookup();
};

} // namespace tenon::cpu
