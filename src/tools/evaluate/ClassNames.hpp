// SPDX-License-Identifier: Apache-2.0
// The classes of a model: their number and names.
#pragma once

#include "json/JsonWriter.hpp"
#include "tools/common/Model.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools::evaluate
{

class ClassNames
{
public:
    /// The labels of a file, or else the model's labels of the output. Where `count` is not 0, labels of the model are
    /// left out if they are not as many; other counts in a file are refused. Throws InputError.
    ClassNames(const std::string& labelsFile, const Binding& output, size_t count);

    /// The number of classes; 0 if it is not known.
    size_t Count() const { return m_Count; }
    bool HasLabels() const { return !m_Labels.empty(); }
    const std::vector<std::string>& Labels() const { return m_Labels; }

    /// The label, or else the number.
    std::string NameOf(size_t index) const;

    /// The class that a word of the ground truth means: one of the labels, or else a number, to which `offset` is
    /// added. Throws InputError for any other word, a label of several classes, and a number without a class.
    size_t Parse(const std::string& word, int offset) const;

private:
    std::vector<std::string> m_Labels;
    size_t m_Count;
};

/// Writes a list of the right class, the found one with its name, and a number, for each pair of them.
template <typename Number>
void WriteConfusions(JsonWriter& json, const ClassNames& classes,
                     const std::map<std::pair<size_t, size_t>, Number>& confusions)
{
    json.Key("confusions");
    json.BeginArray();
    for (const auto& [pair, count] : confusions)
    {
        json.BeginObject(JsonWriter::Layout::Line);
        json.Member("truth", pair.first);
        json.Member("class", pair.second);
        json.Member("name", classes.NameOf(pair.second));
        json.Member("count", count);
        json.EndObject();
    }
    json.EndArray();
}

} // namespace tenon::tools::evaluate
