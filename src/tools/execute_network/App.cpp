// SPDX-License-Identifier: Apache-2.0
// See App.hpp.
#include "tools/execute_network/App.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Program.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/common/Terminal.hpp"
#include "tools/execute_network/BenchmarkRun.hpp"
#include "tools/execute_network/Descriptions.hpp"
#include "tools/execute_network/Options.hpp"
#include "tools/execute_network/Run.hpp"

#include <cstddef>

namespace tenon::tools
{

ExitStatus RunApp(int argc, const char* const* argv) noexcept
{
    return RunProgram(
        [&]
        {
            const size_t width = GetTerminalWidth(StandardOutput).value_or(DefaultWidth);
            const CommandLine line = ParseCommandLine(argc, argv, width);
            if (line.m_Text)
            {
                PrintText(*line.m_Text);
            }
            else if (IsDescription(line.m_Options))
            {
                DescribeModels(line.m_Options);
            }
            else if (line.m_Options.m_Benchmark.m_IsAsked)
            {
                RunBenchmark(line.m_Options);
            }
            else
            {
                Run(line.m_Options);
            }
        });
}

} // namespace tenon::tools
