// SPDX-License-Identifier: Apache-2.0
// Stopwatch: the time since it was made.
#pragma once

#include <chrono>

namespace tenon::tools
{

class Stopwatch
{
public:
    double Milliseconds() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - m_Start).count();
    }

private:
    std::chrono::steady_clock::time_point m_Start = std::chrono::steady_clock::now();
};

} // namespace tenon::tools
