// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: imports tensors once and runs the network many times with them, each alone, both,
// and beside tensors that are given with the run.
#include <armnn/ArmNN.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace
{

/// Whether all values are `expected`; else says in which run they are not.
bool Check(const std::vector<float>& values, float expected, const std::string& run)
{
    for (float value : values)
    {
        if (value != expected)
        {
            std::cerr << run << ": " << value << ", expected " << expected << std::endl;
            return false;
        }
    }
    return true;
}

} // namespace

int main()
{
    using namespace armnn;
    armnn::ConfigureLogging(true, false, LogSeverity::Info);

    armnn::IRuntime::CreationOptions options;
    armnn::IRuntimePtr runtime(armnn::IRuntime::Create(options));

    armnn::INetworkPtr testNetwork(armnn::INetwork::Create());
    auto inputLayer1 = testNetwork->AddInputLayer(0, "input 1 layer");
    auto inputLayer2 = testNetwork->AddInputLayer(1, "input 2 layer");
    ARMNN_NO_DEPRECATE_WARN_BEGIN
    auto addLayer = testNetwork->AddAdditionLayer("add layer");
    ARMNN_NO_DEPRECATE_WARN_END
    auto outputLayer = testNetwork->AddOutputLayer(2, "output layer");

    TensorInfo tensorInfo{{4}, armnn::DataType::Float32};
    TensorInfo inputInfo = tensorInfo;
    inputInfo.SetConstant();
    inputLayer1->GetOutputSlot(0).Connect(addLayer->GetInputSlot(0));
    inputLayer1->GetOutputSlot(0).SetTensorInfo(tensorInfo);
    inputLayer2->GetOutputSlot(0).Connect(addLayer->GetInputSlot(1));
    inputLayer2->GetOutputSlot(0).SetTensorInfo(tensorInfo);
    addLayer->GetOutputSlot(0).Connect(outputLayer->GetInputSlot(0));
    addLayer->GetOutputSlot(0).SetTensorInfo(tensorInfo);

    std::vector<armnn::BackendId> backends = {armnn::Compute::CpuRef};
    std::string er;
    armnn::INetworkProperties networkProperties(false, MemorySource::Malloc, MemorySource::Malloc);
    armnn::NetworkId networkIdentifier = 0;
    if (runtime->LoadNetwork(networkIdentifier, Optimize(*testNetwork, backends, runtime->GetDeviceSpec()), er,
                             networkProperties) != Status::Success)
    {
        std::cerr << er << std::endl;
        return 1;
    }

    std::vector<float> inputData1(4, 20.0f);
    std::vector<float> inputData2(4, 22.0f);
    ConstTensor inputTensor1(inputInfo, inputData1.data());
    ConstTensor inputTensor2(inputInfo, inputData2.data());
    std::vector<float> outputData1(4);
    std::vector<float> outputData2(4);
    Tensor outputTensor1{tensorInfo, outputData1.data()};
    Tensor outputTensor2{tensorInfo, outputData2.data()};

    // Both inputs imported, the output given with the run.
    std::vector<ImportedInputId> importedInputVec =
        runtime->ImportInputs(networkIdentifier, {{0, inputTensor1}, {1, inputTensor2}});
    bool ok = importedInputVec.size() == 2;
    runtime->EnqueueWorkload(networkIdentifier, {}, {{2, outputTensor1}}, importedInputVec);
    ok = Check(outputData1, 42.0f, "two imported inputs") && ok;

    // What is imported is the memory, not its values.
    inputData1.assign(4, 30.0f);
    runtime->EnqueueWorkload(networkIdentifier, {}, {{2, outputTensor1}}, importedInputVec);
    ok = Check(outputData1, 52.0f, "other values in the imported memory") && ok;

    // One input imported beside one that is not.
    std::vector<float> otherData(4, 1.0f);
    runtime->EnqueueWorkload(networkIdentifier, {{0, ConstTensor(inputInfo, otherData.data())}}, {{2, outputTensor1}},
                             {importedInputVec[1]});
    ok = Check(outputData1, 23.0f, "one imported input") && ok;

    // The output imported, too.
    std::pair<LayerBindingId, class Tensor> output2{2, outputTensor2};
    std::vector<ImportedOutputId> importedOutputVec = runtime->ImportOutputs(networkIdentifier, {output2});
    runtime->EnqueueWorkload(networkIdentifier, {{0, inputTensor1}, {1, inputTensor2}}, {}, {}, importedOutputVec);
    ok = Check(outputData2, 52.0f, "an imported output") && ok;
    ok = Check(outputData1, 23.0f, "the output before") && ok;

    // Cleared memory is not used any more.
    runtime->ClearImportedInputs(networkIdentifier, importedInputVec);
    runtime->ClearImportedOutputs(networkIdentifier, importedOutputVec);
    bool isRefused = false;
    try
    {
        isRefused =
            runtime->EnqueueWorkload(networkIdentifier, {}, {{2, outputTensor1}}, importedInputVec) == Status::Failure;
    }
    catch (const armnn::Exception&)
    {
        isRefused = true;
    }
    if (!isRefused)
    {
        std::cerr << "inputs that were cleared were taken" << std::endl;
    }
    std::cout << (ok && isRefused ? "imports: ok" : "imports: wrong") << std::endl;
    return ok && isRefused ? 0 : 1;
}
