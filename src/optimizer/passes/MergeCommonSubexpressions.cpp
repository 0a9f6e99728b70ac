// SPDX-License-Identifier: Apache-2.0
// Pass MergeCommonSubexpressions: layers that compute the same from the same become one, and so do constants of the
// same bytes. What reads equal layers then has equal inputs, so that whole equal branches merge in one walk.
#include "graph/Purity.hpp"
#include "optimizer/Pass.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace tenon::passes
{

namespace
{

class Hash
{
public:
    void Add(uint64_t value) { m_Value = (m_Value ^ value) * 0x9E3779B97F4A7C15U + (m_Value >> 29); }
    void Add(std::string_view text) { Add(uint64_t{std::hash<std::string_view>()(text)}); }
    void Add(const TensorInfo& info)
    {
        Add(static_cast<uint64_t>(info.GetDataType()));
        const TensorShape& shape = info.GetShape();
        Add(static_cast<uint64_t>(shape.GetDimensionality()));
        if (shape.AreAllDimensionsSpecified())
        {
            for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
            {
                Add(uint64_t{shape[i]});
            }
        }
    }
    size_t Value() const { return static_cast<size_t>(m_Value); }

private:
    uint64_t m_Value = 0;
};

/// Hash of a constant. Only the first constant of a hash is compared with others, so no bytes are read twice.
size_t HashOfConstant(const ConstTensor& tensor)
{
    Hash hash;
    hash.Add(tensor.GetInfo());
    constexpr size_t hashedBytes = 512;       // spread over the bytes: the pages of a mapped file stay where they are
    constexpr size_t large = 4 * 1024 * 1024; // a page that is read may bring two MiB around it
    const auto* const bytes = static_cast<const char*>(tensor.GetMemoryArea());
    const size_t count = tensor.GetNumBytes();
    const size_t pieces = count < large ? 32 : 2;
    const size_t pieceBytes = hashedBytes / pieces;
    if (count <= hashedBytes)
    {
        hash.Add(std::string_view(bytes, count));
        return hash.Value();
    }
    for (size_t i = 0; i < pieces; ++i)
    {
        hash.Add(std::string_view(bytes + (count - pieceBytes) / (pieces - 1) * i, pieceBytes));
    }
    return hash.Value();
}

size_t HashOf(const Layer& layer)
{
    if (layer.GetConstant() != nullptr)
    {
        return HashOfConstant(layer.GetConstant()->m_Tensor);
    }
    Hash hash;
    hash.Add(static_cast<uint64_t>(layer.GetType()));
    layer.GetSchema().m_VisitFields(layer.GetParameters(),
                                    [&](const char*, const std::string& value) { hash.Add(std::string_view(value)); });
    for (const InputSlot& input : layer.Inputs())
    {
        hash.Add(uint64_t{std::hash<const void*>()(input.GetConnectedOutputSlot())});
    }
    for (const OutputSlot& output : layer.Outputs())
    {
        hash.Add(output.GetTensorInfo());
    }
    return hash.Value();
}

bool IsEqual(const InputSlot& a, const InputSlot& b)
{
    if (a.GetConnectedOutputSlot() != b.GetConnectedOutputSlot() ||
        a.IsTensorInfoOverridden() != b.IsTensorInfoOverridden())
    {
        return false;
    }
    return !a.IsTensorInfoOverridden() || a.GetTensorInfo() == b.GetTensorInfo();
}

bool HasEqualBytes(const ConstTensor& a, const ConstTensor& b)
{
    const size_t bytes = a.GetNumBytes();
    return a.GetMemoryArea() == b.GetMemoryArea() || bytes == 0 ||
           std::memcmp(a.GetMemoryArea(), b.GetMemoryArea(), bytes) == 0;
}

bool IsEqual(const Layer& a, const Layer& b)
{
    if (a.GetType() != b.GetType() || a.NumInputs() != b.NumInputs() ||
        a.GetNumOutputSlots() != b.GetNumOutputSlots() || a.GetBackendHint() != b.GetBackendHint() ||
        !a.GetSchema().m_Equal(a.GetParameters(), b.GetParameters()))
    {
        return false;
    }
    for (unsigned int i = 0; i < a.NumInputs(); ++i)
    {
        if (!IsEqual(a.Input(i), b.Input(i)))
        {
            return false;
        }
    }
    for (unsigned int i = 0; i < a.GetNumOutputSlots(); ++i)
    {
        if (a.Output(i).GetTensorInfo() != b.Output(i).GetTensorInfo())
        {
            return false;
        }
    }
    return a.GetConstant() == nullptr || HasEqualBytes(a.GetConstant()->m_Tensor, b.GetConstant()->m_Tensor);
}

/// The input that has the fewest neighbours at what it reads; null where none is connected.
const InputSlot* FindRarestInput(const Layer& layer)
{
    const InputSlot* rarest = nullptr;
    size_t fewest = SIZE_MAX;
    for (const InputSlot& input : layer.Inputs())
    {
        const OutputSlot* source = input.GetConnectedOutputSlot();
        if (source != nullptr && source->GetNumConnections() < fewest)
        {
            fewest = source->GetNumConnections();
            rarest = &input;
        }
    }
    return rarest;
}

/// Knows the layers that were met so far, none of them a twin of another.
class Twins
{
public:
    explicit Twins(const Graph& graph) : m_Met(graph.Size(), false) {}

    /// A layer that was met before and gives the same, else null; `layer` is met then.
    Layer* Meet(Layer& layer)
    {
        if (!IsFunctionOfInputs(layer))
        {
            return nullptr;
        }
        // A twin reads the same (what it reads has been merged): it is among the neighbours.
        const InputSlot* input = FindRarestInput(layer);
        Layer* twin = nullptr;
        if (input != nullptr && input->GetConnectedOutputSlot()->GetNumConnections() <= MaxNeighbours)
        {
            twin = FindBeside(*input);
        }
        else
        {
            if (input != nullptr)
            {
                HashNeighbours(*input->GetConnectedOutputSlot());
            }
            twin = FindByHash(layer);
        }
        m_Met[layer.m_Index] = twin == nullptr;
        return twin;
    }

private:
    static constexpr size_t MaxNeighbours = 8; // each is compared; more of them, or all constants, by hash

    Layer* FindBeside(const InputSlot& input) const
    {
        for (const InputSlot* other : input.GetConnectedOutputSlot()->GetConnections())
        {
            Layer& layer = other->GetOwningLayer();
            if (m_Met[layer.m_Index] && other->GetSlotIndex() == input.GetSlotIndex() &&
                IsEqual(layer, input.GetOwningLayer()))
            {
                return &layer;
            }
        }
        return nullptr;
    }

    /// What was met while the output had few readers: merging gives it more.
    void HashNeighbours(const OutputSlot& source)
    {
        if (!m_Hashed.insert(&source).second)
        {
            return;
        }
        for (const InputSlot* input : source.GetConnections())
        {
            Layer& layer = input->GetOwningLayer();
            if (m_Met[layer.m_Index])
            {
                m_FirstByHash.emplace(HashOf(layer), &layer);
            }
        }
    }

    Layer* FindByHash(Layer& layer)
    {
        const auto [found, isNew] = m_FirstByHash.emplace(HashOf(layer), &layer);
        return !isNew && IsEqual(*found->second, layer) ? found->second : nullptr;
    }

    std::vector<bool> m_Met;
    std::unordered_map<size_t, Layer*> m_FirstByHash;
    std::unordered_set<const OutputSlot*> m_Hashed; ///< outputs whose readers are all in m_FirstByHash, once met
};

/// Whether two layers read the same output, or two have no inputs: else no layers can be equal.
bool MayHaveTwins(const Graph& graph)
{
    size_t sources = 0; // that compute something
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        const OpSchema& schema = GetSchema(type);
        sources += schema.m_MinInputs == 0 && !schema.Has(OpFlags::Effect) ? graph.Count(type) : 0;
    }
    return graph.NumShared() != 0 || sources > 1;
}

} // namespace

void MergeCommonSubexpressions(Graph& graph)
{
    if (!MayHaveTwins(graph))
    {
        return;
    }
    Twins twins(graph);
    std::vector<bool> dead(graph.Size(), false);
    // In order of data flow: inputs have been merged when a layer is looked at.
    for (Layer* layer : graph.TopologicalOrder())
    {
        const Layer* twin = twins.Meet(*layer);
        if (twin == nullptr)
        {
            continue;
        }
        for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
        {
            layer->Output(i).MoveAllConnections(twin->Output(i));
        }
        dead[layer->m_Index] = true;
    }
    graph.RemoveLayers(dead);
}

} // namespace tenon::passes
