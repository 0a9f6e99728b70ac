// SPDX-License-Identifier: Apache-2.0
// What packing has to know of the weights of each column of a product of bytes.
#pragma once

#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// How stored weights are to be read.
struct WeightBytes8
{
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    bool m_IsTransposed = false; ///< [depth, columns]
    bool m_IsSigned = false;
    int32_t m_ZeroPoint = 0;
    size_t m_Matrices = 1; ///< of a convolution in groups: as many columns each, which have channels of their own
};

inline int32_t GetValue8(uint8_t byte, bool isSigned)
{
    return isSigned ? static_cast<int8_t>(byte) : int32_t{byte};
}

/// A block of its own: what else a layer needs is worked out from it without a look at the weights.
class ColumnSums8
{
public:
    /// Gives some columns, the first one and how many, [count, depth]; all weights where these are transposed.
    using GetColumns = FunctionRef<const uint8_t*(size_t, size_t)>;
    /// `getColumns` is called where the weights are to be added up; its result is read before it is called again.
    ColumnSums8(GetColumns getColumns, const WeightBytes8& weights, const Engine8& engine,
                backends::PackedStore& store);

    /// Of the stored weights.
    int64_t GetSum(size_t column) const
    {
        return reinterpret_cast<const int32_t*>(m_Block.As<int64_t>() + m_Columns)[column];
    }
    /// Of the magnitudes of the weights less their zero point. Clamped, so that what is worked out from it cannot
    /// overflow, whatever file it is from.
    int64_t GetMagnitudes(size_t column) const
    {
        return std::clamp<int64_t>(m_Block.As<int64_t>()[column], 0, m_MostMagnitudes);
    }

private:
    size_t m_Columns;
    int64_t m_MostMagnitudes; ///< what no column's can exceed
    backends::PackedBlock m_Block;
};

} // namespace tenon::cpu
