// SPDX-License-Identifier: Apache-2.0
// Tensors that are stretches of another one: parts that a layer joins, or that it cuts out. The runtime may let them
// lie there, and then nothing is copied.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon
{

/// Where tensors of a layer are in another one of its tensors, byte for byte. What lies there already when the layer
/// runs, it leaves alone.
struct SharedParts
{
    static constexpr size_t None = SIZE_MAX;

    std::vector<size_t> m_OfOutput; ///< by input: its first byte's place in output 0, or None
    std::vector<size_t> m_OfInput;  ///< by output: its first byte's place in input 0, or None
    /// By input, where each pixel of output 0 (all elements along the last dimension) begins with those of input 0 and
    /// goes on with those of the others: its first byte's place in output 0, or None.
    std::vector<size_t> m_OfPixels;

    bool Empty() const { return m_OfOutput.empty() && m_OfInput.empty() && m_OfPixels.empty(); }
};

/// A shaped workload that says which parts its tensors share. It is an interface of its own, since IShapedWorkload is
/// one that backends of others implement.
class ISharesParts
{
public:
    virtual ~ISharesParts() = default;
    /// Null: none.
    virtual const SharedParts* GetSharedParts() const = 0;
};

inline const SharedParts* GetSharedParts(const IShapedWorkload& shaped)
{
    const auto* sharing = dynamic_cast<const ISharesParts*>(&shaped);
    return sharing != nullptr ? sharing->GetSharedParts() : nullptr;
}

} // namespace tenon
