// SPDX-License-Identifier: Apache-2.0
// What BatchMatMul's products of two matrices that change from run to run share: how threads take units of them, and
// the scale of quantized ones.
#pragma once

#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cstddef>

namespace tenon::cpu
{

/// Calls body(range of units, scratch memory) for as many parts of the units as there are threads, but for no more than
/// `mostParts`, each with `partBytes` of the workload's scratch memory.
template <typename F>
void RunUnits(const ExecuteArgs& args, size_t units, size_t mostParts, size_t partBytes, const F& body)
{
    const size_t parts = std::min<size_t>(mostParts, args.m_Parallel->GetNumThreads());
    RunParts(*args.m_Parallel, parts,
             [&](size_t index)
             { body(GetPart(units, parts, index), static_cast<std::byte*>(args.m_Scratch) + index * partBytes); });
}

/// Rows of a part at least, or packing a panel would not be little beside what is computed with it.
constexpr size_t LeastRowsOfPacked = 64;

/// Where nothing is packed, two of the highest tiles.
constexpr size_t LeastRowsInPlace = 28;

/// In how many parts rows are cut, where so many are wanted, with so many rows each at least.
inline size_t CountRowParts(size_t wanted, size_t rows, size_t leastRows = LeastRowsOfPacked)
{
    return std::clamp<size_t>(wanted, 1, std::max<size_t>(rows / leastRows, 1));
}

/// Of a sum of products, in units of the output. The product of the scales is one in float, as TFLite has it.
inline double GetProductScale(const ReshapeArgs& args)
{
    const float product = args.GetInput(0).GetQuantizationScale() * args.GetInput(1).GetQuantizationScale();
    return static_cast<double>(product) / static_cast<double>(args.GetOutput(0).GetQuantizationScale());
}

} // namespace tenon::cpu
