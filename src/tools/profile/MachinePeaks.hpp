// SPDX-License-Identifier: Apache-2.0
// The peak rates of the machine with as many threads as a network has, and the shortest time that they allow for a
// layer: its roofline.
#pragma once

#include "tools/common/LayerWork.hpp"

#include <tenon/Types.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::tools
{

/// Per second, of all threads together.
struct MachinePeaks
{
    unsigned int m_Threads = 1;
    // Multiply-accumulates; absent where the machine has no instruction for them.
    double m_Float32 = 0.0;
    std::optional<double> m_BFloat16;
    std::optional<double> m_Int16;
    std::optional<double> m_Int8;
    /// Bytes read and written by copies that touch so many different bytes; more bytes lie in slower memory.
    std::vector<std::pair<uint64_t, double>> m_BytesBySize;
};

/// The peaks of that many threads, but not of more than there are cores. Takes about a second, with progress on a
/// terminal.
MachinePeaks MeasurePeaks(unsigned int threads);

/// The time of a layer's work on data of this type at the peak rates, in milliseconds; absent where the work is not
/// known, or there is none.
std::optional<double> ComputeRooflineMs(const MachinePeaks& peaks, const LayerWork& work, DataType type);

} // namespace tenon::tools
