// SPDX-License-Identifier: Apache-2.0
// The peak rates of one core of this machine, measured by loops that do nothing else. bench_kernels shows times as
// shares of them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace tenon::bench
{

/// Multiply-accumulates per second of one core, medians of many short measurements.
struct MachinePeaks
{
    double m_Float32 = 0.0;
    std::optional<double> m_Int8;
    std::optional<double> m_Int16;
    std::optional<double> m_BFloat16;
    std::optional<double> m_Int8Tiles;
    std::optional<double> m_BFloat16Tiles;
    double m_ReadBytes = 0.0; ///< bytes per second, read from memory that no cache holds
    std::string m_Float32Name;
    std::string m_Int8Name;
};

/// Takes about a second.
MachinePeaks MeasurePeaks();

/// A loop that reads `bytes` bytes, the same ones each time, from huge pages where the system has some.
std::function<void()> MakeRead(size_t bytes);
/// A copy of `bytes` bytes, at the same addresses each time.
std::function<void()> MakeMemcpy(size_t bytes);
/// Bytes that std::memcpy writes in a second, copying that many repeatedly. It is measured once for each size.
double MemcpyBytesPerSecond(size_t bytes);

} // namespace tenon::bench
