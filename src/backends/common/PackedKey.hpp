// SPDX-License-Identifier: Apache-2.0
// PackedKey: the key of packed weights in a file, a hash of everything that packing may look at.
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

/// The hash of the kernel's name and the layer's type, parameters, tensors and values of constants. Neither the layer's
/// name nor its place in the network counts, so that layers may come in any order, and equal ones share packed weights.
PackedKey MakePackedKey(const Kernel& kernel, const LayerView& layer);

/// The checksum of bytes, for finding damage.
uint64_t GetChecksum(const void* data, size_t bytes);

} // namespace tenon::backends
