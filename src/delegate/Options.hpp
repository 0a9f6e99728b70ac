// SPDX-License-Identifier: Apache-2.0
// The options of the delegate as texts: the rows by which TfLiteDelegateOptions::Parse reads them. docs/delegate.md has
// the same rows; a test compares both.
#pragma once

#include <vector>

namespace tenon::delegate
{

struct OptionText
{
    const char* m_Name;
    const char* m_Values;  ///< the allowed values in words, after "it must be"
    const char* m_Meaning; ///< the effect, or the reason why there is none
};

/// All options, in the order of docs/delegate.md.
std::vector<OptionText> ListOptions();

} // namespace tenon::delegate
