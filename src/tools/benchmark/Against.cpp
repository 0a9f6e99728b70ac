// SPDX-License-Identifier: Apache-2.0
// See Against.hpp.
#include "tools/benchmark/Against.hpp"

#include "text/OptionWords.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace tenon::tools
{
namespace
{

constexpr const char* Forms = "give a model file, backends in order of preference, or a file libtenon.so";

bool IsBackend(const std::string& name, const std::vector<std::string>& backends)
{
    return std::find(backends.begin(), backends.end(), name) != backends.end();
}

/// The kind of a file by its content.
Against::Kind FindKind(const std::string& path)
{
    constexpr std::string_view elfStart = "\x7f"
                                          "ELF";
    try
    {
        const InputSource file(path);
        if (file.ReadStart(elfStart.size()) == elfStart)
        {
            return Against::Kind::Library;
        }
        if (FindFormat(file) != nullptr)
        {
            return Against::Kind::Model;
        }
    }
    catch (const InputError& error)
    {
        throw InputError(fmt::format("--against: '{}': {}", OneLine(path), error.what()));
    }
    throw UsageError(fmt::format("--against: '{}' is a file of no known format; {}", OneLine(path), Forms));
}

} // namespace

const char* GetName(Against::Kind kind)
{
    return kind == Against::Kind::Model ? "model" : kind == Against::Kind::Backends ? "backends" : "library";
}

Against FindAgainst(const std::string& value, const std::vector<std::string>& backends)
{
    std::error_code none;
    const bool isFile = std::filesystem::is_regular_file(value, none);
    const std::vector<std::string> names = text::Split(value, ',');
    const bool isBackends =
        !names.empty() &&
        std::all_of(names.begin(), names.end(), [&](const std::string& name) { return IsBackend(name, backends); });
    if (isFile && isBackends)
    {
        throw UsageError(
            fmt::format("--against: '{0}' is both a list of backends and a file; './{0}' is the file", OneLine(value)));
    }
    if (isBackends)
    {
        return {Against::Kind::Backends, names};
    }
    if (!isFile)
    {
        throw UsageError(fmt::format("--against: '{}' is neither a file nor a list of backends, of which there are {}; "
                                     "{}",
                                     OneLine(value), QuotedList(backends), Forms));
    }
    return {FindKind(value), {}};
}

} // namespace tenon::tools
