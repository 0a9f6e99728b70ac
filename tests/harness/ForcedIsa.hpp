// SPDX-License-Identifier: Apache-2.0
// Included by one source of a test program that ctest runs on several instruction sets: it ends the run as skipped if
// TENON_FORCE_ISA names an instruction set that the processor does not have, instead of testing a lower one once more.
#pragma once

#include "backends/cpu/simd/Isa.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tenon::test
{

class ForcedIsa final : public testing::Environment
{
public:
    void SetUp() override
    {
        constexpr int Skipped = 77; // SKIP_RETURN_CODE in tests/CMakeLists.txt
        const char* wanted = std::getenv("TENON_FORCE_ISA");
        if (wanted != nullptr && *wanted != '\0' && cpu::GetIsaName() != wanted)
        {
            std::printf("skipped: TENON_FORCE_ISA is %s, but the best up to it here is %s\n", wanted,
                        cpu::GetIsaName().c_str());
            std::exit(Skipped);
        }
    }
};

inline testing::Environment* const forcedIsa = testing::AddGlobalTestEnvironment(new ForcedIsa);

} // namespace tenon::test
