// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: its headers, its namespace, its macros. Builds one fully connected layer by hand.
// tests/package compiles it, unchanged, against the headers in include/tenon/compat.
#include <armnn/ArmNN.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <armnn/utility/NumericCast.hpp>
#include <armnn/utility/Timer.hpp>
#include <cstdlib>
#include <iostream>
#include <vector>

using namespace armnn;

namespace
{

/// Counts layers by visiting them.
class LayerCounter : public armnn::IStrategy
{
public:
    void ExecuteStrategy(const armnn::IConnectableLayer* layer, const armnn::BaseDescriptor& descriptor,
                         const std::vector<armnn::ConstTensor>& constants, const char* name,
                         const armnn::LayerBindingId id) override
    {
        armnn::IgnoreUnused(descriptor, constants, id);
        ARMNN_LOG(info) << "visited " << name << ", a " << armnn::GetLayerTypeAsCString(layer->GetType());
        ++m_Count;
    }

    unsigned int m_Count = 0;
};

void Require(bool condition, const char* what)
{
    if (!condition)
    {
        throw armnn::Exception(what, CHECK_LOCATION());
    }
}

float Run(float number)
{
    FullyConnectedDescriptor fullyConnectedDesc;
    fullyConnectedDesc.m_BiasEnabled = true;
    INetworkPtr net = INetwork::Create();

    float weightsData[] = {3.0f};
    TensorInfo weightsInfo(TensorShape({1, 1}), DataType::Float32, 0.0f, 0, true);
    ConstTensor weights(weightsInfo, weightsData);

    std::vector<float> biasData = {1.0f};
    TensorInfo biasInfo(TensorShape({1}), DataType::Float32, 0.0f, 0, true);
    ConstTensor bias(biasInfo, biasData);

    IConnectableLayer* const inputLayer = net->AddInputLayer(0, "input");
    IConnectableLayer* const weightsLayer = net->AddConstantLayer(weights, "weights");
    IConnectableLayer* const biasLayer = net->AddConstantLayer(bias, "bias");
    IConnectableLayer* const fullyConnected = net->AddFullyConnectedLayer(fullyConnectedDesc, "fully connected");
    IConnectableLayer* const doubled = net->AddAdditionLayer("doubled");
    IConnectableLayer* const outputLayer = net->AddOutputLayer(0, "output");

    inputLayer->GetOutputSlot(0).Connect(fullyConnected->GetInputSlot(0));
    weightsLayer->GetOutputSlot(0).Connect(fullyConnected->GetInputSlot(1));
    biasLayer->GetOutputSlot(0).Connect(fullyConnected->GetInputSlot(2));
    fullyConnected->GetOutputSlot(0).Connect(doubled->GetInputSlot(0));
    fullyConnected->GetOutputSlot(0).Connect(doubled->GetInputSlot(1));
    doubled->GetOutputSlot(0).Connect(outputLayer->GetInputSlot(0));

    const TensorInfo dataInfo(TensorShape({1, 1}), DataType::Float32);
    inputLayer->GetOutputSlot(0).SetTensorInfo(dataInfo);
    weightsLayer->GetOutputSlot(0).SetTensorInfo(weightsInfo);
    biasLayer->GetOutputSlot(0).SetTensorInfo(biasInfo);
    fullyConnected->GetOutputSlot(0).SetTensorInfo(dataInfo);
    doubled->GetOutputSlot(0).SetTensorInfo(dataInfo);

    LayerCounter counter;
    net->ExecuteStrategy(counter);
    Require(counter.m_Count == 6, "the network has another number of layers than were added");

    IRuntime::CreationOptions options;
    IRuntimePtr runtime = IRuntime::Create(options);

    std::string reason;
    LayerSupportHandle support = GetILayerSupportByBackendId(Compute::CpuRef);
    Require(support.IsFullyConnectedSupported(dataInfo, dataInfo, weightsInfo, biasInfo, fullyConnectedDesc,
                                              Optional<std::string&>(reason)),
            reason.c_str());
    Require(GetNumberOfCacheFiles("CpuAcc") == 1, "CpuAcc has one cache file");

    OptimizerOptions olderOptions(false, false);
    olderOptions.m_shapeInferenceMethod = ShapeInferenceMethod::InferAndValidate;
    Require(Optimize(*net, {Compute::CpuRef}, runtime->GetDeviceSpec(), olderOptions) != nullptr,
            "Optimize takes the older options");

    OptimizerOptionsOpaque optimizerOptions;
    optimizerOptions.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
    optimizerOptions.AddModelOption(BackendOptions("CpuAcc", {{"FastMathEnabled", true}, {"NumberOfThreads", 1u}}));
    std::vector<std::string> messages;
    IOptimizedNetworkPtr optNet = Optimize(*net, {Compute::CpuAcc, Compute::CpuRef}, runtime->GetDeviceSpec(),
                                           optimizerOptions, Optional<std::vector<std::string>&>(messages));
    if (!optNet)
    {
        throw armnn::Exception("Optimize gave no network", CHECK_LOCATION());
    }

    NetworkId networkId;
    std::string errorMessage;
    INetworkProperties properties(MemorySource::Undefined, MemorySource::Undefined);
    Status status = runtime->LoadNetwork(networkId, std::move(optNet), errorMessage, properties);
    Require(status == Status::Success, errorMessage.c_str());

    std::vector<float> inputData{number};
    std::vector<float> outputData(1);
    const TensorInfo inputInfo(TensorShape({1, 1}), DataType::Float32, 0.0f, 0, true);
    Require(runtime->GetInputTensorInfo(networkId, 0).GetShape() == inputInfo.GetShape(),
            "the input has another shape");
    InputTensors inputTensors{{0, armnn::ConstTensor(inputInfo, inputData.data())}};
    OutputTensors outputTensors{{0, armnn::Tensor(runtime->GetOutputTensorInfo(networkId, 0), outputData.data())}};
    const auto start = armnn::GetTimeNow();
    Require(runtime->EnqueueWorkload(networkId, inputTensors, outputTensors) == Status::Success, "the run failed");
    ARMNN_LOG(info) << "Inference time: " << armnn::GetTimeDuration(start).count() << " ms";
    runtime->UnloadNetwork(networkId);
    return outputData[0];
}

} // namespace

