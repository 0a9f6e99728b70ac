// SPDX-License-Identifier: Apache-2.0
// ShapeFacts: for output 0 of each layer a lower bound of the rank, the exact rank where it is fixed, and the size of
// the last dimension where it is fixed: facts that hold in every run. The rules are column `form` of ops.def. Used by
// the passes that match patterns: a constant of shape [C] may be folded only if it cannot change the shape of x.
#pragma once

#include "graph/Graph.hpp"

#include <optional>
#include <vector>

namespace tenon
{

/// Facts about the shape of output 0 of each layer that follow from operators and constants, so that they hold in every
/// run. There are none about layers that are added later.
class ShapeFacts
{
public:
    explicit ShapeFacts(const Graph& graph);
    /// A lower bound of the rank.
    unsigned int GetMinRank(const OutputSlot& slot) const { return Of(slot).m_MinRank; }
    std::optional<unsigned int> GetRank(const OutputSlot& slot) const;
    /// The size of the last dimension; 0 where it is not sure.
    unsigned int GetLastSize(const OutputSlot& slot) const { return Of(slot).m_LastSize; }
    /// Whether a constant of one element at `constant` leaves the shape of the tensor at `data` as it is when the two
    /// broadcast.
    bool KeepsShape(const Layer& layer, unsigned int data, unsigned int constant) const;

private:
    struct Form
    {
        unsigned int m_MinRank = 0;
        bool m_IsRankExact = false;
        unsigned int m_LastSize = 0;
    };
    static Form WithoutSize(Form form) { return {form.m_MinRank, form.m_IsRankExact, 0}; }
    static Form OfShape(const TensorShape& shape);
    Form Of(const OutputSlot& slot) const;
    Form OfInput(const Layer& layer, unsigned int i) const;
    Form Make(const Layer& layer) const;
    template <typename D, FormRule Rule>
    Form MakeBy(const Layer& layer) const;
    /// What follows from the rank and flags of the layer's row in ops.def.
    Form MakeByRank(const Layer& layer) const;
    Form MakeBinary(const Layer& layer) const;
    Form MakeProduct(const Layer& layer) const;

    std::vector<Form> m_Forms;
};

} // namespace tenon
