// SPDX-License-Identifier: Apache-2.0
// See Page.hpp. The folder page has the page's source, which the build puts into PageParts.
#include "tools/evaluate/Page.hpp"

#include "tools/common/File.hpp"
#include "tools/common/Image.hpp"
#include "tools/evaluate/PageParts.hpp"
#include "tools/evaluate/Thumbnail.hpp"

#include <optional>
#include <string_view>

namespace tenon::tools::evaluate
{
namespace
{

/// The page up to a mark, and a text in place of the mark; the rest of the page stays.
std::string TakeUpTo(std::string_view& rest, std::string_view mark, std::string_view text)
{
    const size_t at = rest.find(mark);
    std::string part = std::string(rest.substr(0, at)) + std::string(text);
    rest.remove_prefix(at + mark.size());
    return part;
}

/// JSON that no element of HTML ends: '<' is only within its texts.
std::string HideTags(const std::string& json)
{
    std::string hidden;
    hidden.reserve(json.size());
    for (const char c : json)
    {
        hidden += c == '<' ? std::string_view("\\u003c") : std::string_view(&c, 1);
    }
    return hidden;
}

std::string FormatWorst(const Task& task, const std::vector<size_t>& worst, Network& network)
{
    JsonWriter json;
    json.BeginArray();
    std::optional<Caller> caller;
    for (const size_t picture : worst)
    {
        const std::string& file = task.Files()[picture];
        const std::string bytes = InputSource(file).ReadAll();
        json.BeginObject();
        json.Member("file", task.NameOf(picture));
        if (IsPicture(bytes))
        {
            const PictureSize size = GetPictureSize(bytes);
            json.Member("width", size.m_Width);
            json.Member("height", size.m_Height);
            json.Member("picture", DrawPicture(bytes));
        }
        task.WritePicture(json, picture);
        task.Illustrate(json, picture, bytes,
                        [&]() -> const OutputStore&
                        {
                            if (!caller)
                            {
                                caller.emplace(network);
                            }
                            return caller->Infer(network.Load(file));
                        });
        json.EndObject();
    }
    json.EndArray();
    return json.Text();
}

} // namespace

std::string FormatPage(const std::string& report, const Task& task, const std::vector<size_t>& worst, Network& network)
{
    std::string_view rest = PageHtml;
    std::string page = TakeUpTo(rest, "/*STYLE*/", PageCss);
    page += TakeUpTo(rest, "/*REPORT*/", HideTags(report));
    page += TakeUpTo(rest, "/*WORST*/", HideTags(FormatWorst(task, worst, network)));
    page += TakeUpTo(rest, "/*SCRIPT*/", PageJs);
    page += rest;
    return page;
}

} // namespace tenon::tools::evaluate
