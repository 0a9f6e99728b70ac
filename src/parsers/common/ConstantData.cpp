// SPDX-License-Identifier: Apache-2.0
// See ConstantData.hpp.
#include "parsers/common/ConstantData.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::parsers
{

namespace
{

/// How kernels may read elements of the type: at multiples of their size, of half of it if they are pairs.
size_t Alignment(DataType type)
{
    const bool isPair = type == DataType::Complex64 || type == DataType::Complex128;
    return std::max(GetDataTypeBits(type) / (isPair ? 16U : 8U), 1U);
}

} // namespace

void Align(TensorView& tensor, ReadBudget& budget)
{
    if (reinterpret_cast<uintptr_t>(tensor.m_Data.data()) % Alignment(tensor.m_Info.GetDataType()) == 0)
    {
        return;
    }
    budget.Charge(tensor.m_Data.size());
    tensor.m_Owner = AlignedCopy(tensor.m_Data);
    tensor.m_Data = {static_cast<const uint8_t*>(tensor.m_Owner.get()), tensor.m_Data.size()};
}

void CheckTensorBytes(const TensorInfo& info, const Limits& limits)
{
    if (info.GetShape().AreAllDimensionsSpecified() && info.GetNumBytes() > limits.m_MaxTensorBytes)
    {
        throw ParseException(fmt::format("is {} of {} bytes: the limit is {} (Limits::m_MaxTensorBytes)",
                                         info.ToString(), info.GetNumBytes(), limits.m_MaxTensorBytes));
    }
}

} // namespace tenon::parsers
