// SPDX-License-Identifier: Apache-2.0
// See TensorReader.hpp.
#include "parsers/armnn/TensorReader.hpp"

#include "common/Finite.hpp"
#include "parsers/common/ConstantData.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <armnn_generated.h>
#include <array>
#include <cmath>
#include <vector>

namespace tenon::arm_nn
{

namespace
{

DataType ReadDataType(schema::DataType type)
{
    switch (type)
    {
    case schema::DataType::Float16: return DataType::Float16;
    case schema::DataType::Float32: return DataType::Float32;
    case schema::DataType::QuantisedAsymm8:
    case schema::DataType::QAsymmU8: return DataType::QAsymmU8;
    case schema::DataType::Signed32: return DataType::Signed32;
    case schema::DataType::Boolean: return DataType::Boolean;
    case schema::DataType::QuantisedSymm16:
    case schema::DataType::QSymmS16: return DataType::QSymmS16;
    case schema::DataType::QAsymmS8: return DataType::QAsymmS8;
    case schema::DataType::QSymmS8: return DataType::QSymmS8;
    case schema::DataType::Signed64: return DataType::Signed64;
    }
    throw ParseException(fmt::format("element type {} is none of Arm NN 23.08", static_cast<int>(type)));
}

TensorShape ReadShape(const ArmnnFile& file, const schema::TensorInfo& info)
{
    switch (info.dimensionality())
    {
    case static_cast<uint32_t>(Dimensionality::NotSpecified): return TensorShape(Dimensionality::NotSpecified);
    case static_cast<uint32_t>(Dimensionality::Scalar): return TensorShape(Dimensionality::Scalar);
    case static_cast<uint32_t>(Dimensionality::Specified): break;
    default:
        throw ParseException(fmt::format("a shape has dimensionality {}, should be 0 to 2", info.dimensionality()));
    }
    const uint32_t rank = info.dimensions() != nullptr ? info.dimensions()->size() : 0;
    if (rank == 0)
    {
        return TensorShape(Dimensionality::Scalar);
    }
    if (rank > MaxNumOfTensorDimensions || rank > file.GetLimits().m_MaxRank)
    {
        throw ParseException(fmt::format("a shape of rank {}: the limit is {} (Limits::m_MaxRank)", rank,
                                         std::min(MaxNumOfTensorDimensions, file.GetLimits().m_MaxRank)));
    }
    const auto* known = info.dimensionSpecificity();
    if (known != nullptr && known->size() != rank)
    {
        throw ParseException(
            fmt::format("a shape has {} sizes and {} flags that say which of them are known", rank, known->size()));
    }
    std::array<unsigned int, MaxNumOfTensorDimensions> sizes{};
    std::array<bool, MaxNumOfTensorDimensions> isKnown{};
    for (uint32_t i = 0; i < rank; ++i)
    {
        isKnown[i] = known == nullptr || known->Get(i) != 0;
        sizes[i] = isKnown[i] ? info.dimensions()->Get(i) : 0;
    }
    return TensorShape(rank, sizes.data(), isKnown.data());
}

/// Whether elements of the type may have a scale: quantized types, and the types of their accumulators and biases.
bool MayHaveScale(DataType type)
{
    return IsQuantizedType(type) || type == DataType::Signed32 || type == DataType::Signed64;
}

Span<const uint8_t> ReadBytes(const schema::ConstTensor& tensor)
{
    const auto bytes = [](const auto* data)
    {
        const auto* values = data != nullptr ? data->data() : nullptr;
        return values == nullptr ? Span<const uint8_t>()
                                 : Span<const uint8_t>(values->Data(), values->size() * sizeof(values->Get(0)));
    };
    switch (tensor.data_type())
    {
    case schema::ConstTensorData::ByteData: return bytes(tensor.data_as_ByteData());
    case schema::ConstTensorData::ShortData: return bytes(tensor.data_as_ShortData());
    case schema::ConstTensorData::IntData: return bytes(tensor.data_as_IntData());
    case schema::ConstTensorData::LongData: return bytes(tensor.data_as_LongData());
    case schema::ConstTensorData::NONE: break;
    }
    throw ParseException(
        fmt::format("the values are of kind {}, none of Arm NN 23.08", static_cast<int>(tensor.data_type())));
}

} // namespace

TensorInfo ReadTensorInfo(ArmnnFile& file, const schema::TensorInfo& info)
{
    const DataType type = ReadDataType(info.dataType());
    const TensorShape shape = ReadShape(file, info);
    TensorInfo result(shape, type);
    const auto* scales = info.quantizationScales();
    if (MayHaveScale(type) && scales != nullptr && scales->size() != 0)
    {
        file.Budget().Charge(scales->size() * sizeof(float));
        const std::vector<float> values(scales->begin(), scales->end());
        if (!IsFinite(values))
        {
            throw ParseException("a quantization scale is not a finite number");
        }
        result = TensorInfo(shape, type, values, info.quantizationDim());
    }
    else if (MayHaveScale(type))
    {
        if (!std::isfinite(info.quantizationScale()))
        {
            throw ParseException("a quantization scale is not a finite number");
        }
        result = TensorInfo(shape, type, info.quantizationScale(), info.quantizationOffset());
    }
    result.SetConstant(info.isConstant());
    parsers::CheckTensorBytes(result, file.GetLimits());
    return result;
}

parsers::TensorView ReadConstant(ArmnnFile& file, const schema::ConstTensor& tensor)
{
    if (tensor.info() == nullptr)
    {
        throw ParseException("it has no tensor info");
    }
    parsers::TensorView constant;
    constant.m_IsConstant = true;
    constant.m_Info = ReadTensorInfo(file, *tensor.info());
    constant.m_Info.SetConstant();
    constant.m_Data = ReadBytes(tensor);
    if (constant.m_Info.GetNumBytes() != constant.m_Data.size())
    {
        throw ParseException(
            fmt::format("{} bytes are no values of {}", constant.m_Data.size(), constant.m_Info.ToString()));
    }
    parsers::Align(constant, file.Budget());
    return constant;
}

} // namespace tenon::arm_nn
