// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: parses a .tflite classifier, runs it on one picture and prints the best class.
// tests/package compiles it, unchanged, against the headers in include/tenon/compat.
//
// usage: program MODEL.tflite
#include <algorithm>
#include <armnn/BackendId.hpp>
#include <armnn/Descriptors.hpp>
#include <armnn/Exceptions.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/IRuntime.hpp>
#include <armnn/Logging.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/Utils.hpp>
#include <armnnTfLiteParser/ITfLiteParser.hpp>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv)
{
    using BindingInfos = std::vector<armnn::BindingPointInfo>;
    armnn::ConfigureLogging(true, false, armnn::LogSeverity::Warning);
    if (argc != 2)
    {
        ARMNN_LOG(error) << "expected the path of a model";
        return 1;
    }
    try
    {
        armnnTfLiteParser::ITfLiteParser::TfLiteParserOptions parserOptions;
        parserOptions.m_StandInLayerForUnsupported = true;
        armnnTfLiteParser::ITfLiteParserPtr parser(armnnTfLiteParser::ITfLiteParser::Create(parserOptions));
        armnn::INetworkPtr network = parser->CreateNetworkFromBinaryFile(argv[1]);

        BindingInfos inputs;
        for (const std::string& name : parser->GetSubgraphInputTensorNames(0))
        {
            inputs.push_back(parser->GetNetworkInputBindingInfo(0, name));
        }
        BindingInfos outputs;
        for (const std::string& name : parser->GetSubgraphOutputTensorNames(0))
        {
            outputs.push_back(parser->GetNetworkOutputBindingInfo(0, name));
        }

        armnn::IRuntimePtr runtime(armnn::IRuntime::Create(armnn::IRuntime::CreationOptions()));
        std::vector<armnn::BackendId> preferredBackends{armnn::Compute::CpuAcc, "CpuRef"};
        for (const armnn::BackendId& backend : preferredBackends)
        {
            const armnn::BackendIdSet& supported = runtime->GetDeviceSpec().GetSupportedBackends();
            if (supported.find(backend) == supported.end())
            {
                throw armnn::BackendUnavailableException(backend.Get(), CHECK_LOCATION());
            }
        }
        armnn::IOptimizedNetworkPtr optimizedNetwork =
            armnn::Optimize(*network, preferredBackends, runtime->GetDeviceSpec(), armnn::OptimizerOptionsOpaque());

        armnn::NetworkId networkIdentifier = 0;
        if (runtime->LoadNetwork(networkIdentifier, std::move(optimizedNetwork)) != armnn::Status::Success)
        {
            ARMNN_LOG(fatal) << "LoadNetwork failed";
            return 1;
        }

        // A vertical stroke: a one.
        const armnn::TensorInfo& inputInfo = inputs.at(0).second;
        armnn::VerifyTensorInfoDataType(inputInfo, armnn::DataType::QAsymmS8);
        const unsigned int width = inputInfo.GetShape()[2];
        std::vector<int8_t> inputData(inputInfo.GetNumElements(), -128);
        for (unsigned int y = 0; y < inputInfo.GetShape()[1]; ++y)
        {
            inputData[y * width + width / 2 - 1] = 127;
            inputData[y * width + width / 2] = 127;
        }
        const armnn::TensorInfo& outputInfo = outputs.at(0).second;
        std::vector<int8_t> outputData(outputInfo.GetNumElements());

        const armnn::InputTensors inputTensors{{inputs.at(0).first, armnn::ConstTensor(inputInfo, inputData)}};
        const armnn::OutputTensors outputTensors{{outputs.at(0).first, armnn::Tensor(outputInfo, outputData.data())}};
        runtime->EnqueueWorkload(networkIdentifier, inputTensors, outputTensors);

        const auto best = std::max_element(outputData.begin(), outputData.end());
        std::cout << "output " << outputInfo.GetShape() << ", class " << best - outputData.begin() << " at "
                  << armnn::Dequantize(*best, outputInfo.GetQuantizationScale(), outputInfo.GetQuantizationOffset())
                  << std::endl;
        return best - outputData.begin() == 1 ? 0 : 1;
    }
    catch (const armnn::Exception& e)
    {
        ARMNN_LOG(fatal) << "Armnn Error: " << e.what();
        return 1;
    }
    catch (const std::exception& e)
    {
        ARMNN_LOG(fatal) << "Error: " << e.what();
        return 1;
    }
}
