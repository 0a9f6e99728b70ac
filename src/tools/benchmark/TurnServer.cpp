// SPDX-License-Identifier: Apache-2.0
// See TurnServer.hpp.
#include "tools/benchmark/TurnServer.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>

namespace tenon::tools
{
namespace
{

constexpr double NanosecondsPerMs = 1e6;

std::string FormatTurn(const std::vector<double>& times)
{
    std::string line;
    for (const double ms : times)
    {
        line += fmt::format("{}{:.0f}", line.empty() ? "" : " ", ms * NanosecondsPerMs);
    }
    return line;
}

std::string FormatFigures(const Figures& figures)
{
    return fmt::format("{} {} {} {} {} {} {} {} {}", figures.m_RuntimeMs, figures.m_ParseMs, figures.m_OptimizeMs,
                       figures.m_LoadMs, figures.m_FirstMs, figures.m_StartBytes, figures.m_InitBytes,
                       figures.m_OverallBytes, figures.m_ArenaBytes);
}

[[noreturn]] void RefuseAnswer(const std::string& answer)
{
    throw RunError(fmt::format("--against: the other process gives an answer that is not understood: '{}'",
                               Printable(answer, 80)));
}

} // namespace

void ServeTurns(const Turn& turn, const std::function<Figures()>& getFigures)
{
    for (std::string line; std::getline(std::cin, line);)
    {
        std::istringstream words(line);
        std::string request;
        unsigned int numRuns = 0;
        words >> request;
        if (request == "library")
        {
            PrintText(GetLibraryFile() + "\n");
        }
        else if (request == "figures")
        {
            PrintText(FormatFigures(getFigures()) + "\n");
        }
        else if (request == "turn" && words >> numRuns && numRuns > 0)
        {
            PrintText(FormatTurn(turn(numRuns)) + "\n");
        }
        else
        {
            throw UsageError(fmt::format("--serve-turns: '{}' is no request", Printable(line, 80)));
        }
    }
}

std::vector<double> AskForTurn(LibraryProcess& process, unsigned int numRuns)
{
    const std::string answer = process.Ask(fmt::format("turn {}", numRuns));
    std::istringstream words(answer);
    std::vector<double> times;
    for (double nanoseconds = 0.0; words >> nanoseconds;)
    {
        times.push_back(nanoseconds / NanosecondsPerMs);
    }
    if (times.size() != numRuns || !words.eof())
    {
        RefuseAnswer(answer);
    }
    return times;
}

Figures AskForFigures(LibraryProcess& process)
{
    const std::string answer = process.Ask("figures");
    std::istringstream words(answer);
    Figures figures;
    if (!(words >> figures.m_RuntimeMs >> figures.m_ParseMs >> figures.m_OptimizeMs >> figures.m_LoadMs >>
          figures.m_FirstMs >> figures.m_StartBytes >> figures.m_InitBytes >> figures.m_OverallBytes >>
          figures.m_ArenaBytes))
    {
        RefuseAnswer(answer);
    }
    return figures;
}

} // namespace tenon::tools
