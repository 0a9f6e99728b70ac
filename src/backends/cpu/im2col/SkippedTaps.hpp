// SPDX-License-Identifier: Apache-2.0
// IsTapPadding: whether a tap lies in the padding for all rows of a tile, so that its products are skipped; see
// PixelOrder. Used by the microkernels that read an indirection buffer.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Whether a tap lies in the padding for all rows of a tile. Branch-free, as this is rare.
template <size_t Rows, typename T>
inline bool IsTapPadding(const T* const* places, const T* zeros)
{
    bool isPadding = true;
    for (size_t r = 0; r < Rows; ++r)
    {
        isPadding &= places[r] == zeros;
    }
    return isPadding;
}

} // namespace tenon::cpu
