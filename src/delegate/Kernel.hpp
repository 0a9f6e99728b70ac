// SPDX-License-Identifier: Apache-2.0
// Kernel: the kernel by which an interpreter runs a partition in place of its nodes. Delegate registers it.
#pragma once

#include "common/FunctionRef.hpp"
#include "delegate/PartitionLoader.hpp"

#include <string>
#include <vector>

namespace tenon::delegate
{

/// Calls the function. An exception goes to the interpreter's error log and makes the status `failure`.
TfLiteStatus Guard(TfLiteContext* context, TfLiteStatus failure, FunctionRef<void()> function);

class Kernel
{
public:
    /// The registration by which an interpreter makes kernels.
    static TfLiteKernelRegistration Registration();

    /// `graph` has the partition's nodes. `loaded` is null if they could not be loaded; Prepare then reports `error`.
    Kernel(std::shared_ptr<const PartitionLoader> loader, GraphView graph, Partition partition,
           LoadedPartitionPtr loaded, std::string error);
    ~Kernel();
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// Plans a run with the present sizes of the inputs, and sets the sizes of the outputs. Called several times before
    /// the first run. Throws tenon::Exception.
    void Prepare(TfLiteContext& context);
    /// Throws tenon::Exception.
    void Invoke(TfLiteContext& context);

private:
    struct Output
    {
        int32_t m_Tensor;
        LayerBindingId m_Id;
        TensorInfo m_Info;
        bool m_IsDynamic; ///< its sizes are known after the run
    };

    void SetLoaded(LoadedPartitionPtr loaded);
    void LoadAnew(const std::string& reason);
    void Plan();
    bool HasOtherRanks() const;
    void TakeSizes(const TfLiteContext& context);
    void FitOutputs(TfLiteContext& context);
    void BindInputs(const TfLiteContext& context);
    void* FindMemory(TfLiteContext& context, const Output& output, const TensorInfo& info) const;

    const std::shared_ptr<const PartitionLoader> m_Loader;
    const GraphView m_Graph; ///< nodes of the partition
    const Partition m_Partition;
    const std::string m_Error;
    LoadedPartitionPtr m_Loaded;
    SessionId m_Session = SessionId::Default; ///< session of m_Loaded, which other interpreters may use, too
    unsigned int m_NumThreads = 0;
    std::vector<std::pair<LayerBindingId, TensorInfo>> m_InputInfos; ///< in the order of m_Loaded->Inputs()
    std::vector<size_t> m_Ranks;                                     ///< ranks of the inputs for which m_Loaded was
                                                                     ///< made
    std::vector<Output> m_Outputs;
    bool m_HasDynamicOutputs = false;
    bool m_IsPlanned = false; ///< there is a plan for m_InputInfos
    InputTensors m_InputTensors;
    OutputTensors m_OutputTensors;
};

} // namespace tenon::delegate
