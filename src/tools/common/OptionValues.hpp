// SPDX-License-Identifier: Apache-2.0
// Values of single options: text of the command line as lists, shapes and numbers. Options.cpp knows the options.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tenon::tools
{

// Functions throw UsageError, which names the option, the text and what is allowed.

/// The handling of a repeated entry of a list.
enum class Repeated
{
    Kept,
    LeftOut,
    Refused
};

/// The entries of all lists of an option, with commas between them; see SplitEscaped for commas within an entry. Empty
/// entries are skipped. Lists with empty entries alone are refused; no list at all gives no entry.
std::vector<std::string> SplitList(const std::vector<std::string>& lists, const char* option, Repeated repeated);

/// One shape of --input-tensor-shape, whose whole value is `whole`.
std::vector<unsigned int> ParseShape(const std::string& text, const std::string& whole);

/// NAME=SIZE of each --dim; a name may have '=' itself.
std::map<std::string, unsigned int> ParseDimensions(const std::vector<std::string>& texts);

/// A whole number in min..max, both included.
unsigned int ParseNumber(const std::string& text, const char* option, unsigned int min, unsigned int max);

/// A number that is neither infinite nor NaN.
float ParseFinite(const std::string& text, const char* option, bool mayBeZero);

} // namespace tenon::tools
