// SPDX-License-Identifier: Apache-2.0
// An evaluation from its options to its reports. App.cpp calls it.
#pragma once

#include "tools/evaluate/Options.hpp"

namespace tenon::tools::evaluate
{

/// Pictures that fail are named on standard error, and the others go on. Throws UsageError, InputError, RunError and
/// UnimplementedException.
void Evaluate(const Options& options);

} // namespace tenon::tools::evaluate
