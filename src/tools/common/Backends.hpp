// SPDX-License-Identifier: Apache-2.0
// The backends of a run: the backends that the runtime loads, and the preferred ones among them.
#pragma once

#include <tenon/IRuntime.hpp>
#include <tenon/Limits.hpp>

#include <string>
#include <vector>

namespace tenon::tools
{

/// The runtime with the backends of --dynamic-backends-path. An unusable file in a folder is skipped with a warning; a
/// file that is named directly must be a backend. Throws UsageError.
IRuntimePtr MakeRuntime(const std::string& dynamicBackendsPath, const Limits& limits);

/// The existing backends of an option. An unknown backend is skipped with a warning, as long as another exists. Throws
/// UsageError if none exists.
std::vector<BackendId> SelectBackends(const std::vector<std::string>& names, const IRuntime& runtime,
                                      const char* option);

} // namespace tenon::tools
