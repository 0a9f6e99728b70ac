// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that a backend or the application computes.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class ICustomOperator;

/// Input: the application's promise about an input of the network.
struct InputDescriptor : detail::Described<InputDescriptor>
{
    InputDescriptor() = default;
    explicit InputDescriptor(bool hasFixedSizes) : m_HasFixedSizes(hasFixedSizes) {}

    /// Tenon: the sizes that the output's info specifies are those of every run, so that the optimizer may rely on
    /// them. A run with another size is refused; unknown dimensions stay open.
    bool m_HasFixedSizes = false;

    /// A descriptor without the promise says nothing.
    bool IsNull() const override { return !m_HasFixedSizes; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("HasFixedSizes", &InputDescriptor::m_HasFixedSizes);
    }
};

/// Custom (Tenon): an operator that Tenon itself does not know, by name and options.
struct CustomDescriptor : detail::Described<CustomDescriptor>
{
    std::string m_Name;             ///< e.g. "TFLite_Detection_PostProcess" or "SVDF"
    std::vector<uint8_t> m_Options; ///< options as the model's file has them
    uint32_t m_NumInputs = 0;
    uint32_t m_NumOutputs = 0;
    /// The application's implementation, which CpuRef runs. Null: only a backend that knows the name can run it.
    std::shared_ptr<const ICustomOperator> m_Operator;

    uint32_t GetNumInputs() const { return m_NumInputs; }
    uint32_t GetNumOutputs() const { return m_NumOutputs; }
    /// Whether input i must be connected: none must, as operators of an application may have optional inputs.
    bool NeedsInput(uint32_t) const { return false; }
    /// The answer of the implementation; see ICustomOperator.
    TENON_API uint32_t GetValueInputs() const;
    TENON_API bool HasLateOutputs() const;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Name", &CustomDescriptor::m_Name);
        v("Options", &CustomDescriptor::m_Options);
        v("NumInputs", &CustomDescriptor::m_NumInputs);
        v("NumOutputs", &CustomDescriptor::m_NumOutputs);
    }
};

/// PreCompiled: a blob that a backend compiled.
struct PreCompiledDescriptor : detail::Described<PreCompiledDescriptor>
{
    PreCompiledDescriptor() = default;
    PreCompiledDescriptor(uint32_t numInputSlots, uint32_t numOutputSlots = 1)
        : m_NumInputSlots(numInputSlots), m_NumOutputSlots(numOutputSlots)
    {
    }

    uint32_t m_NumInputSlots = 0; ///< 1 in Arm NN; files of networks leave a 0 out
    uint32_t m_NumOutputSlots = 0;

    uint32_t GetNumInputs() const { return m_NumInputSlots; }
    uint32_t GetNumOutputs() const { return m_NumOutputSlots; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputSlots", &PreCompiledDescriptor::m_NumInputSlots);
        v("NumOutputSlots", &PreCompiledDescriptor::m_NumOutputSlots);
    }
};

/// Fused: several layers as one.
struct FusedDescriptor : detail::Described<FusedDescriptor>
{
    FusedDescriptor() = default;
    FusedDescriptor(uint32_t numInputSlots, uint32_t numOutputSlots, FusedKernelType fusedKernelType)
        : m_NumInputSlots(numInputSlots), m_NumOutputSlots(numOutputSlots), m_FusedKernelType(fusedKernelType)
    {
    }

    uint32_t m_NumInputSlots = 4;
    uint32_t m_NumOutputSlots = 2;
    FusedKernelType m_FusedKernelType = FusedKernelType::AddMulAdd;

    uint32_t GetNumInputs() const { return m_NumInputSlots; }
    uint32_t GetNumOutputs() const { return m_NumOutputSlots; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputSlots", &FusedDescriptor::m_NumInputSlots);
        v("NumOutputSlots", &FusedDescriptor::m_NumOutputSlots);
        v("FusedKernelType", &FusedDescriptor::m_FusedKernelType);
    }
};

/// StandIn: holds the place of a layer that no backend can run.
struct StandInDescriptor : detail::Described<StandInDescriptor>
{
    StandInDescriptor() = default;
    StandInDescriptor(uint32_t numInputs, uint32_t numOutputs) : m_NumInputs(numInputs), m_NumOutputs(numOutputs) {}

    uint32_t m_NumInputs = 0;
    uint32_t m_NumOutputs = 0;

    uint32_t GetNumInputs() const { return m_NumInputs; }
    uint32_t GetNumOutputs() const { return m_NumOutputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputs", &StandInDescriptor::m_NumInputs);
        v("NumOutputs", &StandInDescriptor::m_NumOutputs);
    }
};

} // namespace tenon
