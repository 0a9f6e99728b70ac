// SPDX-License-Identifier: Apache-2.0
// A program from its errors to its exit status.
#pragma once

#include "tools/common/Errors.hpp"

#include <functional>

namespace tenon::tools
{

/// Calls `body`. An error becomes one line on standard error, and the status.
ExitStatus RunProgram(const std::function<void()>& body) noexcept;

} // namespace tenon::tools
