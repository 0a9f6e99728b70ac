// SPDX-License-Identifier: Apache-2.0
// TensorShape, TensorInfo, ConstTensor and the names and sizes of types: the only place that multiplies dimensions.
// Used by everything.
#include "common/CheckedMath.hpp"

#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

namespace tenon
{

namespace
{

unsigned int CheckRank(size_t rank)
{
    if (rank > MaxNumOfTensorDimensions)
    {
        throw InvalidArgumentException(
            fmt::format("a tensor of {} dimensions: at most {} are possible", rank, MaxNumOfTensorDimensions));
    }
    return static_cast<unsigned int>(rank);
}

const char* const LayerTypeNames[] = {
#define TENON_OP(name, descriptor, minInputs, maxInputs, outputs, flags, values) #name,
#define TENON_DEPRECATED_OP(name) #name,
#define TENON_RESERVED_OP(name) #name,
#include <tenon/ops.def>
};

} // namespace

TensorShape::TensorShape(Dimensionality dimensionality)
    : m_NumDimensions(dimensionality == Dimensionality::Specified ? 1 : 0), m_Dimensionality(dimensionality)
{
}

TensorShape::TensorShape(unsigned int numDimensions, bool initDimensionsSpecificity)
    : m_NumDimensions(static_cast<uint8_t>(CheckRank(numDimensions))),
      m_Dimensionality(numDimensions == 0 ? Dimensionality::Scalar : Dimensionality::Specified)
{
    m_Known = initDimensionsSpecificity ? AllKnown(numDimensions) : 0;
}

TensorShape::TensorShape(unsigned int numDimensions, const unsigned int* dimensionSizes)
    : TensorShape(numDimensions, true)
{
    std::copy_n(dimensionSizes, numDimensions, m_Dimensions.begin());
}

TensorShape::TensorShape(unsigned int numDimensions, const unsigned int* dimensionSizes,
                         const bool* dimensionsSpecificity)
    : TensorShape(numDimensions, false)
{
    for (unsigned int i = 0; i < numDimensions; ++i)
    {
        if (dimensionsSpecificity[i])
        {
            SetDimensionSize(i, dimensionSizes[i]);
        }
    }
}

TensorShape::TensorShape(std::initializer_list<unsigned int> dimensionSizes)
    : TensorShape(CheckRank(dimensionSizes.size()), dimensionSizes.begin())
{
}

TensorShape::TensorShape(std::initializer_list<unsigned int> dimensionSizes,
                         std::initializer_list<bool> dimensionsSpecificity)
    : TensorShape(CheckRank(dimensionSizes.size()), false)
{
    if (dimensionsSpecificity.size() != dimensionSizes.size())
    {
        throw InvalidArgumentException(fmt::format("a shape of {} sizes but {} marks of which are known",
                                                   dimensionSizes.size(), dimensionsSpecificity.size()));
    }
    for (unsigned int i = 0; i < m_NumDimensions; ++i)
    {
        if (dimensionsSpecificity.begin()[i])
        {
            SetDimensionSize(i, dimensionSizes.begin()[i]);
        }
    }
}

void TensorShape::SetDimensionSize(unsigned int i, unsigned int dimensionSize)
{
    CheckDimensionIndex(i);
    m_Dimensions[i] = dimensionSize;
    m_Known = static_cast<uint8_t>(m_Known | (1U << i));
}

void TensorShape::SetDimensionUnknown(unsigned int i)
{
    CheckDimensionIndex(i);
    m_Dimensions[i] = 0;
    m_Known = static_cast<uint8_t>(m_Known & ~(1U << i));
}

void TensorShape::SetNumDimensions(unsigned int numDimensions, bool initDimensionsSpecificity)
{
    if (m_Dimensionality != Dimensionality::NotSpecified)
    {
        throw InvalidArgumentException(
            fmt::format("the rank of shape {} cannot be set to {}: it is known already", ToString(), numDimensions));
    }
    *this = TensorShape(numDimensions, initDimensionsSpecificity);
}

unsigned int TensorShape::GetNumElements() const
{
    const uint64_t elements = GetNumElements64();
    if (elements > std::numeric_limits<unsigned int>::max())
    {
        throw InvalidArgumentException(fmt::format("shape {} has more elements than 32 bits count", ToString()));
    }
    return static_cast<unsigned int>(elements);
}

uint64_t TensorShape::GetNumElements64() const
{
    if (!AreAllDimensionsSpecified())
    {
        throw InvalidArgumentException(
            fmt::format("the number of elements of shape {} is not known before all its sizes are", ToString()));
    }
    const auto elements = CheckedProduct<uint64_t>(std::span(m_Dimensions.data(), m_NumDimensions));
    if (!elements)
    {
        throw InvalidArgumentException(fmt::format("shape {} has more elements than 64 bits count", ToString()));
    }
    return *elements;
}

bool TensorShape::GetDimensionSpecificity(unsigned int i) const
{
    CheckDimensionIndex(i);
    return ((m_Known >> i) & 1U) != 0;
}

bool TensorShape::IsAtLeastOneDimensionSpecified() const
{
    return m_Known != 0;
}

std::string TensorShape::ToString() const
{
    if (m_Dimensionality == Dimensionality::NotSpecified)
    {
        return "[unknown rank]";
    }
    std::string text = "[";
    for (unsigned int i = 0; i < m_NumDimensions; ++i)
    {
        text += i == 0 ? "" : ",";
        text += ((m_Known >> i) & 1U) != 0 ? std::to_string(m_Dimensions[i]) : "?";
    }
    return text + "]";
}

void TensorShape::CheckDimensionIndex(unsigned int i) const
{
    if (i >= m_NumDimensions)
    {
        ThrowBadDimension(i);
    }
}

void TensorShape::ThrowBadDimension(unsigned int i) const
{
    if (m_Dimensionality == Dimensionality::NotSpecified)
    {
        throw InvalidArgumentException(fmt::format("dimension {} of a shape of unknown rank", i));
    }
    if (i >= m_NumDimensions)
    {
        throw InvalidArgumentException(
            fmt::format("dimension {} of shape {}, whose rank is {}", i, ToString(), m_NumDimensions));
    }
    throw InvalidArgumentException(fmt::format("the size of dimension {} of shape {} is not known", i, ToString()));
}

void TensorShape::ThrowUnknownRank()
{
    throw InvalidArgumentException("the rank of a shape was asked for that is not known yet");
}

TensorInfo::TensorInfo(const TensorShape& shape, DataType dataType, float quantizationScale, int32_t quantizationOffset,
                       bool isConstant)
    : m_Shape(shape), m_DataType(dataType), m_Scale(quantizationScale), m_Offset(quantizationOffset),
      m_IsConstant(isConstant)
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
      m_PerAxis(std::make_shared<const PerAxis>(PerAxis{quantizationScales, {}, quantizationDim, true}))
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
    const bool areAllZero = std::all_of(offsets.begin(), offsets.end(), [](int32_t offset) { return offset == 0; });
    EditPerAxis().m_Offsets = areAllZero ? std::vector<int32_t>{} : offsets;
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
           m_PerAxis->m_Dim == other.m_PerAxis->m_Dim;
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

const char* GetDataTypeName(DataType type)
{
    switch (type)
    {
    case DataType::Float16: return "Float16";
    case DataType::Float32: return "Float32";
    case DataType::QAsymmU8: return "QAsymmU8";
    case DataType::Signed32: return "Signed32";
    case DataType::Boolean: return "Boolean";
    case DataType::QSymmS16: return "QSymmS16";
    case DataType::QSymmS8: return "QSymmS8";
    case DataType::QAsymmS8: return "QAsymmS8";
    case DataType::BFloat16: return "BFloat16";
    case DataType::Signed64: return "Signed64";
    case DataType::Float64: return "Float64";
    case DataType::Signed8: return "Signed8";
    case DataType::Signed16: return "Signed16";
    case DataType::Unsigned8: return "Unsigned8";
    case DataType::Unsigned16: return "Unsigned16";
    case DataType::Unsigned32: return "Unsigned32";
    case DataType::Unsigned64: return "Unsigned64";
    case DataType::QSymmS4: return "QSymmS4";
    case DataType::Complex64: return "Complex64";
    case DataType::Complex128: return "Complex128";
    }
    return "Unknown";
}

unsigned int GetDataTypeBits(DataType type)
{
    switch (type)
    {
    case DataType::QSymmS4: return 4;
    case DataType::QAsymmU8:
    case DataType::Boolean:
    case DataType::QSymmS8:
    case DataType::QAsymmS8:
    case DataType::Signed8:
    case DataType::Unsigned8: return 8;
    case DataType::Float16:
    case DataType::BFloat16:
    case DataType::QSymmS16:
    case DataType::Signed16:
    case DataType::Unsigned16: return 16;
    case DataType::Float32:
    case DataType::Signed32:
    case DataType::Unsigned32: return 32;
    case DataType::Float64:
    case DataType::Signed64:
    case DataType::Unsigned64:
    case DataType::Complex64: return 64;
    case DataType::Complex128: return 128;
    }
    throw InvalidArgumentException(fmt::format("there is no data type {}", static_cast<int>(type)));
}

unsigned int GetDataTypeSize(DataType type)
{
    const unsigned int bits = GetDataTypeBits(type);
    if (bits % 8 != 0)
    {
        throw InvalidArgumentException(
            fmt::format("an element of type {} is no whole number of bytes", GetDataTypeName(type)));
    }
    return bits / 8;
}

bool IsQuantizedType(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmU8:
    case DataType::QAsymmS8:
    case DataType::QSymmS16:
    case DataType::QSymmS8:
    case DataType::QSymmS4: return true;
    default: return false;
    }
}

const char* GetLayerTypeAsCString(LayerType type)
{
    const auto index = static_cast<size_t>(type);
    return index < std::size(LayerTypeNames) ? LayerTypeNames[index] : "Unknown";
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
