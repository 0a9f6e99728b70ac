// SPDX-License-Identifier: Apache-2.0
// Words for arguments of the command line that belong to no option. Options.cpp uses it.
#pragma once

#include <string>
#include <vector>

namespace tenon::cli
{

/// Names each of the `unknown` arguments, which are some of `given` in their order: an option with the nearest of the
/// `options` ("--labels", "-m"), and any other word but one that follows an unknown option, whose value it will be.
std::string DescribeUnknownWords(const std::vector<std::string>& unknown, const std::vector<std::string>& given,
                                 const std::vector<std::string>& options);

} // namespace tenon::cli
