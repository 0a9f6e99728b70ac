// SPDX-License-Identifier: Apache-2.0
// ChannelsLast: the change of a channels-first layer to the channels-last layout that kernels know. The pass that
// lowers layers and questions for support use it.
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

/// The change by column `layout` of ops.def. `data` is the shape of input 0. The layer stays as it is where its type
/// has no layout that kernels see, where it is channels last already, and where the rank is unknown or none that the
/// type takes.
ChannelsLast ToChannelsLast(LayerType type, const BaseDescriptor& descriptor, const TensorShape& data);

/// The info of a tensor of info `info` behind a Transpose, not constant. Unknown sizes stay unknown; if the rank is not
/// that of the mappings, no size is known.
TensorInfo Transposed(const TensorInfo& info, const PermutationVector& mappings);

} // namespace tenon
