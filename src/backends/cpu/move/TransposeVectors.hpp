// SPDX-License-Identifier: Apache-2.0
// Transposition of matrices of 1-, 2-, 4- and 8-byte elements in registers: to[row][column] = from[column][row]. Called
// by StridedMove, and by gemm and other families to pack matrices. README.md has the table of paths.
#pragma once

#include "backends/cpu/move/CopyPlane.hpp"

#include <bit>
#include <cstddef>

namespace tenon::cpu
{

struct TransposeFunctions
{
    /// Indexed by log2 of the element size: 1, 2, 4, 8 bytes. The rows of the plane are contiguous in the source
    /// (m_FromRow == m_RunBytes), its runs in the target (m_ToRun == m_RunBytes).
    CopyPlaneFunction m_Transpose[4] = {};
};

/// The functions for this processor. Precondition: it has vectors, see CpuFeatures.
const TransposeFunctions& GetTransposeFunctions();

/// to[row][column] = from[column][row]. `Bytes`: the element size, 1, 2, 4 or 8. `rows` and `columns`: those of the
/// target. Strides are in bytes. `isLarge`: as in Plane.
template <size_t Bytes>
void TransposeElements(const std::byte* from, size_t fromStride, size_t rows, size_t columns, std::byte* to,
                       size_t toStride, bool isLarge = false)
{
    Plane plane;
    plane.m_Rows = rows;
    plane.m_FromRow = plane.m_ToRun = plane.m_RunBytes = Bytes;
    plane.m_ToRow = static_cast<int64_t>(toStride);
    plane.m_Runs = columns;
    plane.m_FromRun = static_cast<int64_t>(fromStride);
    plane.m_IsLarge = isLarge;
    GetTransposeFunctions().m_Transpose[std::countr_zero(Bytes)](plane, from, to);
}

inline void TransposeBytes(const std::byte* from, size_t fromStride, size_t rows, size_t columns, std::byte* to,
                           size_t toStride)
{
    TransposeElements<1>(from, fromStride, rows, columns, to, toStride);
}

inline void TransposeWords(const std::byte* from, size_t fromStride, size_t rows, size_t columns, std::byte* to,
                           size_t toStride)
{
    TransposeElements<4>(from, fromStride, rows, columns, to, toStride);
}

/// The same for floats; strides are in floats.
inline void TransposeFloats(const float* from, size_t fromStride, size_t rows, size_t columns, float* to,
                            size_t toStride)
{
    TransposeWords(reinterpret_cast<const std::byte*>(from), fromStride * sizeof(float), rows, columns,
                   reinterpret_cast<std::byte*>(to), toStride * sizeof(float));
}

} // namespace tenon::cpu
