// SPDX-License-Identifier: Apache-2.0
// See NpyFile.hpp.
#include "runtime/NpyFile.hpp"

#include "common/Paths.hpp"
#include "runtime/StoredInt4.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tenon
{

namespace
{

/// NumPy's name of the type of elements.
const char* GetNpyType(DataType type)
{
    switch (type)
    {
    case DataType::Float16: return "<f2";
    case DataType::Float32: return "<f4";
    case DataType::Float64: return "<f8";
    case DataType::Boolean: return "|b1";
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return "|u1";
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::QSymmS4:
    case DataType::Signed8: return "|i1";
    case DataType::QSymmS16:
    case DataType::Signed16: return "<i2";
    case DataType::BFloat16: // NumPy has no name for it
    case DataType::Unsigned16: return "<u2";
    case DataType::Signed32: return "<i4";
    case DataType::Unsigned32: return "<u4";
    case DataType::Signed64: return "<i8";
    case DataType::Unsigned64: return "<u8";
    case DataType::Complex64: return "<c8";
    case DataType::Complex128: return "<c16";
    }
    throw InvalidArgumentException(fmt::format("element type {} is not known", static_cast<int>(type)));
}

/// Format version 1.0: magic, version, length of the dictionary that follows, which is padded to a multiple of 64
/// bytes.
std::string MakeHeader(const TensorInfo& info)
{
    constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
    constexpr size_t alignment = 64;
    std::string shape;
    for (unsigned int i = 0; i < info.GetNumDimensions(); ++i)
    {
        shape += fmt::format("{},", info.GetShape()[i]);
    }
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({})}}", GetNpyType(info.GetDataType()), shape);
    const size_t end = magic.size() + 2 + text.size() + 1;
    text.append((alignment - end % alignment) % alignment, ' ');
    text += '\n';
    return fmt::format("{}{}{}{}", magic, static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8),
                       text);
}

[[noreturn]] void Fail(const std::filesystem::path& path, int error)
{
    throw RuntimeException(
        fmt::format("cannot write '{}': {}", GetPathText(path), std::generic_category().message(error)));
}

} // namespace

void WriteNpyFile(const std::filesystem::path& path, const TensorInfo& info, const void* data)
{
    const std::string header = MakeHeader(info);
    size_t bytes = info.GetNumBytes();
    std::vector<int8_t> unpacked;
    if (info.GetDataType() == DataType::QSymmS4)
    {
        for (size_t i = 0; i < info.GetNumElements(); ++i)
        {
            unpacked.push_back(LoadInt4(static_cast<const std::byte*>(data), i));
        }
        data = unpacked.data();
        bytes = unpacked.size();
    }
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(OpenStream(path, "wb"), &std::fclose);
    if (file == nullptr)
    {
        Fail(path, errno);
    }
    const auto write = [&](const void* from, size_t count)
    {
        if (count != 0 && std::fwrite(from, 1, count, file.get()) != count)
        {
            Fail(path, errno);
        }
    };
    write(header.data(), header.size());
    write(data, bytes);
    if (std::fflush(file.get()) != 0) // a full disk may be detected only here
    {
        Fail(path, errno);
    }
}

} // namespace tenon
