// SPDX-License-Identifier: Apache-2.0
// Names and sizes of data types, and names of layer types. All parts use them.
#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <iterator>

namespace tenon
{

namespace
{

const char* const LayerTypeNames[] = {
#define TENON_OP(name, ...) #name,
#define TENON_DEPRECATED_OP(name) #name,
#define TENON_RESERVED_OP(name) #name,
#include <tenon/ops.def>
};

} // namespace

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

} // namespace tenon
