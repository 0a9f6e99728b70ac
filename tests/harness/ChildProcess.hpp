// SPDX-License-Identifier: Apache-2.0
// Runs a function in a process of its own, so that a crash or a function that never ends is a result like others.
#pragma once

#include <functional>
#include <string>

namespace tenon::test
{

/// How a child ended, and what it said until then.
struct ChildEnd
{
    bool m_IsComplete = false; ///< the function returned
    std::string m_Reason;      ///< else: "signal 11 (Segmentation fault)", "no end after 60 s", "exit status 1"
    std::string m_Output;
    std::string m_Errors; ///< the end of what went to its standard error, e.g. a sanitizer's report
};

/// Hands text to the parent at once, so that it is there even if the child crashes next.
using Say = std::function<void(const std::string&)>;

/// Calls the function in a child. No other thread of this process may be running. Exceptions that leave the function
/// end the child with exit status 1, as a sanitizer's reports do. Throws RuntimeException when no child can be made.
ChildEnd RunInChild(const std::function<void(const Say&)>& function, double seconds);

} // namespace tenon::test
