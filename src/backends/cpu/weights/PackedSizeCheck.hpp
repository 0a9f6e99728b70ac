// SPDX-License-Identifier: Apache-2.0
// CheckPackedSize: limit on the memory of packed weights. Packing pads columns to whole vectors and depths to whole
// groups, so a matrix of one column or one row can take 64 times its own memory.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::cpu
{

/// Refuses layers whose packed weights take more than four times the weights plus 4 MiB; the reference kernels run
/// them.
inline SupportResult CheckPackedSize(uint64_t packedBytes, uint64_t weightBytes)
{
    constexpr uint64_t MaxRatio = 4;
    constexpr uint64_t AlwaysAllowed = uint64_t{4} << 20;
    const bool fits =
        packedBytes <= MaxRatio * weightBytes + AlwaysAllowed && packedBytes <= std::numeric_limits<size_t>::max() / 2;
    return fits ? SupportResult::Yes()
                : SupportResult::No(SupportCode::UnsupportedParameters,
                                    "its packed weights would take many times the memory of the weights");
}

} // namespace tenon::cpu
