// SPDX-License-Identifier: Apache-2.0
// How much larger than the weights of a layer what is packed of them may be. Columns are padded to whole vectors and
// depths to whole groups, so that a matrix of one column or one row takes up to 64 times its memory.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::cpu
{

/// Few layers would, and the reference kernels run those.
inline SupportResult CheckPackedBytes(uint64_t packedBytes, uint64_t weightBytes)
{
    constexpr uint64_t MostTimes = 4;
    constexpr uint64_t Always = uint64_t{4} << 20;
    const bool fits =
        packedBytes <= MostTimes * weightBytes + Always && packedBytes <= std::numeric_limits<size_t>::max() / 2;
    return fits ? SupportResult::Yes()
                : SupportResult::No(SupportCode::UnsupportedParameters,
                                    "its packed weights would take many times the memory of the weights");
}

} // namespace tenon::cpu
