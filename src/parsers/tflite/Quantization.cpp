// SPDX-License-Identifier: Apache-2.0
// Type and quantization of tensors: see Quantization.hpp.
#include "parsers/tflite/Quantization.hpp"

#include "common/FourBits.hpp"
#include "common/HalfFloat.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tflite_generated.h>
#include <utility>
#include <vector>

namespace tenon::tflite
{

namespace
{

using schema::TensorType;

struct Quantization
{
    std::vector<float> m_Scales;       ///< none: plain numbers
    std::vector<int32_t> m_ZeroPoints; ///< as many
    unsigned int m_Dimension = 0;      ///< of several scales
};

/// Zero points that elements of the type can have; an empty range for types that carry no quantization.
std::pair<int64_t, int64_t> ZeroPointRange(TensorType type)
{
    switch (type)
    {
    case TensorType::INT4: return {-8, 7};
    case TensorType::INT8: return {std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max()};
    case TensorType::UINT8: return {0, std::numeric_limits<uint8_t>::max()};
    case TensorType::INT16: return {std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()};
    case TensorType::INT32:
    case TensorType::INT64: return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default: return {0, -1};
    }
}

/// Whether `scales` scales along `dimension` can belong to the shape, as far as that is known.
bool Fits(size_t scales, int32_t dimension, const TensorShape& shape)
{
    if (scales == 1)
    {
        return true;
    }
    if (dimension < 0 || dimension >= static_cast<int32_t>(MaxNumOfTensorDimensions))
    {
        return false;
    }
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return true;
    }
    const auto axis = static_cast<unsigned int>(dimension);
    return axis < shape.GetNumDimensions() && (!shape.GetDimensionSpecificity(axis) || shape[axis] == scales);
}

std::vector<float> ReadScales(std::vector<float> values)
{
    for (size_t i = 0; i < values.size(); ++i)
    {
        if (!std::isfinite(values[i]) || values[i] < 0)
        {
            throw ParseException(fmt::format("scale {} of {} is {}", i, values.size(), values[i]));
        }
    }
    return values;
}

/// One zero point stands for all scales, missing ones are 0.
std::vector<int32_t> ReadZeroPoints(const IntegerList& zeroPoints, size_t numScales, TensorType type)
{
    std::vector<int32_t> values(numScales);
    if (zeroPoints.Size() == 0)
    {
        return values;
    }
    if (zeroPoints.Size() > numScales)
    {
        throw ParseException(fmt::format("has {} zero points for {} scales", zeroPoints.Size(), numScales));
    }
    const auto [min, greatest] = ZeroPointRange(type);
    for (size_t i = 0; i < values.size(); ++i)
    {
        const size_t from = zeroPoints.Size() == 1 ? 0 : i;
        const int64_t value = from < zeroPoints.Size() ? zeroPoints[from] : 0;
        if (value < min || value > greatest)
        {
            throw ParseException(fmt::format("zero point {} is {}, outside of {}", i, value, EnumNameTensorType(type)));
        }
        values[i] = static_cast<int32_t>(value);
    }
    return values;
}

Quantization ReadQuantization(TensorType type, const DeclaredQuantization& declared, const TensorShape& shape,
                              ReadBudget& budget)
{
    const auto [min, greatest] = ZeroPointRange(type);
    if (min > greatest)
    {
        return {};
    }
    if (declared.m_OtherKind != nullptr)
    {
        throw UnimplementedException(fmt::format("has {}, which is not supported", declared.m_OtherKind));
    }
    const Span<const float> scales = declared.m_Scales;
    if (scales.empty())
    {
        return {};
    }
    if (!Fits(scales.size(), declared.m_Dimension, shape))
    {
        // A bias needs no scales of its own: they follow from those of data and weights. Converters wrote some along
        // the weights' dimension, which a bias does not have.
        if (type == TensorType::INT32 || type == TensorType::INT64)
        {
            return {};
        }
        throw ParseException(fmt::format("has {} scales along dimension {} of shape {}", scales.size(),
                                         declared.m_Dimension, shape.ToString()));
    }
    budget.Charge(scales.size() * sizeof(float));
    Quantization quantization;
    quantization.m_Scales = ReadScales({scales.begin(), scales.end()});
    quantization.m_ZeroPoints = ReadZeroPoints(declared.m_ZeroPoints, scales.size(), type);
    quantization.m_Dimension = static_cast<unsigned int>(std::max(declared.m_Dimension, 0));
    if (quantization.m_Scales.size() == 1 && quantization.m_Scales.front() == 0.0f)
    {
        return {}; // how old files say that there is none
    }
    return quantization;
}

/// The size of blocks, which divide the last dimension.
unsigned int ReadBlockSize(const DeclaredBlocks& blocks, const TensorShape& shape)
{
    const unsigned int rank = shape.GetNumDimensions();
    const Span<const int32_t> sizes = blocks.m_Shape;
    const bool isAlongLast =
        sizes.empty() || (sizes.size() == rank && sizes[rank - 1] == blocks.m_Size &&
                          std::all_of(sizes.begin(), sizes.end() - 1, [](int32_t s) { return s == 1; }));
    if (!isAlongLast)
    {
        throw UnimplementedException(fmt::format(
            "has blocks of shape [{}] and of {} elements; only those along the last dimension are supported",
            fmt::join(sizes, ","), blocks.m_Size));
    }
    if (rank == 0 || blocks.m_Size < 1 || shape[rank - 1] % static_cast<unsigned int>(blocks.m_Size) != 0)
    {
        throw ParseException(fmt::format("has blocks of {} elements, which do not divide the last dimension of {}",
                                         blocks.m_Size, shape.ToString()));
    }
    return static_cast<unsigned int>(blocks.m_Size);
}

/// Throws ParseException unless there is a value for each block or, with `mayBeOne`, one for all.
void CheckCount(const DeclaredValues& values, const char* what, unsigned int bits, uint64_t blocks, bool mayBeOne)
{
    const size_t bytes = values.m_Data.size();
    const auto holds = [&](uint64_t count)
    { return bits < 8 ? bytes == GetFourBitsBytes(count) : bytes % (bits / 8) == 0 && bytes / (bits / 8) == count; };
    if (!holds(blocks) && !(mayBeOne && holds(1)))
    {
        throw ParseException(bytes == 0
                                 ? fmt::format("its {}, tensor {}, have no values in the model", what, values.m_Label)
                                 : fmt::format("its {}, tensor {}, have {} bytes of {} for {} blocks", what,
                                               values.m_Label, bytes, EnumNameTensorType(values.m_Type), blocks));
    }
}

[[noreturn]] void RefuseType(const DeclaredValues& values, const char* what)
{
    throw UnimplementedException(fmt::format("its {}, tensor {}, are of type {}, which is not supported for them", what,
                                             values.m_Label, EnumNameTensorType(values.m_Type)));
}

std::vector<float> ReadBlockScales(const DeclaredValues& scales, uint64_t blocks, ReadBudget& budget)
{
    const bool isF16 = scales.m_Type == TensorType::FLOAT16;
    if (!isF16 && scales.m_Type != TensorType::FLOAT32)
    {
        RefuseType(scales, "scales");
    }
    CheckCount(scales, "scales", isF16 ? 16 : 32, blocks, false);
    budget.Charge(scales.m_Data.size());
    std::vector<float> values(blocks);
    if (!isF16)
    {
        std::memcpy(values.data(), scales.m_Data.data(), scales.m_Data.size());
        return ReadScales(std::move(values));
    }
    std::vector<uint16_t> halves(blocks); // aligned
    std::memcpy(halves.data(), scales.m_Data.data(), scales.m_Data.size());
    HalvesToFloats(halves.data(), halves.size(), values.data());
    return ReadScales(std::move(values));
}

void CheckBlockZeroPoints(const DeclaredValues& zeroPoints, uint64_t blocks)
{
    unsigned int bits = 0;
    switch (zeroPoints.m_Type)
    {
    case TensorType::INT4:
    case TensorType::UINT4: bits = 4; break;
    case TensorType::INT8:
    case TensorType::UINT8: bits = 8; break;
    case TensorType::INT16: bits = 16; break;
    case TensorType::INT32: bits = 32; break;
    case TensorType::INT64: bits = 64; break;
    default: RefuseType(zeroPoints, "zero points");
    }
    CheckCount(zeroPoints, "zero points", bits, blocks, true);
    if (std::any_of(zeroPoints.m_Data.begin(), zeroPoints.m_Data.end(), [](uint8_t byte) { return byte != 0; }))
    {
        throw UnimplementedException(
            fmt::format("its zero points, tensor {}, are not all 0, which is not supported for blocks; quantize the "
                        "weights symmetrically",
                        zeroPoints.m_Label));
    }
}

TensorInfo MakeBlockwiseInfo(TensorType type, const DeclaredBlocks& blocks, const TensorShape& shape,
                             ReadBudget& budget)
{
    const unsigned int size = ReadBlockSize(blocks, shape);
    const uint64_t count = shape.GetNumElements64() / size;
    if (blocks.m_ZeroPoints.has_value())
    {
        CheckBlockZeroPoints(*blocks.m_ZeroPoints, count);
    }
    TensorInfo info(shape, type == TensorType::INT4 ? DataType::QSymmS4 : DataType::QSymmS8,
                    ReadBlockScales(blocks.m_Scales, count, budget), shape.GetNumDimensions() - 1);
    info.SetQuantizationBlockSize(size);
    return info;
}

/// An 8- or 16-bit type is one of plain integers unless there is a scale. Several scales without zero points make
/// symmetric int8 weights, constant or computed.
DataType ToDataType(TensorType type, const Quantization& quantization)
{
    const bool isQuantized = !quantization.m_Scales.empty();
    switch (type)
    {
    case TensorType::FLOAT32: return DataType::Float32;
    case TensorType::FLOAT16: return DataType::Float16;
    case TensorType::BFLOAT16: return DataType::BFloat16;
    case TensorType::FLOAT64: return DataType::Float64;
    case TensorType::INT32: return DataType::Signed32;
    case TensorType::INT64: return DataType::Signed64;
    case TensorType::UINT16: return DataType::Unsigned16;
    case TensorType::UINT32: return DataType::Unsigned32;
    case TensorType::UINT64: return DataType::Unsigned64;
    case TensorType::BOOL: return DataType::Boolean;
    case TensorType::COMPLEX64: return DataType::Complex64;
    case TensorType::COMPLEX128: return DataType::Complex128;
    case TensorType::INT4: return DataType::QSymmS4;
    case TensorType::UINT8: return isQuantized ? DataType::QAsymmU8 : DataType::Unsigned8;
    case TensorType::INT16: return isQuantized ? DataType::QSymmS16 : DataType::Signed16;
    case TensorType::INT8:
    {
        const auto& zeroPoints = quantization.m_ZeroPoints;
        const bool isSymmetric = zeroPoints.size() > 1 && std::all_of(zeroPoints.begin(), zeroPoints.end(),
                                                                      [](int32_t zeroPoint) { return zeroPoint == 0; });
        return isSymmetric ? DataType::QSymmS8 : isQuantized ? DataType::QAsymmS8 : DataType::Signed8;
    }
    case TensorType::STRING:
    case TensorType::RESOURCE:
    case TensorType::VARIANT:
    case TensorType::INT2:
    case TensorType::UINT4:
    case TensorType::FLOAT8_E4M3FN:
    case TensorType::FLOAT8_E5M2:
        throw UnimplementedException(fmt::format("is of type {}, which is not supported", EnumNameTensorType(type)));
    }
    throw ParseException(fmt::format("has type {}, which does not exist", static_cast<int>(type)));
}

} // namespace

bool HasBlocks(TensorType type)
{
    return type == TensorType::INT4 || type == TensorType::INT8;
}

TensorInfo MakeInfo(TensorType type, const DeclaredQuantization& declared, const TensorShape& shape, ReadBudget& budget)
{
    if (declared.m_Blocks.has_value())
    {
        return MakeBlockwiseInfo(type, *declared.m_Blocks, shape, budget);
    }
    const Quantization quantization = ReadQuantization(type, declared, shape, budget);
    const DataType dataType = ToDataType(type, quantization);
    if (quantization.m_Scales.empty())
    {
        return {shape, dataType};
    }
    if (quantization.m_Scales.size() == 1)
    {
        return {shape, dataType, quantization.m_Scales.front(), quantization.m_ZeroPoints.front()};
    }
    TensorInfo info(shape, dataType, quantization.m_Scales, quantization.m_Dimension);
    info.SetQuantizationOffsets(quantization.m_ZeroPoints);
    return info;
}

} // namespace tenon::tflite
