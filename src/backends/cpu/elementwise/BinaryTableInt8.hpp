// SPDX-License-Identifier: Apache-2.0
// Any function of two 8-bit tensors to a third, as a table of its 65,536 results. The reference kernel computes the
// table when a layer is prepared. A lookup takes a nanosecond an element, and far less where one input is one element;
// other loops of ElementwiseBinary (BinaryInt8) are faster. Called by ElementwiseBinary.cpp.
#pragma once

#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class BinaryTableInt8
{
public:
    /// The number of output elements from which the table takes less time than the reference kernel does.
    static constexpr size_t WorthwhileCount = 16384;

    /// The function that the kernel `reference` computes from inputs 0 and 1. `isScalarB`: the second input of Run() is
    /// one element. `swaps`: the first input of Run() is input 1.
    BinaryTableInt8(const ReshapeArgs& args, const backends::Kernel& reference, bool isScalarB, bool swaps);

    /// out[i] = f(a[i], b[i]), or f(a[i], b[0]). `out` may be a or b.
    void Run(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count) const;

private:
    alignas(64) std::array<LookupTableInt8, 256> m_Rows; ///< for each byte of b the results by a
    LookupFunction m_LookUp;                             ///< null unless b is one element
};

} // namespace tenon::cpu
