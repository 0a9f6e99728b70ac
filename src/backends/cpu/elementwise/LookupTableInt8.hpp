// SPDX-License-Identifier: Apache-2.0
// Any function of one 8-bit tensor to another, by a table of its 256 results, which the reference kernel computes when
// a layer is prepared.
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
/// The best that the processor has.
LookupFunction FindByteLookup();
/// Whether that is about as fast as memory: the table is in registers.
bool IsByteLookupFast();

struct ByteLines;

/// A function of a byte: by a table, or by lines where those are faster and give the same.
class ByteMap
{
public:
    /// What the kernel `reference` makes of input 0 for these descriptions of input 0 and output 0, whose shapes do not
    /// matter.
    ByteMap(const ReshapeArgs& args, const backends::Kernel& reference);

    /// `out` may be `in`.
    void Run(const uint8_t* in, uint8_t* out, size_t count) const;

private:
    ByteTable m_Table;
    LookupFunction m_LookUp;
    std::shared_ptr<const ByteLines> m_Lines; ///< null: the table serves
};

/// Runs a layer with one input and one output of the same shape, both of 8 bits with one scale, whose kernel
/// `reference` computes each element from its own and throws for no value.
backends::Prepared MakeByteTable(const ReshapeArgs& args, const backends::Kernel& reference);

} // namespace tenon::cpu
