// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: reads a handwritten digit, runs a .tflite model on it and compares the answer
// with the label.
//
// usage: program MODEL.tflite PICTURES.pgm LABELS.txt NUMBER
// NUMBER says which of the pictures is read; of LABELS.txt the line of that number is its label.
#include "armnn/ArmNN.hpp"
#include "armnn/Exceptions.hpp"
#include "armnn/INetwork.hpp"
#include "armnn/IRuntime.hpp"
#include "armnn/Tensor.hpp"
#include "armnnTfLiteParser/ITfLiteParser.hpp"
#include "common/Pictures.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace
{

constexpr unsigned int ImageBytes = 8 * 8;

struct MnistImage
{
    unsigned int label;
    std::array<float, ImageBytes> image;
};

std::unique_ptr<MnistImage> LoadMnistImage(const std::string& pictures, const std::string& labels, std::size_t number)
{
    const common::Picture picture = common::ReadPictures(pictures).at(number);
    auto ret = std::make_unique<MnistImage>();
    ret->label = common::ReadNumbers<unsigned int>(labels).at(number);
    std::transform(picture.begin(), picture.end(), ret->image.begin(),
                   [](uint8_t pixel) { return static_cast<float>(pixel) / 255.0f; });
    return ret;
}

armnn::InputTensors MakeInputTensors(const std::pair<armnn::LayerBindingId, armnn::TensorInfo>& input,
                                     const void* inputTensorData)
{
    return {{input.first, armnn::ConstTensor(input.second, inputTensorData)}};
}

armnn::OutputTensors MakeOutputTensors(const std::pair<armnn::LayerBindingId, armnn::TensorInfo>& output,
                                       void* outputTensorData)
{
    return {{output.first, armnn::Tensor(output.second, outputTensorData)}};
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 5)
    {
        std::cerr << "usage: " << argv[0] << " MODEL.tflite PICTURES.pgm LABELS.txt NUMBER\n";
        return 1;
    }
    try
    {
        std::unique_ptr<MnistImage> input = LoadMnistImage(argv[2], argv[3], std::stoul(argv[4]));

        // Import the model. As in Arm NN the parser may be gone when the network is used.
        std::pair<armnn::LayerBindingId, armnn::TensorInfo> inputBindingInfo;
        std::pair<armnn::LayerBindingId, armnn::TensorInfo> outputBindingInfo;
        armnn::INetworkPtr network{nullptr, [](armnn::INetwork*) {}};
        {
            auto parser = armnnTfLiteParser::ITfLiteParser::Create();
            network = parser->CreateNetworkFromBinaryFile(argv[1]);
            if (parser->GetSubgraphCount() != 1)
            {
                std::cerr << "the model has " << parser->GetSubgraphCount() << " subgraphs\n";
                return 1;
            }
            inputBindingInfo = parser->GetNetworkInputBindingInfo(0, parser->GetSubgraphInputTensorNames(0).front());
            outputBindingInfo = parser->GetNetworkOutputBindingInfo(0, parser->GetSubgraphOutputTensorNames(0).front());
        }
        if (inputBindingInfo.second.GetNumElements() != ImageBytes)
        {
            std::cerr << "the model takes " << inputBindingInfo.second.GetNumElements() << " pixels\n";
            return 1;
        }

        // Optimize it for what is there: the fast backend if there is one.
        armnn::IRuntimePtr runtime = armnn::IRuntime::Create(armnn::IRuntime::CreationOptions{});
        std::vector<armnn::BackendId> backends;
        if (runtime->GetDeviceSpec().GetSupportedBackends().count(armnn::Compute::CpuAcc) != 0)
        {
            backends.push_back(armnn::Compute::CpuAcc);
        }
        backends.push_back(armnn::Compute::CpuRef);
        armnn::IOptimizedNetworkPtr optNet = armnn::Optimize(*network, backends, runtime->GetDeviceSpec());

        armnn::NetworkId networkIdentifier;
        if (runtime->LoadNetwork(networkIdentifier, std::move(optNet)) != armnn::Status::Success)
        {
            std::cerr << "the network was not loaded\n";
            return 1;
        }
        std::array<float, 10> output;
        armnn::Status ret =
            runtime->EnqueueWorkload(networkIdentifier, MakeInputTensors(inputBindingInfo, input->image.data()),
                                     MakeOutputTensors(outputBindingInfo, output.data()));
        if (ret != armnn::Status::Success)
        {
            std::cerr << "the run failed: " << ret << "\n";
            return 1;
        }

        const long label = std::distance(output.begin(), std::max_element(output.begin(), output.end()));
        std::cout << "Predicted: " << label << std::endl;
        std::cout << "   Actual: " << input->label << std::endl;
        return label == static_cast<long>(input->label) ? 0 : 1;
    }
    catch (const std::exception& error)
    {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
