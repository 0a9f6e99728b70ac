// SPDX-License-Identifier: Apache-2.0
// What one core of this machine can do at most, measured by loops that do nothing else: bench_kernels shows times as
// shares of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tenon::bench
{

/// Multiply-accumulates per second of one core. What the machine has no instruction for is empty.
struct MachinePeaks
{
    double m_Float32 = 0.0;            ///< fused multiply-add of the widest vectors
    std::optional<double> m_Int8;      ///< dot products of 8-bit integers in vectors: VNNI, sdot
    std::optional<double> m_BFloat16;  ///< dot products of bfloat16 in vectors
    std::optional<double> m_Int8Tiles; ///< AMX
    std::optional<double> m_BFloat16Tiles;
    double m_ReadBytes = 0.0; ///< bytes per second, read from memory that no cache holds
    std::string m_Float32Name;
    std::string m_Int8Name;
};

/// Takes about half a second.
MachinePeaks MeasurePeaks();

/// Bytes that std::memcpy writes in a second, copying that many again and again. Measured once for each size.
double MemcpyBytesPerSecond(size_t bytes);

} // namespace tenon::bench
