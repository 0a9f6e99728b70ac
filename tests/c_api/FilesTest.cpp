// SPDX-License-Identifier: Apache-2.0
// The C interface: models from files and memory, saving, options, versions, the log.
#include "c_api/Support.hpp"
#include "harness/TinyOnnx.hpp"
#include "tools/harness/TinyModel.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Version.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace
{

using namespace tenon::testing::c_api;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* Digits = "samples/digits/digits_int8.tflite";

std::vector<char> BytesOf(const char* path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A network that a test read.
struct Read
{
    ~Read() { tenon_network_destroy(m_Network); }
    tenon_network* m_Network = nullptr;
};

/// What the model makes of a fixed picture.
std::vector<int8_t> RunDigits(tenon_runtime* runtime, tenon_network* network,
                              const tenon_model_options* options = nullptr)
{
    tenon_model* model = nullptr;
    Ok(tenon_model_load(runtime, network, options, &model, Error()));
    const tenon_tensor_info* in = nullptr;
    const tenon_tensor_info* out = nullptr;
    Ok(tenon_model_input(model, 0, nullptr, &in, Error()));
    Ok(tenon_model_output(model, 0, nullptr, &out, Error()));
    std::vector<int8_t> picture(in->num_bytes);
    for (size_t i = 0; i < picture.size(); ++i)
    {
        picture[i] = static_cast<int8_t>(i * 37 % 256 - 128);
    }
    std::vector<int8_t> scores(out->num_bytes);
    const tenon_tensor input = {picture.data(), picture.size(), TENON_ANY_TYPE, 0, nullptr, 0, {}};
    const tenon_tensor output = {scores.data(), scores.size(), TENON_QASYMM_S8, 0, nullptr, 0, {}};
    Ok(tenon_model_run(model, nullptr, 1, &input, 1, &output, Error()));
    tenon_model_destroy(model);
    return scores;
}

TEST(CFiles, AreReadAndSaved)
{
    const Runtime runtime;
    Read model;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &model.m_Network, Error()));
    EXPECT_EQ(tenon_network_is_optimized(model.m_Network), 0);
    const char* name = nullptr;
    const tenon_tensor_info* info = nullptr;
    Ok(tenon_network_input(model.m_Network, 0, &name, &info, Error()));
    EXPECT_STRNE(name, "");
    EXPECT_EQ(info->type, TENON_QASYMM_S8);
    ASSERT_EQ(info->num_scales, 1U);
    EXPECT_GT(info->scales[0], 0.0f);
    EXPECT_THAT(StatusAndText(tenon_network_output(model.m_Network, 5, &name, &info, Error())),
                HasSubstr("there is no output 5; the number of outputs is 1"));
    const std::vector<int8_t> scores = RunDigits(runtime.Get(), model.m_Network);
    EXPECT_EQ(RunDigits(runtime.Get(), model.m_Network), scores); // it may be loaded again

    const std::string folder = ::testing::TempDir();
    const std::string path = folder + "c_api.tenon";
    Ok(tenon_network_save(model.m_Network, path.c_str(), Error()));
    Read again;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &again.m_Network, Error()));
    EXPECT_EQ(RunDigits(runtime.Get(), again.m_Network), scores);

    Read optimized;
    Ok(tenon_network_optimize(runtime.Get(), model.m_Network, nullptr, &optimized.m_Network, Error()));
    EXPECT_EQ(tenon_network_is_optimized(optimized.m_Network), 1);
    Ok(tenon_network_save(optimized.m_Network, path.c_str(), Error()));
    EXPECT_EQ(RunDigits(runtime.Get(), optimized.m_Network), scores);
    tenon_model* none = nullptr;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), optimized.m_Network, nullptr, &none, Error())),
                HasSubstr("was taken by a load before"));
    EXPECT_THAT(StatusAndText(tenon_network_save(optimized.m_Network, path.c_str(), Error())),
                HasSubstr("which went into a model"));
    tenon_value value = 0;
    EXPECT_THAT(StatusAndText(tenon_network_add_input(optimized.m_Network, "x", info, &value, Error())),
                HasSubstr("a network that was optimized takes no further layers"));
    Read stored;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &stored.m_Network, Error()));
    EXPECT_EQ(tenon_network_is_optimized(stored.m_Network), 1);
    EXPECT_EQ(RunDigits(runtime.Get(), stored.m_Network), scores);

    const std::vector<char> bytes = BytesOf(path.c_str());
    Read fromMemory;
    Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), nullptr, &fromMemory.m_Network, Error()));
    EXPECT_EQ(RunDigits(runtime.Get(), fromMemory.m_Network), scores);
    std::remove(path.c_str());
}

