// SPDX-License-Identifier: Apache-2.0
// Written as a program for Arm NN is: gives a backend an allocator of its own, and the network input and output memory
// that is from there and is imported.
//
// usage: program BACKEND
#include <armnn/ArmNN.hpp>
#include <armnn/backends/ICustomAllocator.hpp>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

/// Counts, and knows what is not given back. Memory must be the host's, as the backends write to it.
class CountingAllocator : public armnn::ICustomAllocator
{
public:
    CountingAllocator() = default;

    void* allocate(size_t size, size_t alignment) override
    {
        // An alignment of 0 leaves the choice to the allocator.
        if (alignment == 0)
        {
            alignment = 64;
        }
        size_t space = size + alignment;
        void* const block = std::malloc(space);
        void* aligned = block;
        if (block == nullptr || std::align(alignment, size, aligned, space) == nullptr)
        {
            std::free(block);
            throw armnn::Exception("CountingAllocator: no memory of this alignment");
        }
        std::lock_guard<std::mutex> lock(m_Mutex);
        m_Blocks[aligned] = block;
        ++m_NumAllocations;
        return aligned;
    }

    void free(void* ptr) override
    {
        std::lock_guard<std::mutex> lock(m_Mutex);
        std::free(m_Blocks.at(ptr));
        m_Blocks.erase(ptr);
    }

    armnn::MemorySource GetMemorySourceType() override { return armnn::MemorySource::Malloc; }

    size_t GetNumAllocations() const { return m_NumAllocations; }
    size_t GetNumBlocks() const { return m_Blocks.size(); }

private:
    std::mutex m_Mutex;
    std::map<void*, void*> m_Blocks;
    size_t m_NumAllocations = 0;
};

namespace
{

constexpr unsigned int NumInputs = 64;
constexpr unsigned int NumHidden = 128;

/// input [1, 64] -> FullyConnected of ones, with a bias of one -> FullyConnected of 0.5 -> output [1, 1]
armnn::INetworkPtr MakeNetwork(const std::vector<float>& ones, const std::vector<float>& halves)
{
    using namespace armnn;
    INetworkPtr network = INetwork::Create();
    const TensorInfo weightsInfo1(TensorShape({NumHidden, NumInputs}), DataType::Float32, 0.0f, 0, true);
    const TensorInfo biasInfo1(TensorShape({NumHidden}), DataType::Float32, 0.0f, 0, true);
    const TensorInfo weightsInfo2(TensorShape({1, NumHidden}), DataType::Float32, 0.0f, 0, true);

    FullyConnectedDescriptor withBias;
    withBias.m_BiasEnabled = true;
    withBias.m_TransposeWeightMatrix = true;
    FullyConnectedDescriptor withoutBias;
    withoutBias.m_TransposeWeightMatrix = true;
    IConnectableLayer* inputLayer = network->AddInputLayer(0);
    IConnectableLayer* weightsLayer1 = network->AddConstantLayer(ConstTensor(weightsInfo1, ones.data()), "Weights 1");
    IConnectableLayer* biasLayer1 = network->AddConstantLayer(ConstTensor(biasInfo1, ones.data()), "Bias 1");
    IConnectableLayer* fullyConnected1 = network->AddFullyConnectedLayer(withBias, "fully connected 1");
    IConnectableLayer* weightsLayer2 = network->AddConstantLayer(ConstTensor(weightsInfo2, halves.data()), "Weights 2");
    IConnectableLayer* fullyConnected2 = network->AddFullyConnectedLayer(withoutBias, "fully connected 2");
    IConnectableLayer* outputLayer = network->AddOutputLayer(0);

    inputLayer->GetOutputSlot(0).Connect(fullyConnected1->GetInputSlot(0));
    weightsLayer1->GetOutputSlot(0).Connect(fullyConnected1->GetInputSlot(1));
    biasLayer1->GetOutputSlot(0).Connect(fullyConnected1->GetInputSlot(2));
    fullyConnected1->GetOutputSlot(0).Connect(fullyConnected2->GetInputSlot(0));
    weightsLayer2->GetOutputSlot(0).Connect(fullyConnected2->GetInputSlot(1));
    fullyConnected2->GetOutputSlot(0).Connect(outputLayer->GetInputSlot(0));

    inputLayer->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape({1, NumInputs}), DataType::Float32));
    weightsLayer1->GetOutputSlot(0).SetTensorInfo(weightsInfo1);
    biasLayer1->GetOutputSlot(0).SetTensorInfo(biasInfo1);
    fullyConnected1->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape({1, NumHidden}), DataType::Float32));
    weightsLayer2->GetOutputSlot(0).SetTensorInfo(weightsInfo2);
    fullyConnected2->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape({1, 1}), DataType::Float32));
    return network;
}

