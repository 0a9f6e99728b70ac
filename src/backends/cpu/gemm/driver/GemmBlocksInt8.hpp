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

/// Loop order: tasks (rows x panels) > blocks of rows whose data fit a part of the L2 cache > panels > tiles.
class GemmBlocksInt8
{
public:
    /// `rows`: at least 1.
    GemmBlocksInt8(const PackedBlocksInt8& weights, size_t rows, const ReshapeArgs& args);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    std::string DescribeVariant() const { return m_Weights->GetChoice().Describe(); }
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
    void RunRange(const Rows& rows, const PanelRange& range, float* out) const;
    void RunPanel(const Rows& rows, const PanelInt8& panel, size_t first, size_t last, float* out) const;
    /// Sums of rows, [rows][width], as outputs.
    void WriteRows(const PanelInt8& panel, const float* sums, size_t width, const ScaleAndZeroPoint* scales,
                   size_t rows, float* out) const;

    const PackedBlocksInt8* m_Weights;
    size_t m_Rows;
    size_t m_Pitch;  ///< bytes of a row of data
    size_t m_Slices; ///< of a row: see BlockSumsInt8
    backends::FloatClamp m_Clamp;
    HybridQuantizerInt8 m_Quantizer;
    PanelPartition m_Partition;
    size_t m_StartsOffset = 0; ///< in the scratch memory
    size_t m_WideOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
