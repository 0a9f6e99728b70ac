// SPDX-License-Identifier: Apache-2.0
// The constant weights of a product of bytes as bytes of their own.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/pack/ColumnSumsInt8.hpp"
#include "backends/cpu/gemm/pack/WeightSegmentsInt8.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::cpu
{

/// Input 1 of a layer, or the constants that are its weights together. Only what is not in the store already has to
/// look at them.
class Weights8
{
public:
    /// `pieces`: constants of as many columns each, one byte a weight, not transposed; none: input 1.
    Weights8(const LayerView& layer, const WeightBytes8& bytes, std::span<const void* const> pieces = {});

    /// `count` columns, one behind the other; all of the weights where these are transposed. Until the next call.
    const uint8_t* GetColumns(size_t first, size_t count);

    /// As they are stored. Precondition: one byte a weight, not transposed.
    const ColumnPieces8& GetPieces() const { return m_Pieces; }

private:
    const uint8_t* JoinColumns(size_t first, size_t count);

    ColumnPieces8 m_Pieces;
    size_t m_Count;
    bool m_IsTransposed;
    bool m_ArePairs;                ///< of four bits
    std::vector<int8_t> m_Unpacked; ///< or columns of more than one piece
};

} // namespace tenon::cpu
