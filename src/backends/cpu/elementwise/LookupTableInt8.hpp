// SPDX-License-Identifier: Apache-2.0
// UnaryInt8: any function of one 8-bit tensor to another, as a table of its 256 results. The reference kernel computes
// the table when a layer is prepared, so that every such layer gives CpuRef's bytes. Called by Activation.cpp,
// Conversions.cpp and ConcatSplit.cpp (requantization); Table.cpp and softmax/ use the lookup alone.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon::cpu
{

using ByteTable = std::array<uint8_t, 256>;

/// out[i] = table[in[i]]; `out` may be `in`.
using LookupFunction = void (*)(const ByteTable& table, const uint8_t* in, uint8_t* out, size_t count);
/// The fastest lookup that the processor has.
LookupFunction FindByteLookup();
/// True if the table is in registers, so that a lookup is about as fast as memory.
bool IsByteLookupFast();

struct ByteLines;

/// A function of one byte: a table, or a piecewise linear function if that is faster and gives the same results.
class ByteMap
{
public:
    /// The function that the kernel `reference` computes from input 0 to output 0 with these types and quantizations.
    /// Shapes do not matter.
    ByteMap(const ReshapeArgs& args, const backends::Kernel& reference);

    /// `out` may be `in`.
    void Run(const uint8_t* in, uint8_t* out, size_t count) const;

private:
    ByteTable m_Table;
    LookupFunction m_LookUp;
    std::shared_ptr<const ByteLines> m_Lines; ///< null: the table is used
};

/// Prepares a layer with one input and one output of the same shape, both of 8 bits with one scale. The kernel
/// `reference` must compute each element from the input element at the same index, and throw for no value.
backends::Prepared MakeByteTable(const ReshapeArgs& args, const backends::Kernel& reference);

} // namespace tenon::cpu
