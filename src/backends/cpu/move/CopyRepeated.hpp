// SPDX-License-Identifier: Apache-2.0
// Copies that repeat each run side by side and in several rows: nearest-neighbour upsampling by whole factors. Called
// by resize/ and depthwise/.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// The runs, and the numbers of repetitions.
struct Repeated
{
    size_t m_Runs = 0;
    size_t m_RunBytes = 0;
    size_t m_Times = 1; ///< repetitions of each run, side by side
    size_t m_Rows = 1;  ///< repetitions of the whole row of runs, without gaps between rows
};

/// Source and target must not overlap. Precondition: the processor has vectors, see CpuFeatures.
using CopyRepeatedFunction = void (*)(const Repeated& repeated, const std::byte* from, std::byte* to);
/// The function for these values of m_RunBytes and m_Times. Null if gathers of runs are as fast, see
/// ChooseCopyGathered.
CopyRepeatedFunction ChooseCopyRepeated(size_t runBytes, size_t times);

} // namespace tenon::cpu
