// SPDX-License-Identifier: Apache-2.0
// Pass ConstantFolding: what depends on constants alone is computed once, here, in place of at every run: transposed or
// dequantized weights, shapes and axes that a model computes, and what follows from those.
#include "graph/FixedShapes.hpp"
#include "graph/Purity.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/ConstantRunner.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <algorithm>
#include <unordered_map>

namespace tenon::passes
{

namespace
{

class ConstantFolder
{
public:
    ConstantFolder(Graph& graph, PassContext& context, bool keepsWeightsInt8)
        : m_Graph(graph), m_Context(context), m_KeepsWeightsInt8(keepsWeightsInt8),
          m_Runner(context.m_Registry, context.m_Options), m_Fixed(graph.Size()), m_Dead(graph.Size(), false)
    {
    }

    void Run()
    {
        // In order of data flow, so that chains fold in one walk.
        for (Layer* layer : m_Graph.TopologicalOrder())
        {
            if (!IsCandidate(*layer) || !Fold(*layer))
            {
                InferAgain(*layer);
                m_Fixed.Add(*layer);
            }
        }
        m_Graph.RemoveLayers(m_Dead);
    }

private:
    bool IsCandidate(const Layer& layer) const
    {
        // One that its maker wants on a certain backend stays there.
        if (layer.GetType() == LayerType::Constant || !IsFunctionOfInputs(layer) || layer.GetBackendHint().has_value())
        {
            return false;
        }
        if (m_KeepsWeightsInt8 && layer.GetType() == LayerType::Dequantize &&
            GetDataTypeBits(layer.Input(0).GetTensorInfo().GetDataType()) == 8)
        {
            return false;
        }
        if (ReadsShapeAlone(layer.GetType()))
        {
            return m_Fixed.IsFixed(layer.Input(0)) && !layer.Input(0).IsTensorInfoOverridden();
        }
        bool isAnyThere = false;
        for (const InputSlot& input : layer.Inputs())
        {
            const Layer* producer = input.GetProducer();
            if (producer != nullptr && producer->GetConstant() == nullptr)
            {
                return false;
            }
            isAnyThere = isAnyThere || producer != nullptr;
        }
        return isAnyThere;
    }

    /// Small results are folded in any case, large ones where they come in the place of constants that are not much
    /// smaller: weights that are flipped or dequantized.
    uint64_t GetMaxBytes(const Layer& layer) const
    {
        constexpr uint64_t small = uint64_t{1} << 20;
        constexpr uint64_t growth = 8; // Float32 for 4 bits
        return std::min(std::max(small, growth * layer.CountConstantInputBytes()), m_Context.m_FoldingBytesLeft);
    }

    bool Fold(Layer& layer)
    {
        const std::vector<ConstantResult> results = m_Runner.Run(layer, GetMaxBytes(layer));
        if (results.empty())
        {
            return false;
        }
        for (OutputSlot& output : layer.Outputs())
        {
            if (output.GetNumConnections() == 0)
            {
                continue;
            }
            const ConstantResult& result = results[output.CalculateIndexOnOwner()];
            TensorInfo info = result.m_Info;
            info.SetConstant(true);
            Layer& constant =
                m_Graph.AddConstant(ConstTensor(info, result.m_Memory->Data()), result.m_Memory, layer.GetNameStr());
            output.MoveAllConnections(constant.Output(0));
            m_Context.m_FoldingBytesLeft -= info.GetNumBytes();
            m_Made.emplace(&constant, info.GetNumBytes());
        }
        m_Dead[layer.m_Index] = true;
        Release(layer);
        return true;
    }

    /// Cuts a folded layer off, and gives back the memory of what was folded only for it.
    void Release(Layer& layer)
    {
        for (InputSlot& input : layer.Inputs())
        {
            OutputSlot* source = input.GetConnectedOutputSlot();
            if (source == nullptr)
            {
                continue;
            }
            source->Disconnect(input);
            Layer& producer = source->GetOwningLayer();
            const auto made = m_Made.find(&producer);
            if (made != m_Made.end() && source->GetNumConnections() == 0)
            {
                m_Context.m_FoldingBytesLeft += made->second;
                m_Made.erase(made);
                producer.SetConstant(nullptr);
                m_Dead.resize(m_Graph.Size(), false);
                m_Dead[producer.m_Index] = true;
            }
        }
    }

    /// Shapes that were not known before may follow from what has been folded.
    static void InferAgain(Layer& layer)
    {
        const Span<OutputSlot> outputs = layer.Outputs();
        const auto isKnown = [](const OutputSlot& output)
        { return output.GetTensorInfo().GetShape().AreAllDimensionsSpecified(); };
        if (std::all_of(outputs.begin(), outputs.end(), isKnown))
        {
            return;
        }
        std::vector<const TensorInfo*> infos;
        layer.CollectInputInfos(infos);
        std::vector<const void*> values(infos.size(), nullptr);
        for (unsigned int i = 0; i < infos.size(); ++i)
        {
            values[i] = layer.GetConstantInput(i);
        }
        std::vector<TensorShape> shapes(outputs.size());
        try
        {
            if (CanInferShapes(layer, infos, values))
            {
                InferShapes(layer, infos, values, shapes);
            }
            else if (const TensorShape* target = FindTargetShape(layer))
            {
                shapes[0] = *target;
            }
        }
        catch (const Exception&)
        {
            return; // values that do not fit shapes of another run than the one that comes: that run will tell
        }
        for (size_t i = 0; i < shapes.size(); ++i)
        {
            if (shapes[i].AreAllDimensionsSpecified())
            {
                outputs[i].EditTensorInfo().SetShape(shapes[i]);
            }
        }
    }

    Graph& m_Graph;
    PassContext& m_Context;
    bool m_KeepsWeightsInt8;
    ConstantRunner m_Runner;
    FixedShapes m_Fixed;
    std::vector<bool> m_Dead;
    std::unordered_map<const Layer*, uint64_t> m_Made; ///< constants of this pass, and their bytes
};

} // namespace

void ConstantFolding(Graph& graph, PassContext& context)
{
    ConstantFolder(graph, context, false).Run();
}

void ConstantFoldingOfFloats(Graph& graph, PassContext& context)
{
    ConstantFolder(graph, context, HasHalfEvenQuantize(graph)).Run();
}

} // namespace tenon::passes
