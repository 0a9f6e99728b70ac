// SPDX-License-Identifier: Apache-2.0
// Runs of bytes that come to lie several times in turn, in several rows: images that are enlarged by whole factors.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// What is repeated, and how often.
struct Repeated
{
    size_t m_Runs = 0;
    size_t m_RunBytes = 0;
    size_t m_Times = 1; ///< each run, side by side
    size_t m_Rows = 1;  ///< each of all runs that many times, without gaps between rows
};

/// Memory may not overlap. Precondition: the processor has vectors, see CpuFeatures.
using CopyRepeatedFunction = void (*)(const Repeated& repeated, const std::byte* from, std::byte* to);
/// For m_RunBytes and m_Times that are these. Null: runs that are picked by indices are as fast, see ChooseCopyPicked.
CopyRepeatedFunction ChooseCopyRepeated(size_t runBytes, size_t times);

} // namespace tenon::cpu
