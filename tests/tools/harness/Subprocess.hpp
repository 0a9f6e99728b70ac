// SPDX-License-Identifier: Apache-2.0
// Runs a program and keeps what it says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tools::test
{

struct Outcome
{
    /// -1 when a signal ended the program.
    int m_Status = -1;
    std::string m_Out;
    std::string m_Error;
    uint64_t m_PeakRssBytes = 0; ///< of the program and of those that it started, the largest one
};

/// `stdoutPath` takes standard output in place of m_Out if it is not empty. `runner`: a command of this machine, as
/// env, that runs the program. The program gets the environment of this process without TENON_ARMNN_OUTPUT.
Outcome RunProgram(const std::vector<std::string>& command, const std::string& stdoutPath = {},
                   const std::vector<std::string>& runner = {});

} // namespace tenon::tools::test
