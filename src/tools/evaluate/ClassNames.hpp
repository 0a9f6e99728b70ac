// SPDX-License-Identifier: Apache-2.0
// The classes of a model: their number and names.
#pragma once

#include "tools/common/Model.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

class ClassNames
{
public:
    /// The labels of a file, or else those that the model has for the output. Where `count` is not 0, labels of the
    /// model are left out if they are not as many; other counts in a file are refused. Throws InputError.
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

} // namespace tenon::tools::evaluate
