// SPDX-License-Identifier: Apache-2.0
// Variables: the values that a model keeps between runs: variable tensors (state of LSTM, RNN, SVDF), resource
// variables (VAR_HANDLE and related operators), and the states that operators of signals keep by themselves. There is
// one table per model; in a network each variable becomes a state, or a value passed through branches and loops.
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
    /// The state that an operator of a subgraph keeps by itself, under the name of a layer.
    VariableId Own(size_t subgraph, const std::string& layerName);

    /// Sets the info of the variable, unless it is known already with a shape.
    void Describe(VariableId id, const TensorInfo& info);
    /// The info of the variable. Throws UnimplementedException if it is unknown.
    const TensorInfo& Info(VariableId id) const;
    const std::string& Name(VariableId id) const { return m_Entries[id].m_Name; }
    /// Whether it is a variable tensor.
    bool IsTensor(VariableId id) const { return m_Entries[id].m_IsTensor; }

private:
    struct Entry
    {
        std::string m_Name; ///< unique name of its state
        std::optional<TensorInfo> m_Info;
        bool m_IsTensor = false;
    };

    VariableId Find(std::string name);

    std::vector<Entry> m_Entries;
    std::map<std::string, VariableId> m_Ids;
};

} // namespace tenon::tflite
