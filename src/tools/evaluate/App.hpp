// SPDX-License-Identifier: Apache-2.0
// The program tenon-evaluate, from its arguments to its exit status; main() and the tests call it.
#pragma once

#include "tools/common/Errors.hpp"

namespace tenon::tools::evaluate
{

/// Runs the program. It never throws: an error is one line on standard error, and the status.
ExitStatus RunApp(int argc, const char* const* argv) noexcept;

} // namespace tenon::tools::evaluate
