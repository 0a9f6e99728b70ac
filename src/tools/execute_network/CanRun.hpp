// SPDX-License-Identifier: Apache-2.0
// --can-run: the models of a folder that the chosen backends can run. App.cpp calls it.
#pragma once

#include "tools/execute_network/Options.hpp"

namespace tenon::tools
{

/// Prints a table of the model files in Options::m_ModelFolder and in the folders within, in any format: each model is
/// read and optimized, but not run. Writes the same to the file of --report-json. Throws UsageError for a folder that
/// cannot be read or has no model, UnimplementedException at the end if a model needs features that the backends lack,
/// and InputError if no model does, but a model cannot be read.
void CanRun(const Options& options);

} // namespace tenon::tools
