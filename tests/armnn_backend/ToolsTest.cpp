// SPDX-License-Identifier: Apache-2.0
// What backends written for Arm NN are built of: tensor handles, queue descriptors, bases of workloads, views.
#include "Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/MemCopyWorkload.hpp>
#include <armnn/backends/OptimizationViews.hpp>
#include <armnn/backends/SubgraphView.hpp>
#include <armnn/backends/TensorHandle.hpp>
#include <armnn/backends/TensorHandleFactoryRegistry.hpp>
#include <armnn/backends/Workload.hpp>
#include <sstream>

namespace
{

using sample::FloatInfo;
using testing::ElementsAre;

} // namespace

TEST(TensorHandles, OwnOrBorrowTheirMemory)
{
    const armnn::TensorInfo info = FloatInfo({2, 3});
    armnn::ScopedTensorHandle owner(info);
    EXPECT_EQ(owner.Map(), nullptr);
    owner.Allocate();
    EXPECT_THROW(owner.Allocate(), armnn::InvalidArgumentException);
    EXPECT_EQ(owner.GetConstTensor<float>()[5], 0.0f);
    owner.GetTensor<float>()[5] = 7.0f;
    EXPECT_THROW(owner.GetTensor<int32_t>(), armnn::InvalidArgumentException);
    EXPECT_NE(owner.GetTensor<void>(), nullptr);
    EXPECT_EQ(owner.GetStrides(), armnn::TensorShape({12, 4}));
    EXPECT_EQ(owner.GetShape(), armnn::TensorShape({2, 3}));

    const armnn::ScopedTensorHandle copy(owner);
    owner.GetTensor<float>()[5] = 8.0f;
    EXPECT_EQ(copy.GetConstTensor<float>()[5], 7.0f) << "a copy has memory of its own";
    armnn::ScopedTensorHandle assigned(info);
    assigned = owner;
    EXPECT_EQ(assigned.GetConstTensor<float>()[5], 8.0f);
    armnn::ScopedTensorHandle other(FloatInfo({2}));
    EXPECT_THROW(other = owner, armnn::InvalidArgumentException);

    std::vector<float> values{1, 2, 3, 4, 5, 6};
    armnn::PassthroughTensorHandle borrowed(info, values.data());
    borrowed.GetTensor<float>()[0] = 10.0f;
    EXPECT_EQ(values[0], 10.0f);
    EXPECT_THROW(borrowed.Allocate(), armnn::InvalidArgumentException);
    const armnn::ConstTensor constant(FloatInfo({2, 3}, true), values);
    const armnn::ScopedTensorHandle ofConstant(constant);
    EXPECT_EQ(ofConstant.GetConstTensor<float>()[0], 10.0f);
    EXPECT_EQ(armnn::GetUnpaddedTensorStrides(FloatInfo({2, 3, 4})), armnn::TensorShape({48, 16, 4}));
    EXPECT_EQ(armnn::GetUnpaddedTensorStrides(FloatInfo({1u << 30})), armnn::TensorShape({4}));
    EXPECT_THROW(armnn::GetUnpaddedTensorStrides(FloatInfo({2, 1u << 30})), armnn::InvalidArgumentException);
}

TEST(TensorHandles, AManagedOneUnmaps)
{
    struct Counting : armnn::ConstTensorHandle
    {
        Counting() : armnn::ConstTensorHandle(FloatInfo({1})) { SetConstMemory(&m_Value); }
        void Allocate() override {}
        void Unmap() const override { ++m_Unmapped; }
        float m_Value = 3.0f;
        mutable int m_Unmapped = 0;
    };
    const auto handle = std::make_shared<Counting>();
    {
        armnn::ManagedConstTensorHandle managed(handle);
        EXPECT_FALSE(managed.IsMapped());
        EXPECT_EQ(*static_cast<const float*>(managed.Map()), 3.0f);
        EXPECT_TRUE(managed.IsMapped());
        EXPECT_EQ(managed.GetTensorInfo().GetNumElements(), 1u);
    }
    EXPECT_EQ(handle->m_Unmapped, 1);
    armnn::ManagedConstTensorHandle none(nullptr);
    EXPECT_THROW(none.Map(), armnn::NullPointerException);
}

