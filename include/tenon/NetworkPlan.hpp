// SPDX-License-Identifier: Apache-2.0
// NetworkPlan: the way in which a loaded network runs: its kernels, their memory, and the layers that run as one. For
// people who want to know why a network takes the time and the memory that it takes; ExecuteNetwork --print-plan prints
// it (Tenon).
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tenon
{

struct NetworkPlan;

/// An output of a layer.
struct PlannedTensor
{
    /// The shape may be unknown where the layer is shaped only during the run.
    TensorInfo m_Info;
    /// "arena", "constant", "input 0" and "output 1" (binding ids of the application's memory), "state 'h'", the name
    /// of a device's memory, "imported by" such a name, or "its own" of a tensor that is shaped during the run.
    std::string m_Memory;
    size_t m_Offset = 0; ///< in that memory, bytes
    /// Whether the tensor lies between layers that run tile by tile: at any time it exists for one tile of each thread
    /// alone.
    bool m_IsTiled = false;
};

/// A layer in the order of execution.
struct PlannedLayer
{
    LayerGuid m_Guid;
    std::string m_Name;
    std::string m_Type;    ///< "Convolution2d"
    std::string m_Backend; ///< empty where the runtime itself runs it
    /// The name of the kernel that runs the layer, alone or with others; the layer's type where the runtime itself runs
    /// it. "+InPlace" behind the name: there is nothing to copy.
    std::string m_Kernel;
    /// Faster kernels that declined these shapes and why: "CpuSoftmax: not along the last dimension". Empty: none did.
    std::string m_Declined;
    std::vector<PlannedTensor> m_Outputs;
    size_t m_ScratchBytes = 0;
    /// Whether its shapes are known before the run; else it is shaped during each run.
    bool m_IsPlanned = false;
    /// The networks inside of an If or While layer, as far as they have run.
    std::vector<NetworkPlan> m_Bodies;
    /// Which of its variants the kernel runs and why: "AmxS8, implicit GEMM: dot products of bytes", "row strips:
    /// 64 channels; ring buffer to int8: 8 channels". Empty: it has none to tell apart.
    std::string m_Variant;
};

/// The outcome of one fusion on some layers.
struct FusionReport
{
    std::string m_Fusion; ///< "Attention", "ElementwiseChain", "CrossLayerTiling", "ResidualAdd" or "ConcatInPlace"
    size_t m_First = 0;   ///< the first layer, an index into NetworkPlan::m_Layers
    size_t m_Last = 0;    ///< the last layer; layers between them need not be part of it
    std::string m_WhyNot; ///< why it is not applied with m_MaxThreads threads; empty: it is
};

/// How a network runs with the input shapes of its latest run, or of its load.
struct NetworkPlan
{
    unsigned int m_MaxThreads = 0;          ///< that layers have scratch memory for; 0: there is no plan yet
    std::vector<TensorShape> m_InputShapes; ///< in the order of the network's inputs
    size_t m_ArenaBytes = 0;                ///< of the host
    std::vector<PlannedLayer> m_Layers;
    std::vector<FusionReport> m_Fusions; ///< tried fusions, in the order of trial
};

/// The names that FusionReport::m_Fusion has, in the order of trial.
TENON_API std::vector<std::string> GetFusionNames();

} // namespace tenon
