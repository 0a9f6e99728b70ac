// SPDX-License-Identifier: Apache-2.0
// ForEachIsa: a part of an ISA_TEST's body that runs on all levels before the body continues, so that the preparation
// (inputs, results of CpuRef and of oracles) runs once.
#pragma once

#include "common/FunctionRef.hpp"

namespace tenon::test
{

/// Runs `part` on the body's level, and on the lower levels on which the body would have run identically up to here,
/// because the features that it has asked for are the same. A level is left out if `part` would do the same as on a
/// higher one. Features that `part` asks for do not count as asked for by the body, so that the body must not depend on
/// the effects of `part`. Outside of such a body `part` runs once.
void ForEachIsa(FunctionRef<void()> part);

} // namespace tenon::test
