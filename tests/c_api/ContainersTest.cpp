// SPDX-License-Identifier: Apache-2.0
// The C interface: models in files that hold several, and the metadata of models.
#include "c_api/Support.hpp"
#include "harness/TinyOnnx.hpp"
#include "harness/ZipBuilder.hpp"
#include "tools/harness/TinyModel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace
{

using namespace tenon::testing::c_api;
using tenon::tools::test::TinyModel;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two models, whose inputs are named after them.
std::string TwoModels()
{
    return tenon::test::MakeZip({{"a", TinyModel(tenon::tools::test::Relu, {{"in_a", {2}}}, {{"out", {2}}})},
                                 {"b", TinyModel(tenon::tools::test::Relu, {{"in_b", {2}}}, {{"out", {2}}})}});
}

tenon_read_options Entry(const char* name)
{
    tenon_read_options options{};
    options.struct_size = sizeof(options);
    options.entry = name;
    return options;
}

/// The name of the input of a network, which is destroyed.
std::string TakeInputName(tenon_network* network)
{
    const char* name = "";
    Ok(tenon_network_input(network, 0, &name, nullptr, Error()));
    std::string taken = name;
    tenon_network_destroy(network);
    return taken;
}

TEST(CContainers, AnEntryIsChosen)
{
    const Runtime runtime;
    const std::string bytes = TwoModels();
    const std::string path = ::testing::TempDir() + "c_api_two.task";
    std::ofstream(path, std::ios::binary) << bytes;
    for (const std::string entry : {"a", "b"})
    {
        tenon_read_options options = Entry(entry.c_str());
        tenon_network* network = nullptr;
        Ok(tenon_network_read_file(runtime.Get(), path.c_str(), &options, &network, Error()));
        EXPECT_EQ(TakeInputName(network), "in_" + entry);
        for (const uint8_t isInPlace : {uint8_t{0}, uint8_t{1}})
        {
            options.in_place = isInPlace;
            Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), &options, &network, Error()));
            EXPECT_EQ(TakeInputName(network), "in_" + entry);
        }
    }
    std::remove(path.c_str());
}

TEST(CContainers, Refusals)
{
    const Runtime runtime;
    const auto refusal = [&](const std::string& bytes, const char* entry)
    {
        const tenon_read_options options = Entry(entry);
        tenon_network* none = nullptr;
        return StatusAndText(
            tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), &options, &none, Error()));
    };
    const std::string two = TwoModels();
    EXPECT_THAT(refusal(two, nullptr),
                HasSubstr("TENON_INVALID_ARGUMENT the file has 2 models; name one of them as entry: 'a', 'b'"));
    EXPECT_THAT(refusal(two, "c"),
                HasSubstr("TENON_INVALID_ARGUMENT the file has no entry 'c'; its models are: 'a', 'b'"));
    EXPECT_THAT(refusal(two.substr(0, two.size() - 1), "a"),
                HasSubstr("TENON_INVALID_DATA there is no zip archive, or it is cut short"));
    EXPECT_THAT(refusal(tenon::test::MakeZip({{"a", "packed", 0, 8}}), nullptr),
                HasSubstr("TENON_UNSUPPORTED 'a' is compressed in the zip archive"));
    const std::string onnx = tenon::test::MakeTinyOnnx("Relu", {{"x", {"2"}}}).Bytes();
    EXPECT_THAT(refusal(onnx, "a"),
                HasSubstr("is an ONNX model: give no entry, which files of several .tflite models have"));
}