int main()
{
    armnn::ConfigureLogging(true, true, armnn::LogSeverity::Info);
    ARMNN_LOG(info) << "Written for Arm NN " << ARMNN_VERSION << ", runs on " << armnn::GetVersion();
    try
    {
        const float answer = Run(5.0f);
        std::cout << "Your number was " << answer << std::endl;
        Require(answer == 32.0f, "2 * (3 * 5 + 1) is 32");

        // Small pieces that such programs use.
        armnn::Optional<unsigned int> absent = armnn::EmptyOptional();
        armnn::Optional<std::string> text(CONSTRUCT_IN_PLACE, "abc");
        Require(!absent.has_value() && text.value() == "abc", "Optional");
        Require(armnn::numeric_cast<unsigned char>(255) == 255, "numeric_cast");
        Require(armnn::Quantize<uint8_t>(1.0f, 0.5f, 3) == 5 && armnn::Dequantize<uint8_t>(5, 0.5f, 3) == 1.0f,
                "Quantize");
        Require(armnn::BackendId("CpuRef") == armnn::Compute::CpuRef, "BackendId");
        try
        {
            armnn::ConstTensor notConstant(armnn::TensorInfo({1}, armnn::DataType::Float32), &answer);
            Require(false, "a ConstTensor of an info that is not constant");
        }
        catch (const armnn::InvalidArgumentException&)
        {
        }
    }
    catch (const armnn::Exception& e)
    {
        ARMNN_LOG(fatal) << e.what();
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
