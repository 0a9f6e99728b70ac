// SPDX-License-Identifier: Apache-2.0
// Conditions on the quantization of tensors, for the answer to whether a layer is supported: a tensor that passes needs
// no further check when the kernel is prepared. A type row's scales (KernelTable.hpp) are checked by these functions; a
// row's check calls them where types alone do not say which places must be quantized how.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>

namespace tenon::backends
{

/// One scale, positive and finite, and a zero point that the type can store. Types that carry no scale pass.
/// `place` names the tensor in a reason: "input 0".
SupportResult CheckPerTensor(const TensorInfo& info, const std::string& place);

/// CheckPerTensor for these inputs, as far as they are connected, and outputs.
SupportResult CheckPerTensor(const LayerView& layer, std::initializer_list<size_t> inputs,
                             std::initializer_list<size_t> outputs);

/// One scale or, as far as the shape is known, one for each slice of the quantization dimension; all positive and
/// finite, with zero points that the type can store. Types that carry no scale pass.
SupportResult CheckPerSlice(const TensorInfo& info, const std::string& place);

/// As CheckPerSlice, but that zero points may be any numbers.
SupportResult CheckScalesAlone(const TensorInfo& info, const std::string& place);

/// Blockwise quantization whose blocks divide the quantization dimension and, as far as the shape is known, are as many
/// as the scales. These are finite and not negative, for a block of zeros may have scale 0. Zero points may be any
/// numbers.
SupportResult CheckBlocks(const TensorInfo& info, const std::string& place);

/// One scale, positive and finite; the zero point is not looked at.
SupportResult CheckOneScale(const TensorInfo& info, const std::string& place);

/// Tensors of 16 bits have zero point 0, as TFLite's kernels for them take for granted.
SupportResult CheckZeroPointInt16(const TensorInfo& info, const std::string& place);

/// A scale that arrived as a parameter is positive and finite.
SupportResult CheckScale(float scale, const std::string& what);

/// The first refusal, or Yes.
SupportResult FirstRefusal(std::initializer_list<SupportResult> results);

} // namespace tenon::backends