TEST(CFiles, AreSavedToMemory)
{
    const Runtime runtime;
    Read model;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &model.m_Network, Error()));
    Read optimized;
    Ok(tenon_network_optimize(runtime.Get(), model.m_Network, nullptr, &optimized.m_Network, Error()));
    const std::string path = ::testing::TempDir() + "c_api_memory.tenon";
    const std::vector<int8_t> scores = RunDigits(runtime.Get(), model.m_Network);
    void* data = nullptr;
    size_t size = 0;
    for (const tenon_network* network : {model.m_Network, optimized.m_Network})
    {
        Ok(tenon_network_save(network, path.c_str(), Error()));
        Ok(tenon_network_save_memory(network, &data, &size, Error()));
        const auto* const bytes = static_cast<const char*>(data);
        EXPECT_TRUE(std::vector<char>(bytes, bytes + size) == BytesOf(path.c_str()));
        Read again;
        Ok(tenon_network_read_memory(runtime.Get(), data, size, nullptr, &again.m_Network, Error()));
        tenon_memory_destroy(data);
        EXPECT_EQ(tenon_network_is_optimized(again.m_Network), tenon_network_is_optimized(network));
        EXPECT_EQ(RunDigits(runtime.Get(), again.m_Network), scores);
    }
    std::remove(path.c_str());
    RunDigits(runtime.Get(), optimized.m_Network);
    EXPECT_THAT(StatusAndText(tenon_network_save_memory(optimized.m_Network, &data, &size, Error())),
                HasSubstr("which went into a model"));
    EXPECT_EQ(data, nullptr);
    EXPECT_EQ(size, 0U);
    EXPECT_THAT(StatusAndText(tenon_network_save_memory(nullptr, &data, &size, Error())),
                HasSubstr("the network is null"));
    EXPECT_THAT(StatusAndText(tenon_network_save_memory(model.m_Network, nullptr, &size, Error())),
                HasSubstr("the pointer to the result is null"));
    EXPECT_THAT(StatusAndText(tenon_network_save_memory(model.m_Network, &data, nullptr, Error())),
                HasSubstr("the pointer to the number of bytes is null"));
}

TEST(CFiles, AreReadFromMemory)
{
    const Runtime runtime;
    Read file;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &file.m_Network, Error()));
    const std::vector<int8_t> scores = RunDigits(runtime.Get(), file.m_Network);
    std::vector<char> bytes = BytesOf(Digits);
    tenon_read_options options{};
    options.struct_size = sizeof(options);
    options.in_place = 1;
    Read inPlace;
    Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), &options, &inPlace.m_Network, Error()));
    EXPECT_EQ(RunDigits(runtime.Get(), inPlace.m_Network), scores);
    Read copy;
    Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), nullptr, &copy.m_Network, Error()));
    tenon_network_destroy(inPlace.m_Network);
    inPlace.m_Network = nullptr;
    bytes.assign(bytes.size(), 'x');
    EXPECT_EQ(RunDigits(runtime.Get(), copy.m_Network), scores);
}

TEST(CFiles, MayBeNetworksOfArmNN)
{
    const Runtime runtime;
    const std::string path = "tests/golden/armnn/Activation_without_identifier.armnn";
    const std::vector<char> bytes = BytesOf(path.c_str());
    Read file;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &file.m_Network, Error()));
    Read memory;
    Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), nullptr, &memory.m_Network, Error()));
    for (tenon_network* network : {file.m_Network, memory.m_Network})
    {
        EXPECT_EQ(tenon_network_is_optimized(network), 0);
        const char* name = nullptr;
        const tenon_tensor_info* info = nullptr;
        Ok(tenon_network_output(network, 0, &name, &info, Error()));
        EXPECT_STREQ(name, "out0");
        EXPECT_EQ(info->num_bytes, 24u);
    }
    // What tells it is far from the start; the memory need not be aligned.
    std::vector<char> far = BytesOf("tests/golden/armnn/Convolution2d_without_identifier.armnn");
    far.insert(far.begin(), '\0');
    Read unaligned;
    Ok(tenon_network_read_memory(runtime.Get(), far.data() + 1, far.size() - 1, nullptr, &unaligned.m_Network,
                                 Error()));
    tenon_read_options options{};
    options.struct_size = sizeof(options);
    options.subgraph = 1;
    tenon_network* none = nullptr;
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), path.c_str(), &options, &none, Error())),
                HasSubstr("is a .armnn file, which has one network with the shapes of its inputs"));
}

