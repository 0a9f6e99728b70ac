// SPDX-License-Identifier: Apache-2.0
// Models that keep state, step by step, against what TFLite gave: tests/golden/make_states.py makes the files and says
// what is in them.
#include <tenon/Tenon.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenon::test::state_golden_test
{

namespace
{

const std::filesystem::path Folder = "tests/golden/states";

struct Value
{
    std::string m_Type;
    std::vector<uint8_t> m_Bytes;
};

struct Step
{
    std::vector<Value> m_Inputs;
    std::vector<Value> m_Outputs;
};

template <typename T>
void ReadElements(std::istream& line, size_t count, std::vector<uint8_t>& bytes)
{
    for (size_t i = 0; i < count; ++i)
    {
        double number = 0;
        line >> number;
        const T element = static_cast<T>(number);
        const auto* begin = reinterpret_cast<const uint8_t*>(&element);
        bytes.insert(bytes.end(), begin, begin + sizeof(T));
    }
}

Value ReadValue(std::istream& line)
{
    Value value;
    size_t count = 0;
    line >> value.m_Type >> count;
    const std::string& type = value.m_Type;
    if (type == "float32")
    {
        ReadElements<float>(line, count, value.m_Bytes);
    }
    else if (type == "int32")
    {
        ReadElements<int32_t>(line, count, value.m_Bytes);
    }
    else if (type == "int16")
    {
        ReadElements<int16_t>(line, count, value.m_Bytes);
    }
    else if (type == "int8")
    {
        ReadElements<int8_t>(line, count, value.m_Bytes);
    }
    else if (type == "uint8" || type == "bool")
    {
        ReadElements<uint8_t>(line, count, value.m_Bytes);
    }
    else
    {
        throw std::runtime_error("values of type " + type);
    }
    return value;
}

std::vector<Step> ReadSteps(const std::string& name)
{
    std::ifstream file(Folder / (name + ".txt"));
    std::vector<Step> steps;
    for (std::string text; std::getline(file, text);)
    {
        std::istringstream line(text);
        std::string kind;
        line >> kind;
        if (kind == "step")
        {
            steps.emplace_back();
            continue;
        }
        auto& values = kind == "in" ? steps.back().m_Inputs : steps.back().m_Outputs;
        values.push_back(ReadValue(line));
    }
    return steps;
}

std::vector<std::string> Names()
{
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(Folder, error))
    {
        if (entry.path().extension() == ".tflite")
        {
            names.push_back(entry.path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Integers must be the same; floats differ where sums are taken in another order.
void ExpectNear(const Value& actual, const Value& expected)
{
    ASSERT_EQ(actual.m_Bytes.size(), expected.m_Bytes.size());
    if (expected.m_Type != "float32")
    {
        EXPECT_EQ(actual.m_Bytes, expected.m_Bytes) << expected.m_Type;
        return;
    }
    constexpr float relative = 1e-5f;
    constexpr float absolute = 1e-6f; // of sums whose terms, of about 1, cancel each other
    for (size_t i = 0; i < expected.m_Bytes.size(); i += sizeof(float))
    {
        float value = 0;
        float wanted = 0;
        std::memcpy(&value, &actual.m_Bytes[i], sizeof(value));
        std::memcpy(&wanted, &expected.m_Bytes[i], sizeof(wanted));
        EXPECT_NEAR(value, wanted, relative * std::abs(wanted) + absolute) << "element " << i / sizeof(float);
    }
}

class Loaded
{
public:
    explicit Loaded(const std::string& name) : m_Runtime(IRuntime::Create({}))
    {
        const ITfLiteParserPtr parser = ITfLiteParser::Create();
        const INetworkPtr network = parser->CreateNetworkFromBinaryFile((Folder / (name + ".tflite")).c_str());
        const size_t graph = parser->GetNetworkSubgraph();
        for (const std::string& input : parser->GetSubgraphInputTensorNames(graph))
        {
            m_Inputs.push_back(parser->GetNetworkInputBindingInfo(graph, input));
        }
        for (const std::string& output : parser->GetSubgraphOutputTensorNames(graph))
        {
            m_Outputs.push_back(parser->GetNetworkOutputBindingInfo(graph, output));
        }
        m_Runtime->LoadNetwork(m_Id, Optimize(*network, {"CpuRef"}, m_Runtime->GetDeviceSpec()));
    }

    SessionId CreateSession() { return m_Runtime->CreateSession(m_Id); }
    void Reset(SessionId session) { m_Runtime->ResetStates(m_Id, session); }

    /// Runs the step, and compares its outputs with those of the file.
    void Run(SessionId session, const Step& step)
    {
        ASSERT_EQ(m_Inputs.size(), step.m_Inputs.size());
        ASSERT_EQ(m_Outputs.size(), step.m_Outputs.size());
        InputTensors inputs;
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            TensorInfo info = m_Inputs[i].second;
            info.SetConstant();
            ASSERT_EQ(info.GetNumBytes(), step.m_Inputs[i].m_Bytes.size());
            inputs.emplace_back(m_Inputs[i].first, ConstTensor(info, step.m_Inputs[i].m_Bytes.data()));
        }
        std::vector<Value> results(m_Outputs.size());
        OutputTensors outputs;
        for (size_t i = 0; i < m_Outputs.size(); ++i)
        {
            results[i].m_Bytes.resize(m_Outputs[i].second.GetNumBytes());
            outputs.emplace_back(m_Outputs[i].first, Tensor(m_Outputs[i].second, results[i].m_Bytes.data()));
        }
        m_Runtime->EnqueueWorkload(m_Id, session, inputs, outputs);
        for (size_t i = 0; i < results.size(); ++i)
        {
            SCOPED_TRACE("output " + std::to_string(i));
            ExpectNear(results[i], step.m_Outputs[i]);
        }
    }

private:
    IRuntimePtr m_Runtime;
    NetworkId m_Id = 0;
    std::vector<BindingPointInfo> m_Inputs;
    std::vector<BindingPointInfo> m_Outputs;
};

class StateGolden : public testing::TestWithParam<std::string>
{
};

void RunAll(Loaded& loaded, SessionId session, const std::vector<Step>& steps)
{
    for (size_t i = 0; i < steps.size(); ++i)
    {
        SCOPED_TRACE("step " + std::to_string(i));
        loaded.Run(session, steps[i]);
    }
}

} // namespace

TEST(StateGoldenFiles, AreThere)
{
    EXPECT_GT(Names().size(), 50U) << "the tests run in the root of the sources";
}

TEST_P(StateGolden, StepsGiveWhatTfLiteGives)
{
    const std::vector<Step> steps = ReadSteps(GetParam());
    ASSERT_GE(steps.size(), 4U);
    Loaded loaded(GetParam());
    RunAll(loaded, SessionId::Default, steps);
    loaded.Reset(SessionId::Default);
    SCOPED_TRACE("after ResetStates");
    RunAll(loaded, SessionId::Default, steps);
}

TEST_P(StateGolden, SessionsShareNoState)
{
    const std::vector<Step> steps = ReadSteps(GetParam());
    Loaded loaded(GetParam());
    const SessionId ahead = loaded.CreateSession();
    const SessionId behind = loaded.CreateSession();
    loaded.Run(ahead, steps.at(0));
    for (size_t i = 1; i < steps.size(); ++i)
    {
        SCOPED_TRACE("step " + std::to_string(i));
        loaded.Run(ahead, steps[i]);
        loaded.Run(behind, steps[i - 1]);
    }
    loaded.Reset(ahead);
    loaded.Run(behind, steps.back());
    RunAll(loaded, ahead, steps);
}

INSTANTIATE_TEST_SUITE_P(Models, StateGolden, testing::ValuesIn(Names()), [](const auto& test) { return test.param; });

} // namespace tenon::test::state_golden_test
