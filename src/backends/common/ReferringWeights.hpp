// SPDX-License-Identifier: Apache-2.0
// ReferringWeights: packed weights that may still need what they were made from. PackedCache asks before it lets the
// system take back the pages of packed constants.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::backends
{

class ReferringWeights : public PackedWeights
{
public:
    /// Whether the layer's constants are read while it runs: by what was packed, or by a kernel that runs in its place.
    virtual bool RefersToConstants() const = 0;
};

} // namespace tenon::backends
