// SPDX-License-Identifier: Apache-2.0
// ByteFunctions: which layers of a graph compute their elements from those of one tensor of bytes alone. For the pass
// FoldByteFunctions.
#pragma once

#include "graph/Graph.hpp"
#include "optimizer/rewriting/ShapeFacts.hpp"

#include <unordered_map>
#include <vector>

namespace tenon
{

/// What a layer computes of the elements of one tensor.
struct ByteFunction
{
    OutputSlot* m_Source = nullptr;
    std::vector<Layer*> m_Layers; ///< that do it, in order of data flow; the layer itself is the last
    bool m_IsInner = false;       ///< only functions of the same tensor read it, which become tables
    bool m_IsCovered = false;     ///< it is such a function, or an inner one
};

class ByteFunctions
{
public:
    explicit ByteFunctions(const Graph& graph);

    /// Those whose tables make other layers unnecessary, in order of data flow.
    std::vector<ByteFunction> GetWorthwhile() const;

private:
    std::vector<OutputSlot*> GetData(const Layer& layer) const;
    const ByteFunction* Find(const OutputSlot& slot) const;
    bool MayBeFunction(const Layer& layer) const;
    void Add(Layer& layer);
    ByteFunction Join(const std::vector<OutputSlot*>& data) const;
    void Settle(const Layer& layer);
    bool IsWorthwhile(const ByteFunction& function) const;

    FixedForms m_Forms;
    std::unordered_map<const Layer*, ByteFunction> m_Functions;
    std::unordered_map<const Layer*, size_t> m_Positions;
    std::vector<Layer*> m_Order; ///< of the functions, that of data flow
};

} // namespace tenon
