// SPDX-License-Identifier: Apache-2.0
// Writes networks as .tenon files. Run.cpp calls it.
#pragma once

#include <tenon/INetwork.hpp>

#include <string>

namespace tenon::tools
{

/// Both throw RunError, which names the file, and the exceptions of the serializer.
void WriteNetwork(const std::string& path, const INetwork& network);
void WriteNetwork(const std::string& path, const IOptimizedNetwork& network);

} // namespace tenon::tools
