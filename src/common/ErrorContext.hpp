// SPDX-License-Identifier: Apache-2.0
// RethrowWithContext: the handling of an exception in the outer loops (over layers, passes, workloads), whoever threw
// it: a backend of the application's own may throw anything, and memory may run out anywhere.
#pragma once

#include <tenon/Exceptions.hpp>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace tenon
{

/// Only inside of a catch block: rethrows the exception that is handled there with `context` in front of its text. An
/// exception that is no tenon::Exception becomes one: exhausted memory a MemoryValidationException, everything else a
/// RuntimeException.
[[noreturn]] inline void RethrowWithContext(const std::string& context)
{
    try
    {
        throw;
    }
    catch (Exception& error)
    {
        error.AddContext(context);
        throw;
    }
    catch (const std::bad_alloc&)
    {
        throw MemoryValidationException(context + ": there is not enough memory");
    }
    catch (const std::length_error&) // a container was asked for more than can be addressed
    {
        throw MemoryValidationException(context + ": there is not enough memory");
    }
    catch (const std::exception& error)
    {
        throw RuntimeException(context + ": " + error.what());
    }
    catch (...)
    {
        throw RuntimeException(context + ": an error of unknown kind");
    }
}

} // namespace tenon
