// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bytes that read windows of an image where they lie, for Engine8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Sets m_WriteImage. Precondition: the processor has AVX-512 VNNI, see CpuFeatures, and the tiles multiply uint8 data
/// by int8 weights.
void UseImageTiles(TileSet8& tiles);
/// The same for m_WriteImageFloats.
void UseImageFloats(TileSet8& tiles);

} // namespace tenon::cpu
