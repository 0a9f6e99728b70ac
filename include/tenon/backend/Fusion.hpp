// SPDX-License-Identifier: Apache-2.0
// FusionHooks: the offers of a shaped workload to the planner, which runs several layers as one or lets tensors share
// memory. A workload without hooks runs by itself.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace tenon
{

class IShapedWorkload;
struct ActivationDescriptor;
struct ReshapeArgs;

/// Tensors of a layer that are ranges of another one of its tensors, byte for byte: the inputs of a Concat along the
/// outermost dimension, the outputs of such a Splitter. The planner may let them share memory; Execute then leaves
/// alone the tensors that lie in their place already, which it sees by their addresses.
struct TensorAliases
{
    static constexpr size_t None = SIZE_MAX;

    std::vector<size_t> m_InputsInOutput; ///< by input: the offset in bytes of its first byte in output 0, or None
    std::vector<size_t> m_OutputsInInput; ///< by output: the offset in bytes of its first byte in input 0, or None
    /// By input, where each pixel of output 0 (all elements along the last dimension) is the concatenation of a pixel
    /// of each input: the offset in bytes of its first byte in output 0, or None.
    std::vector<size_t> m_InputsInPixels;

    bool Empty() const { return m_InputsInOutput.empty() && m_OutputsInInput.empty() && m_InputsInPixels.empty(); }
};

/// Computes `count` elements of output 0 from the elements at the same place of each input. The output may be the
/// memory of an input whose elements have the same size. Several threads may call it at once.
using ElementLoop = std::function<void(const void* const* inputs, void* output, size_t count)>;

/// The layers after the product of queries and keys in an attention: softmax(beta * (scores + added)) * values.
struct AttentionRest
{
    const TensorInfo* m_Added = nullptr; ///< a mask, broadcast to the scores; null: nothing is added
    float m_Beta = 1.0f;                 ///< of the softmax, which is along the last dimension
    /// Whether several threads share the work of one call, each with scratch memory of its own; else one thread runs
    /// it.
    bool m_IsShared = false;
    const ReshapeArgs& m_Product; ///< of the BatchMatMul of the softmax and the values; valid during the call
};

/// The offers of a shaped workload to the planner. The defaults offer nothing. Results have the same bytes as without
/// fusion, unless a member says otherwise. A workload that a member makes is destroyed before this one.
struct FusionHooks
{
    /// The name of the kernel that runs, for profiles; null: IWorkload::GetName(). Lives as long as the workload.
    const char* m_KernelName = nullptr;
    /// The kernels that were tried before this one and why each declined, "CpuSoftmax: not along the last dimension";
    /// null: none was. Lives as long as the workload.
    const char* m_Declined = nullptr;
    /// Null: no tensor is a range of another one. Lives as long as the workload.
    const TensorAliases* m_Aliases = nullptr;
    /// How many threads may run the layer at once in a tiled run (shaped anew for one index of leading dimensions, with
    /// scratch memory for each thread; its tensors are aligned to their elements only) and in a chain of element loops.
    /// 0: the layer is not to be tiled, and its element loop may run on any number of threads.
    unsigned int m_MaxTileThreads = 0;
    /// Whether IWorkload::Reshape takes ReshapeArgs::m_OutputPitch, for a layer of these shapes.
    bool m_WritesPitched = false;
    /// The layer as a loop over elements, its fused activation included; null: each element of the output does not
    /// come from one element of each input. It refers to nothing of this workload. Inputs that the layer broadcasts are
    /// elements of their own in it.
    ElementLoop m_ElementLoop;
    /// Makes a workload of this layer and a sum after it, so that a residual is added in the epilogue. Its inputs are
    /// those of this one and then a tensor of the type and shape of output 0, which is added to the output; then
    /// `activation`, if not null, applies. The output may be the memory of that input. Null, or gives null: there is
    /// none, as of a layer with an activation of its own.
    std::function<std::unique_ptr<IShapedWorkload>(const ActivationDescriptor* activation)> m_AddTensor;
    /// Makes a workload of this BatchMatMul and the layers of an attention after it. Its inputs are those of this one,
    /// then the added tensor if there is one, then the values; its output is the second product's. Float sums may be
    /// taken in another order than by the layers, but in the same order for any number of threads. Null, or gives null:
    /// there is none.
    std::function<std::unique_ptr<IShapedWorkload>(const AttentionRest& rest)> m_MakeAttention;
    /// Which of its variants the kernel runs and why, for profiles: "AmxS8, implicit GEMM: dot products of bytes",
    /// "row strips: 64 channels; ring buffer to int8: 8 channels"; null: it has none to tell apart. Lives as long as
    /// the workload.
    const char* m_Variant = nullptr;
};

/// The hooks of a workload that wraps another one: those of the inner one, whose new workloads are passed through
/// `wrap`. `inner` must outlive the result. A decorator then changes only the members that it is about.
TENON_API FusionHooks
WrapFusion(const FusionHooks& inner,
           const std::function<std::unique_ptr<IShapedWorkload>(std::unique_ptr<IShapedWorkload>)>& wrap);

} // namespace tenon
