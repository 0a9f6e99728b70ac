// SPDX-License-Identifier: Apache-2.0
// ColumnSumsInt8: sum and sum of magnitudes of each column's weights, for zero-point corrections and the overflow
// check.
#pragma once

#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Format of stored weights.
struct WeightFormatInt8
{
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    bool m_IsTransposed = false; ///< [depth, columns]
    bool m_IsSigned = false;
    int32_t m_ZeroPoint = 0;
    size_t m_Matrices = 1; ///< groups of a convolution: as many columns each, with input channels of their own
};

inline int32_t GetValueInt8(uint8_t byte, bool isSigned)
{
    return isSigned ? static_cast<int8_t>(byte) : int32_t{byte};
}

/// The sums are a block of the store of their own: the other properties of a layer follow from them without reading the
/// weights.
class ColumnSumsInt8
{
public:
    /// Gives columns, by the first one and their number, as [count, depth]; all weights where these are transposed.
    using GetColumns = FunctionRef<const uint8_t*(size_t, size_t)>;
    /// `getColumns` is called if the weights have to be summed; its result is read before the next call.
    ColumnSumsInt8(GetColumns getColumns, const WeightFormatInt8& weights, const MicrokernelsInt8& microkernels,
                   backends::PackedStore& store);

    /// Sum of the stored weights.
    int64_t GetSum(size_t column) const
    {
        return reinterpret_cast<const int32_t*>(m_Block.As<int64_t>() + m_Columns)[column];
    }
    /// Sum of |weight - zero point|. Clamped, so that later computations cannot overflow, whatever file it is from.
    int64_t GetMagnitudes(size_t column) const
    {
        return std::clamp<int64_t>(m_Block.As<int64_t>()[column], 0, m_MaxMagnitudes);
    }

private:
    size_t m_Columns;
    int64_t m_MaxMagnitudes; ///< upper bound for every column
    backends::PackedBlock m_Block;
};

} // namespace tenon::cpu
