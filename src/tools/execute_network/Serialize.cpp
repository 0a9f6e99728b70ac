// SPDX-License-Identifier: Apache-2.0
// See Serialize.hpp.
#include "tools/execute_network/Serialize.hpp"

#include "tools/common/File.hpp"

#include <tenon/serializer/ISerializer.hpp>

#include <ostream>
#include <streambuf>

namespace tenon::tools
{
namespace
{

/// Hands what a stream is given to an OutputFile, whose errors say more than a stream's.
class FileBuffer final : public std::streambuf
{
public:
    explicit FileBuffer(OutputFile& file) : m_File(file) {}

protected:
    std::streamsize xsputn(const char* data, std::streamsize bytes) override
    {
        m_File.Write(data, static_cast<size_t>(bytes));
        return bytes;
    }
    int_type overflow(int_type character) override
    {
        const char byte = traits_type::to_char_type(character);
        m_File.Write(&byte, 1);
        return character;
    }

private:
    OutputFile& m_File;
};

template <typename Network>
void Write(const std::string& path, const Network& network)
{
    const ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(network);
    OutputFile file(path);
    FileBuffer buffer(file);
    std::ostream stream(&buffer);
    stream.exceptions(std::ios::badbit); // lets the file's own errors through
    serializer->SaveSerializedToStream(stream);
    file.Close();
}

} // namespace

void WriteNetwork(const std::string& path, const INetwork& network)
{
    Write(path, network);
}

void WriteNetwork(const std::string& path, const IOptimizedNetwork& network)
{
    Write(path, network);
}

} // namespace tenon::tools
