// SPDX-License-Identifier: Apache-2.0
// Tensors with given values, for tests of comparisons.
#pragma once

#include "tools/common/Elements.hpp"
#include "tools/compare/TensorDifference.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tenon::tools::test
{

/// A tensor with its memory. Elements are stored values; floats are taken as they are.
class Tensor
{
public:
    Tensor(const TensorInfo& info, const std::vector<double>& values) : m_Info(info), m_Data(info.GetNumBytes())
    {
        std::fill(m_Data.begin(), m_Data.end(), std::byte{0});
        for (size_t i = 0; i < values.size(); ++i)
        {
            SetElement(info.GetDataType(), m_Data.data(), i, values[i]);
        }
    }
    Tensor(DataType type, const std::vector<double>& values)
        : Tensor(TensorInfo({static_cast<unsigned int>(values.size())}, type), values)
    {
    }

    TensorView View() const { return {m_Info, m_Data.data()}; }
    std::byte* Data() { return m_Data.data(); }

private:
    TensorInfo m_Info;
    std::vector<std::byte> m_Data;
};

/// The difference of two tensors in one run.
inline TensorDifference Compare(const Tensor& tested, const Tensor& reference, const Tolerance& tolerance = {})
{
    const std::optional<Measure> measure = FindMeasure(*tested.View().m_Info, *reference.View().m_Info);
    TensorDifference difference(measure.value(), tolerance);
    difference.AddRun(tested.View(), reference.View());
    return difference;
}

} // namespace tenon::tools::test
