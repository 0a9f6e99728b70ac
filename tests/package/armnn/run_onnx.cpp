// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: reads an ONNX model from a file with shapes of its inputs, and from memory, runs
// it on pictures and compares with the outputs that are expected. Models as text, and names that the model lacks, must
// be refused.
//
// usage: program MODEL.onnx PICTURES.pgm OUTPUTS.txt
#include "armnn/ArmNN.hpp"
#include "armnnOnnxParser/IOnnxParser.hpp"
#include "armnnOnnxParser/Version.hpp"
#include "common/Pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace
{

constexpr std::size_t Classes = 10;

/// A model that is loaded, with its bindings.
class Network
{
public:
    Network(armnnOnnxParser::IOnnxParser& parser, armnn::INetworkPtr network)
        : m_Input(parser.GetNetworkInputBindingInfo("image")), m_Output(parser.GetNetworkOutputBindingInfo("Identity")),
          m_Runtime(armnn::IRuntime::Create(armnn::IRuntime::CreationOptions()))
    {
        armnn::IOptimizedNetworkPtr optimized =
            armnn::Optimize(*network, {armnn::Compute::CpuAcc, armnn::Compute::CpuRef}, m_Runtime->GetDeviceSpec());
        if (m_Runtime->LoadNetwork(m_Id, std::move(optimized)) != armnn::Status::Success)
        {
            throw armnn::RuntimeException("the network was not loaded");
        }
    }

    std::array<float, Classes> Run(const common::Picture& picture) const
    {
        std::vector<float> input(picture.size());
        std::transform(picture.begin(), picture.end(), input.begin(),
                       [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255.0f; });
        std::array<float, Classes> output{};
        m_Runtime->EnqueueWorkload(m_Id, {{m_Input.first, armnn::ConstTensor(m_Input.second, input)}},
                                   {{m_Output.first, armnn::Tensor(m_Output.second, output.data())}});
        return output;
    }

    const armnn::TensorInfo& GetInputInfo() const { return m_Input.second; }

private:
    armnnOnnxParser::BindingPointInfo m_Input;
    armnnOnnxParser::BindingPointInfo m_Output;
    armnn::IRuntimePtr m_Runtime;
    armnn::NetworkId m_Id = 0;
};

/// How many outputs are not those that are expected.
int CountWrong(const Network& network, const std::vector<common::Picture>& pictures, const std::vector<float>& expected)
{
    int wrong = 0;
    for (std::size_t i = 0; i < pictures.size(); ++i)
    {
        const std::array<float, Classes> output = network.Run(pictures[i]);
        for (std::size_t k = 0; k < Classes; ++k)
        {
            wrong += std::abs(output[k] - expected.at(i * Classes + k)) < 1e-5f ? 0 : 1;
        }
    }
    return wrong;
}

/// Whether `call` throws an Exception with this text.
template <typename Call>
bool IsRefused(const Call& call, const std::string& text)
{
    try
    {
        call();
    }
    catch (const armnn::Exception& error)
    {
        if (std::string(error.what()).find(text) != std::string::npos)
        {
            return true;
        }
        std::cerr << "not about '" << text << "': " << error.what() << "\n";
        return false;
    }
    std::cerr << "no error about '" << text << "'\n";
    return false;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 4)
    {
        std::cerr << "usage: " << argv[0] << " MODEL.onnx PICTURES.pgm OUTPUTS.txt\n";
        return 1;
    }
    try
    {
        const std::vector<common::Picture> pictures = common::ReadPictures(argv[2]);
        const std::vector<float> expected = common::ReadNumbers<float>(argv[3]);
        armnnOnnxParser::IOnnxParserPtr parser(armnnOnnxParser::IOnnxParser::Create());
        std::cout << "parser " << ONNX_PARSER_VERSION << "\n";

        const std::map<std::string, armnn::TensorShape> shapes{{"image", armnn::TensorShape({1, 8, 8, 1})}};
        const Network ofFile(*parser, parser->CreateNetworkFromBinaryFile(argv[1], shapes));
        int wrong = CountWrong(ofFile, pictures, expected);

        std::ifstream file(argv[1], std::ios::binary);
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        const Network ofMemory(*parser, parser->CreateNetworkFromBinary(bytes, shapes));
        wrong += CountWrong(ofMemory, pictures, expected);
        std::cout << pictures.size() << " pictures, " << wrong << " wrong, input " << ofFile.GetInputInfo().GetShape()
                  << "\n";

        // Without shapes the size that the file leaves open stays open, until the network runs.
        parser->CreateNetworkFromBinaryFile(argv[1]);
        const bool isOpen = !parser->GetNetworkInputBindingInfo("image").second.GetShape().GetDimensionSpecificity(0);
        parser->CreateNetworkFromBinary(bytes);

        bool refused = IsRefused([&] { parser->GetNetworkInputBindingInfo("nowhere"); }, "nowhere");
        refused &= IsRefused([&] { parser->GetNetworkOutputBindingInfo("nowhere"); }, "nowhere");
        refused &= IsRefused([&] { parser->CreateNetworkFromBinaryFile("no/such/file.onnx"); }, "no/such/file.onnx");
        refused &= IsRefused([&] { parser->CreateNetworkFromBinaryFile(argv[1], {{"nowhere", {{1}}}}); }, "nowhere");
        for (const bool withShapes : {false, true})
        {
            refused &= IsRefused(
                [&]
                {
                    withShapes ? parser->CreateNetworkFromTextFile("model.textproto", shapes)
                               : parser->CreateNetworkFromTextFile("model.textproto");
                },
                "text format is not read: 'model.textproto'; write it in binary format");
            refused &= IsRefused(
                [&]
                {
                    withShapes ? parser->CreateNetworkFromString("ir_version: 8", shapes)
                               : parser->CreateNetworkFromString("ir_version: 8");
                },
                "write it in binary format");
        }
        const bool isRight = wrong == 0 && isOpen && refused;
        std::cout << "onnx: " << (isRight ? "ok" : "failed") << "\n";
        return isRight ? 0 : 1;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