/// Such a tensor is an input or output for each place in the list; of inputs the last one counts.
TEST(CFiles, MayListATensorTwice)
{
    using namespace tenon::tools::test;
    const Runtime runtime;
    const std::string bytes =
        TinyModel(AddN, {{"a", {2}}, {"a", {2}}, {"b", {2}}}, {{"sum", {2}}, {"sum", {2}}, {"sum", {2}}});
    Read read;
    Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), nullptr, &read.m_Network, Error()));
    Read optimized;
    Ok(tenon_network_optimize(runtime.Get(), read.m_Network, nullptr, &optimized.m_Network, Error()));
    const std::string path = ::testing::TempDir() + "c_api_twice.tenon";
    Ok(tenon_network_save(optimized.m_Network, path.c_str(), Error()));
    Read stored;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &stored.m_Network, Error()));
    std::remove(path.c_str());
    for (tenon_network* network : {read.m_Network, optimized.m_Network, stored.m_Network})
    {
        ASSERT_EQ(tenon_network_num_inputs(network), 3U);
        ASSERT_EQ(tenon_network_num_outputs(network), 3U);
        const char* name = nullptr;
        Ok(tenon_network_input(network, 1, &name, nullptr, Error()));
        EXPECT_STREQ(name, "a_1");
        Ok(tenon_network_output(network, 2, &name, nullptr, Error()));
        EXPECT_STREQ(name, "sum_2");
        tenon_model* model = nullptr;
        Ok(tenon_model_load(runtime.Get(), network, nullptr, &model, Error()));
        const float inputs[3][2] = {{100.0f, 200.0f}, {1.0f, 2.0f}, {10.0f, 20.0f}};
        float outputs[3][2] = {};
        const tenon_tensor in[] = {Tensor(inputs[0]), Tensor(inputs[1]), Tensor(inputs[2])};
        const tenon_tensor out[] = {Tensor(outputs[0]), Tensor(outputs[1]), Tensor(outputs[2])};
        Ok(tenon_model_run(model, nullptr, 3, in, 3, out, Error()));
        for (const auto& output : outputs)
        {
            EXPECT_THAT(output, ::testing::ElementsAre(11.0f, 22.0f));
        }
        tenon_model_destroy(model);
    }
}

