// SPDX-License-Identifier: Apache-2.0
// What the tests of normalizations share: a case whose output is like its input.
#pragma once

#include "ops/ElementwiseOracle.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tenon::test
{

constexpr DataType NormalizedTypes[] = {DataType::Float32, DataType::Float16, DataType::BFloat16};

template <typename D>
OpCase MakeNormalization(LayerType layer, const D& descriptor, TestTensor input, Oracle oracle)
{
    OpCase op;
    op.m_Name = std::string(GetDataTypeName(input.m_Info.GetDataType())) + " " + input.m_Info.ToString();
    op.m_Type = layer;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Output = input.m_Info;
    op.m_Relative = op.m_Absolute = std::max(GetRounding(input.m_Info.GetDataType()) * 2, 2e-5);
    op.m_Inputs = {std::move(input)};
    op.m_Oracle = std::move(oracle);
    return op;
}

} // namespace tenon::test
