// SPDX-License-Identifier: Apache-2.0
// Words for arguments of the command line that belong to no option. Options.cpp uses it.
#pragma once

#include <string>
#include <vector>

namespace tenon::cli
{

/// Names each of the `unknown` arguments, which are some of `given` in their order: an option with the one of the
/// `options` ("--labels", "-m") that is near to it, if there is one, and any other word but one that follows an unknown
/// option, whose value it will be. A number below 0 is no option.
std::string DescribeUnknownWords(const std::vector<std::string>& unknown, const std::vector<std::string>& given,
                                 const std::vector<std::string>& options);

/// Names each of the `given` words that is a long one of the `options` with one dash in place of two, which would be
/// taken as a short option with a value behind it. Words behind those of the options that are `withValue` are values.
std::string DescribeOneDash(const std::vector<std::string>& given, const std::vector<std::string>& options,
                            const std::vector<std::string>& withValue);

} // namespace tenon::cli
