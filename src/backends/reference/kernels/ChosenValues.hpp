// SPDX-License-Identifier: Apache-2.0
// Code that OneHot and SparseToDense share: inputs 0 and 1 give the positions of the values of input 2 in the output;
// all other elements are the value of input 3.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

namespace tenon::ref
{

constexpr backends::TypeRow ChosenTypes[] = {backends::Types(
    {IndexTypes, IndexTypes, backends::WholeByteType, backends::WholeByteType}, backends::WholeByteType)};

inline SupportResult CheckChosen(const LayerView& layer)
{
    const DataType type = layer.GetInput(2).GetDataType();
    const SupportResult other = CheckSameType(layer.GetInput(3), "input 3", type);
    return other ? CheckSameType(layer.GetOutput(0), "output 0", type) : other;
}

} // namespace tenon::ref
