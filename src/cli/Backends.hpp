// SPDX-License-Identifier: Apache-2.0
// The backends of a run: those that the runtime loads, and those of them that are to be preferred.
#pragma once

#include "cli/Options.hpp"

#include <tenon/IRuntime.hpp>

#include <string>
#include <vector>

namespace tenon::cli
{

/// The runtime with the backends of --dynamic-backends-path. In a folder, one that cannot be used is passed over with a
/// warning; a file that was named itself has to be one. Throws UsageError.
IRuntimePtr MakeRuntime(const Options& options);

/// The backends of an option that exist. One that does not is passed over with a warning, as long as another does.
/// Throws UsageError where none does.
std::vector<BackendId> SelectBackends(const std::vector<std::string>& names, const IRuntime& runtime,
                                      const char* option);

} // namespace tenon::cli
