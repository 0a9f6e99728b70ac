// SPDX-License-Identifier: Apache-2.0
// Float32Notes: the layers that run in Float32 in place of 16 bits, and why. For FloatWidths.
#pragma once

#include "graph/Layer.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tenon
{

class Float32Notes
{
public:
    /// Also makes it the reason of the layer's assignment.
    void Add(Layer& layer, DataType inPlaceOf, const std::string& reason);
    /// One message for each cause, with the names of the layers.
    void Report(std::vector<std::string>& messages) const;

private:
    struct Note
    {
        std::string m_Cause;
        std::vector<std::string> m_Layers;
    };

    std::vector<Note> m_Notes;
    std::map<std::string, size_t> m_NoteOf; ///< by cause
};

} // namespace tenon
