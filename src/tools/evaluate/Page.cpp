// SPDX-License-Identifier: Apache-2.0
// See Page.hpp.
#include "tools/evaluate/Page.hpp"

#include "tools/common/File.hpp"
#include "tools/common/Image.hpp"
#include "tools/common/PageData.hpp"
#include "tools/evaluate/PageText.hpp"
#include "tools/evaluate/Thumbnail.hpp"

#include <optional>

namespace tenon::tools::evaluate
{
namespace
{

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
    return FillPage(GetPageText(), {{"{{report}}", report}, {"{{worst}}", FormatWorst(task, worst, network)}});
}

} // namespace tenon::tools::evaluate
