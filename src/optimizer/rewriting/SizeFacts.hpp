// SPDX-License-Identifier: Apache-2.0
// SizeFacts: symbolic shape inference. Each dimension of a tensor, and each element of a small integer tensor, is a
// known number or a symbol; equal symbols stand for equal numbers in every run, whatever its inputs. Shape, Gather,
// Concat, Reshape and arithmetic on sizes are followed, so that the target [batch, 196, 768] of a Reshape is known but
// for the symbol `batch`. Used by BakeComputedParameters, FoldAttention, FoldRolls, FoldShuffles, MoveReshapes and
// SinkTransposes.
#pragma once

#include "graph/FixedShapes.hpp"
#include "graph/Graph.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tenon
{

class SizeFacts
{
public:
    /// A known number, or a symbol for an unknown one. Equal symbols stand for equal numbers.
    struct Entry
    {
        int64_t m_Number = 0;
        uint32_t m_Symbol = 0; ///< 0: m_Number is known

        bool IsKnown() const { return m_Symbol == 0; }
        bool Is(int64_t number) const { return IsKnown() && m_Number == number; }
        friend bool operator==(const Entry&, const Entry&) = default;
    };
    using List = std::vector<Entry>;

    /// Works when it is asked: what changes the graph from then on must not change the shape of any tensor that is
    /// read.
    explicit SizeFacts(const Graph& graph);

    /// The sizes of a tensor; null where its rank is not sure. Nothing is sure of layers that are added later.
    const List* GetSizes(const OutputSlot& slot);
    /// The elements of an integer or Boolean tensor of at most one dimension and few elements; null where even their
    /// number is not sure.
    const List* GetValues(const OutputSlot& slot);

private:
    struct Facts
    {
        bool m_HasSizes = false;
        bool m_HasValues = false;
        List m_Sizes;
        List m_Values;
    };

    static Entry Number(int64_t number) { return {number, 0}; }
    /// A new symbol.
    Entry NewSymbol() { return {0, ++m_NumSymbols}; }
    /// Likewise, but not negative.
    Entry NewSizeSymbol();
    /// The entry if it cannot be negative, else a new symbol for a size.
    Entry AsSize(const Entry& entry);
    List NewSizeSymbols(unsigned int rank);

    /// Looks at all layers, if it did not before: most sizes are known without that.
    void Complete();
    Facts* Find(const OutputSlot& slot);
    const List* FindSizes(const OutputSlot& slot);
    const List* FindValues(const OutputSlot& slot);
    const List* SizesOf(const Layer& layer, unsigned int input);
    const List* ValuesOf(const Layer& layer, unsigned int input);
    void SetSizes(Facts& facts, List sizes);
    void SetValues(Facts& facts, List values);

    void Add(const Layer& layer);
    void AddFixed(const OutputSlot& slot, Facts& facts);
    void Infer(const Layer& layer, Facts& facts);
    void InferShape(const Layer& layer, Facts& facts);
    void InferReshape(const Layer& layer, Facts& facts);
    void InferSqueeze(const Layer& layer, Facts& facts);
    void InferExpandDims(const Layer& layer, Facts& facts);
    void InferTranspose(const Layer& layer, Facts& facts);
    void InferConcat(const Layer& layer, Facts& facts);
    void InferStack(const Layer& layer, Facts& facts);
    void InferGather(const Layer& layer, Facts& facts);
    void InferSlice(const Layer& layer, Facts& facts);
    void InferStridedSlice(const Layer& layer, Facts& facts);
    void InferBinary(const Layer& layer, Facts& facts);
    void InferComparison(const Layer& layer, Facts& facts);
    void InferSelect(const Layer& layer, Facts& facts);
    void InferReduction(const Layer& layer, Facts& facts);
    void InferProduct(const Layer& layer, Facts& facts);
    void InferConnected(const Layer& layer, Facts& facts);
    void InferImage(const Layer& layer, Facts& facts);
    void InferFilled(const Layer& layer, Facts& facts);
    void InferPad(const Layer& layer, Facts& facts);
    void InferSplitOutput(const Layer& layer, unsigned int part, Facts& facts);
    void InferByFlags(const Layer& layer, Facts& facts);
    List Broadcast(const List& a, const List& b);
    /// The sizes of a tensor whose elements are those of `from`, with one size computed where a target is -1.
    List Reshaped(const List& from, const List& target);

    const Graph& m_Graph;
    FixedShapes m_Fixed;
    size_t m_Size; ///< layers that there were
    bool m_IsComplete = false;
    std::vector<Facts> m_Facts; ///< by layer index, of output 0
    std::unordered_map<const OutputSlot*, Facts> m_Further;
    std::vector<bool> m_IsSize; ///< by symbol: not negative
    uint32_t m_NumSymbols = 0;
};

} // namespace tenon
