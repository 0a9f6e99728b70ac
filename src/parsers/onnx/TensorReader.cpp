// SPDX-License-Identifier: Apache-2.0
// TensorReader: see TensorReader.hpp.
#include "parsers/onnx/TensorReader.hpp"

#include "common/FourBits.hpp"
#include "parsers/common/ConstantData.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace tenon::onnx
{

namespace
{

TensorShape ReadDims(const std::vector<int64_t>& dims, const Limits& limits)
{
    const unsigned int max = std::min(limits.m_MaxRank, MaxNumOfTensorDimensions);
    if (dims.size() > max)
    {
        throw ParseException(fmt::format("has rank {}, at most {} is possible (Limits::m_MaxRank)", dims.size(), max));
    }
    for (size_t i = 0; i < dims.size(); ++i)
    {
        if (dims[i] < 0)
        {
            throw ParseException(fmt::format("has size {} in dimension {}", dims[i], i));
        }
    }
    return ToShape(dims);
}

template <typename T>
std::vector<uint8_t> Narrow(const std::vector<int64_t>& numbers)
{
    std::vector<uint8_t> bytes(numbers.size() * sizeof(T));
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        const T element = static_cast<T>(numbers[i]);
        std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
    return bytes;
}

std::vector<uint8_t> Join(const Chunks& chunks)
{
    std::vector<uint8_t> bytes;
    for (const std::string_view piece : chunks)
    {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    return bytes;
}

/// Integers of 4 bits as one a byte.
std::vector<uint8_t> OneAByte(Span<const uint8_t> packed, uint64_t elements, bool isSigned)
{
    if (packed.size() != GetFourBitsBytes(elements))
    {
        throw ParseException(fmt::format("has {} elements of 4 bits, which take {} bytes, but {} bytes of data",
                                         elements, GetFourBitsBytes(elements), packed.size()));
    }
    std::vector<uint8_t> bytes(elements);
    UnpackFourBits(packed.data(), bytes.size(), isSigned, bytes.data());
    return bytes;
}

Span<const uint8_t> ToSpan(std::string_view bytes)
{
    return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

uint64_t ReadNumber(const TensorMessage& tensor, std::string_view key, uint64_t fallback)
{
    const auto found = tensor.m_ExternalData.find(key);
    if (found == tensor.m_ExternalData.end())
    {
        return fallback;
    }
    const std::string_view text = found->second;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
    {
        throw ParseException(fmt::format("external data has the {} '{}', which is no number of bytes", key, text));
    }
    return value;
}

} // namespace

std::optional<DataType> ToDataType(ElementType type)
{
    switch (type)
    {
    case ElementType::Float: return DataType::Float32;
    case ElementType::Float16: return DataType::Float16;
    case ElementType::BFloat16: return DataType::BFloat16;
    case ElementType::Double: return DataType::Float64;
    case ElementType::Bool: return DataType::Boolean;
    case ElementType::Int8: return DataType::Signed8;
    case ElementType::UInt8: return DataType::Unsigned8;
    case ElementType::Int16: return DataType::Signed16;
    case ElementType::UInt16: return DataType::Unsigned16;
    case ElementType::Int32: return DataType::Signed32;
    case ElementType::UInt32: return DataType::Unsigned32;
    case ElementType::Int64: return DataType::Signed64;
    case ElementType::UInt64: return DataType::Unsigned64;
    case ElementType::Complex64: return DataType::Complex64;
    case ElementType::Complex128: return DataType::Complex128;
    default: return std::nullopt;
    }
}

DataType ToLayerType(ElementType type)
{
    const std::optional<DataType> found = ToDataType(type);
    if (!found.has_value())
    {
        throw UnimplementedException(fmt::format("element type {} is not supported", NameOf(type)));
    }
    return *found;
}

bool IsFourBits(ElementType type)
{
    return type == ElementType::Int4 || type == ElementType::UInt4;
}

DataType ToConstantType(ElementType type)
{
    switch (type)
    {
    case ElementType::Int4: return DataType::Signed8;
    case ElementType::UInt4: return DataType::Unsigned8;
    default: return ToLayerType(type);
    }
}

TensorReader::TensorReader(std::shared_ptr<const void> owner, size_t bytes, std::string folder,
                           std::string folderBehindLink, const std::map<std::string, Span<const uint8_t>>& buffers,
                           const Limits& limits)
    : m_Owner(std::move(owner)), m_Folder(std::move(folder)), m_FolderBehindLink(std::move(folderBehindLink)),
      m_Buffers(buffers), m_Limits(limits), m_Budget(bytes)
{
}

Value TensorReader::Read(const TensorMessage& tensor)
{
    Value& value = m_Read[&tensor];
    if (value)
    {
        return value;
    }
    WithModelContext([&] { return fmt::format("tensor '{}'", tensor.m_Name); },
                     [&]
                     {
                         parsers::TensorView view;
                         const bool isFourBits = IsFourBits(tensor.m_Type);
                         const DataType type = ToConstantType(tensor.m_Type);
                         view.m_Info = TensorInfo(ReadDims(tensor.m_Dims, m_Limits), type);
                         parsers::CheckTensorBytes(view.m_Info, m_Limits);
                         const uint64_t elements = view.m_Info.GetShape().GetNumElements64();
                         Data data = ReadData(tensor, type, isFourBits ? GetFourBitsBytes(elements) : elements);
                         if (isFourBits)
                         {
                             data = Own(OneAByte(data.m_Bytes, elements, type == DataType::Signed8));
                         }
                         view.m_Data = data.m_Bytes;
                         view.m_Owner = data.m_Owner;
                         if (view.m_Info.GetNumBytes() != view.m_Data.size())
                         {
                             throw ParseException(fmt::format("is {} of {} bytes, but has {} bytes of data",
                                                              view.m_Info.ToString(), view.m_Info.GetNumBytes(),
                                                              view.m_Data.size()));
                         }
                         parsers::Align(view, data.m_Budget != nullptr ? *data.m_Budget : m_Budget);
                         auto state = std::make_shared<Value::State>();
                         state->m_Info = view.m_Info;
                         state->m_Info.SetConstant();
                         state->m_IsConstant = true;
                         state->m_Data = view.m_Data;
                         state->m_Owner = view.m_Owner;
                         state->m_Name = tensor.m_Name;
                         state->m_Bits = isFourBits ? 4 : 0;
                         value = Value(std::move(state));
                     });
    return value;
}

TensorReader::Data TensorReader::ReadData(const TensorMessage& tensor, DataType type, uint64_t elements)
{
    if (tensor.m_HasSegment)
    {
        throw UnimplementedException("is stored in segments, which is not supported");
    }
    if (tensor.m_IsExternal)
    {
        return ReadExternal(tensor, elements * GetDataTypeSize(type));
    }
    if (tensor.m_RawData.has_value())
    {
        return {ToSpan(*tensor.m_RawData), m_Owner, nullptr};
    }
    return elements == 0 ? Data() : ReadTyped(tensor, type);
}

TensorReader::Data TensorReader::Own(std::vector<uint8_t> bytes)
{
    auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
    const Span<const uint8_t> view = *owner;
    return {view, std::move(owner), nullptr};
}

/// The fields for the types: float_data, int32_data and so on.
TensorReader::Data TensorReader::ReadTyped(const TensorMessage& tensor, DataType type)
{
    const auto joined = [&](const Chunks& chunks) {
        return chunks.size() == 1 ? Data{ToSpan(chunks.front()), m_Owner, nullptr} : Own(Join(chunks));
    };
    const auto ints = [&] { return DecodeVarints(tensor.m_Int32Data); };
    switch (type)
    {
    case DataType::Float32:
    case DataType::Complex64: return joined(tensor.m_FloatData);
    case DataType::Float64:
    case DataType::Complex128: return joined(tensor.m_DoubleData);
    case DataType::Signed64: return Own(Narrow<int64_t>(DecodeVarints(tensor.m_Int64Data)));
    case DataType::Unsigned64: return Own(Narrow<uint64_t>(DecodeVarints(tensor.m_UInt64Data)));
    case DataType::Unsigned32: return Own(Narrow<uint32_t>(DecodeVarints(tensor.m_UInt64Data)));
    case DataType::Signed32: return Own(Narrow<int32_t>(ints()));
    case DataType::Float16:
    case DataType::BFloat16:
    case DataType::Signed16:
    case DataType::Unsigned16: return Own(Narrow<uint16_t>(ints()));
    default: return Own(Narrow<uint8_t>(ints()));
    }
}

TensorReader::Data TensorReader::ReadExternal(const TensorMessage& tensor, uint64_t needed)
{
    const auto location = tensor.m_ExternalData.find("location");
    if (location == tensor.m_ExternalData.end() || location->second.empty())
    {
        throw ParseException("its data is external, but no location is given");
    }
    const Data file = OpenExternal(std::string(location->second));
    const uint64_t size = file.m_Bytes.size();
    const uint64_t offset = ReadNumber(tensor, "offset", 0);
    if (offset > size)
    {
        throw ParseException(
            fmt::format("its data begins at byte {} of '{}', which has {}", offset, location->second, size));
    }
    // Without a length the data go to the end of the file, whose rest may be other tensors'.
    const uint64_t length = ReadNumber(tensor, "length", std::min(size - offset, needed));
    if (length > size - offset)
    {
        throw ParseException(fmt::format("its data are {} bytes from byte {} on of '{}', which has {}", length, offset,
                                         location->second, size));
    }
    return {Span<const uint8_t>(file.m_Bytes.data() + offset, length), file.m_Owner, file.m_Budget};
}

TensorReader::Data TensorReader::Keep(const std::string& location, const Data& data)
{
    std::unique_ptr<ReadBudget>& budget = m_Budgets[location];
    budget = std::make_unique<ReadBudget>(data.m_Bytes.size());
    return m_Files[location] = {data.m_Bytes, data.m_Owner, budget.get()};
}

TensorReader::Data TensorReader::OpenExternal(const std::string& location)
{
    const auto opened = m_Files.find(location);
    if (opened != m_Files.end())
    {
        return opened->second;
    }
    const auto buffer = m_Buffers.find(location);
    if (buffer != m_Buffers.end())
    {
        return Keep(location, {buffer->second, nullptr, nullptr});
    }
    if (m_Folder.empty())
    {
        throw InvalidArgumentException(
            fmt::format("external data '{}' are not given, and a model from memory has no folder to look into: give "
                        "their bytes (OnnxParserOptions::m_ExternalData), or the folder (m_ExternalDataFolder)",
                        location));
    }
    if (location.find('\0') != std::string::npos)
    {
        throw ParseException(fmt::format("the location '{}' of external data has a zero byte in it", location.c_str()));
    }
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(fs::path(m_Folder), error);
    const fs::path wanted(location);
    fs::path file = error ? fs::path() : fs::weakly_canonical(folder / wanted, error);
    const auto isWithin = [&](const fs::path& outer)
    { return std::mismatch(outer.begin(), outer.end(), file.begin(), file.end()).first == outer.end(); };
    const bool isInside = !error && (isWithin(folder) || (!m_FolderBehindLink.empty() && isWithin(m_FolderBehindLink)));
    if (wanted.is_absolute() || wanted.has_root_name() || !isInside)
    {
        throw ParseException(
            fmt::format("external data '{}' lies outside of the model's folder, which is not allowed; copy it into the "
                        "folder, as a file in place of a link",
                        location));
    }
    const auto mapped = m_Mapped.find(file.string());
    if (mapped != m_Mapped.end())
    {
        return m_Files[location] = mapped->second;
    }
    Limits limits = m_Limits;
    limits.m_MaxFileBytes = m_Limits.m_MaxTotalBytes; // of weights, which are no messages
    const ModelBytes bytes = ModelBytes::FromFile(file.string(), limits);
    return m_Mapped[file.string()] = Keep(location, {bytes.m_Bytes, bytes.m_Owner, nullptr});
}

Value TensorReader::Read(const SparseTensorMessage& tensor)
{
    Value& dense = m_Read[&tensor.m_Dims];
    if (dense)
    {
        return dense;
    }
    const Value values = Read(tensor.m_Values);
    const Value indices = Read(tensor.m_Indices);
    WithModelContext(
        [&] { return fmt::format("sparse tensor '{}'", tensor.m_Values.m_Name); },
        [&]
        {
            const TensorInfo info(ReadDims(tensor.m_Dims, m_Limits), values.Type());
            parsers::CheckTensorBytes(info, m_Limits);
            const uint64_t count = values.Rank() == 1 ? values.Shape()[0] : 0;
            const unsigned int rank = info.GetNumDimensions();
            const bool isFlat = indices.Rank() == 1;
            if (values.Rank() != 1 || indices.Type() != DataType::Signed64 || indices.Rank() > 2 ||
                indices.Rank() == 0 || indices.Shape()[0] != count || (!isFlat && indices.Shape()[1] != rank))
            {
                throw ParseException(fmt::format("values of shape {} and indices {} do not fit the shape {}",
                                                 values.Shape().ToString(), indices->m_Info.ToString(),
                                                 info.GetShape().ToString()));
            }
            const size_t element = GetDataTypeSize(info.GetDataType());
            m_DenseBytes += info.GetNumBytes();
            if (m_DenseBytes > m_Limits.m_MaxTotalBytes)
            {
                throw ParseException(fmt::format("sparse tensors have more than {} bytes together "
                                                 "(Limits::m_MaxTotalBytes)",
                                                 m_Limits.m_MaxTotalBytes));
            }
            std::vector<uint8_t> bytes(info.GetNumBytes());
            const uint64_t elements = info.GetShape().GetNumElements64();
            const uint8_t* place = indices->m_Data.data();
            const auto next = [&]
            {
                int64_t index = 0;
                std::memcpy(&index, place, sizeof(index));
                place += sizeof(index);
                return index;
            };
            for (uint64_t i = 0; i < count; ++i)
            {
                int64_t flat = isFlat ? next() : 0;
                for (unsigned int d = 0; d < rank && !isFlat; ++d)
                {
                    const int64_t index = next();
                    if (index < 0 || index >= info.GetShape()[d])
                    {
                        throw ParseException(fmt::format("index {} of value {} is outside of dimension {} of shape {}",
                                                         index, i, d, info.GetShape().ToString()));
                    }
                    flat = flat * info.GetShape()[d] + index;
                }
                if (flat < 0 || static_cast<uint64_t>(flat) >= elements)
                {
                    throw ParseException(
                        fmt::format("index {} of value {} is outside of {} elements", flat, i, elements));
                }
                std::memcpy(bytes.data() + static_cast<size_t>(flat) * element, values->m_Data.data() + i * element,
                            element);
            }
            const Data data = Own(std::move(bytes));
            auto state = std::make_shared<Value::State>();
            state->m_Info = info;
            state->m_Info.SetConstant();
            state->m_IsConstant = true;
            state->m_Data = data.m_Bytes;
            state->m_Owner = data.m_Owner;
            state->m_Name = tensor.m_Values.m_Name;
            dense = Value(std::move(state));
        });
    return dense;
}

} // namespace tenon::onnx