TEST(Workloads, CopyBetweenHandles)
{
    std::vector<float> from{1, 2, 3, 4};
    std::vector<float> to(4);
    armnn::PassthroughTensorHandle source(FloatInfo({2, 2}), from.data());
    armnn::PassthroughTensorHandle target(FloatInfo({2, 2}), to.data());
    armnn::MemCopyQueueDescriptor queue;
    queue.m_Inputs = {&source};
    queue.m_Outputs = {&target};
    armnn::WorkloadInfo info;
    info.m_InputTensorInfos = {FloatInfo({2, 2})};
    info.m_OutputTensorInfos = {FloatInfo({2, 2})};
    info.m_Name = "copy";
    armnn::CopyMemGenericWorkload workload(queue, info);
    EXPECT_EQ(workload.GetName(), "copy");
    workload.Execute();
    EXPECT_THAT(to, ElementsAre(1, 2, 3, 4));
    std::vector<float> elsewhere(4);
    armnn::PassthroughTensorHandle third(FloatInfo({2, 2}), elsewhere.data());
    armnn::WorkingMemDescriptor tensors;
    tensors.m_Inputs = {&source};
    tensors.m_Outputs = {&third};
    armnn::ExecutionData data(&tensors);
    workload.ExecuteAsync(data);
    EXPECT_THAT(elsewhere, ElementsAre(1, 2, 3, 4));
    const armnn::CopyMemGenericWorkload another(queue, info);
    EXPECT_NE(workload.GetGuid(), another.GetGuid());
    EXPECT_THROW(workload.ReplaceInputTensorHandle(&source, 0), armnn::UnimplementedException);
}

TEST(Workloads, OfCopiesLeaveNoTensorMapped)
{
    struct Counted : armnn::PassthroughTensorHandle
    {
        Counted(const armnn::TensorInfo& info, void* memory) : armnn::PassthroughTensorHandle(info, memory) {}
        const void* Map(bool blocking) const override
        {
            ++m_Mapped;
            return armnn::PassthroughTensorHandle::Map(blocking);
        }
        void Unmap() const override
        {
            --m_Mapped;
            if (m_UnmapThrows)
            {
                throw armnn::RuntimeException("Unmap");
            }
        }
        armnn::TensorShape GetStrides() const override
        {
            return m_HasStrides ? armnn::PassthroughTensorHandle::GetStrides() : armnn::TensorShape({4});
        }
        mutable int m_Mapped = 0;
        bool m_HasStrides = true;
        bool m_UnmapThrows = false;
    };
    std::vector<float> from{1, 2};
    std::vector<float> to(2);
    Counted source(FloatInfo({1, 2}), from.data());
    Counted target(FloatInfo({1, 2}), to.data());
    armnn::MemCopyQueueDescriptor queue;
    queue.m_Inputs = {&source};
    queue.m_Outputs = {&target};
    armnn::WorkloadInfo info;
    info.m_InputTensorInfos = info.m_OutputTensorInfos = {FloatInfo({1, 2})};
    const armnn::CopyMemGenericWorkload workload(queue, info);
    workload.Execute();
    EXPECT_THAT(to, ElementsAre(1, 2));
    EXPECT_EQ(source.m_Mapped, 0);
    EXPECT_EQ(target.m_Mapped, 0);
    target.m_HasStrides = false;
    EXPECT_THROW(workload.Execute(), armnn::InvalidArgumentException);
    EXPECT_EQ(source.m_Mapped, 0);
    EXPECT_EQ(target.m_Mapped, 0);
    source.m_UnmapThrows = true; // while the other exception is on its way
    EXPECT_THROW(workload.Execute(), armnn::InvalidArgumentException);
    EXPECT_EQ(source.m_Mapped, 0);
    target.m_HasStrides = true;
    EXPECT_THROW(workload.Execute(), armnn::RuntimeException) << "what was copied may not be there";
    EXPECT_EQ(target.m_Mapped, 0);
    Counted empty(FloatInfo({1, 2}), nullptr);
    queue.m_Inputs = {&empty};
    const armnn::CopyMemGenericWorkload ofNothing(queue, info);
    EXPECT_THROW(ofNothing.Execute(), armnn::MemoryValidationException);
}

