// SPDX-License-Identifier: Apache-2.0
// What CpuAcc and the runtime do to several layers of a network at once.
#pragma once

#include "harness/NetworkCase.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tenon::test
{

/// By name, as docs/subgraphs.md lists them: "chain", "chain with a view", "attention" ...
using FusionCounts = std::map<std::string, size_t>;

/// Every name that there may be.
std::vector<std::string> AllFusions();

/// Of the network on CpuAcc and CpuRef, for the shapes that it declares; none where these are not known.
/// `layerThreads`: CpuAcc's NumberOfThreads, 0: not given.
FusionCounts CountFusions(const INetwork& network, unsigned int layerThreads = 0);

} // namespace tenon::test
