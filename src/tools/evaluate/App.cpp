// SPDX-License-Identifier: Apache-2.0
// See App.hpp.
#include "tools/evaluate/App.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/Program.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/common/Terminal.hpp"
#include "tools/evaluate/Evaluate.hpp"
#include "tools/evaluate/Options.hpp"

#include <cstddef>

namespace tenon::tools::evaluate
{

ExitStatus RunApp(int argc, const char* const* argv) noexcept
{
    return RunProgram(
        [&]
        {
            const size_t width = GetTerminalWidth(StandardOutput).value_or(DefaultWidth);
            const CommandLine line = ParseCommandLine(argc, argv, width);
            line.m_Text ? PrintText(*line.m_Text) : Evaluate(line.m_Options);
        });
}

} // namespace tenon::tools::evaluate
