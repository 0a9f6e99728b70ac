// SPDX-License-Identifier: Apache-2.0
// See Program.hpp.
#include "tools/common/Program.hpp"

#include "tools/common/Console.hpp"
#include "tools/common/LimitOption.hpp"

#include <tenon/Exceptions.hpp>

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

ExitStatus RunAndExplain(const std::function<void()>& body)
{
    try
    {
        body();
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
    catch (const ToleranceError& error)
    {
        return Fail(ExitStatus::Different, error.what());
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

ExitStatus RunProgram(const std::function<void()>& body) noexcept
{
    try
    {
        return RunAndExplain(body);
    }
    catch (...) // no memory was left even for the message
    {
        return ExitStatus::Failed;
    }
}

} // namespace tenon::tools
