// SPDX-License-Identifier: Apache-2.0
// Remarks about options that are taken without effect. ExecuteNetwork and the TensorFlow Lite delegate use it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenon::text
{

/// Remarks in the order of their options, one for all with the same text.
class Remarks
{
public:
    void Add(const std::string& option, const std::string& text);

    /// "<option>, <option>: <text>"
    std::vector<std::string> Lines() const;

private:
    std::vector<std::pair<std::string, std::string>> m_Remarks; ///< names of options, and the text about them
};

} // namespace tenon::text
