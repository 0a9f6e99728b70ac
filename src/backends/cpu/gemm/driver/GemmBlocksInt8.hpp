// SPDX-License-Identifier: Apache-2.0
// GemmBlocksInt8: rows of floats, each quantized to int8 at run time, by weights with a scale per block. Results are
// those of ref::PrepareBlockwiseProduct, bit for bit, which says what they are. Used by FullyConnected.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"
#include "backends/cpu/gemm/pack/PackedBlocksInt8.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon::cpu
{

/// Loop order: tasks (rows x panels) > blocks of rows whose data fit a part of the L2 cache > panels > (for many rows)
/// blocks of the depth whose weights, as bytes, fit a part of the L1 cache > tiles.
class GemmBlocksInt8
{
public:
    /// `rows`: at least 1.
    GemmBlocksInt8(const PackedBlocksInt8& weights, size_t rows, const ReshapeArgs& args);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    std::string DescribeVariant() const
    {
        return m_Weights->GetChoice().Describe(m_WideBlocks != 0 ? "weights as bytes" : nullptr);
    }
    void Run(const ExecuteArgs& args) const;

private:
    /// Rows of data as the microkernels read them.
    struct Rows
    {
        const std::byte* m_Data = nullptr;
        const int32_t* m_Starts = nullptr; ///< see BlockRowsInt8
        const ScaleAndZeroPoint* m_Scales = nullptr;
    };

    /// Quantizes the data, and adds the initial sums of microkernels and, for some of them, values as int16.
    Rows Prepare(const ExecuteArgs& args, const GemmDataInt8& data) const;
    /// `memory`: the task's part of the scratch memory.
    void RunRange(const Rows& rows, const PanelRange& range, std::byte* memory, float* out) const;
    /// Sums of rows [first, last), into `memory`.
    void RunPanel(const Rows& rows, const PanelInt8& panel, size_t first, size_t last, std::byte* memory) const;
    /// The outputs of these sums.
    void Finish(const Rows& rows, const PanelInt8& panel, size_t first, size_t last, std::byte* memory,
                float* out) const;

    const PackedBlocksInt8* m_Weights;
    size_t m_Rows;
    size_t m_Pitch;       ///< bytes of a row of data
    size_t m_BlockSlices; ///< of a block of the depth: see BlockSumsInt8
    size_t m_Slices;      ///< of a row
    backends::FloatClamp m_Clamp;
    HybridQuantizerInt8 m_Quantizer;
    PanelPartition m_Partition;
    size_t m_BlockRows = 1;
    size_t m_WideBlocks = 0; ///< blocks of the depth whose weights become bytes together; 0: weights stay as they are
    // Offsets in the scratch memory, the first two in the part of a task.
    size_t m_SumsOffset = 0;
    size_t m_PanelOffset = 0;
    size_t m_StartsOffset = 0;
    size_t m_Int16Offset = 0;
    size_t m_TasksOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
