// SPDX-License-Identifier: Apache-2.0
// The work of a layer by its operator and shapes: multiply-accumulates, further operations, and bytes that it reads and
// writes. No kernel is asked: one that multiplies less, as Winograd's, counts as the plain one.
#pragma once

#include <tenon/IConnectableLayer.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace tenon::tools
{

/// A number is absent where it depends on sizes that are not known before a run, or on an operator whose work its
/// shapes do not tell: custom operators, nested networks, sorts.
struct LayerWork
{
    /// Multiply-accumulates of matrix products, convolutions and recurrent cells: a product with a weight for each tap,
    /// taps in the padding included.
    std::optional<uint64_t> m_Macs;
    /// Operations on numbers apart from these. An addition, a comparison, a conversion and a function such as exp are
    /// one each; a layer that only moves elements has none.
    std::optional<uint64_t> m_Operations;
    std::optional<uint64_t> m_InputBytes; ///< that change from run to run
    std::optional<uint64_t> m_OutputBytes;
    std::optional<uint64_t> m_ConstantBytes; ///< weights and other constants that it reads

    /// Two for each multiply-accumulate, and the further ones.
    std::optional<uint64_t> CountOperations() const;
    /// All that is read and written.
    std::optional<uint64_t> CountBytes() const;
};

/// The info of an output's tensor: that of the slot itself, or one of a plan, whose shapes are those of a run.
using InfoOfSlot = std::function<TensorInfo(const IOutputSlot& slot)>;

/// The work of one run of the layer, for shapes as `infoOf` gives them.
LayerWork ComputeWork(const IConnectableLayer& layer, const InfoOfSlot& infoOf);
/// The same for shapes as the slots have them.
LayerWork ComputeWork(const IConnectableLayer& layer);

} // namespace tenon::tools
