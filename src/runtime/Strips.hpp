// SPDX-License-Identifier: Apache-2.0
// Strips: layers after each other that run part by part, so that what is between them stays in the cache. A part is one
// index of leading dimensions: a head of an attention, a row of an image. All layers of a run of them are done for one
// part, then for the next; threads take parts of their own. What is between the layers has memory for all parts, of
// which each thread uses that of its first one. A chain of elementwise layers is one part, whose workload goes through
// it block by block.
#pragma once

#include "common/AlignedMemory.hpp"

#include <tenon/Types.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// A tensor of a step, as parts see it.
struct StripTensor
{
    size_t m_Bytes = 0;            ///< of one part
    bool m_IsKept = true;          ///< else only the running part is there
    std::vector<size_t> m_Offsets; ///< where broadcast: of each part, bytes; empty: parts follow each other
    size_t Find(size_t first, size_t part) const
    {
        return !m_IsKept ? first * m_Bytes : m_Offsets.empty() ? part * m_Bytes : m_Offsets[part];
    }
};

/// All layers of a part in one workload, as an attention's or a chain's.
struct StripWhole
{
    static constexpr size_t MostInputs = 8;
    /// Which input of which step.
    struct Input
    {
        uint32_t m_Step = 0; ///< index into Strips::m_Steps
        uint32_t m_Input = 0;
    };

    std::unique_ptr<IShapedWorkload> m_Workload; ///< of one thread; null: the layers run one after the other
    /// Of threads that share the work of a part; null: m_Workload is for any number of them.
    std::unique_ptr<IShapedWorkload> m_Shared;
    std::array<Input, MostInputs> m_Inputs;
    size_t m_NumInputs = 0;
};

struct StripStep
{
    static constexpr size_t MostInputs = 2;

    /// Of one part. Null where the output lies where the input does, and where a workload for all layers (StripWhole)
    /// runs in its place.
    std::unique_ptr<IShapedWorkload> m_Workload;
    size_t m_ScratchBytes = 0; ///< of each thread
    std::array<StripTensor, MostInputs> m_Inputs;
    StripTensor m_Output;

    void SetScratchBytes(size_t bytes)
    {
        m_ScratchBytes = (bytes + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment; // each thread's begins so
    }
};

/// Steps that run so.
struct Strips
{
    /// Smaller tensors stay in the cache anyway.
    static constexpr size_t LeastTensorBytes = size_t{512} << 10;
    /// Of an attention's scores, which one workload for all of its layers makes in less time in any case.
    static constexpr size_t LeastScoresBytes = size_t{16} << 10;
    /// Of a tensor between elementwise layers of a chain. What a few kilobytes take is the calls.
    static constexpr size_t LeastChainBytes = size_t{4} << 10;

    uint32_t m_First = 0;
    size_t m_Parts = 0;
    size_t m_ThreadLimit = SIZE_MAX; ///< the least one of the steps
    size_t m_MostThreads = 1;        ///< that run parts, whose scratch memory there is
    std::vector<StripStep> m_Steps;  ///< those from m_First on
    StripWhole m_Whole;
    std::string m_Label; ///< for profiles

    uint32_t Last() const { return m_First + static_cast<uint32_t>(m_Steps.size()) - 1; }
    /// Few parts are no good for many threads.
    bool AreEnough(size_t threads) const
    {
        threads = std::min(threads, m_ThreadLimit);
        return threads <= 1 || m_Parts >= 2 * threads;
    }
    /// A workload for all layers runs in any case, so that results do not depend on the number of threads: in it they
    /// share the work of a part where there are not enough parts.
    bool IsWorthwhile(size_t threads) const { return m_Whole.m_Workload != nullptr || AreEnough(threads); }
};

} // namespace tenon
