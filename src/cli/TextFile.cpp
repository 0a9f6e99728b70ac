// SPDX-License-Identifier: Apache-2.0
// See TextFile.hpp.
#include "cli/TextFile.hpp"

#include "cli/Elements.hpp"
#include "cli/Errors.hpp"
#include "cli/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon::cli
{
namespace
{

constexpr std::string_view Separators = " \t\r\n,";
/// What a message quotes of a word.
constexpr size_t MaxQuoted = 40;

} // namespace

bool IsText(std::string_view content)
{
    return std::none_of(content.begin(), content.end(),
                        [](char c)
                        {
                            const auto code = static_cast<unsigned char>(c);
                            return (code < 0x20 && Separators.find(c) == std::string_view::npos) || code >= 0x7F;
                        });
}

Buffer ParseTextTensor(std::string_view content, const TensorInfo& info)
{
    const uint64_t wanted = info.GetShape().GetNumElements64();
    if (wanted > content.size()) // each number takes a character at least
    {
        // Something else than numbers says more about the file than how few there are.
        const size_t first = std::min(content.find_first_not_of(Separators), content.size());
        const std::string_view word = content.substr(first, content.find_first_of(Separators, first) - first);
        if (Buffer one(GetDataTypeBits(info.GetDataType()) / 8 + 1);
            !word.empty() && !ParseElement(info.GetDataType(), word, one.Data(), 0))
        {
            throw InputError(fmt::format("it is taken for text, but '{}' is no value of type {}; read are .npy, PNG, "
                                         "JPEG and BMP pictures, raw bytes in a .bin file, and text with numbers",
                                         OneLine(word.substr(0, MaxQuoted)), GetDataTypeName(info.GetDataType())));
        }
        throw InputError(fmt::format("it has fewer than the {} numbers of {}", wanted, info.GetShape().ToString()));
    }
    Buffer data(info.GetNumBytes());
    if (data.Size() > 0)
    {
        std::memset(data.Data(), 0, data.Size());
    }
    size_t count = 0;
    size_t line = 1;
    size_t begin = 0;
    while (true)
    {
        const size_t word = std::min(content.find_first_not_of(Separators, begin), content.size());
        line += static_cast<size_t>(std::count(content.begin() + static_cast<std::ptrdiff_t>(begin),
                                               content.begin() + static_cast<std::ptrdiff_t>(word), '\n'));
        if (word == content.size())
        {
            break;
        }
        begin = std::min(content.find_first_of(Separators, word), content.size());
        const std::string_view text = content.substr(word, begin - word);
        if (count < wanted && !ParseElement(info.GetDataType(), text, data.Data(), count))
        {
            throw InputError(fmt::format("line {}: '{}' is no value of type {}", line,
                                         OneLine(text.substr(0, MaxQuoted)), GetDataTypeName(info.GetDataType())));
        }
        ++count;
    }
    if (count != wanted)
    {
        throw InputError(
            fmt::format("it has {} numbers; expected the {} of {}", count, wanted, info.GetShape().ToString()));
    }
    return data;
}

} // namespace tenon::cli