TEST(Workloads, ValidateWhatTheyAreMadeOf)
{
    struct Floor : armnn::Float32Workload<armnn::FloorQueueDescriptor>
    {
        using armnn::Float32Workload<armnn::FloorQueueDescriptor>::TypedWorkload;
        void Execute() const override {}
    };
    float value = 0.0f;
    armnn::PassthroughTensorHandle handle(FloatInfo({1}), &value);
    armnn::FloorQueueDescriptor queue;
    armnn::WorkloadInfo info;
    EXPECT_THROW(Floor(queue, info), armnn::InvalidArgumentException) << "no tensors";
    queue.m_Inputs = {&handle};
    queue.m_Outputs = {nullptr};
    info.m_InputTensorInfos = {FloatInfo({1})};
    info.m_OutputTensorInfos = {FloatInfo({1})};
    EXPECT_THROW(Floor(queue, info), armnn::InvalidArgumentException) << "a null tensor";
    queue.m_Outputs = {&handle};
    EXPECT_NO_THROW(Floor(queue, info));
    info.m_OutputTensorInfos = {armnn::TensorInfo({1}, armnn::DataType::Signed32)};
    EXPECT_THROW(Floor(queue, info), armnn::InvalidArgumentException) << "two types";
    info.m_InputTensorInfos = info.m_OutputTensorInfos;
    EXPECT_THROW(Floor(queue, info), armnn::InvalidArgumentException) << "another type";
    EXPECT_THROW(queue.ValidateInputsOutputs("Floor", 2, 1), armnn::InvalidArgumentException);
    EXPECT_NO_THROW(queue.ValidateInputsOutputs("Floor", 1, 1));
    EXPECT_THROW(queue.ValidateTensorNumDimensions(FloatInfo({1}), "Floor", 2, "input"),
                 armnn::InvalidArgumentException);
    EXPECT_THROW(queue.ValidateTensorNumDimNumElem(FloatInfo({1}), 1, 2, "input"), armnn::InvalidArgumentException);
    EXPECT_EQ(armnn::GetBiasDataType(armnn::DataType::QAsymmS8), armnn::DataType::Signed32);
    EXPECT_EQ(armnn::GetBiasDataType(armnn::DataType::Float16), armnn::DataType::Float16);
    try
    {
        armnn::GetBiasDataType(armnn::DataType::Boolean);
        ADD_FAILURE() << "Boolean has no biases";
    }
    catch (const armnn::InvalidArgumentException& e)
    {
        EXPECT_THAT(e.what(), testing::HasSubstr("no type of biases belongs to inputs of type Boolean"));
    }
}

TEST(Subgraphs, AreSortedAndChecked)
{
    const armnn::INetworkPtr network = armnn::INetwork::Create();
    armnn::IConnectableLayer* const in = network->AddInputLayer(0);
    armnn::IConnectableLayer* const first = network->AddFloorLayer("first");
    armnn::IConnectableLayer* const second = network->AddFloorLayer("second");
    in->GetOutputSlot(0).Connect(first->GetInputSlot(0));
    first->GetOutputSlot(0).Connect(second->GetInputSlot(0));
    armnn::SubgraphView view({second, first}, {&first->GetInputSlot(0)}, {&second->GetOutputSlot(0)});
    EXPECT_THAT(view.GetIConnectableLayers(), ElementsAre(first, second));
    EXPECT_EQ(view.GetNumInputSlots(), 1u);
    EXPECT_EQ(view.GetIOutputSlot(0), &second->GetOutputSlot(0));
    EXPECT_THROW(view.GetIInputSlot(1), armnn::InvalidArgumentException);
    int count = 0;
    view.ForEachIConnectableLayer([&](armnn::IConnectableLayer*) { ++count; });
    EXPECT_EQ(count, 2);
    EXPECT_THROW(armnn::SubgraphView({first, first}, {}, {}), armnn::InvalidArgumentException);
    EXPECT_THROW(armnn::SubgraphView({first}, {&second->GetInputSlot(0)}, {}), armnn::InvalidArgumentException);
    EXPECT_THROW(armnn::SubgraphView({nullptr}, {}, {}), armnn::NullPointerException);

    armnn::OptimizationViews views;
    EXPECT_FALSE(views.Validate(view));
    views.AddUntouchedSubgraph(armnn::SubgraphView(first));
    views.AddFailedSubgraph(armnn::SubgraphView(second));
    EXPECT_TRUE(views.Validate(view));
    armnn::IConnectableLayer* const pair = views.GetINetworkRef().AddMergeLayer("pair");
    views.GetFailedSubgraphs().clear();
    views.AddSubstitution({armnn::SubgraphView(second), armnn::SubgraphView(pair)});
    EXPECT_FALSE(views.Validate(view)) << "another number of inputs";
    view.Clear();
    EXPECT_EQ(view.begin(), view.end());
}

TEST(Subgraphs, OfManyLayersAreSortedInTime)
{
    const armnn::INetworkPtr network = armnn::INetwork::Create();
    armnn::IOutputSlot* end = &network->AddInputLayer(0)->GetOutputSlot(0);
    armnn::SubgraphView::IConnectableLayers layers;
    std::vector<armnn::IConnectableLayer*> inOrder;
    for (int i = 0; i < 20000; ++i)
    {
        armnn::IConnectableLayer* const layer = network->AddFloorLayer();
        end->Connect(layer->GetInputSlot(0));
        end = &layer->GetOutputSlot(0);
        layers.push_front(layer); // consumers first, which took a time that grew with the square of their number
        inOrder.push_back(layer);
    }
    const armnn::SubgraphView view(std::move(layers), {}, {});
    EXPECT_TRUE(std::equal(view.begin(), view.end(), inOrder.begin()));
}

