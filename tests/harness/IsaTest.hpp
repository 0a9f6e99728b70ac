// SPDX-License-Identifier: Apache-2.0
// ISA_TEST: a test whose body runs once for each instruction set that the processor has, the best one first. Used by
// the tests under ops/ of code that depends on the instruction set.
//
//   ISA_TEST(Floor, RoundsDown) { CheckOp(...); }
//
// A lower level is left out, and counted as equal to a higher one, if all features (CpuFeatures) that the body asked
// for there have the same values, because it would do the same again. Results of CpuRef and oracles are judged on the
// best level alone, since they depend on no level.
//
// TENON_FORCE_ISA restricts a program to one level, on which CpuAcc alone is judged. TENON_TEST_BEST_ISA restricts it
// to the best one, on which all results are judged.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

namespace tenon::test
{

/// Runs the body for each level.
void RunOnIsas(void (*body)());

/// The levels that this program runs bodies on, the best one first.
const std::vector<std::string>& GetTestedIsas();
/// The level that the body now runs on.
const std::string& GetIsa();
/// Whether bodies now run on the level on which level-independent results are judged.
bool IsBestIsa();

/// Ends the body on this level, as GTEST_SKIP() ends a test; a test is skipped if its body is skipped on every level.
#define ISA_SKIP() return ::tenon::test::IsaSkip() = ::testing::Message()

struct IsaSkip
{
    void operator=(const testing::Message& reason) const;
};

/// Counts a case of a backend, or of no backend yet ("CheckOp"); returns the number of such cases in this run of the
/// body. Cases that a level leaves out because they would do the same count for it, too.
size_t CountCase(const std::string& backend);

/// Names the kernel of a case, or of a test's own run.
void NoteKernel(const std::string& name);
/// Names (see GetKernelName) of the kernels that have run cases on this level in this program so far.
const std::set<std::string>& GetRunKernels();
/// The same for any level.
const std::set<std::string>& GetRunKernels(const std::string& isa);

/// Makes tests that do not run for each level fail if they ask for features. It must be called once, before they run.
void WatchPlainTests();

/// Writes the number of cases per level and backend, for tests/ops/CheckCounts.cmake.
void WriteIsaCounts(std::ostream& out);

} // namespace tenon::test

#define ISA_TEST(suite, name)                                                                                          \
    static void suite##_##name##_OnIsa();                                                                              \
    TEST(suite, name)                                                                                                  \
    {                                                                                                                  \
        ::tenon::test::RunOnIsas(suite##_##name##_OnIsa);                                                              \
    }                                                                                                                  \
    static void suite##_##name##_OnIsa()
