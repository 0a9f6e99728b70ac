// SPDX-License-Identifier: Apache-2.0
// The element types of a kernel as short text.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <string>
#include <vector>

namespace tenon::docs
{

/// The rows of kernels, one line each ("<br>" between them): types of the inputs, an arrow, the type of output 0.
/// Rows that can be told in one are joined.
std::string TypesOf(const std::vector<const backends::Kernel*>& kernels);

/// What the groups of types in such text mean, as a list in Markdown.
std::string ExplainGroups();

} // namespace tenon::docs
