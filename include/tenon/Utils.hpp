// SPDX-License-Identifier: Apache-2.0
// Small services of the library.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Logging.hpp>

#include <string>

namespace tenon
{

/// Chooses the sinks of messages, and lets messages of `severity` and above pass.
TENON_API void ConfigureLogging(bool printToStandardOutput, bool printToDebugOutput, LogSeverity severity);

/// The version of the library, "major.minor.patch".
TENON_API const std::string GetVersion();

/// Whether the CPU has Arm NEON.
TENON_API bool NeonDetected();

} // namespace tenon
