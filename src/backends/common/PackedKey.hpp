// SPDX-License-Identifier: Apache-2.0
// PackedKey: what tells packed weights apart in a file. A hash of everything that packing may look at.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <compare>
#include <cstdint>

namespace tenon::backends
{

struct PackedKey
{
    uint64_t m_Low = 0;
    uint64_t m_High = 0;

    auto operator<=>(const PackedKey&) const = default;
};

/// Of the kernel's name and the layer's type, parameters, tensors and values of constants. Neither its name nor its
/// place in the network counts, so that layers may come in any order, and equal ones share what is packed.
PackedKey MakePackedKey(const Kernel& kernel, const LayerView& layer);

/// Of bytes, for finding damage.
uint64_t GetChecksum(const void* data, size_t bytes);

} // namespace tenon::backends
