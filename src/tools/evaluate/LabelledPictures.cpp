// SPDX-License-Identifier: Apache-2.0
// See LabelledPictures.hpp.
#include "tools/evaluate/LabelledPictures.hpp"

#include "text/OptionWords.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/TextFile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tenon::tools::evaluate
{
namespace
{

struct Pair
{
    std::string m_File;
    std::string m_Label;
};

/// A tab comes first, because names and labels may have blanks.
Pair SplitLine(const std::string& line)
{
    const size_t tab = line.find('\t');
    const size_t at = tab != std::string::npos ? tab : line.find(' ');
    if (at == std::string::npos)
    {
        return {line, ""};
    }
    return {std::string(text::Trim(line.substr(0, at))), std::string(text::Trim(line.substr(at + 1)))};
}

template <typename Step>
auto AtLine(const std::string& path, size_t line, Step step)
{
    try
    {
        return step();
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("ground truth '{}': line {}: {}", OneLine(path), line + 1, error.what()));
    }
}

LabelledPictures LabelByNames(const std::string& path, const std::vector<std::string>& lines,
                              const PictureList& pictures, const ClassNames& classes, int offset)
{
    std::map<size_t, std::pair<size_t, size_t>> found; // picture to class and line
    for (size_t i = 0; i < lines.size(); ++i)
    {
        AtLine(
            path, i,
            [&]
            {
                if (lines[i].empty())
                {
                    return;
                }
                const Pair pair = SplitLine(lines[i]);
                if (pair.m_Label.empty())
                {
                    throw InputError(fmt::format("'{}' has no label; expected is 'picture label'", OneLine(lines[i])));
                }
                const std::optional<size_t> picture = pictures.Find(pair.m_File);
                if (!picture)
                {
                    throw InputError(fmt::format("there is no picture '{}' in '{}'; a name with blanks needs a tab "
                                                 "before the label",
                                                 OneLine(pair.m_File), OneLine(pictures.Entry())));
                }
                const auto [place, isNew] = found.emplace(*picture, std::pair(classes.Parse(pair.m_Label, offset), i));
                if (!isNew)
                {
                    throw InputError(fmt::format("'{}' has a label in line {} already", OneLine(pair.m_File),
                                                 place->second.second + 1));
                }
            });
    }
    LabelledPictures labelled;
    for (const auto& [picture, label] : found)
    {
        labelled.m_Pictures.push_back({picture, label.first});
    }
    if (found.size() < pictures.Files().size())
    {
        labelled.m_Remarks.push_back(fmt::format("{} of {} pictures have no label in '{}' and are passed over",
                                                 pictures.Files().size() - found.size(), pictures.Files().size(),
                                                 OneLine(path)));
    }
    return labelled;
}

} // namespace

LabelledPictures ReadLabelledPictures(const std::string& path, const PictureList& pictures, const ClassNames& classes,
                                      int offset)
{
    std::vector<std::string> lines;
    try
    {
        lines = ReadLines(InputSource(path).ReadAll());
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("ground truth '{}': {}", OneLine(path), error.what()));
    }
    const size_t count = pictures.Files().size();
    const auto namesPicture = [&](const std::string& line)
    {
        const Pair pair = SplitLine(line);
        return !pair.m_Label.empty() && pictures.Find(pair.m_File).has_value();
    };
    if (std::any_of(lines.begin(), lines.end(), namesPicture))
    {
        return LabelByNames(path, lines, pictures, classes, offset);
    }
    if (lines.size() != count)
    {
        throw InputError(
            fmt::format("ground truth '{}': its lines name no picture of '{}', and there are {} lines for {} "
                        "pictures; expected are lines 'picture label', or a label for each picture",
                        OneLine(path), OneLine(pictures.Entry()), lines.size(), count));
    }
    LabelledPictures labelled;
    for (size_t i = 0; i < count; ++i)
    {
        labelled.m_Pictures.push_back({i, AtLine(path, i, [&] { return classes.Parse(lines[i], offset); })});
    }
    if (pictures.HasOrderOfBytes())
    {
        labelled.m_Remarks.push_back("the labels belong to the pictures in the order of the bytes of their names, in "
                                     "which 'img10' is before 'img2'");
    }
    return labelled;
}

LabelledPictures LabelByFolders(const PictureList& pictures, const ClassNames& classes, int offset)
{
    std::set<std::string> folders;
    for (size_t i = 0; i < pictures.Files().size(); ++i)
    {
        folders.insert(pictures.FolderOf(i));
    }
    LabelledPictures labelled;
    std::map<std::string, size_t> classOf;
    try
    {
        for (const std::string& folder : folders)
        {
            classOf[folder] = classes.Parse(folder, offset);
        }
    }
    catch (const InputError& error)
    {
        if (classes.HasLabels() || folders.size() != classes.Count())
        {
            throw InputError(fmt::format(
                "--images: the folders of pictures are their classes, but {}{}", error.what(),
                classes.HasLabels() ? "" : fmt::format(" ({} folders, {} classes)", folders.size(), classes.Count())));
        }
        for (const std::string& folder : folders)
        {
            classOf[folder] = static_cast<size_t>(std::distance(folders.begin(), folders.find(folder)));
        }
        labelled.m_Remarks.push_back(fmt::format("the {} folders, in the order of their names, are taken for the "
                                                 "classes 0..{}",
                                                 folders.size(), folders.size() - 1));
    }
    for (size_t i = 0; i < pictures.Files().size(); ++i)
    {
        labelled.m_Pictures.push_back({i, classOf[pictures.FolderOf(i)]});
    }
    return labelled;
}

} // namespace tenon::tools::evaluate
