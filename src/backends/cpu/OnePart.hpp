// SPDX-License-Identifier: Apache-2.0
// OnePart: for kernels that run pieces of a layer, each on one thread, by other kernels.
#pragma once

namespace tenon::cpu
{

/// While it lives, kernels that this thread prepares have memory for one part: GetCutParts() is one.
class OnePart
{
public:
    OnePart();
    OnePart(const OnePart&) = delete;
    OnePart& operator=(const OnePart&) = delete;
    ~OnePart();
};

} // namespace tenon::cpu
