// SPDX-License-Identifier: Apache-2.0
// --can-run: which models of a folder the chosen backends can run. App.cpp calls it.
#pragma once

#include "cli/Options.hpp"

namespace tenon::cli
{

/// Prints a table of the model files in Options::m_ModelFolder and in the folders within, whatever their format: each
/// is read and optimized, but not run. Writes the same to the file of --report-json. Throws UsageError for a folder
/// that cannot be read or has no model, UnimplementedException at the end where a model needs what the backends do not
/// have, and InputError where no model does, but one cannot be read.
void CanRun(const Options& options);

} // namespace tenon::cli
