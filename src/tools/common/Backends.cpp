// SPDX-License-Identifier: Apache-2.0
// See Backends.hpp.
#include "tools/common/Backends.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <tenon/backend/BackendRegistry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tenon::tools
{
namespace
{

/// Throws UsageError if the path is neither a readable folder nor a file.
void CheckDynamicBackendsPath(const std::string& path)
{
    if (path.empty())
    {
        return;
    }
    std::error_code error;
    if (!std::filesystem::exists(path, error))
    {
        throw UsageError(fmt::format("--dynamic-backends-path: there is no '{}'; name a folder of *_backend.so files, "
                                     "or one such file",
                                     OneLine(path)));
    }
    if (std::filesystem::is_directory(path, error))
    {
        const std::filesystem::directory_iterator entries(path, error);
        if (error)
        {
            throw UsageError(
                fmt::format("--dynamic-backends-path: '{}' cannot be read: {}", OneLine(path), error.message()));
        }
    }
}

} // namespace

IRuntimePtr MakeRuntime(const std::string& dynamicBackendsPath, const Limits& limits)
{
    CheckDynamicBackendsPath(dynamicBackendsPath);
    IRuntime::CreationOptions creationOptions;
    creationOptions.m_DynamicBackendsPath = dynamicBackendsPath;
    creationOptions.m_Limits = limits;
    try
    {
        IRuntimePtr runtime = IRuntime::Create(creationOptions);
        for (const DynamicBackendReport& report : runtime->GetDynamicBackendReports())
        {
            if (report.m_Path == dynamicBackendsPath && !report.m_IsLoaded)
            {
                throw UsageError(fmt::format("--dynamic-backends-path: '{}' is no backend that can be used: {}",
                                             OneLine(report.m_Path), OneLine(report.m_Reason)));
            }
        }
        return runtime;
    }
    catch (const InvalidArgumentException& error) // the environment says what is not there
    {
        throw UsageError(error.what());
    }
}

std::vector<BackendId> SelectBackends(const std::vector<std::string>& names, const IRuntime& runtime,
                                      const char* option)
{
    const BackendIdSet& there = runtime.GetDeviceSpec().GetSupportedBackends();
    std::vector<BackendId> selected;
    for (const std::string& name : names)
    {
        if (there.count(name) > 0)
        {
            selected.emplace_back(name);
        }
        else if (names.size() > 1)
        {
            PrintWarning(fmt::format("{}: there is no backend '{}'", option, OneLine(name)));
        }
    }
    if (selected.empty())
    {
        std::vector<std::string> all(there.begin(), there.end());
        std::sort(all.begin(), all.end());
        throw UsageError(
            fmt::format("{}: there is no backend {}; there are {}", option, QuotedList(names), QuotedList(all)));
    }
    return selected;
}

} // namespace tenon::tools
