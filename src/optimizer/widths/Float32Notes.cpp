// SPDX-License-Identifier: Apache-2.0
// See Float32Notes.hpp.
#include "optimizer/widths/Float32Notes.hpp"

#include "optimizer/assignment/Refusals.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

constexpr size_t MaxNamedLayers = 50; ///< of one message

} // namespace

void Float32Notes::Add(Layer& layer, DataType inPlaceOf, const std::string& reason)
{
    layer.SetAssignmentReason(fmt::format("Float32 in place of {}: {}", GetDataTypeName(inPlaceOf), reason));
    const auto [entry, isNew] = m_NoteOf.emplace(layer.GetAssignmentReason(), m_Notes.size());
    if (isNew)
    {
        m_Notes.push_back({layer.GetAssignmentReason(), {}});
    }
    m_Notes[entry->second].m_Layers.push_back(fmt::format("{} '{}'", GetTypeText(layer), layer.GetNameStr()));
}

void Float32Notes::Report(std::vector<std::string>& messages) const
{
    for (const Note& note : m_Notes)
    {
        const std::vector<std::string>& layers = note.m_Layers;
        if (layers.size() == 1)
        {
            messages.push_back(fmt::format("WARNING: Layer of type {} runs in {}", layers.front(), note.m_Cause));
            continue;
        }
        const size_t named = std::min(layers.size(), MaxNamedLayers);
        std::string names = layers.front();
        for (size_t i = 1; i < named; ++i)
        {
            names += ", " + layers[i];
        }
        const std::string more =
            layers.size() > named ? fmt::format(" and {} more", layers.size() - named) : std::string();
        messages.push_back(fmt::format("WARNING: {} layers run in {}: {}{}", layers.size(), note.m_Cause, names, more));
    }
}

} // namespace tenon
