// SPDX-License-Identifier: Apache-2.0
// See Reference.hpp.
#include "tools/compare/Reference.hpp"

#include "formats/ModelFormat.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/Npz.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

/// Expected outputs may have any content, so that their names are looked at first.
bool HasNameOfOutput(const std::string& path)
{
    return EndsWithNoCase(path, ".npy") || EndsWithNoCase(path, ".npz") || EndsWithNoCase(path, ".txt") ||
           EndsWithNoCase(path, ".bin") || EndsWithNoCase(path, ".raw");
}

bool IsModel(const std::string& path, const Limits& limits)
{
    std::error_code none;
    if (HasNameOfOutput(path) || !fs::is_regular_file(path, none))
    {
        return false;
    }
    try
    {
        const InputSource source(path, limits.m_MaxFileBytes);
        return source.ReadStart(6) != "\x93NUMPY" && FindFormat(source) != nullptr;
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("--compare-with: file '{}': {}", OneLine(path), error.what()));
    }
}

bool IsThere(const std::string& entry)
{
    std::error_code none;
    return IsStandardInput(entry) || entry.find('*') != std::string::npos || fs::exists(entry, none);
}

} // namespace

bool NamesOutputFiles(const std::vector<std::string>& entries)
{
    return std::any_of(entries.begin(), entries.end(),
                       [](const std::string& entry) { return HasNameOfOutput(entry) || IsStandardInput(entry); });
}

Reference ChooseReference(const std::vector<std::string>& entries, const IRuntime& runtime, const Limits& limits)
{
    Reference reference;
    const BackendIdSet& backends = runtime.GetDeviceSpec().GetSupportedBackends();
    for (const std::string& entry : entries)
    {
        if (backends.count(entry) > 0)
        {
            reference.m_Backends.push_back(entry);
        }
        else if (!IsThere(entry))
        {
            std::vector<std::string> names(backends.begin(), backends.end());
            std::sort(names.begin(), names.end());
            throw UsageError(fmt::format("--compare-with: there is no backend and no file '{}'; name backends ({}), "
                                         "another model, or files with the expected outputs",
                                         OneLine(entry), QuotedList(names)));
        }
        else if (IsModel(entry, limits))
        {
            if (!reference.m_Model.empty())
            {
                throw UsageError(fmt::format("--compare-with: '{}' and '{}' are both models; name one",
                                             OneLine(reference.m_Model), OneLine(entry)));
            }
            reference.m_Model = entry;
        }
        else
        {
            reference.m_Files.push_back(entry);
        }
    }
    if (!reference.m_Files.empty() && (!reference.m_Model.empty() || !reference.m_Backends.empty()))
    {
        throw UsageError(fmt::format("--compare-with: '{}' is a file with expected outputs, which cannot be given with "
                                     "a model or backends",
                                     OneLine(reference.m_Files.front())));
    }
    return reference;
}

} // namespace tenon::tools