TEST(CFiles, ThatAreNoModelsAreRefused)
{
    const Runtime runtime;
    tenon_network* network = nullptr;
    const auto fromMemory = [&](const std::string& bytes, const tenon_read_options* options = nullptr)
    {
        const std::string text = StatusAndText(
            tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), options, &network, Error()));
        EXPECT_EQ(network, nullptr);
        return text;
    };
    EXPECT_THAT(fromMemory(""), HasSubstr("TENON_INVALID_DATA the model of 0 bytes is of no known format"));
    EXPECT_THAT(fromMemory("TFL3"), HasSubstr("is of no known format"));
    EXPECT_THAT(fromMemory("....TFL3"), HasSubstr("TENON_INVALID_DATA"));
    EXPECT_THAT(fromMemory("....TNON........"), HasSubstr("TENON_INVALID_DATA"));
    const std::vector<char> digits = BytesOf(Digits);
    for (size_t cut = 1; cut < digits.size(); cut = cut * 3 + 1)
    {
        EXPECT_THAT(fromMemory(std::string(digits.data(), digits.size() - cut)), HasSubstr("TENON_INVALID_DATA"));
    }
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), "no/such.tflite", nullptr, &network, Error())),
                HasSubstr("TENON_NOT_FOUND cannot open 'no/such.tflite': No such file or directory"));
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), "README.md", nullptr, &network, Error())),
                HasSubstr("TENON_INVALID_DATA model 'README.md' is of no known format"));
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), "/", nullptr, &network, Error())),
                HasSubstr("TENON_INVALID_ARGUMENT cannot read '/': it is a directory"));
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), "/dev/zero", nullptr, &network, Error())),
                HasSubstr("TENON_INVALID_ARGUMENT cannot read '/dev/zero': it is a device"));
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), nullptr, nullptr, &network, Error())),
                HasSubstr("the path of the model is null"));
    EXPECT_THAT(StatusAndText(tenon_network_read_file(nullptr, Digits, nullptr, &network, Error())),
                HasSubstr("the runtime is null"));
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), Digits, nullptr, nullptr, Error())),
                HasSubstr("the pointer to the result is null"));
    tenon_read_options options{};
    options.struct_size = sizeof(options);
    options.signature = "none_such";
    const auto refusal = [&]
    { return StatusAndText(tenon_network_read_file(runtime.Get(), Digits, &options, &network, Error())); };
    const auto refusalInMemory = [&] { return fromMemory({digits.data(), digits.size()}, &options); };
    EXPECT_THAT(refusal(),
                HasSubstr("TENON_INVALID_ARGUMENT model 'samples/digits/digits_int8.tflite': the model has no "
                          "signature 'none_such'; its signatures are "));
    EXPECT_THAT(refusalInMemory(), HasSubstr("TENON_INVALID_ARGUMENT the model has no signature 'none_such'"));
    options.signature = nullptr;
    options.subgraph = 9;
    EXPECT_THAT(refusal(), HasSubstr("TENON_INVALID_ARGUMENT"));
    EXPECT_THAT(Text(), HasSubstr("the model has no subgraph 9; it has 1 of them, and its signatures are "));
    EXPECT_THAT(refusalInMemory(), HasSubstr("TENON_INVALID_ARGUMENT the model has no subgraph 9"));
    options.subgraph = 0;
    const tenon_input_shape shape = {"none_such", 0, nullptr};
    options.num_input_shapes = 1;
    options.input_shapes = &shape;
    EXPECT_THAT(refusal(), HasSubstr("TENON_INVALID_ARGUMENT"));
    EXPECT_THAT(Text(), HasSubstr("a shape is given for input 'none_such'"));
    EXPECT_THAT(refusalInMemory(), HasSubstr("TENON_INVALID_ARGUMENT a shape is given for input 'none_such'"));
    options.num_input_shapes = 0;
    options.input_shapes = nullptr;
    tenon_limits limits{};
    limits.struct_size = sizeof(limits);
    limits.max_file_bytes = 100;
    options.limits = &limits;
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), Digits, &options, &network, Error())),
                HasSubstr("raise the limit max_file_bytes"));
}

/// y of y = max(x, 0) for x of [2,3].
std::vector<float> RunRelu(tenon_runtime* runtime, tenon_network* network)
{
    tenon_model* model = nullptr;
    Ok(tenon_model_load(runtime, network, nullptr, &model, Error()));
    std::array<float, 6> x = {-1, 2, -3, 4, -5, 6};
    std::array<float, 6> y = {};
    const tenon_tensor input = Tensor(x);
    const tenon_tensor output = Tensor(y);
    Ok(tenon_model_run(model, nullptr, 1, &input, 1, &output, Error()));
    tenon_model_destroy(model);
    return {y.begin(), y.end()};
}

