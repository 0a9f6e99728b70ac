// SPDX-License-Identifier: Apache-2.0
// See App.hpp.
#include "tools/execute_network/App.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/LimitOption.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/common/Terminal.hpp"
#include "tools/execute_network/BenchmarkRun.hpp"
#include "tools/execute_network/CanRun.hpp"
#include "tools/execute_network/Options.hpp"
#include "tools/execute_network/Run.hpp"

#include <tenon/Exceptions.hpp>

#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>

namespace tenon::tools
{
namespace
{

ExitStatus Fail(ExitStatus status, const char* message)
{
    PrintError(NameLimitOptions(message));
    return status;
}

ExitStatus RunAndExplain(int argc, const char* const* argv)
{
    try
    {
        const size_t width = GetTerminalWidth(StandardOutput).value_or(DefaultWidth);
        const CommandLine line = ParseCommandLine(argc, argv, width);
        if (line.m_Text)
        {
            PrintText(*line.m_Text);
        }
        else if (!line.m_Options.m_ModelFolder.empty())
        {
            CanRun(line.m_Options);
        }
        else if (line.m_Options.m_Benchmark.m_IsAsked)
        {
            RunBenchmark(line.m_Options);
        }
        else
        {
            Run(line.m_Options);
        }
        return ExitStatus::Success;
    }
    catch (const UsageError& error)
    {
        return Fail(ExitStatus::BadArguments, error.what());
    }
    catch (const InputError& error)
    {
        return Fail(ExitStatus::BadInput, error.what());
    }
    catch (const UnimplementedException& error)
    {
        return Fail(ExitStatus::Unsupported, error.what());
    }
    catch (const std::bad_alloc&)
    {
        return Fail(ExitStatus::Failed, "not enough memory for this model and these inputs");
    }
    catch (const std::length_error&) // a container was asked for more than can be addressed
    {
        return Fail(ExitStatus::Failed, "not enough memory for this model and these inputs");
    }
    catch (const std::exception& error)
    {
        return Fail(ExitStatus::Failed, error.what());
    }
    catch (...)
    {
        return Fail(ExitStatus::Failed, "an error of unknown kind");
    }
}

} // namespace

ExitStatus RunApp(int argc, const char* const* argv) noexcept
{
    try
    {
        return RunAndExplain(argc, argv);
    }
    catch (...) // no memory was left even for the message
    {
        return ExitStatus::Failed;
    }
}

} // namespace tenon::tools
