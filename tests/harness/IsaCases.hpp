// SPDX-License-Identifier: Apache-2.0
// ForEachIsa: a part of an ISA_TEST's body that runs on all levels before the body goes on, so that what comes before
// it (inputs, what CpuRef gives, what oracles say) is made once.
#pragma once

#include "common/FunctionRef.hpp"

namespace tenon::test
{

/// Runs `part` on the body's level, and on those lesser ones on which the body would have come here just so: the
/// features that it has asked for so far are the same. A level is left out where `part` would do the same as on a
/// better one. What `part` asks for does not count as asked for by the body, so that the body may not depend on what it
/// does. Outside of such a body `part` runs once.
void ForEachIsa(FunctionRef<void()> part);

} // namespace tenon::test
