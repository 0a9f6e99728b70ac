// SPDX-License-Identifier: Apache-2.0
// The kinds of Arm NN's layers: each file here has the functions of a family and, at its end, a row for each kind, by
// its name in armnn.fbs. The function may read any field of the layer's descriptor there. An omitted field has the
// default of armnn.fbs, or 0 if there is none. Included by the files here, and by Layers.cpp, which joins the rows.
#pragma once

#include "parsers/armnn/Layers.hpp"

#include <tenon/Tensor.hpp>

#include <cstdint>
#include <iterator>
#include <vector>

namespace tenon::arm_nn
{

Span<const LayerRow> GetArrangementRows();
Span<const LayerRow> GetConvolutionRows();
Span<const LayerRow> GetElementwiseRows();
Span<const LayerRow> GetNormalizationRows();
Span<const LayerRow> GetPoolingRows();
Span<const LayerRow> GetRecurrentRows();
Span<const LayerRow> GetReductionRows();
Span<const LayerRow> GetSlicingRows();
Span<const LayerRow> GetStructureRows();
Span<const LayerRow> GetVisionRows();

/// A shape of known sizes; a scalar if the list is empty.
TensorShape ToShape(const std::vector<uint32_t>& sizes);

/// Adds a layer without a descriptor.
template <IConnectableLayer* (INetwork::*Method)(const char* name)>
IConnectableLayer* AddPlain(const LayerView& op, NetworkBuilder& network)
{
    return (network.operator->()->*Method)(op.LayerName());
}

} // namespace tenon::arm_nn
