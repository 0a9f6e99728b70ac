// SPDX-License-Identifier: Apache-2.0
// Points that all windows of a tile lack, whose products are skipped: see PixelOrder. Used by the tiles of floats,
// of bfloat16, of 16-bit data and of float data beside bytes.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// Whether all rows of a tile have the point among zeros. Without branches, as nearly none have.
template <size_t Rows, typename T>
inline bool AreAll(const T* const* places, const T* zeros)
{
    bool areAll = true;
    for (size_t r = 0; r < Rows; ++r)
    {
        areAll &= places[r] == zeros;
    }
    return areAll;
}

} // namespace tenon::cpu
