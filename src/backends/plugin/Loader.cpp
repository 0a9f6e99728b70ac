// SPDX-License-Identifier: Apache-2.0
// Loads dynamic backends: declared in <tenon/backend/BackendRegistry.hpp>, called by each runtime that is given a path.
#include "backends/plugin/PluginBackend.hpp"
#include "common/Log.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

namespace tenon
{

namespace
{

namespace fs = std::filesystem;

/// The error of the last dl... call of this thread.
std::string LastDlError()
{
    const char* text = dlerror();
    return text == nullptr ? "unknown error" : text;
}

/// The files to look at in order of their names: those of a folder, or the one that `path` is.
std::vector<fs::path> ListFiles(const std::string& path)
{
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status))
    {
        throw FileNotFoundException(fmt::format(
            "m_DynamicBackendsPath: there is no '{}'; name a folder of *_backend.so files, or one such file", path));
    }
    if (!fs::is_directory(status))
    {
        return {path};
    }
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    {
        if (!fs::is_directory(entry->status(error)))
        {
            files.push_back(entry->path());
        }
    }
    if (error)
    {
        throw InvalidArgumentException(
            fmt::format("m_DynamicBackendsPath: '{}' cannot be read: {}", path, error.message()));
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// "<something>_backend.so", also with version numbers behind: ".1.2".
bool IsBackendName(std::string_view name)
{
    constexpr std::string_view ending = "_backend.so";
    const size_t place = name.rfind(ending);
    if (place == std::string_view::npos || place == 0)
    {
        return false;
    }
    const std::string_view version = name.substr(place + ending.size());
    if (!version.empty() && version.front() != '.')
    {
        return false;
    }
    bool isNumber = true; // whether a number, or the ending, stands before
    for (const char c : version)
    {
        const bool isDigit = c >= '0' && c <= '9';
        if (!isDigit && (c != '.' || !isNumber))
        {
            return false;
        }
        isNumber = isDigit;
    }
    return isNumber;
}

std::shared_ptr<void> OpenLibrary(const fs::path& file)
{
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
    {
        throw InvalidArgumentException("it cannot be loaded: " + LastDlError());
    }
    return std::shared_ptr<void>(handle, [](void* h) { dlclose(h); });
}

std::shared_ptr<const IBackend> LoadBackend(const fs::path& file, const std::vector<BackendOptions>& options)
{
    // dlopen looks for a name without a slash elsewhere.
    std::shared_ptr<void> library = OpenLibrary(fs::absolute(file));
    const auto entry = reinterpret_cast<tenon_plugin_entry>(dlsym(library.get(), TENON_PLUGIN_ENTRY_NAME));
    if (entry == nullptr)
    {
        throw InvalidArgumentException(fmt::format("it exports no {}", TENON_PLUGIN_ENTRY_NAME));
    }
    const tenon_plugin_table* table = entry();
    if (table == nullptr || table->struct_size < offsetof(tenon_plugin_table, id))
    {
        throw InvalidArgumentException(fmt::format("its {} gives no table", TENON_PLUGIN_ENTRY_NAME));
    }
    return plugin::MakePluginBackend(
        std::make_shared<const plugin::Plugin>(file.string(), std::move(library), *table, options));
}

} // namespace

std::vector<DynamicBackendReport> RegisterDynamicBackends(BackendRegistry& registry, const std::string& path,
                                                          const std::vector<BackendOptions>& options)
{
    std::vector<DynamicBackendReport> reports;
    std::map<fs::path, std::string> seen; // real files: a library and the links to it are one
    for (const fs::path& file : ListFiles(path))
    {
        DynamicBackendReport report;
        report.m_Path = file.string();
        if (!IsBackendName(file.filename().string())) // folders hold other things too: no reason to warn
        {
            report.m_Reason = "its name is not that of a backend, which ends in _backend.so";
            LogInfo("'{}' is not loaded as a backend: {}", report.m_Path, report.m_Reason);
            reports.push_back(std::move(report));
            continue;
        }
        try
        {
            std::error_code error;
            const fs::path real = fs::canonical(file, error);
            const auto [first, isNew] = seen.emplace(error ? file : real, report.m_Path);
            if (!isNew)
            {
                throw InvalidArgumentException(fmt::format("it is the same file as '{}'", first->second));
            }
            auto backend = LoadBackend(file, options);
            report.m_BackendId = backend->GetId();
            registry.Register(std::move(backend));
            report.m_IsLoaded = true;
            LogInfo("backend {} is loaded from '{}'", report.m_BackendId.Get(), report.m_Path);
        }
        catch (const std::exception& error) // also what the file system throws
        {
            report.m_Reason = error.what();
            LogWarning("'{}' is not loaded as a backend: {}", report.m_Path, report.m_Reason);
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

} // namespace tenon
