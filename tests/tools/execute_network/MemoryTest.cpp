// SPDX-License-Identifier: Apache-2.0
// Memory of inputs and outputs: what they may take together, that nothing is taken for what is refused, and what is
// said where there is none.
#include "Program.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/Inputs.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/common/RandomInputs.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TinyModel.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <fmt/format.h>

#include <fstream>
#include <limits>

namespace tenon::tools
{
namespace
{

/// Sanitizers end a program that asks for too much, and 32 bits cannot count it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool FailsWithoutMemory = false;
#else
constexpr bool FailsWithoutMemory = sizeof(size_t) == 8;
#endif

/// 2^62 bytes.
TensorInfo Huge()
{
    return {TensorShape({1U << 30, 1U << 30}), DataType::Float32};
}

Limits NoLimits()
{
    Limits limits;
    limits.m_MaxTensorBytes = std::numeric_limits<uint64_t>::max();
    limits.m_MaxTotalBytes = std::numeric_limits<uint64_t>::max();
    return limits;
}

TEST(InputMemory, AreBoundedTogether)
{
    const TensorInfo ten({10}, DataType::Float32);
    const std::vector<Binding> bindings = {{"a", 0, ten}, {"b", 1, ten}, {"c", 2, ten}};
    Limits limits;
    limits.m_MaxTotalBytes = 119;
    const std::string reason = "the 3 inputs take 120 bytes together; the limit is 119. Give smaller shapes by "
                               "--input-tensor-shape";
    EXPECT_THROW_WITH(LoadInputs(bindings, {}, {}, {}, limits), InputError, reason);
    const test::TempFolder folder;
    const std::string text = folder.Write("a.txt", "1 2 3 4 5 6 7 8 9 10");
    const std::string npy = folder.Path("a.npy");
    const std::vector<float> values(10, 1.0f);
    WriteNpy(npy, ten, reinterpret_cast<const std::byte*>(values.data()));
    const std::string raw = folder.Write("a.bin", std::string(40, '\0'));
    EXPECT_THROW_WITH(LoadInputs(bindings, {text, npy, raw}, {}, {}, limits), InputError, reason);
    limits.m_MaxTotalBytes = 120;
    EXPECT_EQ(LoadInputs(bindings, {text, npy, raw}, {}, {}, limits).size(), 3U);
}

TEST(InputMemory, PicturesCountBeforeTheyAreDecoded)
{
    TensorInfo open({1, 1, 1, 1}, DataType::Float32);
    open.GetShape().SetDimensionUnknown(1);
    open.GetShape().SetDimensionUnknown(2);
    Limits limits;
    const std::string picture = "samples/digits/seven.png"; // of 8x8 pixels
    EXPECT_EQ(LoadInputs({{"a", 0, open}}, {picture}, {}, {}, limits)[0].m_Data.Size(), 256U);
    limits.m_MaxTotalBytes = 511;
    EXPECT_THROW_WITH(LoadInputs({{"a", 0, open}, {"b", 1, open}}, {picture, picture}, {}, {}, limits), InputError,
                      "the 2 inputs take 512 bytes together");
}

TEST(InputMemory, RandomOnesTakeMemoryWhenTheyAreFilled)
{
    const std::vector<Binding> bindings = {{"a", 0, TensorInfo({10}, DataType::Float32)}};
    std::vector<InputData> inputs = LoadInputs(bindings, {}, {}, {}, Limits());
    EXPECT_EQ(inputs[0].m_Data.Data(), nullptr);
    EXPECT_EQ(CountBytes(inputs), 40U);
    FillRandomInputs(bindings, inputs);
    EXPECT_EQ(inputs[0].m_Data.Size(), 40U);
}

TEST(InputMemory, WithoutMemoryAreNamed)
{
    if (!FailsWithoutMemory)
    {
        GTEST_SKIP() << "what is too large ends the program, or cannot be asked for";
    }
    const std::vector<Binding> bindings = {{"waves", 0, Huge()}};
    std::vector<InputData> inputs = LoadInputs(bindings, {}, {}, {}, NoLimits());
    EXPECT_THROW_WITH(FillRandomInputs(bindings, inputs), RunError,
                      "input 'waves': not enough memory for Float32 [1073741824,1073741824], which takes "
                      "4611686018427387904 bytes");
}

TEST(OutputMemory, InputsAndOutputsAreBoundedTogether)
{
    Limits limits;
    limits.m_MaxTotalBytes = 100;
    const TensorInfo ten({10}, DataType::Float32);
    OutputStore store({{"x", 7, ten}, {"y", 8, ten}}, 20, limits);
    const OutputAllocator allocate = store.GetAllocator();
    const TensorInfo eleven({11}, DataType::Float32);
    allocate(7, ten);
    EXPECT_THROW_WITH(allocate(8, eleven), InputError, "inputs and outputs take 104 bytes together; the limit is 100");
    allocate(8, ten);
    EXPECT_THROW_WITH(allocate(7, eleven), InputError, "104 bytes");
    allocate(7, ten); // of the 40 bytes that it had
}

TEST(OutputMemory, OutputsWithoutMemoryAreNamed)
{
    if (!FailsWithoutMemory)
    {
        GTEST_SKIP() << "what is too large ends the program, or cannot be asked for";
    }
    OutputStore store({{"scores", 7, Huge()}}, 0, NoLimits());
    const OutputAllocator allocate = store.GetAllocator();
    EXPECT_THROW_WITH(allocate(7, Huge()), RunError,
                      "output 'scores': not enough memory for Float32 [1073741824,1073741824], which takes "
                      "4611686018427387904 bytes");
}

class Memory : public Program
{
protected:
    /// Filling a GiB takes seconds: a program that does so is ended, long before it has taken all memory.
    static Outcome ExecuteBriefly(Words words)
    {
        words.insert(words.begin(), ProgramPath());
        return test::RunProgram(words, "", {"/bin/sh", "-c", R"(ulimit -t 10; exec "$0" "$@")"});
    }
};

TEST_F(Memory, InputsAboveTheLimitTakeNone)
{
    std::vector<test::TinyTensor> inputs;
    for (int i = 0; i < 40; ++i)
    {
        inputs.push_back({fmt::format("x{}", i), {1 << 28}});
    }
    const std::string model = m_Folder.Write("many.tflite", test::TinyModel(test::AddN, inputs, {{"y", {1 << 28}}}));
    ExpectFailure(ExecuteBriefly({"-m", model, "-N"}), 3,
                  "the 40 inputs take 42949672960 bytes together; the limit is 17179869184. Give smaller shapes");
}

TEST_F(Memory, ShapesThatAreRefusedTakeNone)
{
    constexpr int32_t large = 1 << 29; // 2 GiB
    const std::string model = m_Folder.Write(
        "add.tflite",
        test::TinyModel(test::AddN, {{"a", {large}}, {"b", {large}}, {"c", {large}}, {"d", {3}}}, {{"sum", {large}}}));
    ExpectFailure(ExecuteBriefly({"-m", model, "-N"}), 3, "[536870912]");
}

TEST_F(Memory, OutputsCountByTheShapesOfTheRun)
{
    if constexpr (sizeof(size_t) == 4)
    {
        GTEST_SKIP() << "a tensor alone of so many bytes is refused, as no address reaches them";
    }
    const INetworkPtr network = INetwork::Create();
    const TensorInfo large({1U << 29}, DataType::Float32);
    IConnectableLayer* const input = network->AddInputLayer(0, "x");
    input->GetOutputSlot(0).SetTensorInfo(large);
    for (int i = 0; i < 8; ++i)
    {
        IConnectableLayer* const abs =
            network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs));
        input->GetOutputSlot(0).Connect(abs->GetInputSlot(0));
        abs->GetOutputSlot(0).SetTensorInfo(large);
        abs->GetOutputSlot(0).Connect(network->AddOutputLayer(i)->GetInputSlot(0));
    }
    const ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(*network);
    const std::string model = m_Folder.Path("abs.tenon");
    std::ofstream file(model, std::ios::binary);
    ASSERT_TRUE(serializer->SaveSerializedToStream(file));
    file.close();
    ExpectFailure(ExecuteBriefly({"-m", model, "-N"}), 3,
                  "inputs and outputs take 19327352832 bytes together; the limit is");
    const Outcome small = ExecuteBriefly({"-m", model, "-N", "-s", "3"});
    EXPECT_EQ(small.m_Status, 0) << small.m_Error;
}

} // namespace
} // namespace tenon::tools
