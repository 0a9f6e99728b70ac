// SPDX-License-Identifier: Apache-2.0
// Loads dynamic backends: declared in <tenon/backend/BackendRegistry.hpp>, called by each runtime that is given a path.
#include "backends/plugin/PluginBackend.hpp"
#include "common/DynamicLibrary.hpp"
#include "common/Log.hpp"
#include "common/Paths.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Version.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

namespace tenon
{

namespace
{

namespace fs = std::filesystem;

/// The version in the names of Tenon's libraries, for the library that runs backends for Arm NN's interface.
std::string LibraryVersion()
{
    return fmt::format("{}.{}", TENON_VERSION_MAJOR, TENON_VERSION_MINOR);
}

std::string GetArmnnLibrary()
{
    return GetLibraryName("tenon_armnn", LibraryVersion());
}

/// The files to look at in order of their names: those of a folder, or the one that `path` is.
std::vector<fs::path> ListFiles(const std::string& path)
{
    std::error_code error;
    const fs::path place = MakePath(path);
    const fs::file_status status = fs::status(place, error);
    if (!fs::exists(status))
    {
        throw FileNotFoundException(
            fmt::format("dynamic backends: there is no '{}'; name a folder of *_backend{} files, or one such file",
                        path, LibraryEnding));
    }
    if (!fs::is_directory(status))
    {
        return {place};
    }
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error))
    {
        if (!fs::is_directory(entry->status(error)))
        {
            files.push_back(entry->path());
        }
    }
    if (error)
    {
        throw InvalidArgumentException(fmt::format("dynamic backends: '{}' cannot be read: {}", path, error.message()));
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// "<something>_backend.so", or with the ending of the system, also with version numbers behind: ".1.2".
bool IsBackendName(std::string_view name)
{
    const std::string ending = fmt::format("_backend{}", LibraryEnding);
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

constinit std::atomic<DynamicBackendLoader> TheLoader{nullptr}; // set while static variables are made

/// Loads libtenon_armnn.so, by its name here, from the folder of libtenon.so where no program has loaded it: it sets
/// the loader then. A statically linked Tenon is left alone, as the library would bring a second one along.
void LoadArmnnLibrary()
{
    if (TheLoader != nullptr)
    {
        return;
    }
    const fs::path own = MakePath(FindLibraryOf(reinterpret_cast<const void*>(&LoadArmnnLibrary)));
    const std::string name = GetPathText(own.filename());
    const bool isShared =
        name.starts_with(GetLibraryName("tenon", "")) || name == GetLibraryName("tenon", LibraryVersion());
    if (own.has_parent_path() && isShared)
    {
        // Shared, as it is in programs that link it: backends need not link it themselves.
        OpenLibrary(GetPathText(own.parent_path() / MakePath(GetArmnnLibrary())), LibrarySymbols::Shared);
    }
}

std::shared_ptr<void> OpenBackend(const std::string& file)
{
    void* handle = OpenLibrary(file, LibrarySymbols::Own);
    if (handle == nullptr)
    {
        LoadArmnnLibrary(); // backends for Arm NN's interface need it, and may not find it
        handle = OpenLibrary(file, LibrarySymbols::Own);
    }
    if (handle == nullptr)
    {
        const std::string error = GetLibraryError();
        const auto names = [&](const char* text) { return error.find(text) != std::string::npos; };
        // The libraries and namespaces of Arm NN and Tenon.
        const bool isOfArmnn = names("libtenon_armnn") || names("libarmnn") || names("5tenon") || names("5armnn");
        throw InvalidArgumentException(fmt::format(
            "it cannot be loaded: {}{}", error,
            isOfArmnn ? "; a backend for Arm NN's interface must be compiled with Tenon's headers and linked with "
                        "Tenon::armnn, and needs " +
                            GetArmnnLibrary() + " beside " + GetLibraryName("tenon", "")
                      : ""));
    }
    return std::shared_ptr<void>(handle, &CloseLibrary);
}

std::shared_ptr<const IBackend> LoadBackend(const fs::path& given, IRuntime::CreationOptions& options)
{
    const std::string file = GetPathText(fs::absolute(given)); // a name without a slash is looked for elsewhere
    std::shared_ptr<void> library = OpenBackend(file);
    const auto entry = reinterpret_cast<tenon_plugin_entry>(FindSymbol(library.get(), TENON_PLUGIN_ENTRY_NAME));
    if (entry == nullptr && FindSymbol(library.get(), "BackendFactory") == nullptr &&
        FindSymbol(library.get(), "GetBackendId") == nullptr)
    {
        throw InvalidArgumentException(fmt::format("it exports no {}", TENON_PLUGIN_ENTRY_NAME));
    }
    if (entry == nullptr)
    {
        LoadArmnnLibrary();
        const DynamicBackendLoader loader = TheLoader;
        if (loader == nullptr)
        {
            throw BackendUnavailableException(fmt::format(
                "it is a backend for Arm NN's interface, and {0}, which runs such backends, is not loaded: link it "
                "(Tenon::armnn), or put it beside {1}; a program cannot have it with libtenon.a",
                GetArmnnLibrary(), GetLibraryName("tenon", "")));
        }
        return loader(file, options);
    }
    const tenon_plugin_table* table = entry();
    if (table == nullptr || table->struct_size < offsetof(tenon_plugin_table, id))
    {
        throw InvalidArgumentException(fmt::format("its {} gives no table", TENON_PLUGIN_ENTRY_NAME));
    }
    return plugin::MakePluginBackend(std::make_shared<const plugin::Plugin>(GetPathText(given), std::move(library),
                                                                            *table, options.m_BackendOptions));
}

/// Registers the backend, which may be there: one for Arm NN's interface is, where another runtime loaded it.
void RegisterUnlessThere(BackendRegistry& registry, std::shared_ptr<const IBackend> backend)
{
    if (registry.Find(backend->GetId()) != backend)
    {
        registry.Register(std::move(backend));
    }
}

} // namespace

DynamicBackendLoader SetDynamicBackendLoader(DynamicBackendLoader loader)
{
    return TheLoader.exchange(loader);
}

std::vector<DynamicBackendReport> RegisterDynamicBackends(BackendRegistry& registry, IRuntime::CreationOptions& options)
{
    std::vector<DynamicBackendReport> reports;
    std::map<fs::path, std::string> seen; // real files: a library and the links to it are one
    for (const fs::path& file : ListFiles(options.m_DynamicBackendsPath))
    {
        DynamicBackendReport report;
        report.m_Path = GetPathText(file);
        if (!IsBackendName(GetPathText(file.filename()))) // folders hold other things too: no reason to warn
        {
            report.m_Reason = fmt::format("its name is not that of a backend, which ends in _backend{}", LibraryEnding);
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
            RegisterUnlessThere(registry, std::move(backend));
            report.m_IsLoaded = true;
            LogInfo("backend {} is loaded from '{}'", report.m_BackendId.Get(), report.m_Path);
        }
        catch (const std::exception& error) // also exceptions of the file system
        {
            report.m_Reason = error.what();
            LogWarning("'{}' is not loaded as a backend: {}", report.m_Path, report.m_Reason);
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

} // namespace tenon
