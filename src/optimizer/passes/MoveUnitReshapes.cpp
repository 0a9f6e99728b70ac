// SPDX-License-Identifier: Apache-2.0
// Pass MoveUnitReshapes: a Reshape that adds or drops dimensions of size 1 goes behind the Transpose that reads it,
// which may then meet another one. Frameworks put these around one-dimensional convolutions. What is left of a
// Transpose that moves such dimensions alone is a Reshape.
#include "graph/FixedShapes.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace tenon::passes
{

namespace
{

/// Which dimensions are larger than 1, in order; those of size 0 count too.
std::vector<unsigned int> FindLong(const TensorShape& shape)
{
    std::vector<unsigned int> found;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        if (shape[i] != 1)
        {
            found.push_back(i);
        }
    }
    return found;
}

/// Whether two shapes differ in dimensions of size 1 alone.
bool IsEqualButForOnes(const TensorShape& a, const TensorShape& b)
{
    const std::vector<unsigned int> ofA = FindLong(a);
    const std::vector<unsigned int> ofB = FindLong(b);
    return std::equal(ofA.begin(), ofA.end(), ofB.begin(), ofB.end(),
                      [&](unsigned int i, unsigned int j) { return a[i] == b[j]; });
}

/// The output of a layer before the Transpose that has the same elements in the same order: that before a Reshape, or
/// what the Transpose reads. Null where the shapes may differ from run to run.
OutputSlot* FindSource(const Layer& transpose, const FixedShapes& fixed)
{
    OutputSlot* const read = transpose.Input(0).GetConnectedOutputSlot();
    const Layer& producer = read->GetOwningLayer();
    if (!fixed.IsFixed(*read) || read->GetTensorInfo().HasPerAxisQuantization())
    {
        return nullptr;
    }
    if (producer.GetType() != LayerType::Reshape || !IsPlainInput(producer, 0) || !fixed.IsFixed(producer.Input(0)) ||
        !read->GetTensorInfo().IsTypeSpaceMatch(producer.Input(0).GetTensorInfo()) ||
        !IsEqualButForOnes(read->GetTensorInfo().GetShape(), producer.Input(0).GetTensorInfo().GetShape()))
    {
        return read;
    }
    return producer.Input(0).GetConnectedOutputSlot();
}

/// What `mappings` of `read` do to the dimensions of an alike shape; those of size 1 stay where they are.
PermutationVector MapAlike(const TensorShape& read, const PermutationVector& mappings, const TensorShape& source)
{
    const std::vector<unsigned int> longOfRead = FindLong(read);
    const std::vector<unsigned int> longOfSource = FindLong(source);
    std::array<unsigned int, MaxNumOfTensorDimensions> result{};
    for (unsigned int i = 0; i < source.GetNumDimensions(); ++i)
    {
        result[i] = i;
    }
    size_t next = 0;
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        const auto found = std::find(longOfRead.begin(), longOfRead.end(), mappings[i]);
        if (found != longOfRead.end())
        {
            result[longOfSource[next]] = longOfSource[static_cast<size_t>(found - longOfRead.begin())];
            ++next;
        }
    }
    return PermutationVector(result.data(), source.GetNumDimensions());
}

} // namespace

void MoveUnitReshapes(Graph& graph, PassContext& context)
{
    const FixedShapes fixed(graph);
    std::vector<const Layer*> unused;
    const LayerOrder order = graph.TopologicalOrder({LayerType::Transpose});
    for (Layer* layer : order.WithProducers())
    {
        OutputSlot* source = IsPlainTranspose(layer) ? FindSource(*layer, fixed) : nullptr;
        if (source == nullptr)
        {
            continue;
        }
        const TensorShape& read = layer->Input(0).GetTensorInfo().GetShape();
        const PermutationVector mappings = MapAlike(read, MappingsOf(*layer), source->GetTensorInfo().GetShape());
        const bool isReshape = IsIdentity(mappings);
        if (!isReshape && source == layer->Input(0).GetConnectedOutputSlot())
        {
            continue; // as it is already
        }
        OutputSlot* moved = source;
        if (!isReshape)
        {
            Layer& transpose = graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(mappings),
                                              layer->GetNameStr());
            transpose.BackendSelectionHint(layer->GetBackendHint());
            source->Connect(transpose.Input(0));
            transpose.Output(0).SetTensorInfo(Transposed(source->GetTensorInfo(), mappings));
            moved = &transpose.Output(0);
        }
        const TensorShape& target = layer->Output(0).GetTensorInfo().GetShape();
        if (ReplacePattern(graph, context, *layer, LayerType::Reshape, std::make_unique<ReshapeDescriptor>(target),
                           {moved}) != nullptr)
        {
            unused.push_back(layer);
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
