// SPDX-License-Identifier: Apache-2.0
// Programs of the build, and checks of their outcomes.
#pragma once

#include "tools/harness/Subprocess.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tenon::tools
{

using test::Outcome;
using Words = std::vector<std::string>;

/// All programs of a build are in one folder.
inline std::string PathOfProgram(const std::string& name)
{
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

inline bool Has(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

/// One line "error: ..." at the end of standard error, and the status.
inline void ExpectFailure(const Outcome& outcome, int status, const std::string& words)
{
    EXPECT_EQ(outcome.m_Status, status) << outcome.m_Error;
    const size_t line = outcome.m_Error.rfind("error: ");
    ASSERT_NE(line, std::string::npos) << outcome.m_Error;
    EXPECT_EQ(outcome.m_Error.find('\n', line), outcome.m_Error.size() - 1) << outcome.m_Error;
    EXPECT_TRUE(Has(outcome.m_Error, words)) << outcome.m_Error;
}

inline std::string ReadFile(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace tenon::tools
