// SPDX-License-Identifier: Apache-2.0
// See State.hpp.
#include "tools/evaluate/State.hpp"

#include "text/OptionWords.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tenon::tools::evaluate
{
namespace
{

namespace fs = std::filesystem;

constexpr std::string_view Start = "tenon-evaluate state 1 ";

std::optional<double> ParseDouble(const std::string& text)
{
    double number = 0.0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

} // namespace

State::State(std::string path, const std::string& checksum, const Task& task) : m_Path(std::move(path))
{
    if (m_Path.empty())
    {
        return;
    }
    std::error_code none;
    const bool isThere = fs::exists(m_Path, none);
    if (isThere)
    {
        try
        {
            Read(checksum, task);
        }
        catch (const InputError& error)
        {
            throw InputError(fmt::format("state '{}': {}", OneLine(m_Path), error.what()));
        }
    }
    m_File.reset(std::fopen(m_Path.c_str(), "ab"));
    if (m_File == nullptr)
    {
        throw RunError(fmt::format("cannot write '{}': {}", OneLine(m_Path), std::strerror(errno)));
    }
    if (!isThere || fs::file_size(m_Path, none) == 0)
    {
        Write(std::string(Start) + checksum + "\n");
    }
}

void State::Read(const std::string& checksum, const Task& task)
{
    std::error_code error;
    if (!fs::is_regular_file(m_Path, error))
    {
        throw InputError("it is no regular file; name another one");
    }
    std::string content = InputSource(m_Path).ReadAll();
    const size_t finished = content.rfind('\n') == std::string::npos ? 0 : content.rfind('\n') + 1;
    const bool isStart = std::string_view(content).starts_with(Start) || Start.starts_with(content);
    if (!isStart)
    {
        throw InputError("it is no state of tenon-evaluate; name another file");
    }
    if (finished < content.size())
    {
        content.resize(finished);
        fs::resize_file(m_Path, finished, error);
        if (error)
        {
            throw RunError(fmt::format("cannot write '{}': {}", OneLine(m_Path), error.message()));
        }
    }
    const std::vector<std::string> lines = text::Split(content, '\n');
    for (size_t i = 0; i < lines.size(); ++i)
    {
        if (i == 0 && lines[i] != std::string(Start) + checksum)
        {
            throw InputError("it is of another model, another version or other options; delete it to begin anew, or "
                             "name another file");
        }
        if (i == 0 || lines[i].empty())
        {
            continue;
        }
        const std::vector<std::string> words = text::Split(lines[i], ' ');
        Numbers numbers;
        for (size_t w = 1; w < words.size(); ++w)
        {
            const std::optional<double> number = ParseDouble(words[w]);
            if (!number)
            {
                throw InputError(fmt::format("line {} is damaged at '{}'; delete the file to begin anew", i + 1,
                                             Printable(words[w], 40)));
            }
            numbers.push_back(*number);
        }
        if (!task.IsResult(numbers))
        {
            throw InputError(
                fmt::format("line {} is damaged: it is no result of a picture; delete the file to begin anew", i + 1));
        }
        m_Results[words.front()] = std::move(numbers);
    }
}

std::optional<Numbers> State::Find(const std::string& key) const
{
    const auto found = m_Results.find(key);
    return found != m_Results.end() ? std::optional(found->second) : std::nullopt;
}

void State::Append(const std::string& key, const Numbers& result)
{
    if (m_File != nullptr)
    {
        Write(fmt::format("{} {}\n", key, fmt::join(result, " ")));
    }
}

void State::Write(const std::string& line)
{
    if (std::fwrite(line.data(), 1, line.size(), m_File.get()) != line.size() || std::fflush(m_File.get()) != 0)
    {
        throw RunError(fmt::format("cannot write '{}': {}", OneLine(m_Path), std::strerror(errno)));
    }
}

} // namespace tenon::tools::evaluate
