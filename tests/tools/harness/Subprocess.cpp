// SPDX-License-Identifier: Apache-2.0
// See Subprocess.hpp.
#include "tools/harness/Subprocess.hpp"

#include "tools/harness/TempFolder.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>

extern char** environ;

namespace tenon::tools::test
{

namespace
{

/// The environment of this process without the variable that changes what ExecuteNetwork prints: tests that want it set
/// it by their runner.
std::vector<char*> GetEnvironment()
{
    std::vector<char*> variables;
    for (char** variable = environ; *variable != nullptr; ++variable)
    {
        if (!std::string_view(*variable).starts_with("TENON_ARMNN_OUTPUT="))
        {
            variables.push_back(*variable);
        }
    }
    variables.push_back(nullptr);
    return variables;
}

/// What programs of a cross-build run by; see tests/CMakeLists.txt.
std::vector<std::string> GetEmulator()
{
    const char* const command = std::getenv("TENON_TEST_EMULATOR");
    std::istringstream words(command != nullptr ? command : "");
    return {std::istream_iterator<std::string>(words), {}};
}

} // namespace

Outcome RunProgram(const std::vector<std::string>& command, const std::string& stdoutPath,
                   const std::vector<std::string>& runner)
{
    const TempFolder folder;
    const std::string out = stdoutPath.empty() ? folder.Path("out") : stdoutPath;
    const std::string error = folder.Path("error");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    std::vector<std::string> words = runner;
    for (const std::vector<std::string>& part : {GetEmulator(), command})
    {
        words.insert(words.end(), part.begin(), part.end());
    }
    std::vector<char*> argv;
    for (std::string& word : words)
    {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    pid_t child = 0;
    const int failure = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), GetEnvironment().data());
    posix_spawn_file_actions_destroy(&actions);
    if (failure != 0)
    {
        throw std::runtime_error(words[0] + " cannot be started: " + std::strerror(failure));
    }
    int status = 0;
    struct rusage usage = {};
    wait4(child, &status, 0, &usage);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, stdoutPath.empty() ? folder.Read("out") : "",
            folder.Read("error"), static_cast<uint64_t>(usage.ru_maxrss) * 1024};
}

} // namespace tenon::tools::test
