// SPDX-License-Identifier: Apache-2.0
// Networks to .tenon files and back, in memory, and graphs compared layer by layer.
#pragma once

#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"
#include "harness/Serialized.hpp"

#include <tenon/serializer/IDeserializer.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace tenon::test
{

inline INetworkPtr Read(const Bytes& file, const IDeserializer::DeserializerOptions& options = {})
{
    return IDeserializer::Create(options)->CreateNetworkFromBinary(file);
}

inline IOptimizedNetworkPtr ReadOptimized(const Bytes& file, const IRuntime& runtime)
{
    return IDeserializer::Create()->CreateOptimizedNetworkFromBinary(file, runtime.GetDeviceSpec());
}

inline const Graph& GraphOf(const INetworkPtr& network)
{
    return static_cast<const Network&>(*network).GetGraph();
}

inline const Graph& GraphOf(const IOptimizedNetworkPtr& network)
{
    return static_cast<const OptimizedNetwork&>(*network).GetGraph();
}

inline void ExpectSameConstant(const Layer& a, const Layer& b)
{
    ASSERT_EQ(a.GetConstant() == nullptr, b.GetConstant() == nullptr) << a.Describe();
    if (a.GetConstant() != nullptr)
    {
        const ConstTensor& left = a.GetConstant()->m_Tensor;
        const ConstTensor& right = b.GetConstant()->m_Tensor;
        ASSERT_EQ(left.GetInfo(), right.GetInfo()) << a.Describe();
        EXPECT_EQ(std::memcmp(left.GetMemoryArea(), right.GetMemoryArea(), left.GetNumBytes()), 0) << a.Describe();
        EXPECT_EQ(reinterpret_cast<uintptr_t>(right.GetMemoryArea()) % 64, 0u) << a.Describe();
    }
}

inline void ExpectSameInputs(const Layer& a, const Layer& b)
{
    for (unsigned int i = 0; i < b.NumInputs(); ++i)
    {
        const OutputSlot* left = a.Input(i).GetConnectedOutputSlot();
        const OutputSlot* right = b.Input(i).GetConnectedOutputSlot();
        ASSERT_EQ(left == nullptr, right == nullptr) << a.Describe() << " input " << i;
        if (left != nullptr)
        {
            EXPECT_EQ(left->GetOwningLayer().m_Index, right->GetOwningLayer().m_Index) << a.Describe();
            EXPECT_EQ(left->CalculateIndexOnOwner(), right->CalculateIndexOnOwner()) << a.Describe();
        }
        ASSERT_EQ(a.Input(i).IsTensorInfoOverridden(), b.Input(i).IsTensorInfoOverridden()) << a.Describe();
        if (a.Input(i).IsTensorInfoOverridden())
        {
            EXPECT_EQ(a.Input(i).GetTensorInfo(), b.Input(i).GetTensorInfo()) << a.Describe();
        }
    }
}

/// All that a layer is, its nested graphs included.
inline void ExpectSameGraph(const Graph& first, const Graph& second)
{
    ASSERT_EQ(first.Size(), second.Size());
    for (size_t i = 0; i < first.Size(); ++i)
    {
        const Layer& a = *first.Layers()[i];
        const Layer& b = *second.Layers()[i];
        ASSERT_EQ(a.GetType(), b.GetType()) << a.Describe();
        EXPECT_EQ(a.GetGuid(), b.GetGuid()) << a.Describe();
        EXPECT_EQ(a.GetNameStr(), b.GetNameStr());
        ASSERT_EQ(a.GetParameters().IsNull(), b.GetParameters().IsNull()) << a.Describe();
        if (!a.GetParameters().IsNull())
        {
            EXPECT_TRUE(a.GetSchema().m_Equal(a.GetParameters(), b.GetParameters())) << a.Describe();
        }
        EXPECT_EQ(a.GetBindingId(), b.GetBindingId()) << a.Describe();
        EXPECT_EQ(a.m_FirstOwnConstant, b.m_FirstOwnConstant) << a.Describe();
        EXPECT_EQ(a.GetBackendHint().has_value(), b.GetBackendHint().has_value()) << a.Describe();
        EXPECT_EQ(a.GetBackendId(), b.GetBackendId()) << a.Describe();
        EXPECT_EQ(a.GetAssignmentReason(), b.GetAssignmentReason()) << a.Describe();
        EXPECT_EQ(a.m_Subgraph, b.m_Subgraph) << a.Describe();
        // Slots of parameters that the optimizer put into the descriptor are not written.
        ASSERT_GE(a.NumInputs(), b.GetNumInputSlots()) << a.Describe();
        for (unsigned int k = b.NumInputs(); k < a.GetNumInputSlots(); ++k)
        {
            EXPECT_EQ(a.Input(k).GetProducer(), nullptr) << a.Describe();
        }
        ASSERT_EQ(a.GetNumOutputSlots(), b.GetNumOutputSlots()) << a.Describe();
        ExpectSameInputs(a, b);
        for (unsigned int k = 0; k < a.GetNumOutputSlots(); ++k)
        {
            EXPECT_EQ(a.Output(k).IsTensorInfoSet(), b.Output(k).IsTensorInfoSet()) << a.Describe();
            EXPECT_EQ(a.Output(k).GetTensorInfo(), b.Output(k).GetTensorInfo()) << a.Describe();
        }
        ExpectSameConstant(a, b);
        ASSERT_EQ(a.Bodies().size(), b.Bodies().size()) << a.Describe();
        for (size_t k = 0; k < a.Bodies().size(); ++k)
        {
            ExpectSameGraph(*a.Bodies()[k], *b.Bodies()[k]);
        }
    }
}

} // namespace tenon::test