TEST(COnnx, ModelsHaveSizesByName)
{
    const Runtime runtime;
    const std::string bytes = tenon::test::MakeTinyOnnx("Relu", {{"x", {"batch", "3"}}}).Bytes();
    const std::string path = ::testing::TempDir() + "c_api.onnx";
    std::ofstream(path, std::ios::binary) << bytes;
    tenon_read_options options{};
    options.struct_size = sizeof(options);
    tenon_dimension dimension = {"batch", 2};
    options.num_dimensions = 1;
    options.dimensions = &dimension;
    const std::vector<float> expected = {0, 2, 0, 4, 0, 6};
    for (const uint8_t inPlace : {uint8_t{0}, uint8_t{1}})
    {
        options.in_place = inPlace;
        Read model;
        Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), &options, &model.m_Network, Error()));
        const char* name = nullptr;
        const tenon_tensor_info* info = nullptr;
        Ok(tenon_network_input(model.m_Network, 0, &name, &info, Error()));
        EXPECT_STREQ(name, "x");
        ASSERT_EQ(info->rank, 2U);
        EXPECT_EQ(info->dims[0], 2);
        EXPECT_EQ(RunRelu(runtime.Get(), model.m_Network), expected);
    }
    options.in_place = 0;
    Read file;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), &options, &file.m_Network, Error()));
    EXPECT_EQ(RunRelu(runtime.Get(), file.m_Network), expected);
    Read open;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &open.m_Network, Error()));
    const tenon_tensor_info* info = nullptr;
    Ok(tenon_network_input(open.m_Network, 0, nullptr, &info, Error()));
    EXPECT_EQ(info->dims[0], -1);

    tenon_network* none = nullptr;
    const auto refusal = [&]
    { return StatusAndText(tenon_network_read_file(runtime.Get(), path.c_str(), &options, &none, Error())); };
    dimension.name = "bach";
    EXPECT_THAT(refusal(), HasSubstr("TENON_INVALID_ARGUMENT model '" + path +
                                     "': the model has no open dimension 'bach'; it has 'batch'"));
    dimension.name = nullptr;
    EXPECT_THAT(refusal(), HasSubstr("the name of a dimension is null"));
    dimension.name = "batch";
    options.signature = "main";
    EXPECT_THAT(refusal(), HasSubstr("TENON_INVALID_ARGUMENT model '" + path +
                                     "' is an .onnx model: give no signature, subgraph or operators, which .tflite "
                                     "models have"));
    std::remove(path.c_str());
}

TEST(COnnx, ModelsHaveTextsAboutThemselves)
{
    using tenon::test::OnnxBytes;
    const Runtime runtime;
    const std::string bytes = tenon::test::MakeTinyOnnx("Relu", {{"x", {"2"}}}).Bytes() +
                              OnnxBytes(14, OnnxBytes(1, "stride") + OnnxBytes(2, "32")) +
                              OnnxBytes(14, OnnxBytes(1, "names") + OnnxBytes(2, "{0: 'cat'}"));
    Read model;
    Ok(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), nullptr, &model.m_Network, Error()));
    ASSERT_EQ(tenon_network_num_metadata(model.m_Network), 2U);
    const char* key = nullptr;
    const char* text = nullptr;
    Ok(tenon_network_metadata(model.m_Network, 0, &key, &text, Error()));
    EXPECT_STREQ(key, "names");
    EXPECT_STREQ(text, "{0: 'cat'}");
    Ok(tenon_network_metadata(model.m_Network, 1, &key, nullptr, Error()));
    EXPECT_STREQ(key, "stride");
    Ok(tenon_network_metadata(model.m_Network, 1, nullptr, &text, Error()));
    EXPECT_STREQ(text, "32");
    EXPECT_THAT(StatusAndText(tenon_network_metadata(model.m_Network, 2, &key, &text, Error())),
                HasSubstr("TENON_INVALID_ARGUMENT there is no text 2; the number of texts is 2"));
    EXPECT_THAT(StatusAndText(tenon_network_metadata(nullptr, 0, &key, &text, Error())),
                HasSubstr("the network is null"));
    EXPECT_EQ(tenon_network_num_metadata(nullptr), 0U);
    Read digits;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &digits.m_Network, Error()));
    EXPECT_EQ(tenon_network_num_metadata(digits.m_Network), 0U);
}

TEST(COnnx, OptionsAreRefusedByOtherFormats)
{
    const Runtime runtime;
    Read digits;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &digits.m_Network, Error()));
    const std::string path = ::testing::TempDir() + "c_api_options.tenon";
    Ok(tenon_network_save(digits.m_Network, path.c_str(), Error()));
    const tenon_dimension dimension = {"batch", 2};
    const tenon_external_data data = {"weights", nullptr, 0};
    for (int kind = 0; kind < 3; ++kind)
    {
        tenon_read_options options{};
        options.struct_size = sizeof(options);
        options.num_dimensions = kind == 0 ? 1 : 0;
        options.dimensions = &dimension;
        options.num_external_data = kind == 1 ? 1 : 0;
        options.external_data = &data;
        options.external_data_folder = kind == 2 ? "." : nullptr;
        tenon_network* none = nullptr;
        EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), Digits, &options, &none, Error())),
                    HasSubstr("' is a .tflite model: give no dimensions or external data, which .onnx models have"));
        EXPECT_THAT(
            StatusAndText(tenon_network_read_file(runtime.Get(), path.c_str(), &options, &none, Error())),
            HasSubstr("is a .tenon file, which has one network with the shapes of its inputs: give no signature, "
                      "subgraph, shapes, dimensions or external data"));
    }
    std::remove(path.c_str());
}

