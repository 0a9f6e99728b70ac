// SPDX-License-Identifier: Apache-2.0
// Values of single options: text of the command line as lists, shapes and numbers. Options.cpp knows the options.
#pragma once

#include <string>
#include <vector>

namespace tenon::cli
{

// Each throws UsageError, which names the option, the text and what is allowed.

/// Paths with commas between them; see SplitEscaped for commas within.
std::vector<std::string> SplitFiles(const std::string& list, const char* option);

/// Names out of all lists, none of them twice. They may have commas, as paths do.
std::vector<std::string> SplitNames(const std::vector<std::string>& lists, const char* option);

/// The same for names of backends, of which those that are given again are left out.
std::vector<std::string> SplitBackends(const std::vector<std::string>& lists, const char* option);

/// One shape of --input-tensor-shape; `whole` is all that the option says.
std::vector<unsigned int> ParseShape(const std::string& text, const std::string& whole);

/// A whole number in min..max, both included.
unsigned int ParseNumber(const std::string& text, const char* option, unsigned int min, unsigned int max);

/// A number that is neither infinite nor NaN.
float ParseFinite(const std::string& text, const char* option, bool mayBeZero);

} // namespace tenon::cli
