// SPDX-License-Identifier: Apache-2.0
// Session: see Session.hpp.
#include "runtime/Session.hpp"

#include "common/CopyBlock.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tenon
{

void StateMemory::Fit(const TensorInfo& info)
{
    if (m_Memory.Data() != nullptr && m_Shape == info.GetShape())
    {
        return;
    }
    m_IsSet = false;
    m_Memory.Reserve(std::max<size_t>(info.GetNumBytes(), 1));
    m_Shape = info.GetShape();
}

void StateMemory::Initialize(const TensorInfo& info, const void* value)
{
    const size_t bytes = info.GetNumBytes();
    if (value != nullptr && bytes != 0)
    {
        CopyBlock(m_Memory.Data(), value, bytes);
    }
    else
    {
        // Unsigned bytes start at 0, too, and not at their zero point, as in TFLite.
        const bool hasZeroPoint = info.GetDataType() == DataType::QAsymmS8 && info.HasQuantization();
        std::memset(m_Memory.Data(), hasZeroPoint ? info.GetQuantizationOffset() : 0, bytes);
    }
    m_IsSet = true;
}

void StateMemory::Prepare(const TensorInfo& info, const void* value)
{
    m_IsUnchanged = value == m_Memory.Data() && m_IsSet;
    if (m_IsUnchanged)
    {
        return;
    }
    const size_t bytes = info.GetNumBytes();
    m_Next.Reserve(std::max<size_t>(bytes, 1));
    m_NextShape = info.GetShape();
    if (bytes != 0)
    {
        CopyBlock(m_Next.Data(), value, bytes);
    }
}

void StateMemory::Commit()
{
    if (!m_IsUnchanged)
    {
        std::swap(m_Memory, m_Next);
        m_Shape = m_NextShape;
        m_IsSet = true;
    }
}

} // namespace tenon
