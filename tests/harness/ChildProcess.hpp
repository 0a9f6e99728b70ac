// SPDX-License-Identifier: Apache-2.0
// Runs a function in a process of its own, so that a crash or a function that never ends is a result like others.
#pragma once

#include <functional>
#include <string>

namespace tenon::test
{

/// The end of a child process, and its output.
struct ChildEnd
{
    bool m_IsComplete = false; ///< the function returned
    std::string m_Reason;      ///< otherwise: "signal 11 (Segmentation fault)", "no end after 60 s", "exit status 1"
    std::string m_Output;
    std::string m_Errors; ///< the end of its standard error, e.g. a sanitizer's report
};

/// Sends text to the parent at once, so that it is not lost if the child crashes next.
using Say = std::function<void(const std::string&)>;

/// Calls the function in a child. No other thread of this process may be running. Exceptions that leave the function
/// end the child with exit status 1, as a sanitizer's reports do. Throws RuntimeException if no child can be made.
ChildEnd RunInChild(const std::function<void(const Say&)>& function, double seconds);

} // namespace tenon::test
