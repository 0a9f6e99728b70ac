// SPDX-License-Identifier: Apache-2.0
// Summaries of networks, and large numbers as text.
#include "tools/describe/NetworkSummary.hpp"

#include "tools/describe/DescriptionText.hpp"

#include <tenon/INetwork.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

class SummaryTest : public testing::Test
{
protected:
    IConnectableLayer* AddInput(const TensorInfo& info)
    {
        IConnectableLayer* const input = m_Network->AddInputLayer(0);
        input->GetOutputSlot(0).SetTensorInfo(info);
        return input;
    }

    IConnectableLayer* AddConstant(const TensorShape& shape)
    {
        const TensorInfo info(shape, DataType::Float32, 0.0f, 0, true);
        IConnectableLayer* const constant = m_Network->AddConstantLayer(ConstTensor(info, m_Zeros.data()));
        constant->GetOutputSlot(0).SetTensorInfo(info);
        return constant;
    }

    IConnectableLayer* AddProduct(IConnectableLayer* data, IConnectableLayer* weights)
    {
        IConnectableLayer* const product = m_Network->AddFullyConnectedLayer(FullyConnectedDescriptor());
        data->GetOutputSlot(0).Connect(product->GetInputSlot(0));
        weights->GetOutputSlot(0).Connect(product->GetInputSlot(1));
        product->GetOutputSlot(0).SetTensorInfo({TensorShape(), DataType::Float32});
        return product;
    }

    NetworkSummary Get(const ShapesById& shapes = {}) const
    {
        return Summarize([&](IStrategy& strategy) { m_Network->ExecuteStrategy(strategy); }, shapes);
    }

    static const OperatorSummary& Find(const NetworkSummary& summary, const std::string& type)
    {
        for (const OperatorSummary& each : summary.m_Operators)
        {
            if (each.m_Type == type)
            {
                return each;
            }
        }
        throw std::out_of_range(type);
    }

    INetworkPtr m_Network = INetwork::Create();
    std::vector<float> m_Zeros = std::vector<float>(64);
};

TEST_F(SummaryTest, CountsLayersAndParametersOnce)
{
    IConnectableLayer* const weights = AddConstant({4, 4});
    IConnectableLayer* const first = AddProduct(AddInput({TensorShape({3, 4}), DataType::Float32}), weights);
    IConnectableLayer* const second = AddProduct(first, weights);
    IConnectableLayer* const relu = m_Network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu));
    second->GetOutputSlot(0).Connect(relu->GetInputSlot(0));
    relu->GetOutputSlot(0).SetTensorInfo({TensorShape(), DataType::Float32});
    relu->GetOutputSlot(0).Connect(m_Network->AddOutputLayer(0)->GetInputSlot(0));

    const NetworkSummary summary = Get();
    EXPECT_EQ(summary.CountLayers(), 3U);
    ASSERT_EQ(summary.m_Operators.size(), 2U);
    const OperatorSummary& products = summary.m_Operators[0];
    EXPECT_EQ(products.m_Type, "FullyConnected") << "the one with the most work comes first";
    EXPECT_EQ(products.m_Count, 2U);
    EXPECT_EQ(products.m_OutputTypes, (std::map<std::string, uint64_t>{{"Float32", 2}}));
    EXPECT_EQ(products.m_Parameters.m_Tensors, 1U) << "both read the same weights";
    EXPECT_EQ(products.m_Parameters.m_Elements, 16U);
    EXPECT_EQ(products.m_Work.m_Macs, 2U * 3 * 4 * 4) << "shapes are inferred";
    EXPECT_EQ(Find(summary, "Activation").m_Work.m_Operations, 12U);
    EXPECT_EQ(summary.SumParameters().m_Bytes, 64U);
    EXPECT_EQ(summary.SumWork().m_NumWithoutMacs, 0U);
}

TEST_F(SummaryTest, ShapesOfInputsInPlaceOfOpenOnes)
{
    AddProduct(AddInput({TensorShape({1, 4}, {false, true}), DataType::Float32}), AddConstant({4, 4}));
    const WorkSum open = Get().SumWork();
    EXPECT_EQ(open.m_Macs, 0U);
    EXPECT_EQ(open.m_NumWithoutMacs, 1U);
    EXPECT_EQ(Get({{0, TensorShape({5, 4})}}).SumWork().m_Macs, 5U * 4 * 4);
    EXPECT_EQ(Get({{0, TensorShape({5, 3})}}).SumWork().m_NumWithoutMacs, 1U) << "shapes that do not fit the weights";
}

