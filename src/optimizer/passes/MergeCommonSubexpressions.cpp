// SPDX-License-Identifier: Apache-2.0
// Pass MergeCommonSubexpressions: layers that compute the same from the same become one, and so do constants of the
// same bytes. What reads equal layers then has equal inputs, so that whole equal branches merge in one walk.
#include "optimizer/Pass.hpp"
#include "optimizer/Purity.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <unordered_map>

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

/// Of all constants with one hash the first one alone is compared, so that no constant's bytes are read twice.
size_t HashOfConstant(const ConstTensor& tensor)
{
    Hash hash;
    hash.Add(tensor.GetInfo());
    constexpr size_t pieces = 32; // spread over the bytes: the pages of a mapped file stay where they are
    constexpr size_t pieceBytes = 16;
    const auto* const bytes = static_cast<const char*>(tensor.GetMemoryArea());
    const size_t count = tensor.GetNumBytes();
    if (count <= pieces * pieceBytes)
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

bool AreEqual(const InputSlot& a, const InputSlot& b)
{
    if (a.GetConnectedOutputSlot() != b.GetConnectedOutputSlot() ||
        a.IsTensorInfoOverridden() != b.IsTensorInfoOverridden())
    {
        return false;
    }
    return !a.IsTensorInfoOverridden() || a.GetTensorInfo() == b.GetTensorInfo();
}

bool HaveEqualBytes(const ConstTensor& a, const ConstTensor& b)
{
    const size_t bytes = a.GetNumBytes();
    return a.GetMemoryArea() == b.GetMemoryArea() || bytes == 0 ||
           std::memcmp(a.GetMemoryArea(), b.GetMemoryArea(), bytes) == 0;
}

bool AreEqual(const Layer& a, const Layer& b)
{
    if (a.GetType() != b.GetType() || a.GetNumInputSlots() != b.GetNumInputSlots() ||
        a.GetNumOutputSlots() != b.GetNumOutputSlots() || a.GetBackendHint() != b.GetBackendHint() ||
        !a.GetSchema().m_Equal(a.GetParameters(), b.GetParameters()))
    {
        return false;
    }
    for (unsigned int i = 0; i < a.GetNumInputSlots(); ++i)
    {
        if (!AreEqual(a.Input(i), b.Input(i)))
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
    return a.GetConstant() == nullptr || HaveEqualBytes(a.GetConstant()->m_Tensor, b.GetConstant()->m_Tensor);
}

/// A twin would read the same, or what is a twin itself; of an output that nobody else reads, and whose layer can have
/// no twin, there is none. Most layers end here. `twins` says it of the layers before.
bool MayHaveTwin(const Layer& layer, const std::vector<bool>& twins)
{
    return IsFunctionOfInputs(layer) && std::all_of(layer.Inputs().begin(), layer.Inputs().end(),
                                                    [&](const InputSlot& input)
                                                    {
                                                        const OutputSlot* source = input.GetConnectedOutputSlot();
                                                        return source == nullptr || source->GetNumConnections() > 1 ||
                                                               twins[source->GetOwningLayer().m_Index];
                                                    });
}

} // namespace

void MergeCommonSubexpressions(Graph& graph)
{
    std::unordered_map<size_t, Layer*> firstByHash;
    std::vector<bool> dead(graph.Size(), false);
    std::vector<bool> twins(graph.Size(), false); // whether a layer may have one
    // In order of data flow: inputs have been merged when a layer is looked at.
    for (Layer* layer : graph.TopologicalOrder())
    {
        twins[layer->m_Index] = MayHaveTwin(*layer, twins);
        if (!twins[layer->m_Index])
        {
            continue;
        }
        const auto [found, isNew] = firstByHash.emplace(HashOf(*layer), layer);
        Layer& first = *found->second;
        if (isNew || !AreEqual(first, *layer))
        {
            continue;
        }
        for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
        {
            layer->Output(i).MoveAllConnections(first.Output(i));
        }
        dead[layer->m_Index] = true;
    }
    graph.RemoveLayers(dead);
}

} // namespace tenon::passes
