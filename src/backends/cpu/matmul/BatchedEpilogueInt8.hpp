// SPDX-License-Identifier: Apache-2.0
// Epilogue of int8 GEMMs of two run-time matrices: out = clamp(zo + requantize(sum + bias, scale)), with one scale, or
// one for each column. Used by BatchedGemmInt8 and FewRowsInt8.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon::cpu
{

struct EpilogueParamsInt8
{
    std::vector<double> m_Scales; ///< in units of the output: one for all columns, or one for each
    RoundingInt8 m_Rounding = RoundingInt8::FixedPoint;
    backends::QuantizedRange m_Range; ///< range of the output
    bool m_HasBias = false;           ///< input 2: one int32 for each column

    const int32_t* GetBias(const ExecuteArgs& args) const { return m_HasBias ? args.GetInput<int32_t>(2) : nullptr; }
};

inline bool HasSignedElements(const TensorInfo& info)
{
    return info.GetDataType() != DataType::QAsymmU8;
}

/// Upper bound of a sum's magnitude: depth * 255 * 255.
inline int64_t GetMaxSumInt8(const ref::MatMulGeometry& geometry)
{
    return static_cast<int64_t>(geometry.m_Depth) * 255 * 255;
}

/// The epilogue's constants by column, as the requantization loops read them.
class EpilogueColumnsInt8
{
public:
    /// For `columns` that are read in runs of up to `run` columns, whole vectors.
    EpilogueColumnsInt8(const EpilogueParamsInt8& params, size_t columns, size_t run, int32_t zeroPoint)
        : m_HasScales(params.m_Scales.size() != 1), m_Range(params.m_Range),
          m_Arrays(std::make_shared<RequantizeArraysInt8>(m_HasScales ? DivideUp(columns, run) * run : run,
                                                          params.m_Rounding, zeroPoint))
    {
        for (size_t place = 0; place < (m_HasScales ? columns : run); ++place)
        {
            m_Arrays->Set(place, 0, 0, params.m_Scales[m_HasScales ? place : 0]);
        }
    }

    /// The constants of the run that begins with `column`, a multiple of whole vectors.
    RequantizeColumns From(size_t column) const
    {
        RequantizeColumns columns = m_Arrays->From(m_HasScales ? column : 0);
        columns.m_Min = m_Range.m_Min;
        columns.m_Max = m_Range.m_Max;
        return columns;
    }

private:
    bool m_HasScales; ///< one scale for each column
    backends::QuantizedRange m_Range;
    std::shared_ptr<RequantizeArraysInt8> m_Arrays;
};

} // namespace tenon::cpu