TEST(COnnx, OperatorsThatNoLayerComputes)
{
    const Runtime runtime;
    const std::string bytes = tenon::test::MakeTinyOnnx("NoSuchOperator", {{"x", {"2"}}}, "some.domain").Bytes();
    tenon_network* none = nullptr;
    const std::string text =
        StatusAndText(tenon_network_read_memory(runtime.Get(), bytes.data(), bytes.size(), nullptr, &none, Error()));
    EXPECT_THAT(text, HasSubstr("TENON_UNSUPPORTED"));
    EXPECT_THAT(text, HasSubstr("NoSuchOperator"));
}

TEST(CFiles, OfOtherFormatsAreRefusedWithAdvice)
{
    const Runtime runtime;
    tenon_network* none = nullptr;
    const std::string gguf = "GGUF and more";
    EXPECT_THAT(
        StatusAndText(tenon_network_read_memory(runtime.Get(), gguf.data(), gguf.size(), nullptr, &none, Error())),
        HasSubstr("TENON_INVALID_DATA the model of 13 bytes is a language model of llama.cpp, which is not "
                  "read; export the model that it was made from to ONNX"));
    const std::string path = ::testing::TempDir() + "c_api.pt";
    std::ofstream(path, std::ios::binary) << "PK";
    EXPECT_THAT(StatusAndText(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &none, Error())),
                HasSubstr("TENON_INVALID_DATA model '" + path +
                          "' is a PyTorch model, which is not read; export it to ONNX with torch.onnx.export"));
    std::remove(path.c_str());
}

/// A program that was compiled with another header passes another size.
TEST(COptions, MayBeThoseOfANewerHeader)
{
    struct
    {
        tenon_read_options m_Known;
        uint64_t m_New;
    } options{};
    const Runtime runtime;
    Read model;
    options.m_Known.struct_size = sizeof(options);
    Ok(tenon_network_read_file(runtime.Get(), Digits, &options.m_Known, &model.m_Network, Error()));
    options.m_New = 1;
    tenon_network* none = nullptr;
    const auto refusal = [&]
    { return StatusAndText(tenon_network_read_file(runtime.Get(), Digits, &options.m_Known, &none, Error())); };
    EXPECT_THAT(refusal(), HasSubstr("it is older than the program"));
    constexpr size_t ofMinor0 = offsetof(tenon_read_options, num_dimensions);
    for (const size_t size : {size_t{0}, size_t{3}, sizeof(void*), ofMinor0 - 1})
    {
        options.m_Known.struct_size = size;
        EXPECT_THAT(refusal(), HasSubstr("tenon_read_options has a struct_size of " + std::to_string(size)));
    }
}

TEST(COptions, MayBeThoseOfAnOlderHeader)
{
    const Runtime runtime;
    tenon_read_options options;
    std::memset(&options, 0xFF, sizeof(options)); // what an older program does not have is not looked at
    std::memset(&options, 0, offsetof(tenon_read_options, num_dimensions));
    options.struct_size = offsetof(tenon_read_options, num_dimensions);
    Read model;
    Ok(tenon_network_read_file(runtime.Get(), Digits, &options, &model.m_Network, Error()));
}

/// A model file may be replaced while it is in use.
TEST(CFiles, MayBeSavedInTheirOwnPlace)
{
    const Runtime runtime;
    const std::string path = ::testing::TempDir() + "c_api_replaced.tenon";
    Read digits;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &digits.m_Network, Error()));
    const std::vector<int8_t> scores = RunDigits(runtime.Get(), digits.m_Network);
    Ok(tenon_network_save(digits.m_Network, path.c_str(), Error()));
    Read stored;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &stored.m_Network, Error()));
    Ok(tenon_network_save(stored.m_Network, path.c_str(), Error()));
    EXPECT_EQ(RunDigits(runtime.Get(), stored.m_Network), scores);
    Read again;
    Ok(tenon_network_read_file(runtime.Get(), path.c_str(), nullptr, &again.m_Network, Error()));
    EXPECT_EQ(RunDigits(runtime.Get(), again.m_Network), scores);
    EXPECT_THAT(StatusAndText(tenon_network_save(stored.m_Network, "/no/such/folder/x.tenon", Error())),
                HasSubstr("TENON_ERROR"));
    const std::string foreign = ::testing::TempDir() + "c_api.armnn";
    EXPECT_THAT(
        StatusAndText(tenon_network_save(stored.m_Network, foreign.c_str(), Error())),
        AllOf(HasSubstr("TENON_INVALID_ARGUMENT"),
              HasSubstr("c_api.armnn' has the name of a network of Arm NN, but a network can only be written as a "
                        ".tenon file")));
    EXPECT_FALSE(std::filesystem::exists(foreign));
    tenon_value value = 0;
    EXPECT_THAT(StatusAndText(tenon_network_add_output(stored.m_Network, "y", value, Error())),
                HasSubstr("a network that was read takes no further layers"));
    std::remove(path.c_str());
}

