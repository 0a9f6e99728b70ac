// SPDX-License-Identifier: Apache-2.0
// Small services of the library: see Utils.hpp.
#include <tenon/Utils.hpp>
#include <tenon/Version.hpp>

namespace tenon
{

void ConfigureLogging(bool printToStandardOutput, bool printToDebugOutput, LogSeverity severity)
{
    SetAllLoggingSinks(printToStandardOutput, printToDebugOutput, false);
    SetLogFilter(severity);
}

const std::string GetVersion()
{
    return TENON_VERSION;
}

bool NeonDetected()
{
#if defined(__ARM_NEON)
    return true;
#else
    return false;
#endif
}

} // namespace tenon
