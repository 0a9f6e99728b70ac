// SPDX-License-Identifier: Apache-2.0
// See NpyHeader.hpp.
#include "tools/common/NpyHeader.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/Types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tenon::tools
{
namespace
{

/// Reads the literal of a Python dictionary with strings, booleans and tuples of integers.
class DictionaryReader
{
public:
    explicit DictionaryReader(std::string_view text) : m_Rest(text) {}

    bool Take(char c)
    {
        SkipBlanks();
        if (m_Rest.empty() || m_Rest.front() != c)
        {
            return false;
        }
        m_Rest.remove_prefix(1);
        return true;
    }

    void Expect(char c)
    {
        if (!Take(c))
        {
            Fail(fmt::format("'{}' is missing", c));
        }
    }

    std::string TakeString()
    {
        SkipBlanks();
        const char quote = m_Rest.empty() ? '\0' : m_Rest.front();
        const size_t end = quote == '\'' || quote == '"' ? m_Rest.find(quote, 1) : std::string_view::npos;
        if (end == std::string_view::npos)
        {
            Fail("a text in quotes is missing (structured types are not supported)");
        }
        std::string text(m_Rest.substr(1, end - 1));
        m_Rest.remove_prefix(end + 1);
        return text;
    }

    bool TakeBool()
    {
        SkipBlanks();
        for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}})
        {
            if (m_Rest.substr(0, word.size()) == word)
            {
                m_Rest.remove_prefix(word.size());
                return value;
            }
        }
        Fail("True or False is missing");
    }

    std::vector<uint64_t> TakeTuple()
    {
        std::vector<uint64_t> sizes;
        Expect('(');
        while (!Take(')'))
        {
            uint64_t size = 0;
            SkipBlanks();
            const auto [end, error] = std::from_chars(m_Rest.data(), m_Rest.data() + m_Rest.size(), size);
            if (error != std::errc())
            {
                Fail("the shape is not a tuple of sizes");
            }
            m_Rest.remove_prefix(static_cast<size_t>(end - m_Rest.data()));
            Take('L'); // Python 2 wrote long integers so
            sizes.push_back(size);
            if (sizes.size() > MaxNumOfTensorDimensions)
            {
                Fail(fmt::format("it has more than {} dimensions", MaxNumOfTensorDimensions));
            }
            if (!Take(','))
            {
                Expect(')');
                break;
            }
        }
        return sizes;
    }

    bool AtEnd()
    {
        SkipBlanks();
        return m_Rest.empty();
    }

    [[noreturn]] void Fail(const std::string& why) const { throw InputError("corrupt .npy header: " + why); }

private:
    void SkipBlanks() { m_Rest.remove_prefix(std::min(m_Rest.find_first_not_of(" \t\r\n"), m_Rest.size())); }

    std::string_view m_Rest;
};

size_t ReadLittleEndian(std::string_view bytes)
{
    size_t value = 0;
    for (size_t i = bytes.size(); i > 0; --i)
    {
        value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
    }
    return value;
}

} // namespace

bool IsNpy(std::string_view start)
{
    return start.substr(0, NpyMagic.size()) == NpyMagic;
}

NpyHeader ParseNpyDictionary(std::string_view text)
{
    NpyHeader header;
    DictionaryReader reader(text);
    bool hasType = false;
    bool hasOrder = false;
    bool hasShape = false;
    reader.Expect('{');
    while (!reader.Take('}'))
    {
        const std::string key = reader.TakeString();
        reader.Expect(':');
        if (key == "descr" && !hasType)
        {
            header.m_Type = reader.TakeString();
            hasType = true;
        }
        else if (key == "fortran_order" && !hasOrder)
        {
            header.m_FortranOrder = reader.TakeBool();
            hasOrder = true;
        }
        else if (key == "shape" && !hasShape)
        {
            header.m_Shape = reader.TakeTuple();
            hasShape = true;
        }
        else
        {
            reader.Fail(fmt::format("key '{}' is unknown or there twice", OneLine(key)));
        }
        if (!reader.Take(','))
        {
            reader.Expect('}');
            break;
        }
    }
    if (!hasType || !hasOrder || !hasShape || !reader.AtEnd())
    {
        reader.Fail("it is not a dictionary of 'descr', 'fortran_order' and 'shape'");
    }
    return header;
}

NpyHeader ReadNpyHeader(InputFile& file)
{
    char start[NpyVersionEnd + 4] = {};
    file.Read(start, static_cast<size_t>(std::min<uint64_t>(NpyVersionEnd, file.Remaining())));
    if (!IsNpy({start, NpyVersionEnd}))
    {
        throw InputError("it is no .npy file: it does not start with \\x93NUMPY");
    }
    const int major = static_cast<unsigned char>(start[NpyMagic.size()]);
    if (major < 1 || major > 3)
    {
        throw InputError(fmt::format(".npy version {} is not supported; 1 to 3 are", major));
    }
    const size_t lengthBytes = major == 1 ? 2 : 4;
    file.Read(start + NpyVersionEnd, lengthBytes);
    const size_t length = ReadLittleEndian({start + NpyVersionEnd, lengthBytes});
    if (length > MaxNpyHeaderBytes || length > file.Remaining())
    {
        throw InputError(fmt::format("corrupt .npy header: it claims {} bytes", length));
    }
    std::string text(length, '\0');
    file.Read(text.data(), length);
    return ParseNpyDictionary(text);
}

} // namespace tenon::tools