TEST(CFiles, ThatAreOptimizedTakeNoOptionsOfOptimizing)
{
    const Runtime runtime;
    Read digits;
    Read optimized;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &digits.m_Network, Error()));
    Ok(tenon_network_optimize(runtime.Get(), digits.m_Network, nullptr, &optimized.m_Network, Error()));
    const char* backends[] = {"CpuRef"};
    tenon_model_options options{};
    options.struct_size = sizeof(options);
    options.num_backends = 1;
    options.backends = backends;
    tenon_model* none = nullptr;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime.Get(), optimized.m_Network, &options, &none, Error())),
                HasSubstr("the network is optimized already: backends"));
    options.num_backends = 0;
    options.num_threads = 1;
    EXPECT_EQ(RunDigits(runtime.Get(), optimized.m_Network, &options), RunDigits(runtime.Get(), digits.m_Network));
}

/// The backend decides whether "123" is a number.
TEST(COptions, AreOfTheTypeThatTheBackendExpects)
{
    const Runtime runtime;
    Read digits;
    Ok(tenon_network_read_file(runtime.Get(), Digits, nullptr, &digits.m_Network, Error()));
    tenon_option option = {"CpuAcc.CachedNetworkFilePath", "123"};
    tenon_model_options options{};
    options.struct_size = sizeof(options);
    options.num_options = 1;
    options.options = &option;
    tenon_model* none = nullptr;
    const auto refusal = [&]
    { return StatusAndText(tenon_model_load(runtime.Get(), digits.m_Network, &options, &none, Error())); };
    EXPECT_THAT(refusal(), HasSubstr("TENON_NOT_FOUND"));
    EXPECT_THAT(Text(), HasSubstr("'123'"));
    option.value = "true";
    EXPECT_THAT(refusal(), HasSubstr("TENON_NOT_FOUND"));
    option = {"CpuAcc.NumberOfThreads", "1"};
    EXPECT_EQ(RunDigits(runtime.Get(), digits.m_Network, &options), RunDigits(runtime.Get(), digits.m_Network));
    option.value = "\"1\"";
    EXPECT_THAT(refusal(), HasSubstr("option NumberOfThreads of CpuAcc is '1'; it must be a number of threads"));
    option = {"CpuAcc.FastMathEnabled", "1"};
    EXPECT_THAT(refusal(), HasSubstr("option FastMathEnabled of CpuAcc is 1; it must be a bool"));
    option = {"CpuAC.FastMathEnabled", "true"};
    EXPECT_THAT(refusal(), HasSubstr("TENON_INVALID_ARGUMENT option 'CpuAC.FastMathEnabled': there is no backend "
                                     "'CpuAC'; there are CpuAcc, CpuRef"));
    // One that is asked for may be absent.
    const char* backends[] = {"Npu", "CpuRef"};
    option = {"Npu.Device", "007"};
    options.num_backends = 2;
    options.backends = backends;
    EXPECT_EQ(RunDigits(runtime.Get(), digits.m_Network, &options), RunDigits(runtime.Get(), digits.m_Network));
}

TEST(CLimits, HoldForLoading)
{
    tenon_limits limits{};
    limits.struct_size = sizeof(limits);
    limits.max_total_bytes = 16;
    tenon_runtime_options options{};
    options.struct_size = sizeof(options);
    options.limits = &limits;
    tenon_runtime* runtime = nullptr;
    Ok(tenon_runtime_create(&options, &runtime, Error()));
    Read digits;
    Ok(tenon_network_read_file(runtime, Digits, nullptr, &digits.m_Network, Error()));
    tenon_model* none = nullptr;
    EXPECT_THAT(StatusAndText(tenon_model_load(runtime, digits.m_Network, nullptr, &none, Error())),
                HasSubstr("TENON_LIMIT_EXCEEDED"));
    EXPECT_THAT(Text(), HasSubstr("raise the limit max_total_bytes"));
    tenon_runtime_destroy(runtime);
}

