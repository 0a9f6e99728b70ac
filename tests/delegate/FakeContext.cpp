// SPDX-License-Identifier: Apache-2.0
// The functions of a FakeGraph's TfLiteContext, and what they do.
#include "delegate/FakeCall.hpp"
#include "delegate/FakeRuntime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string_view>

namespace tenon::test
{

namespace
{

constexpr const char* MinRuntimeVersion = "1.14.0";
/// Of a context in a runtime before 2.14.
constexpr size_t ShortContextBytes = offsetof(TfLiteContext, GetModelMetadata);

} // namespace

void FakeGraph::MakeContext()
{
    m_ContextMemory = std::make_unique<uint8_t[]>(sizeof(TfLiteContext));
    m_Context = new (m_ContextMemory.get()) TfLiteContext{};
    m_Context->impl_ = this;
    m_Context->ResizeTensor = ResizeTensor;
    m_Context->ReportError = ReportError;
    m_Context->AddTensors = AddTensors;
    m_Context->recommended_num_threads = m_Runtime.m_Options.m_Threads;
    m_Context->GetExternalContext = [](TfLiteContext*, int32_t) -> void* { return nullptr; };
    m_Context->SetExternalContext = [](TfLiteContext*, int32_t, void*) {};
    SetDelegateFunctions(false);
}

/// Outside of a delegate's Prepare the runtime answers some functions with an error, and here they fail the test.
void FakeGraph::SetDelegateFunctions(bool isAllowed)
{
    m_Context->GetExecutionPlan = GetExecutionPlan;
    m_Context->GetNodeAndRegistration = GetNodeAndRegistration;
    m_Context->PreviewDelegatePartitioning = PreviewPartitioning;
    const auto setReplace = [this](auto function)
    {
        using Function = decltype(m_Context->ReplaceNodeSubsetsWithDelegateKernels);
        m_Context->ReplaceNodeSubsetsWithDelegateKernels =
            reinterpret_cast<Function>(reinterpret_cast<void (*)()>(function));
    };
    switch (m_Runtime.m_Options.m_RegistrationBytes)
    {
    case 64: setReplace(&ReplaceNodes<64>); break;
    case 88: setReplace(&ReplaceNodes<88>); break;
    default: setReplace(&ReplaceNodes<152>); break;
    }
    if (m_Runtime.m_Options.m_HasShortContext)
    {
        std::memset(m_ContextMemory.get() + ShortContextBytes, PoisonByte, sizeof(TfLiteContext) - ShortContextBytes);
    }
    else
    {
        m_Context->GetModelMetadata = GetModelMetadata;
        m_Context->AcquireSubgraphContext = AcquireSubgraphContext;
        m_Context->ReleaseSubgraphContext = ReleaseSubgraphContext;
    }
    if (isAllowed && m_Runtime.m_Options.m_ChangeContext)
    {
        m_Runtime.m_Options.m_ChangeContext(*m_Context);
    }
}

bool FakeGraph::CheckDelegatePrepares(const char* function) const
{
    if (m_CurrentDelegate == nullptr)
    {
        Forbid(fmt::format("{} was called, and no delegate prepares.", function));
        return false;
    }
    return true;
}

TfLiteStatus FakeGraph::GetExecutionPlan(TfLiteContext* context, TfLiteIntArray** plan)
{
    FakeGraph& graph = Of(context);
    if (!graph.CheckDelegatePrepares("GetExecutionPlan"))
    {
        return kTfLiteError;
    }
    Discard(graph.m_PlanCopy);
    graph.m_PlanCopy = MakeIntArray(graph.m_Plan);
    *plan = graph.m_PlanCopy.get();
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::GetNodeAndRegistration(TfLiteContext* context, int32_t node, TfLiteNode** nodeOut,
                                               TfLiteRegistration** registration)
{
    FakeGraph& graph = Of(context);
    if (!graph.CheckDelegatePrepares("GetNodeAndRegistration"))
    {
        return kTfLiteError;
    }
    if (nodeOut == nullptr || registration == nullptr)
    {
        graph.Forbid("GetNodeAndRegistration was given null.");
        return kTfLiteError;
    }
    if (node < 0 || static_cast<size_t>(node) >= graph.m_Nodes.size())
    {
        graph.Report(fmt::format("There is no node {}.", node));
        return kTfLiteError;
    }
    NodeAndKernel& found = graph.m_Nodes[static_cast<size_t>(node)];
    *nodeOut = &found.m_Node;
    *registration = &found.m_Kernel;
    return kTfLiteOk;
}

bool FakeGraph::CheckResize(const TfLiteTensor* tensor, const TfLiteIntArray* size) const
{
    const TfLiteTensor* first = m_Tensors.begin();
    if (tensor == nullptr || tensor < first || tensor >= m_Tensors.end())
    {
        Forbid("ResizeTensor was given a tensor that is not in context->tensors.");
        return false;
    }
    const auto index = static_cast<int32_t>(tensor - first);
    if (size == nullptr)
    {
        Forbid(fmt::format("ResizeTensor of tensor {} was given null.", index));
        return false;
    }
    const std::vector<int32_t> dims = ToVector(size);
    const char* fault = nullptr;
    if (m_Phase != Phase::Prepare && m_Phase != Phase::Invoke)
    {
        fault = "outside of prepare and invoke";
    }
    else if (tensor->allocation_type == kTfLiteMmapRo)
    {
        fault = "a constant";
    }
    else if (tensor->is_variable)
    {
        fault = "a variable";
    }
    else if (!BelongsTo(index, m_CurrentNode))
    {
        fault = "no output of the node";
    }
    else if (m_Phase == Phase::Invoke && tensor->allocation_type != kTfLiteDynamic)
    {
        fault = "in invoke, not dynamic";
    }
    else if (std::any_of(dims.begin(), dims.end(), [](int32_t dim) { return dim < 0; }))
    {
        fault = "with a negative size";
    }
    if (fault != nullptr)
    {
        Forbid(fmt::format("ResizeTensor of tensor {}: {}.", index, fault));
    }
    return fault == nullptr;
}

TfLiteStatus FakeGraph::ResizeTensor(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* size)
{
    FakeGraph& graph = Of(context);
    if (!graph.CheckResize(tensor, size))
    {
        std::free(size);
        return kTfLiteError;
    }
    return graph.ApplyResize(static_cast<int32_t>(tensor - graph.m_Tensors.data()), size);
}

TfLiteStatus FakeGraph::ApplyResize(int32_t index, TfLiteIntArray* size)
{
    TfLiteTensor& tensor = Tensor(index);
    IntArrayPtr former(tensor.dims);
    m_IsResized = m_IsResized || ToVector(former.get()) != ToVector(size);
    tensor.dims = size;
    tensor.bytes = SizeOfType(tensor.type);
    for (int32_t dim : ToVector(size))
    {
        tensor.bytes *= static_cast<size_t>(dim);
    }
    TensorMemory& memory = *m_TensorMemory[static_cast<size_t>(index)];
    if (tensor.allocation_type == kTfLiteDynamic)
    {
        std::free(memory.m_Dynamic);
        memory.m_Dynamic = tensor.bytes == 0 ? nullptr : std::malloc(tensor.bytes);
        if (memory.m_Dynamic != nullptr)
        {
            std::memset(memory.m_Dynamic, PoisonByte, tensor.bytes);
        }
        tensor.data = memory.m_Dynamic;
    }
    else
    {
        tensor.data = nullptr;
    }
    Discard(former);
    return kTfLiteOk;
}

void FakeGraph::ReportError(TfLiteContext* context, const char* format, ...)
{
    FakeGraph& graph = Of(context);
    if (format == nullptr)
    {
        graph.Forbid("ReportError was given null.");
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    va_end(arguments);

    ++graph.m_NumTexts;
    graph.m_Runtime.m_Errors += text;
    if (graph.IsDelegateRunning())
    {
        if (text.size() < 2 || text.back() != '\n')
        {
            graph.Forbid(fmt::format("The text '{}' does not end with a newline.", text));
        }
        graph.m_Runtime.m_DelegateTexts.push_back(text);
    }
}

TfLiteStatus FakeGraph::AddTensors(TfLiteContext* context, int32_t count, int32_t* first)
{
    FakeGraph& graph = Of(context);
    if (count < 0)
    {
        graph.Forbid("AddTensors was given a negative count.");
        return kTfLiteError;
    }
    if (first != nullptr)
    {
        *first = static_cast<int32_t>(graph.m_Tensors.size());
    }
    for (int32_t i = 0; i < count; ++i)
    {
        graph.AddTensor(kTfLiteNoType, {});
    }
    return kTfLiteOk;
}

bool FakeGraph::CheckNodeList(const TfLiteIntArray* nodes, const char* function) const
{
    if (nodes == nullptr)
    {
        Forbid(fmt::format("{} was given null.", function));
        return false;
    }
    std::set<int32_t> seen;
    for (int32_t node : ToVector(nodes))
    {
        if (std::count(m_Plan.begin(), m_Plan.end(), node) == 0 || !seen.insert(node).second)
        {
            Forbid(fmt::format("{} was given node {}, which is not in the plan, or given twice.", function, node));
            return false;
        }
    }
    return true;
}

std::vector<FakePartition> FakeGraph::Partition(const TfLiteIntArray* nodes) const
{
    std::vector<const TfLiteNode*> planned;
    for (int32_t node : m_Plan)
    {
        planned.push_back(&m_Nodes[static_cast<size_t>(node)].m_Node);
    }
    const std::vector<int32_t> taken = ToVector(nodes);
    return MakePartitions(
        {m_Plan, planned, taken, m_Outputs, m_Tensors.size(), m_Runtime.m_Options.m_PreservesAllTensors});
}

std::unique_ptr<FakeGraph::ParamsMemory> FakeGraph::MakeParams(const FakePartition& partition, TfLiteDelegate* delegate)
{
    auto memory = std::make_unique<ParamsMemory>();
    memory->m_Nodes = MakeIntArray(partition.m_Nodes);
    memory->m_Inputs = MakeIntArray(partition.m_Inputs);
    memory->m_Outputs = MakeIntArray(partition.m_Outputs);
    memory->m_Params = {delegate, memory->m_Nodes.get(), memory->m_Inputs.get(), memory->m_Outputs.get()};
    return memory;
}

void FakeGraph::DiscardPreviews()
{
    for (const std::unique_ptr<ParamsMemory>& preview : m_Previews)
    {
        Discard(preview->m_Nodes);
        Discard(preview->m_Inputs);
        Discard(preview->m_Outputs);
    }
    m_Previews.clear();
    m_PreviewArray.clear();
}

TfLiteStatus FakeGraph::PreviewPartitioning(TfLiteContext* context, const TfLiteIntArray* nodes,
                                            TfLiteDelegateParams** partitions, int32_t* count)
{
    FakeGraph& graph = Of(context);
    if (!graph.CheckDelegatePrepares("PreviewDelegatePartitioning") ||
        !graph.CheckNodeList(nodes, "PreviewDelegatePartitioning"))
    {
        return kTfLiteError;
    }
    if (partitions == nullptr || count == nullptr)
    {
        graph.Forbid("PreviewDelegatePartitioning was given null.");
        return kTfLiteError;
    }
    graph.DiscardPreviews();
    for (const FakePartition& partition : graph.Partition(nodes))
    {
        if (partition.m_IsTaken)
        {
            graph.m_Previews.push_back(MakeParams(partition, nullptr));
            graph.m_PreviewArray.push_back(graph.m_Previews.back()->m_Params);
        }
    }
    *partitions = graph.m_PreviewArray.empty() ? nullptr : graph.m_PreviewArray.data();
    *count = static_cast<int32_t>(graph.m_PreviewArray.size());
    return kTfLiteOk;
}

template <size_t Bytes>
TfLiteStatus FakeGraph::ReplaceNodes(TfLiteContext* context, KernelOf<Bytes> kernel, const TfLiteIntArray* nodes,
                                     TfLiteDelegate* delegate)
{
    FakeGraph& graph = Of(context);
    TfLiteRegistration registration{};
    std::memcpy(static_cast<void*>(&registration), kernel.m_Words, std::min(Bytes, sizeof(TfLiteRegistration)));
    for (size_t i = sizeof(TfLiteRegistration) / sizeof(uint64_t); i < Bytes / sizeof(uint64_t); ++i)
    {
        if (kernel.m_Words[i] != 0)
        {
            graph.Forbid(fmt::format("Byte {} of the kernel's registration is not zero.", i * sizeof(uint64_t)));
        }
    }
    return graph.Replace(registration, nodes, delegate);
}

TfLiteStatus FakeGraph::Replace(const TfLiteRegistration& kernel, const TfLiteIntArray* nodes, TfLiteDelegate* delegate)
{
    constexpr const char* Name = "ReplaceNodeSubsetsWithDelegateKernels";
    if (!CheckDelegatePrepares(Name) || !CheckNodeList(nodes, Name))
    {
        return kTfLiteError;
    }
    if (delegate != m_CurrentDelegate)
    {
        Forbid(fmt::format("{} was given another delegate.", Name));
        return kTfLiteError;
    }
    if (kernel.invoke == nullptr || kernel.custom_name == nullptr || kernel.custom_name[0] == '\0' ||
        kernel.registration_external != nullptr || kernel.async_kernel != nullptr)
    {
        Forbid(
            fmt::format("{} was given a kernel without invoke or name, or with members that it has no use for.", Name));
        return kTfLiteError;
    }
    if (nodes->size == 0)
    {
        return kTfLiteOk;
    }
    TfLiteRegistration registration = kernel;
    registration.builtin_code = delegate::DelegateCode;
    const std::vector<FakePartition> partitions = Partition(nodes);
    m_Plan.clear();
    for (const FakePartition& partition : partitions)
    {
        if (!partition.m_IsTaken)
        {
            m_Plan.insert(m_Plan.end(), partition.m_Nodes.begin(), partition.m_Nodes.end());
        }
        else if (const TfLiteStatus status = AddDelegateNode(registration, partition, delegate); status != kTfLiteOk)
        {
            return status;
        }
    }
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::AddDelegateNode(const TfLiteRegistration& kernel, const FakePartition& partition,
                                        TfLiteDelegate* delegate)
{
    const int32_t node = AppendNode(kernel, std::make_unique<NodeMemory>(), partition.m_Inputs, partition.m_Outputs);
    m_DelegateParams[node] = MakeParams(partition, delegate);
    TfLiteDelegateParams& params = m_DelegateParams[node]->m_Params;
    Node(node).builtin_data = &params;
    Node(node).delegate = delegate;
    m_Plan.push_back(node);
    if (kernel.init != nullptr)
    {
        Call call(*this, Phase::Init, node);
        void* data = kernel.init(m_Context, reinterpret_cast<const char*>(&params), 0);
        call.Finish(kTfLiteOk);
        if (reinterpret_cast<intptr_t>(data) == -1)
        {
            Forbid("init returned -1.");
            return kTfLiteError;
        }
        Node(node).user_data = data;
    }
    for (int32_t tensor : partition.m_Outputs)
    {
        if (Tensor(tensor).delegate != nullptr && Tensor(tensor).delegate != delegate)
        {
            Report(fmt::format("Tensor {} is another delegate's.", tensor));
            return kTfLiteError;
        }
        Tensor(tensor).delegate = delegate;
    }
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::GetModelMetadata(const TfLiteContext* context, const char* name, const char** data,
                                         size_t* bytes)
{
    if (name == nullptr || data == nullptr || bytes == nullptr)
    {
        Of(context).Forbid("GetModelMetadata was given null.");
        return kTfLiteError;
    }
    if (std::string_view(name) != "min_runtime_version")
    {
        return kTfLiteError;
    }
    *data = MinRuntimeVersion;
    *bytes = std::string_view(MinRuntimeVersion).size();
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::AcquireSubgraphContext(TfLiteContext* context, int32_t subgraph, TfLiteContext** acquired)
{
    FakeGraph& graph = Of(context);
    if (!graph.CheckDelegatePrepares("AcquireSubgraphContext"))
    {
        return kTfLiteError;
    }
    if (subgraph < 0 || static_cast<size_t>(subgraph) >= graph.m_Runtime.m_Graphs.size())
    {
        return kTfLiteError;
    }
    FakeGraph& other = graph.m_Runtime.Graph(subgraph);
    if (&other != &graph)
    {
        if (other.m_IsAcquired)
        {
            graph.Forbid(fmt::format("The context of subgraph {} was acquired twice.", subgraph));
        }
        other.m_IsAcquired = true;
        other.m_CurrentDelegate = graph.m_CurrentDelegate;
        other.m_Phase = Phase::DelegatePrepare;
        other.SetDelegateFunctions(true);
    }
    *acquired = other.m_Context;
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::ReleaseSubgraphContext(TfLiteContext* context, int32_t subgraph)
{
    FakeGraph& graph = Of(context);
    if (subgraph < 0 || static_cast<size_t>(subgraph) >= graph.m_Runtime.m_Graphs.size())
    {
        return kTfLiteError;
    }
    FakeGraph& other = graph.m_Runtime.Graph(subgraph);
    if (&other != &graph)
    {
        if (!other.m_IsAcquired)
        {
            graph.Forbid(fmt::format("The context of subgraph {} was released and not acquired.", subgraph));
        }
        other.m_IsAcquired = false;
        other.m_CurrentDelegate = nullptr;
        other.m_Phase = Phase::None;
        other.SetDelegateFunctions(false);
    }
    return kTfLiteOk;
}

} // namespace tenon::test
