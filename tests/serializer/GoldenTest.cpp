// SPDX-License-Identifier: Apache-2.0
// Old files stay readable: tests/golden/version1.tenon and version1_optimized.tenon were written by the first version
// of the format and are never written again; version1_names.txt lists the names and defaults that files rely on.
#include "Files.hpp"
#include "common/Enumerators.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::test::golden_test
{

namespace
{

constexpr const char* PlainPath = "tests/golden/version1.tenon";
constexpr const char* OptimizedPath = "tests/golden/version1_optimized.tenon";
constexpr const char* NamesPath = "tests/golden/version1_names.txt";

/// Inputs: 0 "picture" QAsymmS8 [1,2,2,1], 1 "condition" Boolean [1]. Outputs: 0 a convolution of the picture with
/// weights of a scale per channel; 1 a state s, Float32 [2], initially 1 and 2, becomes exp(s) or -s by the condition.
struct Results
{
    std::vector<int8_t> m_Picture = std::vector<int8_t>(8);
    std::vector<float> m_State = std::vector<float>(2);
};

Results Run(IRuntime& runtime, NetworkId id, uint8_t condition)
{
    const std::vector<int8_t> picture = {1, 3, -5, 127};
    Results results;
    const TensorInfo pictureInfo({1, 2, 2, 1}, DataType::QAsymmS8, 0.5f, 1, true);
    const TensorInfo conditionInfo({1}, DataType::Boolean, 0.0f, 0, true);
    runtime.EnqueueWorkload(
        id, {{0, ConstTensor(pictureInfo, picture.data())}, {1, ConstTensor(conditionInfo, &condition)}},
        {{0, Tensor(runtime.GetOutputTensorInfo(id, 0), results.m_Picture.data())},
         {1, Tensor(FloatInfo({2}), results.m_State.data())}});
    return results;
}

void ExpectResults(IOptimizedNetworkPtr network, IRuntime& runtime)
{
    NetworkId id = 0;
    runtime.LoadNetwork(id, std::move(network));
    const Results first = Run(runtime, id, 0);
    // Real values 0, 1, -3, 63 times weights 1.5 and -0.5 plus biases 1 and -2, in steps of 0.25 from -3 on.
    EXPECT_EQ(first.m_Picture, (std::vector<int8_t>{1, -11, 7, -13, -17, -5, 127, -128}));
    EXPECT_EQ(first.m_State, (std::vector<float>{-1.0f, -2.0f}));
    const Results second = Run(runtime, id, 1);
    EXPECT_FLOAT_EQ(second.m_State[0], 0.36787944f);
    EXPECT_FLOAT_EQ(second.m_State[1], 0.13533528f);
}

template <typename Enum>
void AddEnumerators(std::set<std::string>& lines, const std::string& start, Enum)
{
    for (const std::string& name : EnumeratorNames<Enum>())
    {
        if (!name.empty())
        {
            lines.insert(start + name);
        }
    }
}

template <typename T>
void AddFieldNames(std::set<std::string>& lines, const std::string& field, const T& value)
{
    lines.insert(field + " is " + FieldToString(value) + " where left out");
    if constexpr (std::is_enum_v<T>)
    {
        AddEnumerators(lines, field + " may be ", value);
    }
    if constexpr (std::is_same_v<T, std::vector<RecurrentActivation>>)
    {
        AddEnumerators(lines, field + " may have ", RecurrentActivation::Relu);
    }
}

template <typename D>
void AddNames(std::set<std::string>& lines, const std::string& layer)
{
    lines.insert(layer);
    const D defaults;
    D::Visit([&](const char* name, auto member) { AddFieldNames(lines, layer + "." + name, defaults.*member); });
}

/// What this library knows.
std::set<std::string> CurrentNames()
{
    std::set<std::string> lines;
#define TENON_OP(name, descriptor, ...) AddNames<descriptor>(lines, #name);
#include <tenon/ops.def>
    for (const std::string& name : EnumeratorNames<DataType>())
    {
        if (!name.empty())
        {
            lines.insert("element type " + name);
        }
    }
    return lines;
}

} // namespace

TEST(GoldenTenon, Version1Runs)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const IDeserializerPtr deserializer = IDeserializer::Create();
    const INetworkPtr network = deserializer->CreateNetworkFromBinaryFile(PlainPath);
    EXPECT_EQ(deserializer->GetNetworkInputBindingInfo(0, "picture").first, 0);
    EXPECT_EQ(deserializer->GetNetworkOutputBindingInfo(0, "state").first, 1);
    ExpectResults(Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()), *runtime);
}

TEST(GoldenTenon, Version1OptimizedRuns)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    ExpectResults(
        IDeserializer::Create()->CreateOptimizedNetworkFromBinaryFile(OptimizedPath, runtime->GetDeviceSpec()),
        *runtime);
}

TEST(GoldenTenon, NamesAndDefaultsOfVersion1AreListedAndStay)
{
    const std::set<std::string> now = CurrentNames();
    std::set<std::string> listed;
    std::ifstream file(NamesPath);
    for (std::string line; std::getline(file, line); listed.insert(line))
    {
        EXPECT_EQ(now.count(line), 1u) << "files that are written already rely on: " << line
                                       << "\nGive a field a new name in place of another default or meaning, and keep "
                                          "the names of layers, fields and enumerators; see docs/serialization.md";
    }
    ASSERT_GT(listed.size(), 500u) << "run this test in the root of the source tree";
    if (std::getenv("TENON_ADD_NAMES") != nullptr) // by target add_version1_names; names are never taken away
    {
        listed.insert(now.begin(), now.end());
        std::ofstream added(NamesPath);
        std::copy(listed.begin(), listed.end(), std::ostream_iterator<std::string>(added, "\n"));
        ASSERT_TRUE(added.flush()) << NamesPath << " cannot be written";
    }
    for (const std::string& line : now)
    {
        EXPECT_EQ(listed.count(line), 1u) << "files may rely on it from now on: " << line << "\nAdd it to " << NamesPath
                                          << " with: cmake --build <build folder> --target add_version1_names";
    }
}

} // namespace tenon::test::golden_test
