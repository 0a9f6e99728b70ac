// SPDX-License-Identifier: Apache-2.0
// Messages about arguments of the command line that belong to no option. Options.cpp uses it.
#pragma once

#include <string>
#include <vector>

namespace tenon::tools
{

/// Names each of the `unknown` arguments, which are some of `given` in their order: an option together with a similar
/// one of the `options` ("--labels", "-m"), if there is one, and any other word. A word after an unknown option is
/// taken for its value and is not named. A number below 0 is no option.
std::string DescribeUnknownWords(const std::vector<std::string>& unknown, const std::vector<std::string>& given,
                                 const std::vector<std::string>& options);

/// Names each of the `given` words that is a long one of the `options` with one dash in place of two, which would be
/// parsed as a short option and its value. A word after one of the options in `withValue` is a value.
std::string DescribeOneDash(const std::vector<std::string>& given, const std::vector<std::string>& options,
                            const std::vector<std::string>& withValue);

} // namespace tenon::tools
