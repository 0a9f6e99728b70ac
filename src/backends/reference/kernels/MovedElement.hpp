// SPDX-License-Identifier: Apache-2.0
// Code that kernels share which look up, select and place elements by index: elements as bits, and checks of types and
// sizes. Used by BroadcastArgs, CumSum, UnsortedSegment, Where and others.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace tenon::ref
{

/// Calls f(TypeTag<T>()) with a T that has the size and alignment of an element, whatever it means. 4-bit types are not
/// supported.
template <typename F>
auto DispatchMoved(DataType type, const F& f)
{
    if (type == DataType::Complex64)
    {
        return f(TypeTag<std::array<uint32_t, 2>>());
    }
    switch (GetDataTypeBits(type))
    {
    case 8: return f(TypeTag<uint8_t>());
    case 16: return f(TypeTag<uint16_t>());
    case 32: return f(TypeTag<uint32_t>());
    case 64: return f(TypeTag<uint64_t>());
    case 128: return f(TypeTag<std::array<uint64_t, 2>>());
    default: throw UnimplementedException(std::string("no code for element type ") + GetDataTypeName(type));
    }
}

/// Refuses a layer in which `info`, which `what` names ("input 3"), is not of the given type.
inline SupportResult CheckSameType(const TensorInfo& info, const char* what, DataType type)
{
    if (info.GetDataType() == type)
    {
        return SupportResult::Yes();
    }
    return SupportResult::No(SupportCode::UnsupportedType,
                             std::string(what) + " is " + GetDataTypeName(info.GetDataType()) +
                                 "; its elements are moved, so it must be " + GetDataTypeName(type));
}

/// Throws LayerValidationException unless `info`, which `what` names, has this many elements.
inline void RequireElements(const TensorInfo& info, const char* what, uint64_t elements)
{
    if (info.GetShape().GetNumElements64() != elements)
    {
        throw LayerValidationException(std::string(what) + " has shape " + info.GetShape().ToString() + ", but " +
                                       std::to_string(elements) + " elements are wanted");
    }
}

/// Throws LayerValidationException unless `info`, which `what` names, has at least this rank.
inline void RequireRank(const TensorInfo& info, const char* what, unsigned int rank)
{
    if (info.GetNumDimensions() < rank)
    {
        throw LayerValidationException(std::string(what) + " has shape " + info.GetShape().ToString() +
                                       ", but its rank must be at least " + std::to_string(rank));
    }
}

} // namespace tenon::ref
