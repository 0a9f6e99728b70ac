// SPDX-License-Identifier: Apache-2.0
// The exit statuses of ExecuteNetwork and the errors that the program itself raises. App.cpp maps errors to statuses.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools
{

enum class ExitStatus
{
    Success = 0,
    BadArguments = 2, ///< 1 is left free: shells and interpreters use it for failures of their own
    BadInput = 3,     ///< the model or an input file is missing, corrupt or contradictory
    Unsupported = 4,  ///< an operator or type that none of the chosen backends supports
    Failed = 5,       ///< a failure while running
    Different = 6     ///< outputs differ from those of a reference by more than is allowed
};

/// An argument of the command line is wrong: ExitStatus::BadArguments.
class UsageError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// A file holds several models, of which none is chosen.
class UnchosenEntryError : public UsageError
{
public:
    UnchosenEntryError(const std::string& message, std::vector<std::string> entries)
        : UsageError(message), m_Entries(std::move(entries))
    {
    }

    const std::vector<std::string>& Entries() const { return m_Entries; }

private:
    std::vector<std::string> m_Entries;
};

/// The content of a file is wrong: ExitStatus::BadInput.
class InputError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// The run itself failed, or its results could not be written: ExitStatus::Failed.
class RunError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// Outputs differ by more than a tolerance: ExitStatus::Different.
class ToleranceError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

} // namespace tenon::tools
