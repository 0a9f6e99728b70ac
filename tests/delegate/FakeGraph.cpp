// SPDX-License-Identifier: Apache-2.0
#include "delegate/FakeGraph.hpp"

#include "delegate/FakeCall.hpp"
#include "delegate/FakeRuntime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon::test
{

namespace
{

size_t BytesOfTensor(TfLiteType type, const std::vector<int32_t>& dims)
{
    size_t bytes = SizeOfType(type);
    for (int32_t size : dims)
    {
        bytes *= static_cast<size_t>(size);
    }
    return bytes;
}

} // namespace

FakeGraph::FakeGraph(FakeRuntime& runtime, int32_t index) : m_Runtime(runtime), m_Index(index)
{
    MakeContext();
}

FakeGraph::~FakeGraph()
{
    for (size_t node = 0; node < m_Nodes.size(); ++node)
    {
        FreeKernel(static_cast<int32_t>(node));
    }
    for (const std::unique_ptr<TensorMemory>& memory : m_TensorMemory)
    {
        std::free(memory->m_Dynamic);
    }
    for (const TfLiteTensor& tensor : m_Tensors)
    {
        std::free(tensor.dims);
    }
    for (const auto& [tensor, constant] : m_Constants)
    {
        if (!constant->IsUnchanged())
        {
            Forbid(fmt::format("The values of constant {} were changed.", tensor));
        }
    }
    Discard(m_PlanCopy);
}

void FakeGraph::Forbid(const std::string& text) const
{
    m_Runtime.m_Violations.push_back(text);
}

void FakeGraph::Report(const std::string& text) const
{
    m_Runtime.m_Errors += text + "\n";
}

int32_t FakeGraph::AppendTensor(const TfLiteTensor& tensor, std::unique_ptr<TensorMemory> memory)
{
    const auto index = static_cast<int32_t>(m_Tensors.size());
    m_TensorMemory.push_back(std::move(memory));
    m_Tensors.Add(tensor);
    m_Context->tensors = m_Tensors.data();
    m_Context->tensors_size = m_Tensors.size();
    return index;
}

int32_t FakeGraph::AddTensor(TfLiteType type, const std::vector<int32_t>& dims, const FakeQuantization& quantization,
                             const std::vector<int32_t>& signature)
{
    auto memory = std::make_unique<TensorMemory>();
    memory->m_Name = fmt::format("t{}", m_Tensors.size());
    TfLiteTensor tensor{};
    tensor.type = type;
    tensor.dims = MakeIntArray(dims).release();
    tensor.allocation_type = kTfLiteArenaRw;
    tensor.bytes = BytesOfTensor(type, dims);
    tensor.name = memory->m_Name.c_str();
    tensor.buffer_handle = -1;
    if (!quantization.m_Scales.empty())
    {
        memory->m_Scales = MakeArray<TfLiteFloatArray>(quantization.m_Scales);
        memory->m_ZeroPoints = MakeIntArray(quantization.m_ZeroPoints);
        memory->m_Quantization = {memory->m_Scales.get(), memory->m_ZeroPoints.get(), quantization.m_Axis};
        tensor.quantization = {kTfLiteAffineQuantization, &memory->m_Quantization};
        if (quantization.m_Scales.size() == 1)
        {
            tensor.params = {quantization.m_Scales[0], quantization.m_ZeroPoints[0]};
        }
    }
    if (!signature.empty())
    {
        memory->m_Signature = MakeIntArray(signature);
        tensor.dims_signature = memory->m_Signature.get();
    }
    return AppendTensor(tensor, std::move(memory));
}

int32_t FakeGraph::AddConstant(TfLiteType type, const std::vector<int32_t>& dims,
                               std::shared_ptr<const FakeConstant> values, const FakeQuantization& quantization)
{
    const int32_t index = AddTensor(type, dims, quantization);
    TfLiteTensor& tensor = Tensor(index);
    EXPECT_EQ(tensor.bytes, values->Bytes());
    tensor.allocation_type = kTfLiteMmapRo;
    tensor.data = values->Data();
    tensor.allocation = values.get();
    m_Constants[index] = std::move(values);
    return index;
}

int32_t FakeGraph::AddVariable(TfLiteType type, const std::vector<int32_t>& dims, const FakeQuantization& quantization)
{
    const int32_t index = AddTensor(type, dims, quantization);
    Tensor(index).allocation_type = kTfLiteArenaRwPersistent;
    Tensor(index).is_variable = true;
    return index;
}

int32_t FakeGraph::AppendNode(TfLiteRegistration kernel, std::unique_ptr<NodeMemory> memory,
                              const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs)
{
    memory->m_Inputs = MakeIntArray(inputs);
    memory->m_Outputs = MakeIntArray(outputs);
    memory->m_Intermediates = MakeIntArray({});
    memory->m_Temporaries = MakeIntArray({});
    TfLiteNode node{};
    node.inputs = memory->m_Inputs.get();
    node.outputs = memory->m_Outputs.get();
    node.intermediates = memory->m_Intermediates.get();
    node.temporaries = memory->m_Temporaries.get();
    node.builtin_data = memory->m_Params.get();
    if (!memory->m_Options.empty())
    {
        node.custom_initial_data = memory->m_Options.data();
        node.custom_initial_data_size = static_cast<int32_t>(memory->m_Options.size());
    }
    m_NodeMemory.push_back(std::move(memory));
    m_Nodes.Add({node, kernel});
    m_State = State::Uninvokable;
    return static_cast<int32_t>(m_Nodes.size() - 1);
}

int32_t FakeGraph::AddNode(int32_t code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                           const std::vector<uint8_t>& params, int32_t version)
{
    auto memory = std::make_unique<NodeMemory>();
    if (!params.empty())
    {
        memory->m_Params.reset(std::malloc(params.size()));
        std::memcpy(memory->m_Params.get(), params.data(), params.size());
    }
    m_Plan.push_back(AppendNode(MakeFakeKernel(code, version), std::move(memory), inputs, outputs));
    return m_Plan.back();
}

int32_t FakeGraph::AddCustomNode(const std::string& name, const std::vector<int32_t>& inputs,
                                 const std::vector<int32_t>& outputs, const std::vector<uint8_t>& options)
{
    auto memory = std::make_unique<NodeMemory>();
    memory->m_Name = name;
    memory->m_Options = options;
    const TfLiteRegistration kernel = MakeFakeCustomKernel(memory->m_Name.c_str());
    m_Plan.push_back(AppendNode(kernel, std::move(memory), inputs, outputs));
    return m_Plan.back();
}

size_t FakeGraph::CountDelegateNodes() const
{
    return static_cast<size_t>(
        std::count_if(m_Plan.begin(), m_Plan.end(),
                      [this](int32_t node)
                      { return m_Nodes[static_cast<size_t>(node)].m_Kernel.builtin_code == delegate::DelegateCode; }));
}

std::string FakeGraph::PlanText() const
{
    std::vector<std::string> names;
    for (int32_t node : m_Plan)
    {
        names.push_back(NameOfKernel(m_Nodes[static_cast<size_t>(node)].m_Kernel));
    }
    return fmt::format("{}", fmt::join(names, " "));
}

TfLiteStatus FakeGraph::ModifyGraphWithDelegate(TfLiteDelegate* delegate)
{
    const bool allowsDynamic = (delegate->flags & kTfLiteDelegateFlagsAllowDynamicTensors) != 0;
    if (!allowsDynamic)
    {
        m_NumPrepared = 0;
        if (const TfLiteStatus status = PrepareNodes(); status != kTfLiteOk)
        {
            return status;
        }
        if (m_HasDynamicTensors)
        {
            AllocateAgain();
            Report("Attempting to use a delegate that only supports static-sized tensors with a graph that has "
                   "dynamic-sized tensors.");
            return kTfLiteApplicationError;
        }
    }
    const bool wasInvokable = m_State == State::Invokable;
    if (m_Delegates.empty())
    {
        m_PlanBefore = m_Plan;
    }
    TfLiteStatus status = kTfLiteOk;
    {
        SetDelegateFunctions(true);
        m_CurrentDelegate = delegate;
        Call call(*this, Phase::DelegatePrepare, -1);
        status = call.Finish(delegate->Prepare(m_Context, delegate));
        SetDelegateFunctions(false);
        DiscardPreviews();
        m_CurrentDelegate = nullptr;
        for (const std::unique_ptr<FakeGraph>& graph : m_Runtime.m_Graphs)
        {
            if (graph->m_IsAcquired)
            {
                Forbid(fmt::format("The context of subgraph {} was acquired and not released.", graph->m_Index));
            }
        }
    }
    if (status == kTfLiteOk && (!allowsDynamic || wasInvokable))
    {
        status = AllocateAgain();
    }
    if (status != kTfLiteOk)
    {
        return RestoreUnlessOk(status);
    }
    if (!allowsDynamic)
    {
        m_State = State::Immutable;
    }
    m_Delegates.push_back(delegate);
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::RestoreUnlessOk(TfLiteStatus status)
{
    if (status == kTfLiteOk)
    {
        return status;
    }
    if (const TfLiteStatus removed = RemoveAllDelegates(); removed != kTfLiteOk)
    {
        return removed;
    }
    Report("Restored original execution plan after delegate application failure.");
    return kTfLiteDelegateError;
}

TfLiteStatus FakeGraph::RemoveAllDelegates()
{
    UndoDelegates();
    m_Delegates.clear();
    m_IsUndone = false;
    return m_WasAllocated ? AllocateAgain() : kTfLiteOk;
}

TfLiteStatus FakeGraph::UndoDelegates()
{
    if (m_PlanBefore.empty())
    {
        return kTfLiteOk;
    }
    const size_t kept = static_cast<size_t>(*std::max_element(m_PlanBefore.begin(), m_PlanBefore.end())) + 1;
    for (size_t node = kept; node < m_Nodes.size(); ++node)
    {
        FreeKernel(static_cast<int32_t>(node));
        m_DelegateParams.erase(static_cast<int32_t>(node));
    }
    m_Nodes.Shrink(kept);
    m_NodeMemory.resize(kept);
    for (size_t i = 0; i < m_Tensors.size(); ++i)
    {
        m_Tensors[i].delegate = nullptr;
    }
    m_Plan = std::exchange(m_PlanBefore, {});
    m_State = State::Uninvokable;
    m_IsUndone = true;
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::RedoDelegates()
{
    if (!std::exchange(m_IsUndone, false))
    {
        return kTfLiteOk;
    }
    for (TfLiteDelegate* delegate : std::exchange(m_Delegates, {}))
    {
        if (const TfLiteStatus status = ModifyGraphWithDelegate(delegate); status != kTfLiteOk)
        {
            return status;
        }
    }
    return kTfLiteOk;
}

void FakeGraph::FreeKernel(int32_t node)
{
    NodeAndKernel& freed = m_Nodes[static_cast<size_t>(node)];
    if (freed.m_Kernel.free != nullptr && freed.m_Node.user_data != nullptr)
    {
        Call call(*this, Phase::Free, node);
        freed.m_Kernel.free(m_Context, freed.m_Node.user_data);
        call.Finish(kTfLiteOk);
    }
    freed.m_Node.user_data = nullptr;
}

TfLiteStatus FakeGraph::ResizeInput(int32_t tensor, const std::vector<int32_t>& dims)
{
    if (Tensor(tensor).data != nullptr && DimsOf(tensor) == dims)
    {
        return kTfLiteOk;
    }
    if (m_State == State::Immutable)
    {
        UndoDelegates();
    }
    m_State = State::Uninvokable;
    return ApplyResize(tensor, MakeIntArray(dims).release());
}

TfLiteStatus FakeGraph::AllocateTensors()
{
    if (const TfLiteStatus status = RedoDelegates(); status != kTfLiteOk)
    {
        return status;
    }
    if (m_State != State::Uninvokable && !HasDynamicTensor(m_Inputs))
    {
        return kTfLiteOk;
    }
    m_WasAllocated = true;
    ReleaseArena();
    // Kernels are prepared anew whenever another delegate is applied.
    for (int round = 0; round < 2; ++round)
    {
        m_NumPrepared = 0;
        if (const TfLiteStatus status = PrepareNodes(); status != kTfLiteOk)
        {
            return status;
        }
    }
    AllocateArena();
    m_State = State::Invokable;
    ResetVariables();
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::AllocateAgain()
{
    m_State = State::Uninvokable;
    return AllocateTensors();
}

TfLiteStatus FakeGraph::PrepareAgain()
{
    const State before = m_State;
    const TfLiteStatus status = AllocateAgain();
    m_State = status == kTfLiteOk ? before : m_State;
    return status;
}

TfLiteStatus FakeGraph::PrepareNodes()
{
    if (m_NumPrepared == 0)
    {
        m_HasDynamicTensors = HasDynamicTensor(m_Outputs);
    }
    while (m_NumPrepared < m_Plan.size())
    {
        const int32_t node = m_Plan[m_NumPrepared];
        if (const TfLiteStatus status = PrepareNode(node); status != kTfLiteOk)
        {
            Report(fmt::format("Node number {} ({}) failed to prepare.", node,
                               NameOfKernel(m_Nodes[static_cast<size_t>(node)].m_Kernel)));
            return status;
        }
        ++m_NumPrepared;
        if (HasDynamicTensor(ToVector(Node(node).outputs)))
        {
            m_HasDynamicTensors = true;
            break;
        }
    }
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::PrepareNode(int32_t node)
{
    NodeAndKernel& prepared = m_Nodes[static_cast<size_t>(node)];
    if (prepared.m_Kernel.prepare != nullptr)
    {
        Call call(*this, Phase::Prepare, node);
        return call.Finish(prepared.m_Kernel.prepare(m_Context, &prepared.m_Node));
    }
    if (prepared.m_Kernel.invoke == nullptr)
    {
        Report(fmt::format("Encountered unresolved custom op: {}.", prepared.m_Kernel.custom_name));
        return static_cast<TfLiteStatus>(7);
    }
    return kTfLiteOk;
}

TfLiteStatus FakeGraph::Invoke()
{
    if (m_State == State::Uninvokable)
    {
        Report("Invoke called on model that is not ready.");
        return kTfLiteError;
    }
    PoisonResults();
    for (size_t i = 0; i < m_Plan.size(); ++i)
    {
        if (i == m_NumPrepared)
        {
            if (const TfLiteStatus status = PrepareNodes(); status != kTfLiteOk)
            {
                return status;
            }
            AllocateArena();
        }
        if (std::exchange(m_Runtime.m_IsCancelled, false))
        {
            Report("Client requested cancel during Invoke()");
            return kTfLiteCancelled;
        }
        const int32_t node = m_Plan[i];
        if (!CheckInputs(node))
        {
            return kTfLiteError;
        }
        m_IsResized = false;
        if (const TfLiteStatus status = InvokeNode(node); status != kTfLiteOk)
        {
            Report(fmt::format("Node number {} ({}) failed to invoke.", node,
                               NameOfKernel(m_Nodes[static_cast<size_t>(node)].m_Kernel)));
            return status;
        }
        if (m_IsResized && HasDynamicTensor(ToVector(Node(node).outputs)))
        {
            m_NumPrepared = i + 1;
        }
    }
    return kTfLiteOk;
}

bool FakeGraph::CheckInputs(int32_t node)
{
    for (int32_t tensor : ToVector(Node(node).inputs))
    {
        if (tensor != delegate::AbsentTensor && Tensor(tensor).data == nullptr && Tensor(tensor).bytes != 0)
        {
            Report(fmt::format("Input tensor {} lacks data", tensor));
            return false;
        }
    }
    return true;
}

TfLiteStatus FakeGraph::InvokeNode(int32_t node)
{
    NodeAndKernel& invoked = m_Nodes[static_cast<size_t>(node)];
    if (invoked.m_Kernel.invoke == nullptr)
    {
        return kTfLiteError;
    }
    Call call(*this, Phase::Invoke, node);
    const TfLiteStatus status = call.Finish(invoked.m_Kernel.invoke(m_Context, &invoked.m_Node));
    for (int32_t tensor : ToVector(Node(node).outputs))
    {
        if (status == kTfLiteOk && tensor != delegate::AbsentTensor && Tensor(tensor).data == nullptr &&
            Tensor(tensor).bytes != 0)
        {
            Forbid(fmt::format("The kernel of node {} left its output {} without memory.", node, tensor));
        }
    }
    return status;
}

void FakeGraph::ResetVariables()
{
    for (size_t i = 0; i < m_Tensors.size(); ++i)
    {
        const TfLiteTensor& tensor = m_Tensors[i];
        if (tensor.is_variable && tensor.data != nullptr)
        {
            std::memset(tensor.data, tensor.type == kTfLiteInt8 ? tensor.params.zero_point : 0, tensor.bytes);
        }
    }
}

void FakeGraph::ReleaseArena()
{
    for (size_t i = 0; i < m_Tensors.size(); ++i)
    {
        m_TensorMemory[i]->m_Arena = ArenaBlock();
        if (m_Tensors[i].allocation_type == kTfLiteArenaRw || m_Tensors[i].allocation_type == kTfLiteArenaRwPersistent)
        {
            m_Tensors[i].data = nullptr;
        }
    }
}

void FakeGraph::AllocateArena()
{
    std::vector<int32_t> used = m_Inputs;
    for (size_t i = 0; i < m_NumPrepared; ++i)
    {
        const TfLiteNode& node = Node(m_Plan[i]);
        for (const TfLiteIntArray* operands : {node.inputs, node.outputs, node.temporaries})
        {
            const std::vector<int32_t> tensors = ToVector(operands);
            used.insert(used.end(), tensors.begin(), tensors.end());
        }
    }
    for (int32_t i : used)
    {
        if (i == delegate::AbsentTensor)
        {
            continue;
        }
        TfLiteTensor& tensor = Tensor(i);
        const bool isArena =
            tensor.allocation_type == kTfLiteArenaRw || tensor.allocation_type == kTfLiteArenaRwPersistent;
        if (isArena && tensor.data == nullptr)
        {
            ArenaBlock& block = m_TensorMemory[static_cast<size_t>(i)]->m_Arena;
            block = ArenaBlock(tensor.bytes);
            tensor.data = block.Data();
        }
    }
}

void FakeGraph::MoveArena()
{
    for (size_t i = 0; i < m_Tensors.size(); ++i)
    {
        TfLiteTensor& tensor = m_Tensors[i];
        ArenaBlock& block = m_TensorMemory[i]->m_Arena;
        if (tensor.data != nullptr && tensor.data == block.Data())
        {
            ArenaBlock moved(tensor.bytes);
            std::memcpy(moved.Data(), tensor.data, tensor.bytes);
            block = std::move(moved);
            tensor.data = block.Data();
        }
    }
}

void FakeGraph::PoisonResults()
{
    for (size_t i = 0; i < m_NumPrepared; ++i)
    {
        for (int32_t output : ToVector(Node(m_Plan[i]).outputs))
        {
            if (output != delegate::AbsentTensor && Tensor(output).allocation_type == kTfLiteArenaRw)
            {
                m_TensorMemory[static_cast<size_t>(output)]->m_Arena.Poison();
            }
        }
    }
}

bool FakeGraph::HasDynamicTensor(const std::vector<int32_t>& tensors) const
{
    return std::any_of(tensors.begin(), tensors.end(),
                       [this](int32_t tensor)
                       {
                           return tensor != delegate::AbsentTensor &&
                                  m_Tensors[static_cast<size_t>(tensor)].allocation_type == kTfLiteDynamic;
                       });
}

} // namespace tenon::test
