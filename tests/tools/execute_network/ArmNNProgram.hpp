// SPDX-License-Identifier: Apache-2.0
// The models and files of tests that give the program options of Arm NN's.
#pragma once

#include "Program.hpp"
#include "tools/harness/TinyModel.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace tenon::tools
{

class ArmNNProgram : public Program
{
protected:
    /// On a model of one ReLU of [2,3].
    Words Relu(const Words& rest) const { return Join({"-m", m_Relu, "-c", "CpuRef"}, rest); }

    /// On the bundled model, which prints no values.
    static Words Digits(const Words& rest) { return Join({"-m", FloatModel, "-N"}, rest); }

    static Words Join(Words first, const Words& rest)
    {
        first.insert(first.end(), rest.begin(), rest.end());
        return first;
    }

    /// A ReLU of values in steps of 0.5 from 10 on.
    std::string WriteQuantized() const
    {
        const TensorInfo info({4}, DataType::QAsymmU8, 0.5f, 10);
        const INetworkPtr network = INetwork::Create();
        ActivationDescriptor descriptor;
        descriptor.m_Function = ActivationFunction::ReLu;
        IConnectableLayer* const input = network->AddInputLayer(0, "in");
        IConnectableLayer* const relu = network->AddActivationLayer(descriptor, "relu");
        input->GetOutputSlot(0).SetTensorInfo(info);
        relu->GetOutputSlot(0).SetTensorInfo(info);
        input->GetOutputSlot(0).Connect(relu->GetInputSlot(0));
        relu->GetOutputSlot(0).Connect(network->AddOutputLayer(0, "out")->GetInputSlot(0));
        const ISerializerPtr serializer = ISerializer::Create();
        serializer->Serialize(*network);
        std::ofstream file(m_Folder.Path("quantized.tenon"), std::ios::binary);
        EXPECT_TRUE(serializer->SaveSerializedToStream(file));
        return m_Folder.Path("quantized.tenon");
    }

    const std::string m_Relu =
        m_Folder.Write("relu.tflite", test::TinyModel(test::Relu, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const std::string m_Custom =
        m_Folder.Write("custom.tflite", test::TinyModel(test::Custom, {{"x", {2, 3}}}, {{"y", {2, 3}}}));
    const std::string m_Quantized = WriteQuantized();
    static inline const std::string GoldenArmNN = "tests/golden/armnn/Activation.armnn";
    const std::string m_ArmNN = m_Folder.Write("net.tflite", std::string("\x10\0\0\0ARMN and more", 17));
    const std::string m_Unknown = m_Folder.Write("net", "no model at all");
    const std::string m_A = m_Folder.Write("a.txt", "-1 1.5 -2\n3:-4,5\n");
    const std::string m_B = m_Folder.Write("b.txt", "10 -20 30 -40 50 -60");
    const std::string m_Same = m_Folder.Write("same.txt", "y, Float32 : 0 1.5 0 3 0 5 ");
    const std::string m_Other = m_Folder.Write("other.txt", "y, Float32 : 0 1.5 0 3 0 -5 ");
    const std::string m_OtherType = m_Folder.Write("type.txt", "y, QAsymmU8 : 0 1 0 3 0 5 ");
    const std::string m_Reals = m_Folder.Write("reals.txt", "1.5 -1 100 0.26");
    const std::string m_Stored = m_Folder.Write("stored.txt", "13 8 210 11");
    const std::string m_NaN = m_Folder.Write("nan.txt", "1.5 nan 100 0.26");
    const std::string m_Digit = m_Folder.Write("digit.txt",
                                               []
                                               {
                                                   std::string text;
                                                   for (int i = 0; i < 64; ++i)
                                                   {
                                                       text += std::to_string(i % 16 / 16.0) + "\n";
                                                   }
                                                   return text;
                                               }());
};

} // namespace tenon::tools
