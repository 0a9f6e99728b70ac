// SPDX-License-Identifier: Apache-2.0
// The C interface: models in files that hold several.
#include "c_api/Support.hpp"
#include "cli/TinyModel.hpp"
#include "harness/TinyOnnx.hpp"
#include "harness/ZipBuilder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace
{

using namespace tenon::testing::c_api;
using tenon::cli::test::TinyModel;
using ::testing::HasSubstr;

/// Two models, whose inputs are named after them.
std::string TwoModels()
{
    return tenon::test::MakeZip({{"a", TinyModel(tenon::cli::test::Relu, {{"in_a", {2}}}, {{"out", {2}}})},
                                 {"b", TinyModel(tenon::cli::test::Relu, {{"in_b", {2}}}, {{"out", {2}}})}});
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

} // namespace
