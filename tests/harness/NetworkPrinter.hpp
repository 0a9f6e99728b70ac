// SPDX-License-Identifier: Apache-2.0
// Prints a NetworkCase as the source of a googletest that builds it and compares all ways to run it.
#pragma once

#include "harness/NetworkCase.hpp"

#include <string>

namespace tenon::test
{

/// A TEST that compiles unchanged in namespace tenon::test, with harness/Agreement.hpp included. Throws
/// UnimplementedException for layers that hold networks or code of their own, and for layers whose Add method of
/// INetwork takes more than a descriptor.
std::string PrintAsTest(const NetworkCase& tested, const std::string& suite, const std::string& name);

} // namespace tenon::test