TEST_F(SummaryTest, ConstantsWithoutLayersOfTheirOwn)
{
    const ConstTensor tensor(TensorInfo(TensorShape({4}), DataType::Float32, 0.0f, 0, true), m_Zeros.data());
    IConnectableLayer* const layer =
        m_Network->AddBatchNormalizationLayer(BatchNormalizationDescriptor(), tensor, tensor, tensor, tensor);
    AddInput({TensorShape({1, 4, 2, 2}), DataType::Float32})->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
    const NetworkSummary summary = Get();
    EXPECT_EQ(summary.SumParameters().m_Elements, 16U);
    EXPECT_EQ(Find(summary, "BatchNormalization").m_Parameters.m_Tensors, 4U);
}

TEST_F(SummaryTest, WorkThatNobodyKnows)
{
    CustomDescriptor descriptor;
    descriptor.m_Name = "Mystery";
    m_Network->AddCustomLayer(descriptor);
    AddProduct(AddInput({TensorShape({1, 4}), DataType::Float32}), AddConstant({4, 4}));
    NetworkSummary summary = Get();
    EXPECT_EQ(Find(summary, "Custom 'Mystery'").m_Work.m_NumWithoutMacs, 1U);
    EXPECT_EQ(summary.SumWork().m_Macs, 16U);
    EXPECT_EQ(summary.SumWork().m_NumWithoutMacs, 1U);
    summary.ForgetWork();
    EXPECT_EQ(summary.SumWork().m_Macs, 0U);
    EXPECT_EQ(summary.SumWork().m_NumWithoutMacs, 2U);
}

TEST_F(SummaryTest, SumsSaturate)
{
    WorkSum sum;
    sum.m_Macs = std::numeric_limits<uint64_t>::max() - 1;
    WorkSum other;
    other.m_Macs = 5;
    sum.Add(other);
    EXPECT_EQ(sum.m_Macs, std::numeric_limits<uint64_t>::max());
}

TEST(DescriptionText, LargeNumbers)
{
    EXPECT_EQ(FormatLarge(0), "0");
    EXPECT_EQ(FormatLarge(9999), "9999");
    EXPECT_EQ(FormatLarge(10'000), "10.0 k");
    EXPECT_EQ(FormatLarge(300'774'272), "300.8 M");
    EXPECT_EQ(FormatLarge(999'960), "1.00 M");
    EXPECT_EQ(FormatLarge(4'089'184'256), "4.09 G");
    EXPECT_EQ(FormatLarge(std::numeric_limits<uint64_t>::max()), "18.4 E");
    EXPECT_EQ(FormatBytes(9999), "9999 bytes");
    EXPECT_EQ(FormatBytes(10'240), "10.0 KiB");
    EXPECT_EQ(FormatBytes(uint64_t{1} << 30), "1.00 GiB");
    EXPECT_EQ(FormatBytes(std::numeric_limits<uint64_t>::max()), "16.0 EiB");
}

TEST(DescriptionText, NamesOfFilesAreShownSafely)
{
    ModelDescription model;
    model.m_Path = "a\x1b[2J.onnx";
    model.m_Format = "ONNX";
    model.m_Texts.emplace_back("doc\nstring", "\n");
    model.m_Texts.back().second.append(1000, 'x');
    Binding binding;
    binding.m_Name = "in\nput";
    binding.m_Info = TensorInfo(TensorShape({1, 3}, {false, true}), DataType::Float32);
    binding.m_DimensionNames = {"ba\ttch", ""};
    binding.m_Labels = {"a\nb", "c"};
    model.m_Inputs = {binding};
    model.m_Verdict = Verdict::Unsupported;
    const std::string text = FormatDescription(model, 80);
    EXPECT_NE(text.find("  'in; put' Float32 [ba?tch,3]\n"), std::string::npos) << text;
    EXPECT_NE(text.find("    2 labels: a; b, c, the default of --labels\n"), std::string::npos) << text;
    for (const char c : text)
    {
        EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << text;
    }
    EXPECT_LT(text.size(), 500U) << "long texts are cut";
}

} // namespace
} // namespace tenon::tools
