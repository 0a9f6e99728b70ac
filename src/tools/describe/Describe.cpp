// SPDX-License-Identifier: Apache-2.0
// See Describe.hpp.
#include "tools/describe/Describe.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/ErrorAttribution.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/PathChecks.hpp"
#include "tools/common/Progress.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/common/Terminal.hpp"
#include "tools/describe/DescriptionJson.hpp"
#include "tools/describe/DescriptionText.hpp"
#include "tools/describe/Inspection.hpp"
#include "tools/describe/ModelFolder.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

namespace tenon::tools
{
namespace
{

std::vector<ModelDescription> InspectFolder(const DescribeSettings& settings)
{
    const std::vector<std::string> files = ListFilesWithin(settings.m_Path, settings.m_Option);
    const Inspector inspector(settings, true);
    std::vector<ModelDescription> models;
    {
        Progress progress(files.size());
        for (const std::string& file : files)
        {
            for (ModelDescription& model : inspector.Inspect(file))
            {
                model.m_Path = std::filesystem::path(file).lexically_relative(settings.m_Path).string();
                models.push_back(std::move(model));
            }
            progress.Advance();
        }
    }
    if (models.empty())
    {
        throw UsageError(fmt::format("{}: there is no model in '{}'", settings.m_Option, OneLine(settings.m_Path)));
    }
    if (!settings.m_ReportFile.empty())
    {
        std::vector<std::string> read;
        std::transform(models.begin(), models.end(), std::back_inserter(read),
                       [&](const ModelDescription& model)
                       { return (std::filesystem::path(settings.m_Path) / model.m_Path).string(); });
        CheckFilePaths(read, {settings.m_ReportFile});
    }
    return models;
}

/// Writes the file before the text, because it matters more than a terminal, which may be closed.
void Give(const DescribeSettings& settings, const std::string& text, const std::string& json)
{
    if (!settings.m_ReportFile.empty())
    {
        WriteFile(settings.m_ReportFile, json);
    }
    settings.m_PrintsAside ? PrintTextAside(text) : PrintText(text);
}

void ThrowIfAnyFailed(const std::vector<ModelDescription>& models)
{
    const auto count = [&](Verdict verdict)
    {
        return std::count_if(models.begin(), models.end(),
                             [&](const ModelDescription& model) { return model.m_Verdict == verdict; });
    };
    const auto unsupported = count(Verdict::Unsupported);
    const auto unreadable = count(Verdict::Unreadable);
    const std::string text = fmt::format("{} of {} models cannot run: {} for lack of support, {} that cannot be read",
                                         unsupported + unreadable, models.size(), unsupported, unreadable);
    if (unsupported > 0)
    {
        throw UnimplementedException(text);
    }
    if (unreadable > 0)
    {
        throw InputError(text);
    }
}

void DescribeFile(const DescribeSettings& settings)
{
    const std::vector<ModelDescription> models = Inspector(settings, false).Inspect(settings.m_Path);
    const ModelDescription& model = models.front();
    if (models.size() == 1 && model.m_Verdict == Verdict::Unreadable)
    {
        ErrorAttribution(settings.m_Path).OfModel([&] { std::rethrow_exception(model.m_Failure); });
    }
    for (const ModelDescription& each : models)
    {
        for (const std::string& remark : each.m_Remarks)
        {
            PrintWarning(fmt::format("model '{}': {}", OneLine(settings.m_Path), OneLine(remark)));
        }
    }
    if (models.size() > 1)
    {
        Give(settings, FormatDescriptionTable(models), FormatDescriptionsJson(settings, models, false));
        ThrowIfAnyFailed(models);
        return;
    }
    const size_t width = GetTerminalWidth(StandardOutput).value_or(DefaultWidth);
    Give(settings, FormatDescription(model, width), FormatDescriptionJson(settings, model));
    if (model.m_Verdict == Verdict::Unsupported)
    {
        throw UnimplementedException(fmt::format("model '{}' cannot run for lack of support", OneLine(model.m_Path)));
    }
}

} // namespace

void Describe(const DescribeSettings& settings)
{
    std::error_code none;
    if (!std::filesystem::is_directory(settings.m_Path, none))
    {
        DescribeFile(settings);
        return;
    }
    const std::vector<ModelDescription> models = InspectFolder(settings);
    Give(settings, FormatDescriptionTable(models), FormatDescriptionsJson(settings, models, false));
    ThrowIfAnyFailed(models);
}

void CanRun(const DescribeSettings& settings)
{
    const std::vector<ModelDescription> models = InspectFolder(settings);
    Give(settings, FormatCanRunTable(models), FormatDescriptionsJson(settings, models, true));
    ThrowIfAnyFailed(models);
}

} // namespace tenon::tools
