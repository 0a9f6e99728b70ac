// SPDX-License-Identifier: Apache-2.0
// The table of layers: see Layers.hpp.
#include "parsers/armnn/Layers.hpp"

#include "parsers/armnn/operators/Rows.hpp"
#include "parsers/common/OperatorRow.hpp"

#include <vector>

namespace tenon::arm_nn
{

Span<const LayerRow> GetRows()
{
    static const std::vector<LayerRow> rows = parsers::JoinRows<LayerRow>(
        {GetArrangementRows(), GetConvolutionRows(), GetElementwiseRows(), GetNormalizationRows(), GetPoolingRows(),
         GetRecurrentRows(), GetReductionRows(), GetSlicingRows(), GetStructureRows(), GetVisionRows()},
        [](const LayerRow&) { return true; });
    return rows;
}

const LayerRow* FindRow(std::string_view name)
{
    return parsers::FindRow(GetRows(), name);
}

} // namespace tenon::arm_nn
