// SPDX-License-Identifier: Apache-2.0
// Pass FoldFunctionsInt8: elementwise functions of one int8 or uint8 tensor become a lookup table (layer Table):
//     y[i] = table[x[i] - lowest]        table[k] = f(lowest + k), k = 0 .. 255
// The reference kernels compute the 256 entries here. Examples: x * sigmoid(x), max(x, x / 10), Dequantize -> functions
// of floats -> Quantize.
// A function has up to 16 layers. FunctionsInt8 finds them, FunctionFolderInt8 makes the tables.
#include "graph/Graph.hpp"
#include "graph/Purity.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/ConstantRunner.hpp"
#include "optimizer/rewriting/Patterns.hpp"
#include "optimizer/rewriting/ShapeFacts.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tenon::passes
{

namespace
{

/// Layers of one function. All of them run for each table, and a long chain could become many tables.
constexpr size_t MaxFunctionLayers = 16;

bool IsInt8(const TensorInfo& info)
{
    const DataType type = info.GetDataType();
    return (type == DataType::QAsymmS8 || type == DataType::QAsymmU8 || type == DataType::QSymmS8) &&
           !info.HasPerAxisQuantization();
}

bool IsElementwise(const Layer& layer)
{
    const OpSchema& schema = layer.GetSchema();
    if ((!schema.Has(OpFlags::Elementwise) && !schema.Has(OpFlags::Broadcast)) || !IsFunctionOfInputs(layer) ||
        layer.GetNumOutputSlots() != 1 || layer.HasDataDependentShapes() || layer.GetBackendHint().has_value() ||
        layer.GetFusedActivation() != nullptr)
    {
        return false;
    }
    const TensorInfo& info = layer.Output(0).GetTensorInfo();
    return IsInt8(info) || info.GetDataType() == DataType::Float32;
}

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

FunctionsInt8::FunctionsInt8(const Graph& graph) : m_ShapeFacts(graph)
{
    for (Layer* layer : graph.TopologicalOrder())
    {
        if (IsElementwise(*layer))
        {
            Add(*layer);
        }
    }
    std::for_each(m_Order.rbegin(), m_Order.rend(), [this](const Layer* layer) { Settle(*layer); });
}

std::vector<FunctionInt8> FunctionsInt8::GetWorthwhile() const
{
    std::vector<FunctionInt8> taken;
    for (const Layer* layer : m_Order)
    {
        if (IsWorthwhile(m_Functions.at(layer)))
        {
            taken.push_back(m_Functions.at(layer));
        }
    }
    return taken;
}

/// The inputs that are not constants; none where the layer is more than a function of their elements.
std::vector<OutputSlot*> FunctionsInt8::GetData(const Layer& layer) const
{
    std::vector<OutputSlot*> data;
    std::vector<unsigned int> scalars;
    unsigned int first = 0;
    for (unsigned int i = 0; i < layer.NumInputs(); ++i)
    {
        if (!IsPlainInput(layer, i))
        {
            return {};
        }
        if (layer.Input(i).GetProducer()->GetType() != LayerType::Constant)
        {
            first = data.empty() ? i : first;
            data.push_back(layer.Input(i).GetConnectedOutputSlot());
        }
        else if (layer.GetConstantInput(i) != nullptr &&
                 layer.Input(i).GetTensorInfo().GetShape().GetNumElements64() == 1)
        {
            scalars.push_back(i);
        }
        else
        {
            return {};
        }
    }
    const bool keepsShape = !data.empty() && std::all_of(scalars.begin(), scalars.end(),
                                                         [&](unsigned int scalar)
                                                         { return m_ShapeFacts.KeepsShape(layer, first, scalar); });
    return keepsShape ? data : std::vector<OutputSlot*>();
}

/// The function that gives a tensor; null: none.
const FunctionInt8* FunctionsInt8::Find(const OutputSlot& slot) const
{
    const auto found = m_Functions.find(&slot.GetOwningLayer());
    return found != m_Functions.end() ? &found->second : nullptr;
}

/// A cheaper test of the inputs than GetData(): most elementwise layers read no int8 tensor.
bool FunctionsInt8::MayBeFunction(const Layer& layer) const
{
    return std::any_of(layer.Inputs().begin(), layer.Inputs().end(),
                       [this](const InputSlot& input)
                       {
                           const OutputSlot* const slot = input.GetConnectedOutputSlot();
                           return slot != nullptr &&
                                  (IsInt8(slot->GetTensorInfo()) || (!m_Functions.empty() && Find(*slot) != nullptr));
                       });
}

void FunctionsInt8::Add(Layer& layer)
{
    if (!MayBeFunction(layer))
    {
        return;
    }
    const std::vector<OutputSlot*> data = GetData(layer);
    if (data.empty())
    {
        return;
    }
    FunctionInt8 function = Join(data);
    if (function.m_Source == nullptr &&
        std::all_of(data.begin(), data.end(), [&](const OutputSlot* slot) { return slot == data.front(); }))
    {
        function.m_Source = data.front();
    }
    if (function.m_Source == nullptr || !IsInt8(function.m_Source->GetTensorInfo()))
    {
        return;
    }
    function.m_Layers.push_back(&layer);
    m_Positions.emplace(&layer, m_Order.size());
    m_Functions.emplace(&layer, std::move(function));
    m_Order.push_back(&layer);
}

/// Of the tensors' functions, if all are of one tensor.
FunctionInt8 FunctionsInt8::Join(const std::vector<OutputSlot*>& data) const
{
    FunctionInt8 joint;
    for (OutputSlot* slot : data)
    {
        const FunctionInt8* function = Find(*slot);
        OutputSlot* const source = function != nullptr ? function->m_Source : slot;
        if (joint.m_Source != nullptr && joint.m_Source != source)
        {
            return {};
        }
        joint.m_Source = source;
    }
    // In the order in which all were found.
    for (const OutputSlot* slot : data)
    {
        if (const FunctionInt8* function = Find(*slot); function != nullptr)
        {
            std::vector<Layer*> both;
            const auto isBefore = [this](const Layer* a, const Layer* b)
            { return m_Positions.at(a) < m_Positions.at(b); };
            std::set_union(joint.m_Layers.begin(), joint.m_Layers.end(), function->m_Layers.begin(),
                           function->m_Layers.end(), std::back_inserter(both), isBefore);
            joint.m_Layers = std::move(both);
            if (joint.m_Layers.size() >= MaxFunctionLayers)
            {
                return {}; // at once: there may be many inputs
            }
        }
    }
    return joint;
}

/// Once its readers are settled.
void FunctionsInt8::Settle(const Layer& layer)
{
    FunctionInt8& function = m_Functions.at(&layer);
    const Span<InputSlot* const> readers = layer.Output(0).GetConnections();
    function.m_IsInner = !readers.empty() && std::all_of(readers.begin(), readers.end(),
                                                         [&](const InputSlot* reader)
                                                         {
                                                             const auto found =
                                                                 m_Functions.find(&reader->GetOwningLayer());
                                                             return found != m_Functions.end() &&
                                                                    found->second.m_Source == function.m_Source &&
                                                                    found->second.m_IsCovered;
                                                         });
    function.m_IsCovered = function.m_IsInner || IsInt8(layer.Output(0).GetTensorInfo());
}

/// Whether a table makes others of its layers unnecessary.
bool FunctionsInt8::IsWorthwhile(const FunctionInt8& function) const
{
    return function.m_IsCovered && !function.m_IsInner &&
           std::any_of(function.m_Layers.begin(), function.m_Layers.end(),
                       [this](const Layer* layer) { return m_Functions.at(layer).m_IsInner; });
}

constexpr unsigned int Entries = 256;
constexpr uint64_t MaxBytes = 16 * Entries * sizeof(float); ///< of a layer's scratch memory for all entries

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
            std::vector<ConstantResult> made = m_Runner.Run(copy, MaxBytes);
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