TEST(Registries, OfTensorHandleFactories)
{
    struct Handles : armnn::ITensorHandleFactory
    {
        std::unique_ptr<armnn::ITensorHandle> CreateSubTensorHandle(armnn::ITensorHandle&, const armnn::TensorShape&,
                                                                    const unsigned int*) const override
        {
            return nullptr;
        }
        std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info) const override
        {
            return std::unique_ptr<armnn::ITensorHandle>(new armnn::ScopedTensorHandle(info));
        }
        std::unique_ptr<armnn::ITensorHandle> CreateTensorHandle(const armnn::TensorInfo& info,
                                                                 armnn::DataLayout) const override
        {
            return CreateTensorHandle(info);
        }
        const FactoryId& GetId() const override { return m_Id; }
        bool SupportsSubTensors() const override { return false; }
        armnn::MemorySourceFlags GetImportFlags() const override
        {
            return static_cast<armnn::MemorySourceFlags>(armnn::MemorySource::Malloc);
        }
        FactoryId m_Id = "Handles";
    };
    struct Manager : armnn::IMemoryManager
    {
        void Acquire() override
        {
            if (m_IsFull)
            {
                throw armnn::MemoryExportException("no memory is left");
            }
            ++m_Acquired;
        }
        void Release() override
        {
            --m_Acquired;
            if (m_IsStuck)
            {
                throw armnn::RuntimeException("the memory is stuck");
            }
        }
        int m_Acquired = 0;
        bool m_IsFull = false;
        bool m_IsStuck = false;
    };
    armnn::TensorHandleFactoryRegistry registry;
    registry.RegisterFactory(std::unique_ptr<armnn::ITensorHandleFactory>(new Handles));
    const armnn::ITensorHandleFactory* const first = registry.GetFactory("Handles");
    ASSERT_NE(first, nullptr);
    registry.RegisterFactory(std::unique_ptr<armnn::ITensorHandleFactory>(new Handles));
    EXPECT_EQ(registry.GetFactory("Handles"), first) << "the first one of an id stays";
    EXPECT_EQ(registry.GetFactory("Handles", armnn::MemorySource::Malloc), first);
    EXPECT_EQ(registry.GetFactory("Handles", armnn::MemorySource::DmaBuf), nullptr);
    EXPECT_EQ(registry.GetFactory("Others"), nullptr);
    EXPECT_NE(first->CreateTensorHandle(FloatInfo({2}), false), nullptr);
    const auto manager = std::make_shared<Manager>();
    registry.RegisterMemoryManager(manager);
    registry.RegisterMemoryManager(manager);
    EXPECT_EQ(registry.GetMemoryManagers().size(), 1u);
    registry.AquireMemory();
    EXPECT_EQ(manager->m_Acquired, 1);
    registry.ReleaseMemory();
    EXPECT_EQ(manager->m_Acquired, 0);
    const auto second = std::make_shared<Manager>();
    registry.RegisterMemoryManager(second);
    second->m_IsFull = true;
    EXPECT_THROW(registry.AquireMemory(), armnn::MemoryExportException);
    EXPECT_EQ(manager->m_Acquired, 0) << "all or none";
    EXPECT_EQ(second->m_Acquired, 0);
    second->m_IsFull = false;
    registry.AquireMemory();
    manager->m_IsStuck = true;
    EXPECT_THROW(registry.ReleaseMemory(), armnn::RuntimeException);
    EXPECT_EQ(manager->m_Acquired, 0);
    EXPECT_EQ(second->m_Acquired, 0) << "one that throws does not keep the others";
    registry.RegisterCopyAndImportFactoryPair("Handles", "Imports");
    EXPECT_EQ(registry.GetMatchingImportFactoryId("Handles"), "Imports");
    EXPECT_EQ(registry.GetMatchingImportFactoryId("Others"), "");
    EXPECT_THROW(registry.RegisterFactory(nullptr), armnn::NullPointerException);
    EXPECT_THROW(registry.RegisterMemoryManager(nullptr), armnn::NullPointerException);
}

TEST(Versions, Compare)
{
    const armnn::BackendVersion one(1, 0);
    EXPECT_TRUE(armnn::IBackendInternal::GetApiVersion() == one);
    EXPECT_TRUE(one <= armnn::BackendVersion(1, 1));
    EXPECT_FALSE(armnn::BackendVersion(2, 0) <= one);
    EXPECT_TRUE(armnn::BackendVersion(2, 0) >= one);
    std::ostringstream text;
    text << one;
    EXPECT_EQ(text.str(), "[1.0]");
}
