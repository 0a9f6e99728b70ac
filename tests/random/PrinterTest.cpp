// SPDX-License-Identifier: Apache-2.0
// Printed networks: PrintedExample.inc is what the printer makes of the network below, and is compiled here.
#include "harness/Agreement.hpp"
#include "harness/NetworkPrinter.hpp"
#include "random/FusableNetwork.hpp"

#include <tenon/Exceptions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test::printer_test
{

#include "random/PrintedExample.inc"

namespace
{

using testing::EndsWith;
using testing::StartsWith;

const char* const ExampleFile = "tests/random/PrintedExample.inc";

std::string ReadExample()
{
    std::ifstream file(ExampleFile);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Layers with fields of every kind, constants of several types, two runs.
NetworkCase MakeExample()
{
    NetworkCase tested;
    INetwork& network = *tested.m_Network;
    const auto finish = [](IConnectableLayer* layer, const TensorInfo& info, std::vector<IConnectableLayer*> inputs)
    {
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            inputs[i]->GetOutputSlot(0).Connect(layer->GetInputSlot(i));
        }
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    };
    const TensorInfo info({2, 4, 6, 3}, DataType::Float32);
    IConnectableLayer* x = network.AddInputLayer(0, "a \"name\"\n");
    x->GetOutputSlot(0).SetTensorInfo(
        TensorInfo(TensorShape({0, 4, 6, 3}, {false, true, true, true}), DataType::Float32));
    tested.m_Inputs[0] = {-1.5, 2.0};
    Convolution2dDescriptor convolution;
    convolution.m_DataLayout = DataLayout::NHWC;
    convolution.m_PaddingScheme = PaddingScheme::Same;
    convolution.m_BiasEnabled = true;
    IConnectableLayer* weights =
        AddConstant(tested, TensorInfo({3, 3, 3, 3}, DataType::Float32), {-0.25, 0.25}, "weights");
    IConnectableLayer* bias =
        AddConstant<float>(tested, TensorInfo({3}, DataType::Float32), {0.1f, -2.0f, 1e-9f}, "bias");
    x = finish(network.AddConvolution2dLayer(convolution, "convolution"), info, {x, weights, bias});
    x = finish(network.AddActivationLayer(ActivationDescriptor(ActivationFunction::BoundedReLu, 6.0f, -1.0f), "clamp"),
               info, {x});
    PadDescriptor pad({{0, 0}, {1, 2}, {0, 1}, {0, 0}}, 0.5f);
    IConnectableLayer* padded =
        finish(network.AddPadLayer(pad, "pad"), TensorInfo({2, 7, 7, 3}, DataType::Float32), {x});
    StridedSliceDescriptor slice({0, 1, 0, 0}, {0, -1, 0, 0}, {1, 1, 1, 1});
    slice.m_EndMask = 13;
    x = finish(network.AddStridedSliceLayer(slice, "slice"), TensorInfo({2, 5, 7, 3}, DataType::Float32), {padded});
    OriginsDescriptor joined(2, 4);
    joined.SetConcatAxis(3);
    x = finish(network.AddConcatLayer(joined, "join"), TensorInfo({2, 5, 7, 6}, DataType::Float32), {x, x});
    ViewsDescriptor split(2, 4);
    split.m_ParametersAsInputs = true;
    IConnectableLayer* axis = AddConstant<int32_t>(tested, TensorInfo({1}, DataType::Signed32), {-1}, "axis");
    IConnectableLayer* parts =
        finish(network.AddSplitterLayer(split, "split"), TensorInfo({2, 5, 7, 3}, DataType::Float32), {x, axis});
    parts->GetOutputSlot(1).SetTensorInfo(TensorInfo({2, 5, 7, 3}, DataType::Float32));
    ReshapeDescriptor flat(TensorShape({0, 3}, {false, true}));
    x = finish(network.AddReshapeLayer(flat, "flat"), TensorInfo(TensorShape(), DataType::Float32), {parts});
    const unsigned int turned[] = {1, 0};
    x = finish(network.AddTransposeLayer(TransposeDescriptor(PermutationVector(turned, 2)), "turn"),
               TensorInfo(TensorShape(), DataType::Float32), {x});
    x = finish(network.AddMeanLayer(MeanDescriptor({1}, true), "mean"), TensorInfo({3, 1}, DataType::Float32), {x});
    x->GetOutputSlot(0).Connect(network.AddOutputLayer(0, "means")->GetInputSlot(0));
    parts->GetOutputSlot(1).Connect(network.AddOutputLayer(1, "part")->GetInputSlot(0));

    IConnectableLayer* bytes = network.AddInputLayer(1, "bytes");
    bytes->GetOutputSlot(0).SetTensorInfo(TensorInfo({5}, DataType::QAsymmS8, 0.05f, -3));
    tested.m_Inputs[1] = {-128.0, 127.0};
    IConnectableLayer* own =
        AddConstant<int8_t>(tested, TensorInfo({5}, DataType::QAsymmS8, 0.1f, 1), {-128, -1, 0, 5, 127}, "own");
    bytes = finish(network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum"),
                   TensorInfo({5}, DataType::QAsymmS8, 0.2f, 4), {bytes, own});
    bytes->GetOutputSlot(0).Connect(network.AddOutputLayer(2, "bytes")->GetInputSlot(0));
    tested.m_Runs = {{{0, TensorShape({2, 4, 6, 3})}, {1, TensorShape({5})}},
                     {{0, TensorShape({1, 4, 6, 3})}, {1, TensorShape({5})}}};
    return tested;
}

} // namespace

TEST(NetworkPrinter, PrintsWhatIsCompiledHere)
{
    const std::string printed =
        "// SPDX-License-Identifier: Apache-2.0\n// Printed by NetworkPrinter, see PrinterTest.cpp.\n" +
        PrintAsTest(MakeExample(), "PrintedExample", "Agrees");
    if (std::getenv("TENON_UPDATE_GOLDEN") != nullptr)
    {
        std::ofstream(ExampleFile) << printed;
    }
    EXPECT_EQ(printed, ReadExample()) << "run with TENON_UPDATE_GOLDEN=1 where this is right, and build once more";
}

TEST(NetworkPrinter, PrintsAllThatRandomNetworksHave)
{
    for (uint32_t seed = 0; seed < 200; ++seed)
    {
        const FusableNetwork network(seed);
        const std::string source = PrintAsTest(network.Case(), "Suite", "Name");
        EXPECT_THAT(source, StartsWith("TEST(Suite, Name)"));
        EXPECT_THAT(source, EndsWith("    ExpectAgreement(tested);\n}\n"));
    }
}

TEST(NetworkPrinter, RefusesNetworksInsideOfLayers)
{
    NetworkCase tested;
    INetworkPtr body = INetwork::Create();
    IConnectableLayer* x = body->AddInputLayer(0);
    x->GetOutputSlot(0).SetTensorInfo(TensorInfo({1}, DataType::Float32));
    x->GetOutputSlot(0).Connect(body->AddOutputLayer(0)->GetInputSlot(0));
    tested.m_Network->AddIfLayer(*body, *body, "if");
    EXPECT_THROW(PrintAsTest(tested, "Suite", "Name"), UnimplementedException);
}

} // namespace tenon::test::printer_test
