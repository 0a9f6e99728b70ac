// SPDX-License-Identifier: Apache-2.0
// Pass FoldFunctionsInt8: elementwise functions of one int8 or uint8 tensor become a lookup table (layer Table):
//     y[i] = table[x[i] - lowest]        table[k] = f(lowest + k), k = 0 .. 255
// The reference kernels compute the 256 entries here. Examples: x * sigmoid(x), max(x, x / 10), Dequantize -> functions
// of floats -> Quantize.
#include "optimizer/Pass.hpp"
#include "optimizer/passes/FunctionsInt8.hpp"
#include "optimizer/rewriting/ConstantRunner.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace tenon::passes
{

namespace
{

constexpr unsigned int Entries = 256;

class FunctionFolderInt8
{
public:
    FunctionFolderInt8(Graph& graph, PassContext& context)
        : m_Graph(graph), m_Context(context), m_Runner(context.m_Registry, context.m_Options)
    {
    }

    void Run()
    {
        std::vector<const Layer*> unused;
        for (FunctionInt8& function : FunctionsInt8(m_Graph).GetWorthwhile())
        {
            if (Fold(function))
            {
                unused.push_back(function.m_Layers.back());
            }
        }
        RemoveUnused(m_Graph, unused);
    }

private:
    bool Fold(FunctionInt8& function)
    {
        Layer& last = *function.m_Layers.back();
        if (const auto table = m_Tables.find(function.m_Source); table != m_Tables.end())
        {
            function.m_Source = table->second; // it has become the result of a table itself
        }
        const ConstantResult table = Compute(function);
        if (table.m_Memory == nullptr)
        {
            return false;
        }
        Layer& constant =
            m_Graph.AddConstant(ConstTensor(table.m_Info, table.m_Memory->Data()), table.m_Memory, last.GetNameStr());
        Layer* const lookup = ReplacePattern(m_Graph, m_Context, last, LayerType::Table, nullptr,
                                             {function.m_Source, &constant.Output(0)});
        if (lookup != nullptr)
        {
            m_Tables.emplace(&last.Output(0), &lookup->Output(0));
        }
        return lookup != nullptr;
    }

    /// What the layers make of all values from the lowest on. Without memory where one of them cannot be run.
    ConstantResult Compute(const FunctionInt8& function)
    {
        Graph graph;
        const auto all = std::make_shared<AlignedMemory>(Entries);
        TensorInfo info = function.m_Source->GetTensorInfo();
        const unsigned int lowest = info.GetDataType() == DataType::QAsymmU8 ? 0 : 128;
        for (unsigned int i = 0; i < Entries; ++i)
        {
            reinterpret_cast<uint8_t*>(all->Data())[i] = static_cast<uint8_t>(i ^ lowest);
        }
        info.SetShape({Entries});
        info.SetConstant(true);
        ConstantResult result = {info, all};
        std::unordered_map<const OutputSlot*, OutputSlot*> results;
        const auto keep = [&](const OutputSlot& slot)
        {
            const ConstTensor tensor(result.m_Info, result.m_Memory->Data());
            OutputSlot* const constant = &graph.AddConstant(tensor, result.m_Memory, "").Output(0);
            results.emplace(&slot, constant);
            if (const auto table = m_Tables.find(&slot); table != m_Tables.end())
            {
                results.emplace(table->second, constant); // readers take it from there now
            }
        };
        keep(*function.m_Source);
        for (const Layer* layer : function.m_Layers)
        {
            Layer& copy = graph.AddCopy(*layer);
            unsigned int rank = 1;
            for (unsigned int i = 0; i < layer->NumInputs(); ++i)
            {
                const OutputSlot& source = *layer->Input(i).GetConnectedOutputSlot();
                const auto found = results.find(&source);
                OutputSlot& from =
                    found != results.end() ? *found->second : graph.AddCopy(source.GetOwningLayer()).Output(0);
                from.Connect(copy.Input(i));
                rank = std::max(rank, copy.Input(i).GetTensorInfo().GetShape().GetNumDimensions());
            }
            std::vector<unsigned int> shape(rank, 1);
            shape.back() = Entries;
            TensorInfo output = layer->Output(0).GetTensorInfo();
            output.SetShape(TensorShape(rank, shape.data()));
            copy.Output(0).SetTensorInfo(output);
            std::vector<ConstantResult> made = m_Runner.Run(copy, Entries * sizeof(float));
            if (made.size() != 1 || made.front().m_Info.GetShape().GetNumElements64() != Entries)
            {
                return {};
            }
            result = std::move(made.front());
            result.m_Info.SetConstant(true);
            keep(layer->Output(0));
        }
        result.m_Info.SetShape({Entries});
        return result;
    }

    Graph& m_Graph;
    PassContext& m_Context;
    ConstantRunner m_Runner;
    std::unordered_map<const OutputSlot*, OutputSlot*> m_Tables; ///< in whose place they are
};

} // namespace

void FoldFunctionsInt8(Graph& graph, PassContext& context)
{
    FunctionFolderInt8(graph, context).Run();
}

} // namespace tenon::passes
