// SPDX-License-Identifier: Apache-2.0
// See Npy.hpp.
#include "tools/common/Npy.hpp"

#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/NpyHeader.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

namespace tenon::tools
{
namespace
{

/// NumPy pads headers so that the data is aligned to this.
constexpr size_t HeaderAlignment = 64;

/// Whether elements of a file's type are those of ours. The byte order of one-byte types may be written in any way.
bool IsSameType(std::string_view fileType, DataType type)
{
    const std::string_view wanted = GetNpyType(type);
    if (fileType.empty() || fileType.substr(1) != wanted.substr(1))
    {
        // Arrays of ml_dtypes.bfloat16 are saved as two opaque bytes.
        return type == DataType::BFloat16 && (fileType == "|V2" || fileType == "<V2");
    }
    const char order = fileType.front();
    return order == '<' || order == '|' || order == '=' || (order == '>' && wanted.substr(2) == "1");
}

TensorShape MakeShape(const std::vector<uint64_t>& sizes)
{
    if (sizes.empty())
    {
        return TensorShape(Dimensionality::Scalar);
    }
    std::vector<unsigned int> dimensions;
    for (const uint64_t size : sizes)
    {
        if (size > std::numeric_limits<unsigned int>::max())
        {
            throw InputError(fmt::format("a dimension of {} is too large", size));
        }
        dimensions.push_back(static_cast<unsigned int>(size));
    }
    return {static_cast<unsigned int>(dimensions.size()), dimensions.data()};
}

/// Fortran order: the first dimension moves fastest. Copies elements of `width` bytes into C order.
Buffer ReorderFromFortran(const Buffer& source, const TensorShape& shape, size_t width)
{
    Buffer target(source.Size());
    const unsigned int rank = shape.GetNumDimensions();
    std::vector<unsigned int> index(rank, 0);
    std::vector<size_t> stride(rank, 0);
    size_t step = width;
    for (unsigned int d = 0; d < rank; ++d)
    {
        stride[d] = step;
        step *= shape[d];
    }
    size_t from = 0;
    for (size_t to = 0; to < target.Size(); to += width)
    {
        std::memcpy(target.Data() + to, source.Data() + from, width);
        for (unsigned int d = rank; d-- > 0;)
        {
            from += stride[d];
            if (++index[d] < shape[d])
            {
                break;
            }
            from -= stride[d] * shape[d];
            index[d] = 0;
        }
    }
    return target;
}

/// One value a byte, as the file has it, to two values a byte.
Buffer PackInt4(const Buffer& source, const TensorInfo& info)
{
    Buffer packed(info.GetNumBytes());
    std::memset(packed.Data(), 0, packed.Size());
    for (size_t i = 0; i < source.Size(); ++i)
    {
        const double value = GetElement(DataType::Signed8, source.Data(), i);
        if (value < -8.0 || value > 7.0)
        {
            throw InputError(fmt::format("element {} is {}, which is no 4-bit value (-8 to 7)", i, value));
        }
        SetElement(DataType::QSymmS4, packed.Data(), i, value);
    }
    return packed;
}

/// What a file holds that has `remaining` bytes of data.
TensorInfo GetInfoInFile(const NpyHeader& header, const TensorInfo& expected, uint64_t remaining, uint64_t maxBytes)
{
    const DataType type = expected.GetDataType();
    if (!IsSameType(header.m_Type, type))
    {
        throw InputError(fmt::format("it holds elements of type '{}'; expected '{}' ({})", OneLine(header.m_Type),
                                     GetNpyType(type), GetNumPyName(type)));
    }
    // A file has whole bytes for 4-bit values.
    TensorInfo inFile(MakeShape(header.m_Shape), type == DataType::QSymmS4 ? DataType::Signed8 : type);
    size_t bytes = 0;
    try
    {
        bytes = inFile.GetNumBytes();
    }
    catch (const Exception& tooLarge)
    {
        throw InputError(fmt::format("corrupt .npy header: {}", tooLarge.what()));
    }
    if (bytes != remaining)
    {
        throw InputError(fmt::format("its header promises {} bytes of data for shape {}, but {} follow", bytes,
                                     inFile.GetShape().ToString(), remaining));
    }
    if (bytes > maxBytes)
    {
        throw InputError(
            fmt::format("it has {} bytes of data; the limit is {} (--limit tensor-bytes)", bytes, maxBytes));
    }
    return inFile;
}

Buffer UnpackInt4(const std::byte* data, size_t count)
{
    Buffer values(count);
    for (size_t i = 0; i < count; ++i)
    {
        SetElement(DataType::Signed8, values.Data(), i, GetElement(DataType::QSymmS4, data, i));
    }
    return values;
}

} // namespace

TensorInfo ReadNpyInfo(const InputSource& source, const TensorInfo& expected, uint64_t maxBytes)
{
    InputFile file = source.Open();
    const NpyHeader header = ReadNpyHeader(file);
    TensorInfo info = expected;
    info.SetShape(GetInfoInFile(header, expected, file.Remaining(), maxBytes).GetShape());
    return info;
}

NpyArray ReadNpy(const InputSource& source, const TensorInfo& expected, uint64_t maxBytes)
{
    InputFile file = source.Open();
    const NpyHeader header = ReadNpyHeader(file);
    const TensorInfo inFile = GetInfoInFile(header, expected, file.Remaining(), maxBytes);
    const DataType type = expected.GetDataType();
    const size_t bytes = inFile.GetNumBytes();
    NpyArray array{expected, Buffer(bytes)};
    array.m_Info.SetShape(inFile.GetShape());
    file.Read(array.m_Data.Data(), bytes);
    if (header.m_FortranOrder && bytes > 0)
    {
        array.m_Data = ReorderFromFortran(array.m_Data, inFile.GetShape(), GetDataTypeSize(inFile.GetDataType()));
    }
    if (type == DataType::QSymmS4)
    {
        array.m_Data = PackInt4(array.m_Data, array.m_Info);
    }
    if (type == DataType::Boolean)
    {
        for (size_t i = 0; i < bytes; ++i) // a Boolean is 0 or 1, but a file may hold anything
        {
            SetElement(type, array.m_Data.Data(), i, GetElement(type, array.m_Data.Data(), i));
        }
    }
    return array;
}

void WriteNpy(const std::string& path, const TensorInfo& info, const std::byte* data)
{
    std::vector<unsigned int> sizes;
    for (unsigned int d = 0; d < info.GetNumDimensions(); ++d)
    {
        sizes.push_back(info.GetShape()[d]);
    }
    std::string dictionary =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", GetNpyType(info.GetDataType()),
                    fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
    const size_t prefix = NpyVersionEnd + 2;
    const size_t total = (prefix + dictionary.size() + 1 + HeaderAlignment - 1) / HeaderAlignment * HeaderAlignment;
    dictionary.resize(total - prefix - 1, ' ');
    dictionary += '\n';

    std::string header(NpyMagic);
    header += '\x01';
    header += '\0';
    header += static_cast<char>(dictionary.size() & 0xFF);
    header += static_cast<char>(dictionary.size() >> 8);
    header += dictionary;

    OutputFile file(path);
    file.Write(header.data(), header.size());
    if (info.GetDataType() == DataType::QSymmS4)
    {
        const Buffer values = UnpackInt4(data, static_cast<size_t>(info.GetShape().GetNumElements64()));
        file.Write(values.Data(), values.Size());
    }
    else
    {
        file.Write(data, info.GetNumBytes());
    }
    file.Close();
}

} // namespace tenon::tools
