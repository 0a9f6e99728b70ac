// SPDX-License-Identifier: Apache-2.0
// See TensorInfos.hpp.
#include "serializer/TensorInfos.hpp"

#include "common/Enumerators.hpp"
#include "common/Finite.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tenon::serializer
{

namespace
{

constexpr int64_t UnknownSize = -1;
constexpr int64_t ByBlocks = -2; // dimension

void CheckScales(const std::vector<float>& scales, size_t numZeroPoints)
{
    if (!IsFinite(scales))
    {
        throw ParseException("a quantization scale is not a finite number");
    }
    if (numZeroPoints != 0 && numZeroPoints != std::max<size_t>(scales.size(), 1))
    {
        throw ParseException(fmt::format("{} zero points for {} quantization scales", numZeroPoints, scales.size()));
    }
}

/// Adds zero points, if there are some.
void ReadZeroPoints(FileReader& file, const flatbuffers::Vector<int32_t>* zeroPoints, TensorInfo& info)
{
    if (zeroPoints != nullptr && zeroPoints->size() != 0)
    {
        file.Charge(zeroPoints->size(), sizeof(int32_t));
        info.SetQuantizationOffsets({zeroPoints->begin(), zeroPoints->end()});
    }
}

TensorInfo ReadBlocks(FileReader& file, const schema::Blocks& blocks)
{
    const Span<const uint8_t> bytes = file.Buffer(blocks.scales());
    if (bytes.size() % sizeof(float) != 0 || blocks.size() == 0)
    {
        throw ParseException(fmt::format("{} bytes of scales for blocks of {} elements", bytes.size(), blocks.size()));
    }
    file.Charge(bytes.size(), 1);
    std::vector<float> scales(bytes.size() / sizeof(float));
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(scales.data()));
    CheckScales(scales, blocks.zero_points() != nullptr ? blocks.zero_points()->size() : 0);
    TensorInfo info(TensorShape(), DataType::QSymmS8, scales, blocks.dimension());
    ReadZeroPoints(file, blocks.zero_points(), info);
    info.SetQuantizationBlockSize(blocks.size());
    return info;
}

flatbuffers::Offset<schema::Blocks> WriteBlocks(FileWriter& file, const TensorInfo& info)
{
    const Span<const float> scales = info.ViewQuantizationScales();
    flatbuffers::Offset<schema::Blocks> unshared; // lists without elements may have the same address
    flatbuffers::Offset<schema::Blocks>& written = scales.empty() ? unshared : file.BlocksOf(scales.data());
    if (written.IsNull())
    {
        const std::vector<int32_t> zeroPoints =
            info.HasQuantizationOffsets() ? info.GetQuantizationOffsets() : std::vector<int32_t>();
        const uint32_t buffer = file.AddBuffer(scales.data(), scales.size() * sizeof(float));
        written = schema::CreateBlocksDirect(file.Builder(), buffer, &zeroPoints, info.GetQuantizationDim().value(),
                                             info.GetQuantizationBlockSize());
    }
    return written;
}

TensorInfo ReadPerAxis(FileReader& file, const TensorShape& shape, DataType type, const schema::PerAxis& perAxis)
{
    std::vector<float> scales;
    if (perAxis.scales() != nullptr)
    {
        file.Charge(perAxis.scales()->size(), sizeof(float));
        scales.assign(perAxis.scales()->begin(), perAxis.scales()->end());
    }
    const size_t numZeroPoints = perAxis.zero_points() != nullptr ? perAxis.zero_points()->size() : 0;
    CheckScales(scales, numZeroPoints);
    TensorInfo info;
    if (perAxis.dimension() == -1)
    {
        info = TensorInfo(shape, type);
        info.SetQuantizationScales(scales);
    }
    else
    {
        if (perAxis.dimension() < 0 || perAxis.dimension() > std::numeric_limits<uint32_t>::max())
        {
            throw ParseException(fmt::format("quantization along dimension {}", perAxis.dimension()));
        }
        info = TensorInfo(shape, type, scales, static_cast<unsigned int>(perAxis.dimension()));
    }
    ReadZeroPoints(file, perAxis.zero_points(), info);
    return info;
}

} // namespace

flatbuffers::Offset<schema::Shape> WriteShape(FileWriter& file, const TensorShape& shape)
{
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return schema::CreateShape(file.Builder(), schema::Rank::Unknown);
    }
    if (shape.IsScalar())
    {
        return schema::CreateShape(file.Builder(), schema::Rank::Scalar);
    }
    std::vector<int64_t> sizes;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        sizes.push_back(shape.GetDimensionSpecificity(i) ? int64_t{shape[i]} : UnknownSize);
    }
    return schema::CreateShapeDirect(file.Builder(), schema::Rank::Known, &sizes);
}

