// SPDX-License-Identifier: Apache-2.0
// The engine behind Engine.hpp, whose classes Arm NN's headers complete here.
#include "Engine.hpp"

#include <armnn/INetwork.hpp>
#include <armnn/IRuntime.hpp>
#include <armnn/Logging.hpp>
#include <armnn/Utils.hpp>

namespace engine
{
namespace
{

class LineSink : public armnn::LogSink
{
public:
    void Consume(const std::string& line) override { m_Lines.push_back(line); }

    std::vector<std::string> m_Lines;
};

/// Finds a layer by its name.
class LayerFinder : public armnn::IStrategy
{
public:
    explicit LayerFinder(const std::string& name) : m_Name(name) {}

    void ExecuteStrategy(const armnn::IConnectableLayer* layer, const armnn::BaseDescriptor& descriptor,
                         const std::vector<armnn::ConstTensor>& constants, const char* name,
                         const armnn::LayerBindingId id = 0) override
    {
        armnn::IgnoreUnused(descriptor, constants, id);
        if (name != nullptr && m_Name == name)
        {
            m_Found = layer;
        }
    }

    const armnn::IConnectableLayer* m_Found = nullptr;

private:
    std::string m_Name;
};

} // namespace

class Engine::Impl
{
public:
    explicit Impl(const std::string& backend) : m_Backend(backend) {}

    armnn::BackendId m_Backend;
    armnn::TensorInfo m_InputInfo;
    armnn::Optional<armnn::NetworkId> m_Network;
    std::shared_ptr<LineSink> m_Sink = std::make_shared<LineSink>();
};

Engine::Engine(const std::string& backend)
    : m_Impl(new Impl(backend)), m_Runtime(armnn::IRuntime::Create(armnn::IRuntime::CreationOptions()))
{
    armnn::ConfigureLogging(false, false, armnn::LogSeverity::Info);
    armnn::SimpleLogger<armnn::LogSeverity::Info>::Get().AddSink(m_Impl->m_Sink);
}

Engine::~Engine()
{
    armnn::SimpleLogger<armnn::LogSeverity::Info>::Get().RemoveAllSinks();
}

armnn::IConnectableLayer* Engine::AddDoubling(armnn::INetwork& network, const armnn::TensorInfo& info)
{
    const armnn::ElementwiseBinaryDescriptor descriptor(armnn::BinaryOperation::Add);
    armnn::IConnectableLayer* sum = network.AddElementwiseBinaryLayer(descriptor, "doubling");
    sum->GetOutputSlot(0).SetTensorInfo(info);
    return sum;
}

void Engine::Load(const armnn::TensorShape& shape)
{
    m_Impl->m_InputInfo = armnn::TensorInfo(shape, armnn::DataType::Float32, 0.0f, 0, true);
    armnn::INetworkPtr network = armnn::INetwork::Create();
    armnn::IConnectableLayer* input = network->AddInputLayer(0, "input");
    armnn::IConnectableLayer* output = network->AddOutputLayer(0, "output");
    armnn::IConnectableLayer* doubling = AddDoubling(*network, m_Impl->m_InputInfo);
    input->GetOutputSlot(0).SetTensorInfo(m_Impl->m_InputInfo);
    input->GetOutputSlot(0).Connect(doubling->GetInputSlot(0));
    input->GetOutputSlot(0).Connect(doubling->GetInputSlot(1));
    doubling->GetOutputSlot(0).Connect(output->GetInputSlot(0));

    LayerFinder finder("doubling");
    network->ExecuteStrategy(finder);
    if (finder.m_Found != doubling || doubling->GetType() != armnn::LayerType::ElementwiseBinary)
    {
        throw armnn::GraphValidationException("the layer is not found by its name");
    }
    armnn::NetworkId id;
    std::string error;
    if (m_Runtime->LoadNetwork(id, armnn::Optimize(*network, {m_Impl->m_Backend}, m_Runtime->GetDeviceSpec()), error) !=
        armnn::Status::Success)
    {
        throw armnn::RuntimeException(error);
    }
    m_Impl->m_Network = id;
    ARMNN_LOG(info) << "loaded on " << m_Impl->m_Backend;
    ARMNN_LOG(debug) << "this is below the level that is shown";
}

std::vector<float> Engine::Run(const std::vector<float>& values)
{
    if (!m_Impl->m_Network.has_value())
    {
        Load(armnn::TensorShape({static_cast<unsigned int>(values.size())}));
    }
    std::vector<float> results(values.size());
    m_Runtime->EnqueueWorkload(
        m_Impl->m_Network.value(), {{0, armnn::ConstTensor(m_Impl->m_InputInfo, values.data())}},
        {{0, armnn::Tensor(m_Runtime->GetOutputTensorInfo(m_Impl->m_Network.value(), 0), results.data())}});
    return results;
}

const armnn::TensorInfo& Engine::GetInputInfo() const
{
    return m_Impl->m_InputInfo;
}

const std::vector<std::string>& Engine::GetLog() const
{
    return m_Impl->m_Sink->m_Lines;
}

} // namespace engine