TEST(CRuntime, TakesPluginsAndOptions)
{
    tenon_runtime_options options{};
    options.struct_size = sizeof(options);
    options.plugins = "no/such/folder";
    tenon_runtime* runtime = nullptr;
    EXPECT_THAT(StatusAndText(tenon_runtime_create(&options, &runtime, Error())), HasSubstr("TENON_NOT_FOUND"));
    options.plugins = nullptr;
    const tenon_option noBackend = {"Speed", "3"};
    options.num_options = 1;
    options.options = &noBackend;
    EXPECT_THAT(StatusAndText(tenon_runtime_create(&options, &runtime, Error())),
                HasSubstr("there is no option 'Speed'"));
    options.options = nullptr;
    EXPECT_THAT(StatusAndText(tenon_runtime_create(&options, &runtime, Error())), HasSubstr("options is null"));
    EXPECT_EQ(runtime, nullptr);
}

TEST(CVersion, IsThatOfTheHeaders)
{
    EXPECT_STREQ(tenon_version(), TENON_VERSION);
    uint32_t major = 0;
    uint32_t minor = 99;
    tenon_c_version(&major, &minor);
    EXPECT_EQ(major, TENON_C_MAJOR);
    EXPECT_EQ(minor, TENON_C_MINOR);
    tenon_c_version(nullptr, nullptr);
    for (tenon_status status = TENON_OK; status <= TENON_IMPORT_FAILED; ++status)
    {
        EXPECT_STRNE(tenon_status_name(status), "unknown") << status;
    }
    EXPECT_STREQ(tenon_status_name(TENON_IMPORT_FAILED + 1), "unknown");
}

TEST(CHandles, MayBeNullWhereTheyAreDestroyed)
{
    tenon_runtime_destroy(nullptr);
    tenon_network_destroy(nullptr);
    tenon_model_destroy(nullptr);
    tenon_session_destroy(nullptr);
    tenon_cancellation_destroy(nullptr);
    tenon_cancellation_cancel(nullptr);
    tenon_error_destroy(nullptr);
    tenon_text_destroy(nullptr);
    tenon_memory_destroy(nullptr);
    EXPECT_EQ(tenon_error_status(nullptr), TENON_OK);
    EXPECT_STREQ(tenon_error_text(nullptr), "");
    EXPECT_EQ(tenon_network_num_inputs(nullptr), 0U);
    EXPECT_THAT(StatusAndText(tenon_model_reset(nullptr, Error())), HasSubstr("the model is null"));
    EXPECT_THAT(StatusAndText(tenon_session_reset(nullptr, Error())), HasSubstr("the session is null"));
}

TEST(CLog, GoesToAFunction)
{
    std::string text;
    const tenon_log_function keep = [](void* self, tenon_severity severity, const char* message)
    { *static_cast<std::string*>(self) += std::to_string(severity) + message + "\n"; };
    Ok(tenon_log_set_function(keep, &text, Error()));
    tenon_runtime_options options{};
    options.struct_size = sizeof(options);
    const tenon_option unread = {"Nobody.Reads", "true"};
    options.num_options = 1;
    options.options = &unread;
    tenon_runtime* runtime = nullptr;
    Ok(tenon_runtime_create(&options, &runtime, Error()));
    tenon_runtime_destroy(runtime);
    EXPECT_THAT(text, HasSubstr("3creation options for backend 'Nobody' have no effect"));
    text.clear();
    Ok(tenon_log_set_severity(TENON_FATAL, Error()));
    Ok(tenon_runtime_create(&options, &runtime, Error()));
    tenon_runtime_destroy(runtime);
    EXPECT_EQ(text, "");
    Ok(tenon_log_set_severity(TENON_WARNING, Error()));
    Ok(tenon_log_set_function(nullptr, nullptr, Error()));
    EXPECT_THAT(StatusAndText(tenon_log_set_severity(6, Error())), HasSubstr("there is no severity 6"));
}

} // namespace
