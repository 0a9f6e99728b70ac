// SPDX-License-Identifier: Apache-2.0
// A lower bound of the time of depthwise convolutions on this machine, measured by loops that do the same amount of
// work and nothing else.
#pragma once

#include "KernelNetworks.hpp"

#include <cstddef>
#include <functional>
#include <optional>

namespace tenon::bench
{

/// A loop over data within the first cache, without borders, tails and calls.
struct DepthwiseLoop
{
    double m_Outputs = 0.0; ///< outputs of a call, which takes some microseconds
    void (*m_Run)() = nullptr;
};

/// The minimum work for exact 8-bit outputs, by the number of instructions and the processor's units that execute them.
/// Instructions of one vector of outputs are interleaved with instructions of the next one, so that no result is waited
/// for. Work for each vector of outputs:
/// - every fourth tap a dot product of four bytes (AVX-512 VNNI, AVX-VNNI), or every second one a product of pairs of
///   int16 and an addition;
/// - for each pixel that no earlier window has read, a load and the two shuffles that interleave bytes of different
///   pixels, which these products need. Windows that share rows need more of them in fact;
/// - TFLite's multiplication of the sums by a multiplier of 31 bits with two roundings: the minimum of instructions
///   that give all its results, also for negative sums;
/// - clamping them to bytes, and a store. Values that stay the same from pixel to pixel lie in registers: weights,
/// biases, multipliers.
///
/// The result is empty if there is no such loop: for other instruction sets, and for windows with more taps than the
/// loops support.
std::optional<DepthwiseLoop> FindDepthwiseLoop(const DepthwiseWindow& window);

/// Loads all of one tensor by vectors, and between them stores as many vectors as another has. Null if there is no such
/// loop.
std::function<void()> MakeStream(const ConstTensor& from, const Tensor& to);

} // namespace tenon::bench
