// SPDX-License-Identifier: Apache-2.0
// Checks of layers for the Winograd convolutions.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/descriptors/Convolution.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

inline SupportResult RefuseWinograd(const char* reason)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, reason);
}

/// Refuses strides and dilations other than 1, and layouts other than channels-last.
inline SupportResult CheckWinogradStrides(const LayerView& layer)
{
    const auto& d = layer.GetDescriptor<Convolution2dDescriptor>();
    const bool isUnit = d.m_DataLayout == DataLayout::NHWC && d.m_StrideX == 1 && d.m_StrideY == 1 &&
                        d.m_DilationX == 1 && d.m_DilationY == 1;
    return isUnit ? SupportResult::Yes()
                  : RefuseWinograd("its layout is not NHWC, or its strides or dilations are not 1");
}

/// Number of tiles and pixels of an output.
struct WinogradCounts
{
    uint64_t m_Tiles = 0;
    uint64_t m_Pixels = 0;

    /// `output`: of four dimensions, all known; `outputs`: height and width of a tile.
    WinogradCounts(const TensorShape& output, size_t outputs)
        : m_Tiles(output[0] * CountTiles(output[1], outputs) * CountTiles(output[2], outputs)),
          m_Pixels(uint64_t{output[0]} * output[1] * output[2])
    {
    }

private:
    static uint64_t CountTiles(unsigned int pixels, size_t outputs)
    {
        return (uint64_t{pixels} + outputs - 1) / outputs;
    }
};

} // namespace tenon::cpu
