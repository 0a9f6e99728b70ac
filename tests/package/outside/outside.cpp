// SPDX-License-Identifier: Apache-2.0
// A program outside the tree: builds a network by hand and parses a model, with installed headers and library alone.
// The tests of tests/package compile it against the shared and the static library, by CMake and by pkg-config.
//
// usage: program MODEL.tflite
#include <tenon/Tenon.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <iostream>
#include <vector>

namespace
{

/// The two inputs' sum, element by element, as the engine computes it.
std::vector<float> Add(tenon::IRuntime& runtime, const std::vector<float>& a, const std::vector<float>& b)
{
    const tenon::TensorShape shape({static_cast<unsigned int>(a.size())});
    const tenon::TensorInfo info(shape, tenon::DataType::Float32);
    const tenon::TensorInfo constInfo(shape, tenon::DataType::Float32, 0.0f, 0, true);

    const tenon::INetworkPtr network = tenon::INetwork::Create();
    tenon::IConnectableLayer* first = network->AddInputLayer(0);
    tenon::IConnectableLayer* second = network->AddInputLayer(1);
    tenon::IConnectableLayer* sum =
        network->AddElementwiseBinaryLayer(tenon::ElementwiseBinaryDescriptor(tenon::BinaryOperation::Add));
    first->GetOutputSlot(0).SetTensorInfo(info);
    second->GetOutputSlot(0).SetTensorInfo(info);
    first->GetOutputSlot(0).Connect(sum->GetInputSlot(0));
    second->GetOutputSlot(0).Connect(sum->GetInputSlot(1));
    sum->GetOutputSlot(0).Connect(network->AddOutputLayer(0)->GetInputSlot(0));

    tenon::NetworkId id = 0;
    runtime.LoadNetwork(id, tenon::Optimize(*network, {tenon::Compute::CpuRef}, runtime.GetDeviceSpec()));
    std::vector<float> result(a.size());
    runtime.EnqueueWorkload(id, {{0, tenon::ConstTensor(constInfo, a)}, {1, tenon::ConstTensor(constInfo, b)}},
                            {{0, tenon::Tensor(info, result.data())}});
    runtime.UnloadNetwork(id);
    return result;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2)
    {
        std::cerr << "usage: program MODEL.tflite\n";
        return 2;
    }
    if (tenon::GetVersion() != TENON_VERSION)
    {
        std::cerr << "headers of " << TENON_VERSION << " with a library of " << tenon::GetVersion() << '\n';
        return 1;
    }
    const tenon::IRuntimePtr runtime = tenon::IRuntime::Create({});
    if (Add(*runtime, {1.0f, 2.0f}, {10.0f, 20.0f}) != std::vector<float>{11.0f, 22.0f})
    {
        std::cerr << "the sum is wrong\n";
        return 1;
    }

    const tenon::ITfLiteParserPtr parser = tenon::ITfLiteParser::Create();
    const tenon::INetworkPtr network = parser->CreateNetworkFromBinaryFile(argv[1]);
    std::cout << "inputs: " << parser->GetSubgraphInputTensorNames(0).size() << '\n';

    // Exceptions must be caught by their type on this side of the library's boundary.
    try
    {
        parser->CreateNetworkFromBinary({'n', 'o', 't', ' ', 'a', ' ', 'm', 'o', 'd', 'e', 'l'});
        std::cerr << "a corrupt model was taken\n";
        return 1;
    }
    catch (const tenon::ParseException& error)
    {
        std::cout << "refused: " << error.what() << '\n';
    }
    std::cout << "outside program: ok\n";
    return 0;
}
