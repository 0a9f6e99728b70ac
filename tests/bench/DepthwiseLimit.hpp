// SPDX-License-Identifier: Apache-2.0
// What no depthwise convolution on this machine can be faster than, measured by loops that do the same amount of work
// and nothing else.
#pragma once

#include "KernelNetworks.hpp"

#include <cstddef>
#include <functional>
#include <optional>

namespace tenon::bench
{

/// Work on data within the first cache, without borders, tails and calls.
struct DepthwiseLoop
{
    double m_Outputs = 0.0; ///< of a call, which takes some microseconds
    void (*m_Run)() = nullptr;
};

/// What exact outputs of 8 bits take at least, by the number of instructions and the units of the processor that do
/// them; those of a vector of outputs lie among those of the next one, and no result is waited for. For each vector of
/// outputs:
/// - every fourth tap a dot product of four bytes (AVX-512 VNNI, AVX-VNNI), or every second one a product of pairs of
///   int16 and an addition;
/// - of each pixel that no window has seen before a load and the two shuffles that bring bytes of different pixels
///   beside each other, without which there are no such products. Windows that share rows take more of them in fact;
/// - TFLite's multiplication of the sums by a multiplier of 31 bits with two roundings: as few instructions as give all
///   results that it has, those of negative sums too;
/// - clamping them to bytes, and a store.
/// What stays the same from pixel to pixel lies in registers: weights, biases, multipliers.
///
/// Empty where there is no such loop: for other instruction sets, and for windows of more taps than loops were made
/// for.
std::optional<DepthwiseLoop> FindDepthwiseLoop(const DepthwiseWindow& window);

/// Loads all of one tensor by vectors, and between them stores as many vectors as another has. Null where there is no
/// such loop.
std::function<void()> MakeStream(const ConstTensor& from, const Tensor& to);

} // namespace tenon::bench
