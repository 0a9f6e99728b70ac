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
#include <vector>

namespace tenon::cpu
{

using LookupTableInt8 = std::array<uint8_t, 256>;

/// out[i] = table[in[i]]; `out` may be `in`.
using LookupFunction = void (*)(const LookupTableInt8& table, const uint8_t* in, uint8_t* out, size_t count);
/// The fastest lookup that the processor has.
LookupFunction FindLookupInt8();
/// True if the table is in registers, so that a lookup is about as fast as memory.
bool IsLookupFastInt8();

/// A tensor of bytes in memory.
struct InputInt8
{
    TensorShape m_Shape;
    const uint8_t* m_Bytes;
};

/// Runs a kernel on tensors of other shapes than the layer's. `shape`: of the output.
void RunReferenceInt8(const ReshapeArgs& args, const backends::Kernel& reference, const std::vector<InputInt8>& inputs,
                      const TensorShape& shape, uint8_t* out);

struct PiecewiseLinearInt8;

/// A function of one byte: a table, or a piecewise linear function if that is faster and gives the same results.
class UnaryInt8
{
public:
    /// The function that the kernel `reference` computes from input 0 to output 0 with these types and quantizations.
    /// Shapes do not matter.
    UnaryInt8(const ReshapeArgs& args, const backends::Kernel& reference);

    /// `out` may be `in`.
    void Run(const uint8_t* in, uint8_t* out, size_t count) const;

private:
    LookupTableInt8 m_Table;
    LookupFunction m_LookUp;
    std::shared_ptr<const PiecewiseLinearInt8> m_PiecewiseLinear; ///< null: the table is used
};

/// Prepares a layer with one input and one output of the same shape, both of 8 bits with one scale. The kernel
/// `reference` must compute each element from the input element at the same index, and throw for no value.
backends::Prepared MakeUnaryInt8(const ReshapeArgs& args, const backends::Kernel& reference);

} // namespace tenon::cpu
