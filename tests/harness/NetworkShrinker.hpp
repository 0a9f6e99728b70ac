// SPDX-License-Identifier: Apache-2.0
// Shrinks a network that fails: layers, outputs, runs and sizes are removed as long as it still fails in the same way.
#pragma once

#include "harness/Agreement.hpp"
#include "harness/NetworkCase.hpp"

#include <cstddef>

namespace tenon::test
{

struct ShrinkLimits
{
    double m_Seconds = 120.0;       ///< time limit; the best case by then is the result
    double m_SecondsOfCheck = 20.0; ///< time limit of one check; longer checks count as runs that never end
};

struct Shrunk
{
    NetworkCase m_Case;
    Failure m_Failure; ///< failure of m_Case
    size_t m_NumChecks = 0;
};

/// `failure` is the check's result for `tested`; the result has a failure of the same kind. Checks run in child
/// processes: no other thread of this process may be running. Inputs of the result have shapes of the original's
/// tensors.
Shrunk Shrink(const NetworkCase& tested, const CaseCheck& check, const Failure& failure,
              const ShrinkLimits& limits = {});

/// A copy of the case.
NetworkCase CopyCase(const NetworkCase& tested);

} // namespace tenon::test
