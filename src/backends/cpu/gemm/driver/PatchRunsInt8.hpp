// SPDX-License-Identifier: Apache-2.0
// ImageRuns8: the runs of bytes that windows of an image are, for products whose tiles read them where they lie.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// Windows of a convolution as runs: rows of them, or points where rows have gaps. Weights of runs that are no whole
/// groups of four bytes are padded by zeros.
struct ImageRuns8
{
    static constexpr size_t GroupBytes = 4;

    size_t m_Count = 0;
    size_t m_Bytes = 0; ///< of a run

    ImageRuns8() = default;
    /// `haveWholeRows`: see Windows::HaveWholeRows.
    ImageRuns8(size_t height, size_t width, size_t groupChannels, bool haveWholeRows)
        : m_Count(haveWholeRows ? height : height * width),
          m_Bytes(haveWholeRows ? width * groupChannels : groupChannels)
    {
    }
    explicit ImageRuns8(const Windows& windows)
        : ImageRuns8(static_cast<size_t>(windows.m_Height), static_cast<size_t>(windows.m_Width),
                     static_cast<size_t>(windows.m_GroupChannels), windows.HaveWholeRows())
    {
    }

    size_t GetGroups() const { return (m_Bytes + GroupBytes - 1) / GroupBytes; } ///< of a run
    size_t GetPaddedDepth() const { return m_Count * GetGroups() * GroupBytes; }
    /// Whether runs follow each other in weights as whole groups.
    bool AreWhole() const { return m_Count == 1 || m_Bytes % GroupBytes == 0; }
    /// Whether the groups that padding adds, which take a product for each vector of columns, take less than copying
    /// windows run by run does.
    bool ArePaddable(size_t vectors) const
    {
        constexpr size_t CopyProducts = 3;
        const size_t added = m_Count * GetGroups() - (m_Count * m_Bytes + GroupBytes - 1) / GroupBytes;
        return added * vectors <= CopyProducts * m_Count;
    }

    /// [outputs][runs] weights, each run padded.
    std::vector<uint8_t> Pad(const uint8_t* weights, size_t outputs) const;
};

/// Whether weights of such a layer, Convolution2d of int8 with constant scales or of floats beside 8 or 4 bits, are
/// those that the engine's tiles take beside windows of an image. Whether they do depends on shapes, too.
bool MayReadImage(const LayerView& layer, const Engine8& engine);

} // namespace tenon::cpu
