// SPDX-License-Identifier: Apache-2.0
// FakeGraph: a subgraph of FakeRuntime: tensors, nodes, the plan, and the TfLiteContext that shows them to delegates
// and kernels. Its functions follow TensorFlow Lite's, with additional checks: see FakeRuntime.hpp.
#pragma once

#include "delegate/FakeKernels.hpp"
#include "delegate/FakeMemory.hpp"
#include "delegate/FakePartitions.hpp"
#include "delegate/TfLiteInterface.hpp"

#include <gtest/gtest.h>

#include <cstdarg>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::test
{

class FakeRuntime;

/// Quantization by scales: none without scales, per tensor with one, per index of an axis with several.
struct FakeQuantization
{
    std::vector<float> m_Scales;
    std::vector<int32_t> m_ZeroPoints;
    int32_t m_Axis = 0;
};

class FakeGraph
{
public:
    FakeGraph(FakeRuntime& runtime, int32_t index);
    ~FakeGraph();

    FakeGraph(const FakeGraph&) = delete;
    FakeGraph& operator=(const FakeGraph&) = delete;

    // The model. Each of these functions returns the number of the added item.
    int32_t AddTensor(TfLiteType type, const std::vector<int32_t>& dims, const FakeQuantization& quantization = {},
                      const std::vector<int32_t>& signature = {});
    int32_t AddConstant(TfLiteType type, const std::vector<int32_t>& dims, std::shared_ptr<const FakeConstant> values,
                        const FakeQuantization& quantization = {});
    template <typename T>
    int32_t AddConstant(TfLiteType type, const std::vector<int32_t>& dims, const std::vector<T>& values,
                        const FakeQuantization& quantization = {})
    {
        auto memory = std::make_shared<FakeConstant>(values.data(), values.size() * sizeof(T));
        return AddConstant(type, dims, std::move(memory), quantization);
    }
    int32_t AddVariable(TfLiteType type, const std::vector<int32_t>& dims, const FakeQuantization& quantization = {});
    int32_t AddNode(int32_t code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                    const std::vector<uint8_t>& params = {}, int32_t version = 1);
    int32_t AddCustomNode(const std::string& name, const std::vector<int32_t>& inputs,
                          const std::vector<int32_t>& outputs, const std::vector<uint8_t>& options = {});
    void SetInputs(const std::vector<int32_t>& tensors) { m_Inputs = tensors; }
    void SetOutputs(const std::vector<int32_t>& tensors) { m_Outputs = tensors; }
    /// The memory of a constant, for AddConstant of other graphs.
    std::shared_ptr<const FakeConstant> ConstantOf(int32_t tensor) const { return m_Constants.at(tensor); }

    // The life cycle, with TensorFlow Lite's statuses.
    TfLiteStatus ModifyGraphWithDelegate(TfLiteDelegate* delegate);
    TfLiteStatus RemoveAllDelegates();
    TfLiteStatus ResizeInput(int32_t tensor, const std::vector<int32_t>& dims);
    TfLiteStatus AllocateTensors();
    /// Kernels are prepared again, and all tensors of the arena get other memory.
    TfLiteStatus PrepareAgain();
    TfLiteStatus Invoke();
    void ResetVariables();
    /// Tensors of the arena get other memory with the same values.
    void MoveArena();

    // Functions that read the graph.
    TfLiteContext& Context() { return *m_Context; }
    TfLiteTensor& Tensor(int32_t tensor) { return m_Tensors[static_cast<size_t>(tensor)]; }
    TfLiteNode& Node(int32_t node) { return m_Nodes[static_cast<size_t>(node)].m_Node; }
    std::vector<int32_t> DimsOf(int32_t tensor) { return ToVector(Tensor(tensor).dims); }
    const std::vector<int32_t>& Plan() const { return m_Plan; }
    /// Kernels of delegates in the plan.
    size_t CountDelegateNodes() const;
    /// "DELEGATE Mystery DELEGATE".
    std::string PlanText() const;
    /// The values of a tensor. If it has no memory, the test fails and the result is empty.
    template <typename T>
    std::span<T> Values(int32_t tensor)
    {
        const TfLiteTensor& read = Tensor(tensor);
        EXPECT_TRUE(read.data != nullptr || read.bytes == 0) << "Tensor " << tensor << " has no memory.";
        return {static_cast<T*>(read.data), read.data == nullptr ? 0 : read.bytes / sizeof(T)};
    }
    template <typename T>
    void SetValues(int32_t tensor, const std::vector<T>& values)
    {
        const std::span<T> target = Values<T>(tensor);
        ASSERT_EQ(target.size(), values.size());
        std::copy(values.begin(), values.end(), target.begin());
    }
    template <typename T>
    std::vector<T> ReadValues(int32_t tensor)
    {
        const std::span<T> values = Values<T>(tensor);
        return {values.begin(), values.end()};
    }

private:
    friend class FakeRuntime;

    struct NodeAndKernel
    {
        TfLiteNode m_Node;
        TfLiteRegistration m_Kernel;
    };
    /// The memory that a node's pointers point to.
    struct NodeMemory
    {
        IntArrayPtr m_Inputs, m_Outputs, m_Intermediates, m_Temporaries;
        std::unique_ptr<void, FreeDeleter> m_Params; ///< exactly as long as the parameters
        std::vector<uint8_t> m_Options;
        std::string m_Name;
    };
    struct TensorMemory
    {
        std::string m_Name;
        IntArrayPtr m_Signature;
        FloatArrayPtr m_Scales;
        IntArrayPtr m_ZeroPoints;
        TfLiteAffineQuantization m_Quantization;
        ArenaBlock m_Arena;
        void* m_Dynamic = nullptr; ///< allocated by malloc
    };
    /// The arrays of TfLiteDelegateParams.
    struct ParamsMemory
    {
        TfLiteDelegateParams m_Params;
        IntArrayPtr m_Nodes, m_Inputs, m_Outputs;
    };
    enum class State
    {
        Uninvokable,
        Invokable,
        Immutable ///< invokable; a resize removes the delegates first
    };
    /// The foreign code that runs now.
    enum class Phase
    {
        None,
        DelegatePrepare,
        Init,
        Prepare,
        Invoke,
        Free
    };
    /// Members of a tensor that only its own node changes.
    struct TensorState
    {
        const void* m_Data;
        const void* m_Dims;
        TfLiteType m_Type;
        TfLiteAllocationType m_Allocation;
        bool operator==(const TensorState&) const = default;
    };
    /// Checks the changes of a call, and that an error has a text.
    class Call;
    /// A registration in the form of a runtime that knows `Bytes` bytes of it.
    template <size_t Bytes>
    struct KernelOf
    {
        uint64_t m_Words[Bytes / sizeof(uint64_t)];
    };

    static FakeGraph& Of(const TfLiteContext* context) { return *static_cast<FakeGraph*>(context->impl_); }
    void Forbid(const std::string& text) const;

    // FakeContext.cpp: functions of the context and their implementations.
    void MakeContext();
    void SetDelegateFunctions(bool isAllowed);
    /// Checks a call of a function that delegates may call in their Prepare alone. If it is called elsewhere, the test
    /// fails and the result is false.
    bool CheckDelegatePrepares(const char* function) const;
    static TfLiteStatus GetExecutionPlan(TfLiteContext* context, TfLiteIntArray** plan);
    static TfLiteStatus ResizeTensor(TfLiteContext* context, TfLiteTensor* tensor, TfLiteIntArray* size);
    static void ReportError(TfLiteContext* context, const char* format, ...);
    static TfLiteStatus AddTensors(TfLiteContext* context, int32_t count, int32_t* first);
    static TfLiteStatus GetNodeAndRegistration(TfLiteContext* context, int32_t node, TfLiteNode** nodeOut,
                                               TfLiteRegistration** registration);
    static TfLiteStatus PreviewPartitioning(TfLiteContext* context, const TfLiteIntArray* nodes,
                                            TfLiteDelegateParams** partitions, int32_t* count);
    template <size_t Bytes>
    static TfLiteStatus ReplaceNodes(TfLiteContext* context, KernelOf<Bytes> kernel, const TfLiteIntArray* nodes,
                                     TfLiteDelegate* delegate);
    static TfLiteStatus GetModelMetadata(const TfLiteContext* context, const char* name, const char** data,
                                         size_t* bytes);
    static TfLiteStatus AcquireSubgraphContext(TfLiteContext* context, int32_t subgraph, TfLiteContext** acquired);
    static TfLiteStatus ReleaseSubgraphContext(TfLiteContext* context, int32_t subgraph);
    bool CheckNodeList(const TfLiteIntArray* nodes, const char* function) const;
    bool CheckResize(const TfLiteTensor* tensor, const TfLiteIntArray* size) const;
    TfLiteStatus ApplyResize(int32_t tensor, TfLiteIntArray* size);
    void DiscardPreviews();
    std::vector<FakePartition> Partition(const TfLiteIntArray* nodes) const;
    TfLiteStatus Replace(const TfLiteRegistration& kernel, const TfLiteIntArray* nodes, TfLiteDelegate* delegate);
    TfLiteStatus AddDelegateNode(const TfLiteRegistration& kernel, const FakePartition& partition,
                                 TfLiteDelegate* delegate);
    static std::unique_ptr<ParamsMemory> MakeParams(const FakePartition& partition, TfLiteDelegate* delegate);

    // FakeGraph.cpp
    int32_t AppendTensor(const TfLiteTensor& tensor, std::unique_ptr<TensorMemory> memory);
    int32_t AppendNode(TfLiteRegistration kernel, std::unique_ptr<NodeMemory> memory,
                       const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs);
    void FreeKernel(int32_t node);
    TfLiteStatus RestoreUnlessOk(TfLiteStatus status);
    TfLiteStatus UndoDelegates();
    TfLiteStatus RedoDelegates();
    TfLiteStatus AllocateAgain();
    TfLiteStatus PrepareNodes();
    TfLiteStatus PrepareNode(int32_t node);
    TfLiteStatus InvokeNode(int32_t node);
    bool CheckInputs(int32_t node);
    void AllocateArena();
    void ReleaseArena();
    void PoisonResults();
    bool HasDynamicTensor(const std::vector<int32_t>& tensors) const;
    std::vector<TensorState> ReadStates() const;
    /// Whether the node may change the tensor.
    bool BelongsTo(int32_t tensor, int32_t node) const;
    bool IsDelegateRunning() const;
    /// Reports an error of the runtime itself.
    void Report(const std::string& text) const;

    FakeRuntime& m_Runtime;
    int32_t m_Index;
    std::unique_ptr<uint8_t[]> m_ContextMemory;
    TfLiteContext* m_Context = nullptr;
    std::vector<int32_t> m_Inputs, m_Outputs;

    MovingArray<TfLiteTensor> m_Tensors;
    std::vector<std::unique_ptr<TensorMemory>> m_TensorMemory;
    std::unordered_map<int32_t, std::shared_ptr<const FakeConstant>> m_Constants;
    MovingArray<NodeAndKernel> m_Nodes;
    std::vector<std::unique_ptr<NodeMemory>> m_NodeMemory;
    std::unordered_map<int32_t, std::unique_ptr<ParamsMemory>> m_DelegateParams; ///< by node

    std::vector<int32_t> m_Plan;
    std::vector<int32_t> m_PlanBefore; ///< delegates
    std::vector<TfLiteDelegate*> m_Delegates;
    bool m_IsUndone = false;
    State m_State = State::Uninvokable;
    size_t m_NumPrepared = 0; ///< nodes of the plan that were prepared
    bool m_HasDynamicTensors = false;
    bool m_WasAllocated = false;
    bool m_IsResized = false; ///< a tensor got other dims since the current node began to run

    Phase m_Phase = Phase::None;
    int32_t m_CurrentNode = -1;
    TfLiteDelegate* m_CurrentDelegate = nullptr; ///< the delegate that prepares
    bool m_IsAcquired = false;                   ///< acquired by AcquireSubgraphContext
    size_t m_NumTexts = 0;                       ///< texts of the current call
    IntArrayPtr m_PlanCopy;                      ///< the result of GetExecutionPlan
    std::vector<std::unique_ptr<ParamsMemory>> m_Previews;
    std::vector<TfLiteDelegateParams> m_PreviewArray;
};

} // namespace tenon::test
