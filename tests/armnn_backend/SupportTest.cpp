// SPDX-License-Identifier: Apache-2.0
// Questions to backends written for Arm NN: the backend that is asked is made and no other, and layers that lack
// tensors or have tensors of a wrong rank are refused before the backend sees them.
#include "Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <armnn/BackendRegistry.hpp>
#include <armnn/backends/IBackendInternal.hpp>
#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/WorkloadFactory.hpp>

namespace
{

using namespace sample;
using testing::HasSubstr;

using Infos = std::vector<armnn::TensorInfo>;

/// Why SampleAcc does not run the layer, or "yes".
std::string Ask(armnn::LayerType type, const Infos& inputs, const Infos& outputs,
                const armnn::BaseDescriptor& descriptor)
{
    std::string reason = "no reason";
    const bool isSupported =
        armnn::GetILayerSupportByBackendId("SampleAcc")
            .IsLayerSupported(type, inputs, outputs, descriptor, armnn::Optional<std::string&>(reason));
    return isSupported ? "yes" : reason;
}

/// A backend of its own id as long as it lives.
class Registration
{
public:
    Registration(const char* id, const armnn::BackendRegistry::FactoryFunction& factory) : m_Id(id)
    {
        armnn::BackendRegistryInstance().Register(m_Id, factory);
    }
    ~Registration() { armnn::BackendRegistryInstance().Deregister(m_Id); }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

private:
    armnn::BackendId m_Id;
};

class NoSupport : public armnn::ILayerSupport
{
};

/// Asks about another backend while it is made.
class Curious : public armnn::IBackendInternal
{
public:
    Curious() : m_Found(armnn::HasCapability("ConstantTensorsAsInputs", armnn::BackendId("SampleAcc"))) {}
    const armnn::BackendId& GetId() const override { return m_Id; }
    IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr&) const override { return nullptr; }
    ILayerSupportSharedPtr GetLayerSupport() const override { return std::make_shared<NoSupport>(); }
    armnn::BackendCapabilities GetCapabilities() const override
    {
        return armnn::BackendCapabilities(m_Id, {{"Found", m_Found}});
    }

private:
    armnn::BackendId m_Id{"Curious"};
    bool m_Found;
};

armnn::Convolution2dDescriptor MakeConvolution()
{
    armnn::Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = armnn::DataLayout::NHWC;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    return descriptor;
}

} // namespace

TEST(Support, OfAConvolutionWhoseWeightsAreNotConnected)
{
    const armnn::INetworkPtr network = armnn::INetwork::Create();
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    armnn::IConnectableLayer* const input = network->AddInputLayer(0);
    armnn::IConnectableLayer* const layer = network->AddConvolution2dLayer(MakeConvolution(), "conv");
    input->GetOutputSlot(0).SetTensorInfo(image);
    input->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    layer->GetOutputSlot(0).SetTensorInfo(image);
    std::string reason;
    EXPECT_FALSE(armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::EmptyOptional(), reason));
    EXPECT_EQ(reason, "input 1 is not connected");

    const std::vector<float> one{1.0f};
    armnn::IConnectableLayer* const weights =
        network->AddConstantLayer(armnn::ConstTensor(FloatInfo({1, 1, 1, 1}, true), one));
    weights->GetOutputSlot(0).SetTensorInfo(FloatInfo({1, 1, 1, 1}, true));
    weights->GetOutputSlot(0).Connect(layer->GetInputSlot(1));
    EXPECT_TRUE(armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::EmptyOptional(), reason))
        << reason;
}

TEST(Support, OfLayersThatLackTensors)
{
    using T = armnn::LayerType;
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    const armnn::TensorInfo weights = FloatInfo({1, 1, 1, 1}, true);
    const armnn::Convolution2dDescriptor convolution = MakeConvolution();
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights}, {image}, convolution), "yes");
    EXPECT_EQ(Ask(T::Convolution2d, {image}, {image}, convolution), "input 1 is not connected");
    EXPECT_EQ(Ask(T::Convolution2d, {}, {image}, convolution), "input 0 is not connected");
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights}, {}, convolution),
              "there are infos of 0 outputs, but the layer has 1");
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights, weights}, {image}, convolution),
              "there is an input 2, but with these parameters the layer has 2");
    EXPECT_EQ(Ask(T::Lstm, {image, image}, {image, image, image, image}, armnn::LstmDescriptor()),
              "input 2 is not connected");
    EXPECT_EQ(Ask(T::QuantizedLstm, {image, image, image}, {image, image}, armnn::BaseDescriptor()),
              "input 3 is not connected");
    EXPECT_EQ(Ask(T::BatchNormalization, {image}, {image}, armnn::BatchNormalizationDescriptor()),
              "input 1 is not connected");
    EXPECT_EQ(Ask(T::Pooling2d, {}, {image}, armnn::Pooling2dDescriptor()), "input 0 is not connected");
    EXPECT_EQ(Ask(T::Reshape, {image}, {}, armnn::ReshapeDescriptor()),
              "there are infos of 0 outputs, but the layer has 1");
    EXPECT_EQ(Ask(T::Concat, {image}, {image}, armnn::OriginsDescriptor(2, 4)), "input 1 is not connected");
    EXPECT_EQ(Ask(T::Splitter, {image}, {image}, armnn::ViewsDescriptor(2, 4)),
              "there are infos of 1 outputs, but the layer has 2");
    EXPECT_EQ(Ask(T::Addition, {image}, {image}, armnn::BaseDescriptor()), "input 1 is not connected");
}

