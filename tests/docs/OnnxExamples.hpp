// SPDX-License-Identifier: Apache-2.0
// Which layers the ONNX parser makes of each operator: found by reading small models.
#pragma once

#include <tenon/Types.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tenon::docs
{

struct OnnxRow
{
    std::string m_Name;  ///< behind its domain and a point, if that is not ai.onnx
    int64_t m_Since = 1; ///< the first version that is read
    std::set<LayerType> m_Layers;
};

/// One entry for each operator of operators.def, by name, those of ai.onnx first. Throws std::runtime_error for an
/// operator without an example that the parser reads, and for an example of an operator that has no row.
std::vector<OnnxRow> RunOnnxParser();

} // namespace tenon::docs