/// Mean 0, std 255 and four labels, by MediaPipe's writer.
std::string Classifier()
{
    std::ifstream file("tests/golden/containers/classifier.tflite", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class CMetadata : public ::testing::Test
{
protected:
    ~CMetadata() override
    {
        tenon_network_destroy(m_Network);
        tenon_network_destroy(m_Optimized);
    }

    void Read(const std::string& model)
    {
        Ok(tenon_network_read_memory(m_Runtime.Get(), model.data(), model.size(), nullptr, &m_Network, Error()));
    }

    static tenon_tensor_metadata InputOf(const tenon_network* network)
    {
        const tenon_tensor_metadata* metadata = nullptr;
        Ok(tenon_network_input_metadata(network, 0, &metadata, Error()));
        return *metadata;
    }

    static tenon_tensor_metadata OutputOf(const tenon_network* network)
    {
        const tenon_tensor_metadata* metadata = nullptr;
        Ok(tenon_network_output_metadata(network, 0, &metadata, Error()));
        return *metadata;
    }

    Runtime m_Runtime;
    tenon_network* m_Network = nullptr;
    tenon_network* m_Optimized = nullptr;
};

TEST_F(CMetadata, OfATfLiteModel)
{
    Read(Classifier());
    Ok(tenon_network_optimize(m_Runtime.Get(), m_Network, nullptr, &m_Optimized, Error()));
    for (const tenon_network* network : {m_Network, m_Optimized})
    {
        const char* key = nullptr;
        const char* text = nullptr;
        std::vector<std::string> texts;
        for (size_t i = 0; i < tenon_network_num_metadata(network); ++i)
        {
            Ok(tenon_network_metadata(network, i, &key, &text, Error()));
            texts.insert(texts.end(), {key, text});
        }
        EXPECT_THAT(texts, ElementsAre("description", "small classifier", "name", "tiny", "version", "v1"));
        const tenon_tensor_metadata input = InputOf(network);
        EXPECT_EQ(input.struct_size, sizeof(input));
        EXPECT_STREQ(input.name, "image");
        EXPECT_STREQ(input.description, "the image");
        ASSERT_EQ(input.num_means, 1U);
        EXPECT_EQ(input.means[0], 0.0f);
        ASSERT_EQ(input.num_stds, 1U);
        EXPECT_EQ(input.stds[0], 255.0f);
        EXPECT_EQ(input.num_labels, 0U);
        const tenon_tensor_metadata output = OutputOf(network);
        ASSERT_EQ(output.num_labels, 4U);
        EXPECT_STREQ(output.labels[0], "cat");
        EXPECT_STREQ(output.labels[3], "last");
        EXPECT_EQ(output.num_value_labels, 0U);
        EXPECT_EQ(output.num_means, 0U);
    }
    const tenon_tensor_metadata* none = nullptr;
    EXPECT_THAT(StatusAndText(tenon_network_input_metadata(m_Network, 1, &none, Error())),
                HasSubstr("TENON_INVALID_ARGUMENT there is no input 1; the number of inputs is 1"));
    EXPECT_THAT(StatusAndText(tenon_network_output_metadata(m_Network, 1, &none, Error())),
                HasSubstr("there is no output 1"));
    EXPECT_THAT(StatusAndText(tenon_network_output_metadata(nullptr, 0, &none, Error())),
                HasSubstr("the network is null"));
    EXPECT_THAT(StatusAndText(tenon_network_input_metadata(m_Network, 0, nullptr, Error())),
                HasSubstr("the pointer to the metadata is null"));
}

TEST_F(CMetadata, AreEmptyWhereThereAreNone)
{
    Read(tenon::test::MakeTinyOnnx("Relu", {{"x", {"2"}}}).Bytes());
    EXPECT_STREQ(InputOf(m_Network).name, "");
    EXPECT_STREQ(OutputOf(m_Network).description, "");
    EXPECT_EQ(OutputOf(m_Network).num_labels, 0U);
}

TEST_F(CMetadata, FaultsAreLogged)
{
    std::string model = Classifier();
    model.replace(model.find("M001"), 4, "M009");
    std::string log;
    Ok(tenon_log_set_function(
        [](void* self, tenon_severity, const char* text) { *static_cast<std::string*>(self) += text; }, &log, Error()));
    Read(model);
    Ok(tenon_log_set_function(nullptr, nullptr, Error()));
    EXPECT_THAT(log, HasSubstr("the metadata (TFLITE_METADATA) are not read: no identifier 'M001'"));
    EXPECT_THAT(log, HasSubstr("the model of " + std::to_string(model.size()) + " bytes"));
    EXPECT_EQ(tenon_network_num_metadata(m_Network), 0U);
    EXPECT_EQ(OutputOf(m_Network).num_labels, 0U);
}

} // namespace