TensorShape ReadShape(const FileReader& file, const schema::Shape& shape)
{
    const size_t rank = shape.sizes() != nullptr ? shape.sizes()->size() : 0;
    switch (shape.rank())
    {
    case schema::Rank::Unknown:
    case schema::Rank::Scalar:
        if (rank != 0)
        {
            throw ParseException(fmt::format("{} sizes for a shape of unknown rank or a scalar", rank));
        }
        return TensorShape(shape.rank() == schema::Rank::Scalar ? Dimensionality::Scalar
                                                                : Dimensionality::NotSpecified);
    case schema::Rank::Known: break;
    default:
        throw ParseException(
            fmt::format("a shape has rank kind {} {}", static_cast<int>(shape.rank()), file.VersionText()));
    }
    if (rank > MaxNumOfTensorDimensions || rank > file.GetLimits().m_MaxRank)
    {
        throw ParseException(
            fmt::format("a shape of rank {}: the limit is {} (Limits::m_MaxRank)", rank, file.GetLimits().m_MaxRank));
    }
    std::array<unsigned int, MaxNumOfTensorDimensions> sizes{};
    std::array<bool, MaxNumOfTensorDimensions> known{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        const int64_t size = FileReader::Aligned(*shape.sizes()).Get(i);
        if (size < UnknownSize || size > std::numeric_limits<uint32_t>::max())
        {
            throw ParseException(fmt::format("a shape has size {}", size));
        }
        known[i] = size != UnknownSize;
        sizes[i] = known[i] ? static_cast<unsigned int>(size) : 0;
    }
    return TensorShape(static_cast<unsigned int>(rank), sizes.data(), known.data());
}

flatbuffers::Offset<schema::TensorInfo> WriteTensorInfo(FileWriter& file, const TensorInfo& info)
{
    const auto type = file.AddText(EnumeratorName(info.GetDataType()));
    const auto shape = WriteShape(file, info.GetShape());
    if (!info.HasPerAxisQuantization())
    {
        return schema::CreateTensorInfo(file.Builder(), type, shape, info.GetQuantizationScale(),
                                        info.GetQuantizationOffset(), 0, info.IsConstant());
    }
    if (info.HasBlockwiseQuantization())
    {
        const auto blocks = WriteBlocks(file, info);
        const auto perAxis = schema::CreatePerAxis(file.Builder(), 0, 0, ByBlocks);
        return schema::CreateTensorInfo(file.Builder(), type, shape, 0.0f, 0, perAxis, info.IsConstant(), blocks);
    }
    const std::vector<float> scales = info.GetQuantizationScales();
    std::vector<int32_t> offsets = info.GetQuantizationOffsets();
    if (std::all_of(offsets.begin(), offsets.end(), [](int32_t offset) { return offset == 0; }))
    {
        offsets.clear();
    }
    const int64_t dimension = info.GetQuantizationDim().has_value() ? int64_t{info.GetQuantizationDim().value()} : -1;
    const auto perAxis = schema::CreatePerAxisDirect(file.Builder(), &scales, &offsets, dimension);
    return schema::CreateTensorInfo(file.Builder(), type, shape, 0.0f, 0, perAxis, info.IsConstant());
}

TensorInfo ReadTensorInfo(FileReader& file, const schema::TensorInfo& info)
{
    const auto type = FindEnumerator<DataType>(info.type()->string_view());
    if (!type)
    {
        throw ParseException(
            fmt::format("there is no element type '{}' {}", file.Text(info.type()), file.VersionText()));
    }
    const TensorShape shape = ReadShape(file, *info.shape());
    TensorInfo result;
    if (info.blocks() != nullptr)
    {
        Optional<TensorInfo>& read = file.BlocksOf(*info.blocks());
        if (!read.has_value())
        {
            read = ReadBlocks(file, *info.blocks());
        }
        result = TensorInfo(shape, *type);
        result.CopyQuantization(read.value());
    }
    else if (info.per_axis() != nullptr)
    {
        result = ReadPerAxis(file, shape, *type, *info.per_axis());
    }
    else
    {
        if (!std::isfinite(info.scale()))
        {
            throw ParseException("a quantization scale is not a finite number");
        }
        result = TensorInfo(shape, *type, info.scale(), info.zero_point());
    }
    result.SetConstant(info.constant());
    return result;
}

} // namespace tenon::serializer
