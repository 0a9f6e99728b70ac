// SPDX-License-Identifier: Apache-2.0
// The constant weights of a product of bytes as bytes of their own.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/ColumnSums8.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// Input 1 of a layer. Only what is not in the store already has to look at it.
class Weights8
{
public:
    Weights8(const LayerView& layer, const WeightBytes8& bytes);

    /// `count` columns, one behind the other; all of the weights where these are transposed. Until the next call.
    const uint8_t* GetColumns(size_t first, size_t count);

private:
    const uint8_t* m_Bytes;
    size_t m_Count;
    size_t m_Depth;
    bool m_IsTransposed;
    bool m_ArePairs; ///< of four bits
    std::vector<int8_t> m_Unpacked;
};

} // namespace tenon::cpu
