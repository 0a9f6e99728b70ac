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

/// A loop of multiply-accumulates of one kind on registers, at the peak rate of a core.
struct PeakLoop
{
    std::string m_Name;  ///< name of the instructions
    double m_Macs = 0.0; ///< multiply-accumulates of a call, which takes some microseconds
    void (*m_Run)() = nullptr;
};

/// Loops of the best instructions of the machine; empty for kinds that it does not have.
struct PeakLoops
{
    PeakLoop m_Float32;                  ///< fused multiply-add of the widest vectors
    std::optional<PeakLoop> m_Int8;      ///< dot products of 8-bit integers in vectors: VNNI, sdot
    std::optional<PeakLoop> m_Int16;     ///< dot products of 16-bit integers in vectors
    std::optional<PeakLoop> m_BFloat16;  ///< dot products of bfloat16 in vectors
    std::optional<PeakLoop> m_Int8Tiles; ///< AMX
    std::optional<PeakLoop> m_BFloat16Tiles;
};
const PeakLoops& GetPeakLoops();

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
