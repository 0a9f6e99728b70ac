// SPDX-License-Identifier: Apache-2.0
// Several iterations: states that they keep or do not, and files for each of them.
#include "Program.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <fstream>

namespace tenon::tools
{
namespace
{

class Sequences : public Program
{
protected:
    /// total = total before + in.
    std::string WriteAccumulator()
    {
        const TensorInfo info({2}, DataType::Float32);
        const INetworkPtr network = INetwork::Create();
        IConnectableLayer* const input = network->AddInputLayer(0, "in");
        IConnectableLayer* const read = network->AddReadStateLayer(StateDescriptor("total"), "read");
        IConnectableLayer* const sum =
            network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
        input->GetOutputSlot(0).SetTensorInfo(info);
        read->GetOutputSlot(0).SetTensorInfo(info);
        read->GetOutputSlot(0).Connect(sum->GetInputSlot(0));
        input->GetOutputSlot(0).Connect(sum->GetInputSlot(1));
        IConnectableLayer* const write = network->AddWriteStateLayer(StateDescriptor("total"), "write");
        sum->GetOutputSlot(0).Connect(write->GetInputSlot(0));
        sum->GetOutputSlot(0).Connect(network->AddOutputLayer(0, "out")->GetInputSlot(0));
        const ISerializerPtr serializer = ISerializer::Create();
        serializer->Serialize(*network);
        std::ofstream file(m_Folder.Path("total.tenon"), std::ios::binary);
        EXPECT_TRUE(serializer->SaveSerializedToStream(file));
        return m_Folder.Path("total.tenon");
    }

    std::vector<double> Read(const std::string& path)
    {
        const NpyArray array = ReadNpy(path, TensorInfo({2}, DataType::Float32), 1000);
        return {GetElement(DataType::Float32, array.m_Data.Data(), 0),
                GetElement(DataType::Float32, array.m_Data.Data(), 1)};
    }

    Outcome Run(const Words& words)
    {
        Words command = {"-m", m_Model, "-c", "CpuRef"};
        command.insert(command.end(), words.begin(), words.end());
        return Execute(command);
    }

    using Values = std::vector<double>;
    const std::string m_Model = WriteAccumulator();
    const std::string m_A = m_Folder.Write("a.txt", "1 2");
    const std::string m_B = m_Folder.Write("b.txt", "10 20");
    const std::string m_C = m_Folder.Write("c.txt", "100 200");
    const std::string m_Out = m_Folder.Path("out.npy");
};

TEST_F(Sequences, StatesAreKeptOnDemand)
{
    ASSERT_EQ(Run({"-d", m_A, "-I", "3", "-w", m_Out}).m_Status, 0);
    EXPECT_EQ(Read(m_Out), (Values{1, 2})) << "each iteration is a first step";
    const Outcome kept = Run({"-d", m_A, "-I", "3", "--keep-states", "-w", m_Out});
    ASSERT_EQ(kept.m_Status, 0) << kept.m_Error;
    EXPECT_EQ(kept.m_Error, "");
    EXPECT_EQ(Read(m_Out), (Values{3, 6}));
}

TEST_F(Sequences, EachIterationMayHaveItsFiles)
{
    const std::string inputs = m_A + "," + m_B + "," + m_C;
    const std::string files[] = {m_Folder.Path("x.npy"), m_Folder.Path("y.npy"), m_Folder.Path("z.npy")};
    const std::string outputs = files[0] + "," + files[1] + "," + files[2];
    const Outcome kept = Run({"-d", inputs, "-I", "3", "--keep-states", "-w", outputs});
    ASSERT_EQ(kept.m_Status, 0) << kept.m_Error;
    EXPECT_EQ(Read(files[0]), (Values{1, 2}));
    EXPECT_EQ(Read(files[1]), (Values{11, 22}));
    EXPECT_EQ(Read(files[2]), (Values{111, 222}));
    const size_t second = kept.m_Out.find("iteration 2 of 3:\n");
    ASSERT_NE(second, std::string::npos) << kept.m_Out;
    EXPECT_TRUE(Has(kept.m_Out.substr(second), "b.txt")) << kept.m_Out;
    EXPECT_TRUE(Has(kept.m_Out.substr(second), "  11 22\n")) << kept.m_Out;

    ASSERT_EQ(Run({"-d", inputs, "-I", "3", "-w", outputs, "-N"}).m_Status, 0);
    EXPECT_EQ(Read(files[1]), (Values{10, 20})) << "states start anew";
    ASSERT_EQ(Run({"-d", inputs, "-I", "3", "--keep-states", "-w", m_Out}).m_Status, 0);
    EXPECT_EQ(Read(m_Out), (Values{111, 222})) << "one file is for the last iteration";
    ASSERT_EQ(Run({"-d", m_A, "-I", "3", "--keep-states", "-w", outputs}).m_Status, 0);
    EXPECT_EQ(Read(files[1]), (Values{2, 4})) << "one input file is for all iterations";
}

TEST_F(Sequences, OtherNumbersOfFilesAreRefused)
{
    const std::string two = m_A + "," + m_B;
    ExpectFailure(Run({"-d", two}), 2, "add --iterations 2");
    ExpectFailure(Run({"-d", two + "," + m_C, "-I", "2"}), 2, "add --iterations 3");
    ExpectFailure(Run({"-d", m_A, "-I", "2", "-w", "x.npy,y.npy,z.npy"}), 2,
                  "3 file(s) are given for 1 output(s); 2 iter");
}

TEST_F(Sequences, KeepingStatesWithoutAnyIsRemarked)
{
    const Outcome outcome = Execute({"-m", FloatModel, "-N", "-I", "2", "--keep-states"});
    EXPECT_EQ(outcome.m_Status, 0);
    EXPECT_TRUE(Has(outcome.m_Error, "warning: --keep-states: the model has no states")) << outcome.m_Error;
}

} // namespace
} // namespace tenon::tools
