// SPDX-License-Identifier: Apache-2.0
// LayerView: the description of a layer that a backend gets when it is asked for support or for a workload.
#pragma once

#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <string>

namespace tenon
{

struct ActivationDescriptor;

/// A plain view; the pointers are valid during the call that passes it, constant data as long as the loaded network.
struct LayerView
{
    LayerType m_Type = LayerType::Input;
    const std::string* m_Name = nullptr;
    LayerGuid m_Guid;
    const BaseDescriptor* m_Descriptor = nullptr;
    /// An activation that the layer applies to its output 0, or null. Set only where the backend's
    /// ILayerSupport::IsActivationFusable said yes.
    const ActivationDescriptor* m_FusedActivation = nullptr;

    /// One entry per input slot; null where an optional input is not connected. Shapes may be unknown until the run.
    Span<const TensorInfo* const> m_Inputs;
    /// One entry per output slot.
    Span<const TensorInfo* const> m_Outputs;
    /// One entry per input slot: the values of a constant input, else null. Empty in a question without values.
    Span<const void* const> m_ConstantData;
    /// The blob of a PreCompiled layer, which its backend compiled. It lives as long as the loaded network.
    const void* m_Blob = nullptr;
    /// False where support is asked before there are values (LayerSupportHandle): the inputs whose infos are constant
    /// count as such then. Workloads are always made with values.
    bool m_HasValues = true;

    const std::string& GetName() const { return *m_Name; }
    size_t GetNumInputs() const { return m_Inputs.size(); }
    size_t GetNumOutputs() const { return m_Outputs.size(); }
    bool HasInput(size_t i) const { return i < m_Inputs.size() && m_Inputs[i] != nullptr; }
    const TensorInfo& GetInput(size_t i) const { return *m_Inputs[i]; }
    const TensorInfo& GetOutput(size_t i) const { return *m_Outputs[i]; }
    /// Whether input i is constant. Its values may still be missing, see GetConstantData.
    bool IsConstant(size_t i) const
    {
        return GetConstantData(i) != nullptr || (!m_HasValues && HasInput(i) && GetInput(i).IsConstant());
    }
    /// The values of a constant input. Null if it is none, or in a question without values.
    const void* GetConstantData(size_t i) const { return i < m_ConstantData.size() ? m_ConstantData[i] : nullptr; }

    /// The descriptor as D, whose header is in <tenon/descriptors/>. The layer type says which one it is: the
    /// `descriptor` column of ops.def.
    template <typename D>
    const D& GetDescriptor() const
    {
        return static_cast<const D&>(*m_Descriptor);
    }
};

} // namespace tenon
