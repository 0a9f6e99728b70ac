// SPDX-License-Identifier: Apache-2.0
// ChannelsLast: how a channels-first layer becomes one that kernels know, which is channels last. Used by the pass that
// lowers layers, and by questions for support.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <memory>

namespace tenon
{

struct ChannelsLast
{
    std::unique_ptr<BaseDescriptor> m_Descriptor; ///< null: the layer stays as it is
    PermutationVector m_Data{};                   ///< mappings of the Transpose of input 0; output 0 gets the inverse
    /// Whether input 1 gets a Transpose, too, by m_Weights.
    bool m_HasWeights = false;
    PermutationVector m_Weights{};
};

/// By column `layout` of ops.def. `data` is the shape of input 0. The layer stays as it is where its type has no layout
/// that kernels see, where it is channels last already, and where the rank is unknown or none that the type takes.
ChannelsLast ToChannelsLast(LayerType type, const BaseDescriptor& descriptor, const TensorShape& data);

/// The info of a tensor of info `info` behind a Transpose, not constant. Sizes that are not known stay so; if the rank
/// is not that of the mappings, none is known.
TensorInfo Transposed(const TensorInfo& info, const PermutationVector& mappings);

} // namespace tenon
