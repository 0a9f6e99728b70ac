// SPDX-License-Identifier: Apache-2.0
// See ChildProcess.hpp.
#include "harness/ChildProcess.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tenon::test
{

namespace
{

constexpr size_t MaxErrorBytes = size_t{16} << 10;

class Pipe
{
public:
    Pipe()
    {
        if (pipe(m_Descriptors.data()) != 0)
        {
            throw RuntimeException(fmt::format("no pipe to a child process: {}", std::strerror(errno)));
        }
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe()
    {
        CloseReader();
        CloseWriter();
    }
    int Reader() const { return m_Descriptors[0]; }
    int Writer() const { return m_Descriptors[1]; }
    void CloseReader() { Close(0); }
    void CloseWriter() { Close(1); }

private:
    void Close(size_t end)
    {
        if (m_Descriptors[end] >= 0)
        {
            close(m_Descriptors[end]);
            m_Descriptors[end] = -1;
        }
    }

    std::array<int, 2> m_Descriptors{-1, -1};
};

void WriteAll(int file, const std::string& text)
{
    for (size_t done = 0; done < text.size();)
    {
        const ssize_t written = write(file, text.data() + done, text.size() - done);
        if (written < 0 && errno != EINTR)
        {
            _exit(1); // the parent is gone
        }
        done += written > 0 ? static_cast<size_t>(written) : 0;
    }
}

/// Adds what there is to read; false at the end.
bool ReadSome(int file, std::string& text)
{
    std::array<char, 65536> buffer;
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count > 0)
    {
        text.append(buffer.data(), static_cast<size_t>(count));
    }
    return count > 0 || (count < 0 && errno == EINTR);
}

[[noreturn]] void BeChild(const std::function<void(const Say&)>& function, int said, int errors)
{
    dup2(errors, STDERR_FILENO);
    // The parent's handlers are not the child's: a crash is to end it.
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        std::signal(number, SIG_DFL);
#else
        static_cast<void>(number);
#endif
    }
    int status = 0;
    try
    {
        function([said](const std::string& text) { WriteAll(said, text); });
    }
    catch (const std::exception& e)
    {
        WriteAll(STDERR_FILENO, std::string(e.what()) + "\n");
        status = 1;
    }
    _exit(status);
}

std::string DescribeStatus(int status)
{
    if (WIFSIGNALED(status))
    {
        return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return fmt::format("exit status {}", WEXITSTATUS(status));
}

} // namespace

ChildEnd RunInChild(const std::function<void(const Say&)>& function, double seconds)
{
    Pipe said;
    Pipe errors;
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0)
    {
        throw RuntimeException(fmt::format("no child process: {}", std::strerror(errno)));
    }
    if (child == 0)
    {
        said.CloseReader();
        errors.CloseReader();
        BeChild(function, said.Writer(), errors.Writer());
    }
    said.CloseWriter();
    errors.CloseWriter();
    ChildEnd end;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    std::array<pollfd, 2> files{{{said.Reader(), POLLIN, 0}, {errors.Reader(), POLLIN, 0}}};
    bool isTimedOut = false;
    while (files[0].fd >= 0 || files[1].fd >= 0)
    {
        const std::chrono::duration<double, std::milli> left = deadline - std::chrono::steady_clock::now();
        const int ready = poll(files.data(), files.size(), static_cast<int>(std::clamp(left.count(), 0.0, 1e9)));
        if (ready == 0)
        {
            isTimedOut = true;
            kill(child, SIGKILL);
            break;
        }
        std::array<std::string*, 2> texts{&end.m_Output, &end.m_Errors};
        for (size_t i = 0; i < files.size() && ready > 0; ++i)
        {
            if (files[i].fd >= 0 && files[i].revents != 0 && !ReadSome(files[i].fd, *texts[i]))
            {
                files[i].fd = -1; // poll passes it over
            }
        }
        if (end.m_Errors.size() > 2 * MaxErrorBytes)
        {
            end.m_Errors.erase(0, end.m_Errors.size() - MaxErrorBytes);
        }
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    {
    }
    end.m_IsComplete = !isTimedOut && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!end.m_IsComplete)
    {
        end.m_Reason = isTimedOut ? fmt::format("no end after {} s", seconds) : DescribeStatus(status);
    }
    return end;
}

} // namespace tenon::test