TEST(Support, OfLayersWithTensorsOfAWrongRank)
{
    using T = armnn::LayerType;
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    const armnn::TensorInfo weights = FloatInfo({1, 1, 1, 1}, true);
    const armnn::TensorInfo volume = FloatInfo({1, 1, 3, 3, 1});
    const armnn::TensorInfo row = FloatInfo({9});
    const armnn::Convolution2dDescriptor convolution = MakeConvolution();
    EXPECT_EQ(Ask(T::Convolution2d, {row, weights}, {image}, convolution),
              "input 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Convolution2d, {image, row}, {image}, convolution),
              "input 1, the weights, has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Convolution2d, {image, weights}, {row}, convolution),
              "output 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::DepthwiseConvolution2d, {image, row}, {image}, armnn::DepthwiseConvolution2dDescriptor()),
              "input 1, the weights, has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(
        Ask(T::Convolution3d, {image, FloatInfo({1, 1, 1, 1, 1}, true)}, {volume}, armnn::Convolution3dDescriptor()),
        "input 0 has shape [1,3,3,1], but it must have 5 dimensions");
    EXPECT_EQ(Ask(T::TransposeConvolution2d, {row, weights}, {image}, armnn::TransposeConvolution2dDescriptor()),
              "input 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Pooling2d, {row}, {image}, armnn::Pooling2dDescriptor()),
              "input 0 has shape [9], but it must have 4 dimensions");
    EXPECT_EQ(Ask(T::Pooling3d, {image}, {volume}, armnn::Pooling3dDescriptor()),
              "input 0 has shape [1,3,3,1], but it must have 5 dimensions");
}

TEST(Support, OfALayerWithTheDescriptorOfAnother)
{
    const armnn::TensorInfo image = FloatInfo({1, 3, 3, 1});
    EXPECT_EQ(
        Ask(armnn::LayerType::Convolution2d, {image, FloatInfo({1, 1, 1, 1}, true)}, {image}, armnn::BaseDescriptor()),
        "the descriptor is not of a layer Convolution2d");
    EXPECT_EQ(Ask(armnn::LayerType::Activation, {image}, {image}, armnn::SoftmaxDescriptor()),
              "the descriptor is not of a layer Activation");
}

TEST_F(AdaptedBackend, AQuestionMakesTheBackendThatIsAsked)
{
    int numMade = 0;
    const auto fail = [&numMade]() -> armnn::IBackendInternalUniquePtr
    {
        ++numMade;
        throw armnn::RuntimeException("the broken device does not start");
    };
    const Registration broken("Broken", fail);
    EXPECT_NO_THROW(armnn::HasCapability("NonConstWeights", armnn::BackendId("CpuRef")));
    EXPECT_TRUE(armnn::HasCapability("ConstantTensorsAsInputs", armnn::BackendId("SampleAcc")));
    EXPECT_TRUE(armnn::GetILayerSupportByBackendId("CpuAcc").IsBackendRegistered());
    EXPECT_TRUE(armnn::GetILayerSupportByBackendId("SampleAcc").IsBackendRegistered());
    EXPECT_FALSE(armnn::GetILayerSupportByBackendId("Absent").IsBackendRegistered());
    EXPECT_FALSE(armnn::HasCapability("ConstantTensorsAsInputs", armnn::BackendId("Absent")));
    EXPECT_EQ(numMade, 0) << "nobody asked about it";
    EXPECT_EQ(GetJournal().m_ContextsMade, 0) << "a context is a runtime's";
    EXPECT_THAT(MessageOf<armnn::RuntimeException>([] { armnn::GetILayerSupportByBackendId("Broken"); }),
                HasSubstr("does not start"));
    EXPECT_EQ(numMade, 1);
}

