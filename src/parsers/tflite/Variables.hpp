// SPDX-License-Identifier: Apache-2.0
// Variables: what a model keeps between runs, that is, variable tensors (state of LSTM, RNN, SVDF) and resource
// variables (VAR_HANDLE and its kin). One table a model; in a network each becomes a state, or a value passed through
// branches and loops.
#pragma once

#include "parsers/common/OperatorView.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tflite
{

using parsers::TensorView;
using VariableId = size_t;

class Variables
{
public:
    /// The resource variable of this container and name.
    VariableId Resource(const std::string& container, const std::string& name);
    /// A variable tensor of a subgraph.
    VariableId Tensor(size_t subgraph, const TensorView& tensor);

    /// Says what the variable holds, unless that is known already with a shape.
    void Describe(VariableId id, const TensorInfo& info);
    /// Throws UnimplementedException when nothing has told what it holds.
    const TensorInfo& Info(VariableId id) const;
    const std::string& Name(VariableId id) const { return m_Entries[id].m_Name; }
    /// Whether it is a variable tensor.
    bool IsTensor(VariableId id) const { return m_Entries[id].m_IsTensor; }

private:
    struct Entry
    {
        std::string m_Name; ///< of its state: unique
        std::optional<TensorInfo> m_Info;
        bool m_IsTensor = false;
    };

    VariableId Find(std::string name);

    std::vector<Entry> m_Entries;
    std::map<std::string, VariableId> m_Ids;
};

} // namespace tenon::tflite
