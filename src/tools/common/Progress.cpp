// SPDX-License-Identifier: Apache-2.0
// See Progress.hpp.
#include "tools/common/Progress.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/common/Terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tenon::tools
{
namespace
{

constexpr std::chrono::milliseconds RedrawTime{100};

/// "4 s", "3:20" or "1:03:20"
std::string FormatDuration(double seconds)
{
    constexpr uint64_t maxSeconds = 360000; // no guess reaches so far
    const auto whole = static_cast<uint64_t>(std::min(std::ceil(seconds), static_cast<double>(maxSeconds)));
    if (whole < 60)
    {
        return fmt::format("{} s", whole);
    }
    return whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                        : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

} // namespace

std::string FormatProgress(size_t numDone, size_t numAll, double rate, size_t width, const char* unit)
{
    std::string text = fmt::format("{}/{} {}", numDone, numAll, unit);
    if (rate > 0.0)
    {
        text += fmt::format("  {:.{}f}/s", rate, rate < 100.0 ? 1 : 0);
        text += fmt::format("  {} left", FormatDuration(static_cast<double>(numAll - numDone) / rate));
    }
    constexpr size_t maxBar = 30;
    constexpr size_t minBar = 4;
    constexpr size_t barEnds = 3;
    if (text.size() + barEnds + minBar <= width)
    {
        const size_t bar = std::min(maxBar, width - text.size() - barEnds);
        const size_t filled = numAll == 0 ? bar : bar * numDone / numAll;
        text = fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(bar - filled, '.'), text);
    }
    return text.substr(0, width);
}

Progress::Progress(size_t numAll, size_t numDone, const char* unit)
    : m_NumAll(numAll), m_NumDone(numDone), m_Unit(unit), m_NumBefore(numDone)
{
    if (IsTerminal(StandardError))
    {
        m_Width = GetTerminalWidth(StandardError).value_or(DefaultWidth) - 1; // the last column would end the line
        Draw();
    }
}

Progress::~Progress()
{
    SetStatusLine("");
}

void Progress::Advance()
{
    ++m_NumDone;
    if (m_Width > 0 && Clock::now() - m_Drawn >= RedrawTime)
    {
        Draw();
    }
}

void Progress::Draw()
{
    m_Drawn = Clock::now();
    const double seconds = std::chrono::duration<double>(m_Drawn - m_Start).count();
    const double rate = seconds > 0.0 ? static_cast<double>(m_NumDone - m_NumBefore) / seconds : 0.0;
    SetStatusLine(FormatProgress(m_NumDone, m_NumAll, rate, m_Width, m_Unit));
}

} // namespace tenon::tools