TEST_F(AdaptedBackend, ABackendMayAskWhileItIsMade)
{
    const Registration curious("Curious", [] { return armnn::IBackendInternalUniquePtr(new Curious); });
    EXPECT_TRUE(armnn::HasMatchingCapability({"Found", true}, armnn::BackendId("Curious")));
    EXPECT_EQ(armnn::IRuntime::Create({})->GetDeviceSpec().GetSupportedBackends().count("Curious"), 1u);
}

TEST_F(AdaptedBackend, ABackendThatAsksAboutItselfWhileItIsMadeIsTold)
{
    const auto ask = []() -> armnn::IBackendInternalUniquePtr
    {
        armnn::HasCapability("ConstantTensorsAsInputs", armnn::BackendId("Vain"));
        return nullptr;
    };
    const Registration vain("Vain", ask);
    for (int i = 0; i < 2; ++i)
    {
        EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>([] { armnn::GetILayerSupportByBackendId("Vain"); }),
                    HasSubstr("backend Vain is asked about while its factory makes it"));
    }
}

TEST_F(AdaptedBackend, FactoriesThatMakeNoBackendOfTheirIdAreTold)
{
    const Registration empty("Empty", [] { return armnn::IBackendInternalUniquePtr(); });
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>([] { armnn::IRuntime::Create({}); }),
                testing::AllOf(HasSubstr("backend Empty returns null"), HasSubstr("deregister")));
    EXPECT_THAT(MessageOf<armnn::InvalidArgumentException>(
                    [] { armnn::HasCapability("ConstantTensorsAsInputs", armnn::BackendId("Empty")); }),
                HasSubstr("backend Empty returns null"));
}

TEST_F(AdaptedBackend, ABackendThatIsNotAvailableSupportsNothing)
{
    const Registration unplugged("Unplugged",
                                 []() -> armnn::IBackendInternalUniquePtr
                                 { throw armnn::BackendUnavailableException("no cable"); });
    EXPECT_FALSE(armnn::GetILayerSupportByBackendId("Unplugged").IsBackendRegistered());
    Builder b;
    armnn::IConnectableLayer* const floor =
        b.Connect(b.m_Network->AddFloorLayer("floor"), FloatInfo({2}), {b.Input(FloatInfo({2}))});
    std::string reason;
    EXPECT_FALSE(armnn::IWorkloadFactory::IsLayerSupported("Unplugged", *floor, armnn::EmptyOptional(), reason));
    EXPECT_THAT(reason, HasSubstr("no cable"));
}

TEST_F(AdaptedBackend, IsMadeOnceForAllQuestions)
{
    int numMade = 0;
    const auto make = [&numMade]
    {
        ++numMade;
        return armnn::IBackendInternalUniquePtr(new Curious);
    };
    Builder b;
    armnn::IConnectableLayer* const floor =
        b.Connect(b.m_Network->AddFloorLayer("floor"), FloatInfo({2}), {b.Input(FloatInfo({2}))});
    std::string reason;
    {
        const Registration registration("Curious", make);
        for (int i = 0; i < 3; ++i)
        {
            EXPECT_TRUE(armnn::GetILayerSupportByBackendId("Curious").IsBackendRegistered());
            EXPECT_TRUE(armnn::HasMatchingCapability({"Found", true}, armnn::BackendId("Curious")));
            EXPECT_FALSE(armnn::IWorkloadFactory::IsLayerSupported("Curious", *floor, armnn::EmptyOptional(), reason));
        }
        EXPECT_EQ(numMade, 1);
    }
    EXPECT_FALSE(armnn::GetILayerSupportByBackendId("Curious").IsBackendRegistered());
    const Registration again("Curious", make);
    EXPECT_TRUE(armnn::GetILayerSupportByBackendId("Curious").IsBackendRegistered());
    EXPECT_EQ(numMade, 2) << "it was registered anew, perhaps with another factory";
}

TEST_F(AdaptedBackend, BothWaysToAskAgreeOnLayersThatOnlyRenameDimensions)
{
    const armnn::TensorInfo input = FloatInfo({2, 1});
    for (const bool isSqueeze : {false, true})
    {
        Builder b;
        armnn::ExpandDimsDescriptor expand;
        armnn::SqueezeDescriptor squeeze;
        const armnn::TensorInfo output = isSqueeze ? FloatInfo({2}) : FloatInfo({1, 2, 1});
        armnn::IConnectableLayer* const layer =
            b.Connect(isSqueeze ? b.m_Network->AddSqueezeLayer(squeeze) : b.m_Network->AddExpandDimsLayer(expand),
                      output, {b.Input(input)});
        std::string reason;
        EXPECT_TRUE(armnn::IWorkloadFactory::IsLayerSupported("SampleAcc", *layer, armnn::EmptyOptional(), reason))
            << reason;
        EXPECT_EQ(Ask(layer->GetType(), {input}, {output}, layer->GetParameters()), "yes");
    }
}
