// SPDX-License-Identifier: Apache-2.0
// See Backends.hpp.
#include "cli/Backends.hpp"

#include "cli/Console.hpp"
#include "cli/Errors.hpp"
#include "cli/FileChecks.hpp"
#include "cli/Strings.hpp"

#include <tenon/backend/BackendRegistry.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cli
{

IRuntimePtr MakeRuntime(const Options& options)
{
    CheckDynamicBackendsPath(options);
    IRuntime::CreationOptions creationOptions;
    creationOptions.m_DynamicBackendsPath = options.m_DynamicBackendsPath;
    creationOptions.m_Limits = options.m_Limits;
    try
    {
        IRuntimePtr runtime = IRuntime::Create(creationOptions);
        for (const DynamicBackendReport& report : runtime->GetDynamicBackendReports())
        {
            if (report.m_Path == options.m_DynamicBackendsPath && !report.m_IsLoaded)
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

} // namespace tenon::cli
