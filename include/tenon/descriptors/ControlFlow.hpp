// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that run nested networks, or keep values from run to run.
#pragma once

#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace tenon
{

/// If (Tenon). INetwork::AddIfLayer sets the fields.
struct IfDescriptor : detail::Described<IfDescriptor>
{
    uint32_t m_NumInputs = 1; ///< the condition and the inputs of both branches
    uint32_t m_NumOutputs = 0;

    uint32_t GetNumInputs() const { return m_NumInputs; }
    uint32_t GetNumOutputs() const { return m_NumOutputs; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumInputs", &IfDescriptor::m_NumInputs);
        v("NumOutputs", &IfDescriptor::m_NumOutputs);
    }
};

/// While (Tenon). INetwork::AddWhileLayer sets the fields.
struct WhileDescriptor : detail::Described<WhileDescriptor>
{
    uint32_t m_NumVariables = 0; ///< as many inputs and outputs

    uint32_t GetNumInputs() const { return m_NumVariables; }
    uint32_t GetNumOutputs() const { return m_NumVariables; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("NumVariables", &WhileDescriptor::m_NumVariables);
    }
};

/// ReadState and WriteState (Tenon): memory that lives on from run to run, known by its name within the network.
struct StateDescriptor : detail::Described<StateDescriptor>
{
    StateDescriptor() = default;
    StateDescriptor(std::string name, uint32_t batchDimension = 0)
        : m_Name(std::move(name)), m_BatchDimension(batchDimension)
    {
    }

    std::string m_Name;
    /// For a ReadState with a batch reference: the dimension of that tensor which gives the state's dimension 0.
    uint32_t m_BatchDimension = 0;

    template <typename V>
    static void Visit(V&& v)
    {
        v("Name", &StateDescriptor::m_Name);
        v("BatchDimension", &StateDescriptor::m_BatchDimension);
    }
};

} // namespace tenon
