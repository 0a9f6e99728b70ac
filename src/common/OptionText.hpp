// SPDX-License-Identifier: Apache-2.0
// Options of backends that are given as texts.
#pragma once

#include <tenon/BackendOptions.hpp>

#include <string>

namespace tenon
{

/// A value that counts as the text, and as the truth value or number that the text is. An integer with leading zeros,
/// and -0, are texts alone; a text in double quotes is the text between them, and nothing else.
BackendOptions::Var OptionFromText(const std::string& text);

} // namespace tenon
