// SPDX-License-Identifier: Apache-2.0
// PatchRunsInt8: receptive fields as contiguous runs of bytes, for implicit GEMM.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// A receptive field as contiguous runs of bytes: one run per kernel row, or one per tap where rows have gaps
/// (dilation, groups). Runs in the weights are padded by zeros to whole groups of four bytes.
struct PatchRunsInt8
{
    static constexpr size_t GroupBytes = 4;

    size_t m_Count = 0;
    size_t m_Bytes = 0; ///< of a run

    PatchRunsInt8() = default;
    /// `hasWholeRows`: see Im2col::HasContiguousRows.
    PatchRunsInt8(size_t height, size_t width, size_t groupChannels, bool hasWholeRows)
        : m_Count(hasWholeRows ? height : height * width), m_Bytes(hasWholeRows ? width * groupChannels : groupChannels)
    {
    }
    explicit PatchRunsInt8(const Im2col& windows)
        : PatchRunsInt8(static_cast<size_t>(windows.m_Height), static_cast<size_t>(windows.m_Width),
                        static_cast<size_t>(windows.m_GroupChannels), windows.HasContiguousRows())
    {
    }

    size_t GetGroups() const { return (m_Bytes + GroupBytes - 1) / GroupBytes; } ///< of a run
    size_t GetPaddedDepth() const { return m_Count * GetGroups() * GroupBytes; }
    /// Whether consecutive runs in the weights are whole groups.
    bool IsWhole() const { return m_Count == 1 || m_Bytes % GroupBytes == 0; }
    /// Whether padding is faster than im2col run by run: each group that it adds costs a dot product per vector of
    /// columns.
    bool IsPaddable(size_t vectors) const
    {
        constexpr size_t CopyProducts = 3;
        const size_t added = m_Count * GetGroups() - (m_Count * m_Bytes + GroupBytes - 1) / GroupBytes;
        return added * vectors <= CopyProducts * m_Count;
    }

    /// [outputs][runs] weights, each run padded.
    std::vector<uint8_t> Pad(const uint8_t* weights, size_t outputs) const;
};

/// Whether the weights of a layer have the signs and zero point that implicit GEMM takes: Convolution2d of int8 with
/// constant scales, or of floats with 8- or 4-bit weights. Shapes decide as well, see ImplicitGemmInt8.
bool FitsImplicitGemm(const LayerView& layer, const MicrokernelsInt8& microkernels);

} // namespace tenon::cpu