/// What the network gives for inputs that are all `number`.
float Run(const armnn::BackendId& backend, const std::shared_ptr<CountingAllocator>& allocator, float number)
{
    using namespace armnn;
    const std::vector<float> ones(NumHidden * NumInputs, 1.0f);
    const std::vector<float> halves(NumHidden, 0.5f);
    INetworkPtr network = MakeNetwork(ones, halves);

    IRuntime::CreationOptions options;
    options.m_CustomAllocatorMap = {{backend, allocator}};
    IRuntimePtr runtime = IRuntime::Create(options);

    OptimizerOptionsOpaque optOptions;
    optOptions.SetImportEnabled(true);
    IOptimizedNetworkPtr optNet = Optimize(*network, {backend}, runtime->GetDeviceSpec(), optOptions);
    if (!optNet)
    {
        throw Exception("the network was not optimized");
    }
    NetworkId networkIdentifier;
    std::string errorMessage;
    INetworkProperties networkProperties(false, MemorySource::Malloc, MemorySource::Malloc);
    if (runtime->LoadNetwork(networkIdentifier, std::move(optNet), errorMessage, networkProperties) != Status::Success)
    {
        throw Exception(errorMessage);
    }

    const size_t inputBytes = NumInputs * sizeof(float);
    void* const alignedInputPtr = options.m_CustomAllocatorMap[backend]->allocate(inputBytes, 0);
    void* const alignedOutputPtr = options.m_CustomAllocatorMap[backend]->allocate(sizeof(float), 64);
    std::fill_n(static_cast<float*>(alignedInputPtr), NumInputs, number);
    *static_cast<float*>(alignedOutputPtr) = -10.0f;

    TensorInfo inputTensorInfo = runtime->GetInputTensorInfo(networkIdentifier, 0);
    inputTensorInfo.SetConstant(true);
    InputTensors inputTensors{{0, ConstTensor(inputTensorInfo, alignedInputPtr)}};
    OutputTensors outputTensors{{0, Tensor(runtime->GetOutputTensorInfo(networkIdentifier, 0), alignedOutputPtr)}};
    runtime->EnqueueWorkload(networkIdentifier, inputTensors, outputTensors);
    const float result = *static_cast<float*>(alignedOutputPtr);

    // The same tensors once more, imported beforehand.
    *static_cast<float*>(alignedOutputPtr) = -10.0f;
    const std::vector<ImportedInputId> inputIds =
        runtime->ImportInputs(networkIdentifier, inputTensors, MemorySource::Malloc);
    const std::vector<ImportedOutputId> outputIds =
        runtime->ImportOutputs(networkIdentifier, outputTensors, MemorySource::Malloc);
    runtime->EnqueueWorkload(networkIdentifier, {}, {}, inputIds, outputIds);
    const float imported = *static_cast<float*>(alignedOutputPtr);
    runtime->UnloadNetwork(networkIdentifier);

    allocator->free(alignedInputPtr);
    allocator->free(alignedOutputPtr);
    if (imported != result)
    {
        throw Exception("imported tensors give " + std::to_string(imported) + ", others " + std::to_string(result));
    }
    return result;
}

} // namespace

int main(int argc, char** argv)
{
    armnn::ConfigureLogging(true, false, armnn::LogSeverity::Info);
    if (argc != 2)
    {
        std::cerr << "usage: " << argv[0] << " BACKEND\n";
        return 1;
    }
    try
    {
        const auto allocator = std::make_shared<CountingAllocator>();
        const float result = Run(argv[1], allocator, 0.25f);
        std::cout << "result " << result << ", " << allocator->GetNumAllocations() << " allocations, "
                  << allocator->GetNumBlocks() << " not given back" << std::endl;
        // 128 * 0.5 * (64 * 0.25 + 1). Two allocations are the program's; the others are the backend's.
        return result == 1088.0f && allocator->GetNumAllocations() > 2 && allocator->GetNumBlocks() == 0 ? 0 : 1;
    }
    catch (const armnn::Exception& error)
    {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
