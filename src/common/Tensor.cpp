// SPDX-License-Identifier: Apache-2.0
// TensorInfo and ConstTensor: the type, quantization and bytes of a tensor. All parts use them.
#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon
{

TensorInfo::TensorInfo(const TensorShape& shape, DataType dataType, float quantizationScale, int32_t quantizationOffset,
                       bool isConstant)
    : m_Shape(shape), m_DataType(dataType), m_IsConstant(isConstant), m_Scale(quantizationScale),
      m_Offset(quantizationOffset)
{
}

TensorInfo::TensorInfo(unsigned int numDimensions, const unsigned int* dimensionSizes, DataType dataType,
                       float quantizationScale, int32_t quantizationOffset, bool isConstant)
    : TensorInfo(TensorShape(numDimensions, dimensionSizes), dataType, quantizationScale, quantizationOffset,
                 isConstant)
{
}

TensorInfo::TensorInfo(const TensorShape& shape, DataType dataType, const std::vector<float>& quantizationScales,
                       unsigned int quantizationDim, bool isConstant)
    : m_Shape(shape), m_DataType(dataType), m_IsConstant(isConstant),
      m_PerAxis(std::make_shared<const PerAxis>(PerAxis{quantizationScales, {}, quantizationDim, true, 0}))
{
}

TensorInfo::TensorInfo(unsigned int numDimensions, const unsigned int* dimensionSizes, DataType dataType,
                       const std::vector<float>& quantizationScales, unsigned int quantizationDim, bool isConstant)
    : TensorInfo(TensorShape(numDimensions, dimensionSizes), dataType, quantizationScales, quantizationDim, isConstant)
{
}

size_t TensorInfo::GetNumBytes() const
{
    const uint64_t elements = m_Shape.GetNumElements64();
    const uint64_t bits = GetDataTypeBits(m_DataType);
    // At most 63 bits of bytes, so that half a byte more and pointer differences stay in range.
    constexpr uint64_t limit = std::numeric_limits<size_t>::max() / 2;
    if (elements > limit / bits * 8)
    {
        throw InvalidArgumentException(fmt::format("a tensor {} does not fit into the address space", ToString()));
    }
    return static_cast<size_t>(bits < 8 ? elements / 2 + elements % 2 : elements * (bits / 8));
}

std::vector<float> TensorInfo::GetQuantizationScales() const
{
    if (m_PerAxis != nullptr)
    {
        return m_PerAxis->m_Scales;
    }
    return m_Scale != 0.0f ? std::vector<float>{m_Scale} : std::vector<float>{};
}

void TensorInfo::SetQuantizationScales(const std::vector<float>& scales)
{
    if (scales.size() <= 1 && (m_PerAxis == nullptr || !m_PerAxis->m_HasDim))
    {
        SetQuantizationScale(scales.empty() ? 0.0f : scales.front());
        return;
    }
    PerAxis& edited = EditPerAxis();
    if (!edited.m_Offsets.empty() && edited.m_Offsets.size() != scales.size())
    {
        edited.m_Offsets.assign(scales.size(), GetQuantizationOffset());
    }
    edited.m_Scales = scales;
}

float TensorInfo::GetQuantizationScale() const
{
    if (m_PerAxis == nullptr)
    {
        return m_Scale;
    }
    if (m_PerAxis->m_Scales.size() > 1)
    {
        throw InvalidArgumentException(fmt::format("the one scale of a tensor was asked for that has {}: {}",
                                                   m_PerAxis->m_Scales.size(), ToString()));
    }
    return m_PerAxis->m_Scales.empty() ? 0.0f : m_PerAxis->m_Scales.front();
}

void TensorInfo::SetQuantizationScale(float scale)
{
    m_Offset = GetQuantizationOffset();
    m_PerAxis = nullptr;
    m_Scale = scale;
}

int32_t TensorInfo::GetQuantizationOffset() const
{
    if (m_PerAxis == nullptr)
    {
        return m_Offset;
    }
    const std::vector<int32_t>& offsets = m_PerAxis->m_Offsets;
    if (offsets.empty())
    {
        return 0;
    }
    if (std::any_of(offsets.begin(), offsets.end(), [&](int32_t offset) { return offset != offsets.front(); }))
    {
        throw InvalidArgumentException(fmt::format(
            "the one zero point of a tensor was asked for that has {} different ones: {}", offsets.size(), ToString()));
    }
    return offsets.front();
}

void TensorInfo::SetQuantizationOffset(int32_t offset)
{
    if (m_PerAxis == nullptr)
    {
        m_Offset = offset;
        return;
    }
    PerAxis& edited = EditPerAxis();
    edited.m_Offsets.assign(offset == 0 ? 0 : std::max<size_t>(edited.m_Scales.size(), 1), offset);
}

std::vector<int32_t> TensorInfo::GetQuantizationOffsets() const
{
    if (m_PerAxis == nullptr)
    {
        return m_Scale != 0.0f ? std::vector<int32_t>{m_Offset} : std::vector<int32_t>{};
    }
    return m_PerAxis->m_Offsets.empty() ? std::vector<int32_t>(m_PerAxis->m_Scales.size()) : m_PerAxis->m_Offsets;
}

bool TensorInfo::HasQuantizationOffsets() const
{
    if (m_PerAxis == nullptr)
    {
        return m_Offset != 0;
    }
    const std::vector<int32_t>& offsets = m_PerAxis->m_Offsets;
    return std::any_of(offsets.begin(), offsets.end(), [](int32_t offset) { return offset != 0; });
}

void TensorInfo::SetQuantizationOffsets(const std::vector<int32_t>& offsets)
{
    if (offsets.size() <= 1)
    {
        SetQuantizationOffset(offsets.empty() ? 0 : offsets.front());
        return;
    }
    const size_t numScales = m_PerAxis != nullptr ? m_PerAxis->m_Scales.size() : size_t{HasQuantization()};
    if (offsets.size() != numScales)
    {
        throw InvalidArgumentException(fmt::format("{} zero points for a tensor of {} scales: {}; set the scales first",
                                                   offsets.size(), numScales, ToString()));
    }
    const bool isAllZero = std::all_of(offsets.begin(), offsets.end(), [](int32_t offset) { return offset == 0; });
    if (!isAllZero || !m_PerAxis->m_Offsets.empty()) // else there is nothing to copy the scales for
    {
        EditPerAxis().m_Offsets = isAllZero ? std::vector<int32_t>{} : offsets;
    }
}

Optional<unsigned int> TensorInfo::GetQuantizationDim() const
{
    if (m_PerAxis == nullptr || !m_PerAxis->m_HasDim)
    {
        return EmptyOptional();
    }
    return m_PerAxis->m_Dim;
}

void TensorInfo::SetQuantizationDim(const Optional<unsigned int>& quantizationDim)
{
    if (!quantizationDim.has_value() && !HasMultipleQuantizationScales())
    {
        SetQuantizationScale(GetQuantizationScale());
        return;
    }
    PerAxis& edited = EditPerAxis();
    edited.m_HasDim = quantizationDim.has_value();
    edited.m_Dim = edited.m_HasDim ? quantizationDim.value() : 0;
    edited.m_BlockSize = edited.m_HasDim ? edited.m_BlockSize : 0;
}

void TensorInfo::SetQuantizationBlockSize(unsigned int size)
{
    if (size == GetQuantizationBlockSize())
    {
        return;
    }
    if (!GetQuantizationDim().has_value())
    {
        throw InvalidArgumentException(fmt::format(
            "blocks of {} elements for a tensor without a quantization dimension: {}; set the dimension first", size,
            ToString()));
    }
    EditPerAxis().m_BlockSize = size;
}

bool TensorInfo::IsQuantized() const
{
    return IsQuantizedType(m_DataType);
}

void TensorInfo::CopyQuantization(const TensorInfo& other)
{
    m_Scale = other.m_Scale;
    m_Offset = other.m_Offset;
    m_PerAxis = other.m_PerAxis;
}

bool TensorInfo::IsTypeSpaceMatch(const TensorInfo& other) const
{
    return m_DataType == other.m_DataType && (!IsQuantized() || IsSameQuantization(other));
}

std::string TensorInfo::ToString() const
{
    std::string text = fmt::format("{} {}", GetDataTypeName(m_DataType), m_Shape.ToString());
    if (m_PerAxis == nullptr)
    {
        return m_Scale == 0.0f ? text : text + fmt::format(" scale {} zero point {}", m_Scale, m_Offset);
    }
    text += fmt::format(" {} scales", m_PerAxis->m_Scales.size());
    if (m_PerAxis->m_HasDim)
    {
        text += fmt::format(" along dimension {}", m_PerAxis->m_Dim);
    }
    if (m_PerAxis->m_BlockSize != 0)
    {
        text += fmt::format(" for blocks of {}", m_PerAxis->m_BlockSize);
    }
    return m_PerAxis->m_Offsets.empty() ? text : text + " with zero points";
}

bool TensorInfo::IsSameQuantization(const TensorInfo& other) const
{
    if (m_PerAxis == other.m_PerAxis)
    {
        return m_PerAxis != nullptr || (m_Scale == other.m_Scale && m_Offset == other.m_Offset);
    }
    return m_PerAxis != nullptr && other.m_PerAxis != nullptr && m_PerAxis->m_Scales == other.m_PerAxis->m_Scales &&
           m_PerAxis->m_Offsets == other.m_PerAxis->m_Offsets && m_PerAxis->m_HasDim == other.m_PerAxis->m_HasDim &&
           m_PerAxis->m_Dim == other.m_PerAxis->m_Dim && m_PerAxis->m_BlockSize == other.m_PerAxis->m_BlockSize;
}

// Makes a copy of its own to write to, from the per-tensor parameters if there is none yet.
TensorInfo::PerAxis& TensorInfo::EditPerAxis()
{
    auto edited = std::make_shared<PerAxis>();
    if (m_PerAxis != nullptr)
    {
        *edited = *m_PerAxis;
    }
    else
    {
        edited->m_Scales = GetQuantizationScales();
        if (m_Offset != 0)
        {
            edited->m_Offsets = {m_Offset};
        }
        m_Scale = 0.0f;
        m_Offset = 0;
    }
    m_PerAxis = edited;
    return *edited;
}

ConstTensor::ConstTensor(const TensorInfo& info, const void* memory) : BaseTensor(info, memory)
{
    if (!info.IsConstant())
    {
        throw InvalidArgumentException(fmt::format(
            "a ConstTensor needs an info that is constant: call SetConstant() on it ({})", info.ToString()));
    }
}

ConstTensor::ConstTensor(const Tensor& other) : BaseTensor(other.GetInfo(), other.GetMemoryArea())
{
    m_Info.SetConstant();
}

void ConstTensor::CheckContainer(size_t bytes) const
{
    if (bytes != GetNumBytes())
    {
        throw InvalidArgumentException(fmt::format("a container of {} bytes for a tensor of {} bytes ({})", bytes,
                                                   GetNumBytes(), m_Info.ToString()));
    }
}

} // namespace tenon
