// SPDX-License-Identifier: Apache-2.0
// See LibraryProcess.hpp. The dynamic linker finds the library under the name that the program asks for, as a link in a
// folder of its own, in front of all other folders.
#include "tools/benchmark/LibraryProcess.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/SystemFiles.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

constexpr std::string_view SearchPath = "LD_LIBRARY_PATH=";

struct Closer
{
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using Stream = std::unique_ptr<std::FILE, Closer>;

[[noreturn]] void FailToStart(const std::string& why)
{
    throw RunError(fmt::format("--against: a further process of this program cannot be started: {}", why));
}

/// The ends of a new pipe to read and to write, which programs that are started do not get.
std::pair<Stream, Stream> MakePipe()
{
    std::array<int, 2> ends = {};
    if (pipe(ends.data()) != 0)
    {
        FailToStart(std::strerror(errno));
    }
    for (const int end : ends)
    {
        fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    std::pair<Stream, Stream> streams(fdopen(ends[0], "r"), fdopen(ends[1], "w"));
    if (streams.first == nullptr || streams.second == nullptr)
    {
        FailToStart(std::strerror(errno));
    }
    return streams;
}

/// A folder with a link to the library, under the name of the one that this process uses.
class LinkFolder
{
public:
    explicit LinkFolder(const std::string& library)
    {
        std::error_code error;
        std::string pattern = (fs::temp_directory_path(error) / "tenon-library-XXXXXX").string();
        if (error || mkdtemp(pattern.data()) == nullptr)
        {
            FailToStart(fmt::format("no folder '{}' can be made", OneLine(pattern)));
        }
        m_Path = pattern;
        fs::create_symlink(fs::absolute(library, error), m_Path / fs::path(GetLibraryFile()).filename(), error);
        if (error)
        {
            const std::string why = error.message();
            Remove();
            FailToStart(fmt::format("no link can be made in '{}': {}", OneLine(pattern), why));
        }
    }
    ~LinkFolder() { Remove(); }
    LinkFolder(const LinkFolder&) = delete;
    LinkFolder& operator=(const LinkFolder&) = delete;

    std::string Path() const { return m_Path.string(); }

private:
    void Remove() const
    {
        std::error_code ignored;
        fs::remove_all(m_Path, ignored);
    }

    fs::path m_Path;
};

/// The environment of this process, with a folder in front of those where libraries are searched.
std::vector<std::string> MakeEnvironment(const std::string& folder)
{
    std::vector<std::string> variables;
    std::string path = std::string(SearchPath) + folder;
    for (char** variable = environ; *variable != nullptr; ++variable)
    {
        const std::string_view text = *variable;
        if (text.starts_with(SearchPath))
        {
            path += ":" + std::string(text.substr(SearchPath.size()));
        }
        else
        {
            variables.emplace_back(text);
        }
    }
    variables.push_back(path);
    return variables;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (std::string& text : texts)
    {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

class LibraryProcess::Child
{
public:
    Child(std::vector<std::string> words, std::vector<std::string> variables) : m_Errors(std::tmpfile())
    {
        if (m_Errors == nullptr)
        {
            FailToStart(std::strerror(errno));
        }
        std::error_code error;
        const fs::path program = fs::read_symlink("/proc/self/exe", error);
        if (error)
        {
            FailToStart(fmt::format("'/proc/self/exe': {}", error.message()));
        }
        auto [itsInput, requests] = MakePipe();
        auto [answers, itsOutput] = MakePipe();
        words.insert(words.begin(), program.string());
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, fileno(itsInput.get()), StandardInput);
        posix_spawn_file_actions_adddup2(&actions, fileno(itsOutput.get()), StandardOutput);
        posix_spawn_file_actions_adddup2(&actions, fileno(m_Errors.get()), StandardError);
        const int failure = posix_spawn(&m_Id, program.c_str(), &actions, nullptr, PointersTo(words).data(),
                                        PointersTo(variables).data());
        posix_spawn_file_actions_destroy(&actions);
        if (failure != 0)
        {
            FailToStart(std::strerror(failure));
        }
        m_Requests = std::move(requests);
        m_Answers = std::move(answers);
    }

    ~Child()
    {
        kill(m_Id, SIGKILL);
        waitpid(m_Id, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// Nothing if the process has ended.
    std::optional<std::string> Ask(const std::string& line)
    {
        constexpr size_t maxBytes = 1 << 20;
        const std::string request = line + "\n";
        std::string answer;
        if (std::fputs(request.c_str(), m_Requests.get()) < 0 || std::fflush(m_Requests.get()) != 0)
        {
            return {};
        }
        for (int c = std::getc(m_Answers.get()); c != '\n'; c = std::getc(m_Answers.get()))
        {
            if (c == EOF || answer.size() == maxBytes)
            {
                return {};
            }
            answer += static_cast<char>(c);
        }
        return answer;
    }

    /// The last line on its standard error.
    std::string LastError() const
    {
        constexpr size_t maxBytes = 4096;
        std::string text(maxBytes, '\0');
        std::fseek(m_Errors.get(), 0, SEEK_END);
        const long size = std::ftell(m_Errors.get());
        std::fseek(m_Errors.get(), size > static_cast<long>(maxBytes) ? size - static_cast<long>(maxBytes) : 0,
                   SEEK_SET);
        text.resize(std::fread(text.data(), 1, maxBytes, m_Errors.get()));
        text.erase(text.find_last_not_of('\n') + 1);
        const std::string line = text.substr(text.rfind('\n') + 1);
        constexpr std::string_view start = "error: ";
        return line.empty() ? "it ended without a word" : line.substr(line.starts_with(start) ? start.size() : 0);
    }

private:
    Stream m_Errors;
    Stream m_Requests;
    Stream m_Answers;
    pid_t m_Id = 0;
};

LibraryProcess::LibraryProcess(const std::string& library, const std::vector<std::string>& words) : m_Library(library)
{
    const LinkFolder folder(library);
    m_Child = std::make_unique<Child>(words, MakeEnvironment(folder.Path()));
    const std::optional<std::string> used = m_Child->Ask("library");
    if (!used)
    {
        throw UsageError(fmt::format("--against: this program cannot run with '{}' in place of its own library: {}",
                                     OneLine(library), OneLine(m_Child->LastError())));
    }
    const std::optional<FileStatus> wanted = GetFileStatus(library);
    const std::optional<FileStatus> got = GetFileStatus(*used);
    if (!wanted || !got || wanted->m_Identity != got->m_Identity)
    {
        throw UsageError(fmt::format("--against: this program does not take '{}' in place of its own library '{}'",
                                     OneLine(library), OneLine(*used)));
    }
}

LibraryProcess::~LibraryProcess() = default;

std::string LibraryProcess::Ask(const std::string& line)
{
    std::optional<std::string> answer = m_Child->Ask(line);
    if (!answer)
    {
        throw RunError(fmt::format("--against: the process with '{}' has failed: {}", OneLine(m_Library),
                                   OneLine(m_Child->LastError())));
    }
    return *std::move(answer);
}

std::string GetLibraryFile()
{
    Dl_info info = {};
    const void* const version = dlsym(RTLD_DEFAULT, "tenon_version"); // a C function, whose name no compiler changes
    return version != nullptr && dladdr(version, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

} // namespace tenon::tools
