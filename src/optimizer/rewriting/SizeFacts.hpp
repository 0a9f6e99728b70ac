// SPDX-License-Identifier: Apache-2.0
// SizeFacts: what is sure, dimension by dimension, of sizes and of the integers that are computed from them, whatever
// inputs a run brings. Used by the passes that bake computed parameters and find shuffles of channels.
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
    /// A number that is known, or a name of one that is not: equal names are of equal numbers.
    struct Entry
    {
        int64_t m_Number = 0;
        uint32_t m_Name = 0; ///< 0: the number is known

        bool IsKnown() const { return m_Name == 0; }
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
    /// Something that nothing is known of.
    Entry Anything() { return {0, ++m_NumNames}; }
    /// Likewise, but not negative.
    Entry AnySize();
    /// As a size: what may be negative is none.
    Entry AsSize(const Entry& entry);
    List AnySizes(unsigned int rank);

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
    void InferPart(const Layer& layer, unsigned int part, Facts& facts);
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
    std::vector<bool> m_IsSize; ///< by name: not negative
    uint32_t m_NumNames = 0;
};

} // namespace tenon
