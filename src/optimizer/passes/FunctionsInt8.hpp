// SPDX-License-Identifier: Apache-2.0
// FunctionsInt8: finds layers y[i] = f(x[i]) of one int8 or uint8 tensor x. Such a function, of up to 16 layers, is a
// lookup table of 256 entries. For the pass FoldFunctionsInt8.
#pragma once

#include "graph/Graph.hpp"
#include "optimizer/rewriting/ShapeFacts.hpp"

#include <unordered_map>
#include <vector>

namespace tenon
{

/// A layer as a function of the elements of one tensor.
struct FunctionInt8
{
    OutputSlot* m_Source = nullptr;
    std::vector<Layer*> m_Layers; ///< that do it, in order of data flow; the layer itself is the last
    bool m_IsInner = false;       ///< all its readers are functions of the same tensor that become tables
    bool m_IsCovered = false;     ///< its type is int8 or uint8, so that it can become a table, or it is an inner one
};

class FunctionsInt8
{
public:
    explicit FunctionsInt8(const Graph& graph);

    /// Functions whose tables make other layers unnecessary, in order of data flow.
    std::vector<FunctionInt8> GetWorthwhile() const;

private:
    std::vector<OutputSlot*> GetData(const Layer& layer) const;
    const FunctionInt8* Find(const OutputSlot& slot) const;
    bool MayBeFunction(const Layer& layer) const;
    void Add(Layer& layer);
    FunctionInt8 Join(const std::vector<OutputSlot*>& data) const;
    void Settle(const Layer& layer);
    bool IsWorthwhile(const FunctionInt8& function) const;

    ShapeFacts m_ShapeFacts;
    std::unordered_map<const Layer*, FunctionInt8> m_Functions;
    std::unordered_map<const Layer*, size_t> m_Positions;
    std::vector<Layer*> m_Order; ///< of the functions, that of data flow
};

} // namespace tenon
