// SPDX-License-Identifier: Apache-2.0
// Networks of the tests, and what runs them on the sample backends.
#pragma once

#include "SampleBackend.hpp"

#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sample
{

using Floats = std::vector<float>;

inline armnn::TensorInfo FloatInfo(const armnn::TensorShape& shape, bool isConstant = false)
{
    return armnn::TensorInfo(shape, armnn::DataType::Float32, 0.0f, 0, isConstant);
}

/// The text of what `f` throws.
template <typename Exception>
std::string MessageOf(const std::function<void()>& f)
{
    try
    {
        f();
    }
    catch (const Exception& e)
    {
        return e.what();
    }
    return "nothing is thrown";
}

/// A network with inputs and outputs, which the tests put layers into.
struct Builder
{
    armnn::IConnectableLayer* Input(const armnn::TensorInfo& info)
    {
        armnn::IConnectableLayer* const layer = m_Network->AddInputLayer(m_NumInputs++);
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    }
    armnn::IConnectableLayer* Constant(const armnn::TensorShape& shape, const Floats& values)
    {
        const armnn::TensorInfo info = FloatInfo(shape, true);
        armnn::IConnectableLayer* const layer = m_Network->AddConstantLayer(armnn::ConstTensor(info, values));
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    }
    armnn::IConnectableLayer* Connect(armnn::IConnectableLayer* layer, const armnn::TensorInfo& info,
                                      const std::vector<armnn::IConnectableLayer*>& inputs)
    {
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            inputs[i]->GetOutputSlot(0).Connect(layer->GetInputSlot(static_cast<unsigned int>(i)));
        }
        layer->GetOutputSlot(0).SetTensorInfo(info);
        return layer;
    }
    void Output(armnn::IConnectableLayer* layer)
    {
        layer->GetOutputSlot(0).Connect(m_Network->AddOutputLayer(m_NumOutputs++)->GetInputSlot(0));
    }

    armnn::INetworkPtr m_Network = armnn::INetwork::Create();
    armnn::LayerBindingId m_NumInputs = 0;
    armnn::LayerBindingId m_NumOutputs = 0;
};

inline armnn::IOptimizedNetworkPtr OptimizeFor(const armnn::IRuntime& runtime, const armnn::INetwork& network,
                                               const std::vector<armnn::BackendId>& backends,
                                               const armnn::OptimizerOptionsOpaque& options = {})
{
    return armnn::Optimize(network, backends, runtime.GetDeviceSpec(), options);
}

inline armnn::NetworkId Load(armnn::IRuntime& runtime, const armnn::INetwork& network,
                             const std::vector<armnn::BackendId>& backends)
{
    armnn::NetworkId id = -1;
    EXPECT_EQ(runtime.LoadNetwork(id, OptimizeFor(runtime, network, backends)), armnn::Status::Success);
    return id;
}

/// Runs with inputs of the shapes that they were loaded with.
inline Floats RunNetwork(armnn::IRuntime& runtime, armnn::NetworkId id, const std::vector<Floats>& inputs)
{
    armnn::InputTensors in;
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        const auto binding = static_cast<armnn::LayerBindingId>(i);
        armnn::TensorInfo info = runtime.GetInputTensorInfo(id, binding);
        info.SetConstant(true);
        in.emplace_back(binding, armnn::ConstTensor(info, inputs[i]));
    }
    const armnn::TensorInfo info = runtime.GetOutputTensorInfo(id, 0);
    Floats output(info.GetNumElements(), -77.0f);
    EXPECT_EQ(runtime.EnqueueWorkload(id, in, {{0, armnn::Tensor(info, output.data())}}), armnn::Status::Success);
    return output;
}

/// The messages of the log while it lives.
class Log
{
public:
    Log() : m_Sink(std::make_shared<Sink>()) { armnn::AddLogSink(m_Sink); }
    ~Log() { armnn::RemoveLogSink(m_Sink); }
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    const std::string& Get() const { return m_Sink->m_Text; }

private:
    struct Sink : armnn::LogSink
    {
        void Consume(const std::string& message) override { m_Text += message + "\n"; }
        std::string m_Text;
    };
    std::shared_ptr<Sink> m_Sink;
};

class AdaptedBackend : public testing::Test
{
protected:
    AdaptedBackend() { sample::ResetJournal(); }
    ~AdaptedBackend() override { EXPECT_EQ(sample::GetJournal().m_Acquired, 0) << "memory was not released"; }
    const std::vector<std::string>& Calls() const { return sample::GetJournal().m_Calls; }
};

/// in0 + in1, then the activation.
inline Builder MakeSum(armnn::ActivationFunction function,
                       const armnn::TensorShape& second = armnn::TensorShape({2, 3}))
{
    Builder b;
    armnn::IConnectableLayer* const a = b.Input(FloatInfo({2, 3}));
    armnn::IConnectableLayer* const c = b.Input(FloatInfo(second));
    armnn::IConnectableLayer* const sum = b.Connect(
        b.m_Network->AddElementwiseBinaryLayer(armnn::BinaryOperation::Add, "sum"), FloatInfo({2, 3}), {a, c});
    armnn::ActivationDescriptor activation;
    activation.m_Function = function;
    b.Output(b.Connect(b.m_Network->AddActivationLayer(activation, "activation"), FloatInfo({2, 3}), {sum}));
    return b;
}

inline std::string BackendOf(const armnn::IOptimizedNetwork& network, const std::string& layer)
{
    struct Finder : armnn::IStrategy
    {
        void ExecuteStrategy(const armnn::IConnectableLayer* l, const armnn::BaseDescriptor&,
                             const std::vector<armnn::ConstTensor>&, const char* name,
                             const armnn::LayerBindingId) override
        {
            if (name != nullptr && m_Name == name)
            {
                m_Backend = l->GetBackendId().Get();
            }
        }
        std::string m_Name;
        std::string m_Backend = "not found";
    };
    Finder finder;
    finder.m_Name = layer;
    network.ExecuteStrategy(finder);
    return finder.m_Backend;
}

} // namespace sample
