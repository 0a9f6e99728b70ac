// SPDX-License-Identifier: Apache-2.0
// What a run through the C interface takes beyond one through C++: the same network, loaded through each, in turns. The
// C++ program keeps its lists of tensors from run to run, as the fastest one would.
//
//   bench_c_interface [TURNS]
#include "InterleavedTimer.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/c/tenon.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenon::bench
{

namespace
{

constexpr double RoundSeconds = 0.002;

void Check(tenon_status status, tenon_error* const& error)
{
    if (status != TENON_OK)
    {
        throw std::runtime_error(tenon_error_text(error));
    }
}

/// A layer for each input, whose results are outputs.
struct Size
{
    unsigned int m_Tensors;
    unsigned int m_Elements;
};

class CppNetwork
{
public:
    explicit CppNetwork(const Size& size) : m_Runtime(IRuntime::Create(IRuntime::CreationOptions()))
    {
        const INetworkPtr network = INetwork::Create();
        TensorInfo info({size.m_Elements}, DataType::Float32);
        for (unsigned int i = 0; i < size.m_Tensors; ++i)
        {
            const auto id = static_cast<LayerBindingId>(i);
            IConnectableLayer* const input = network->AddInputLayer(id);
            IConnectableLayer* const layer =
                network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg));
            input->GetOutputSlot(0).SetTensorInfo(info);
            input->GetOutputSlot(0).Connect(layer->GetInputSlot(0));
            layer->GetOutputSlot(0).Connect(network->AddOutputLayer(id)->GetInputSlot(0));
        }
        m_Runtime->LoadNetwork(m_Id, Optimize(*network, {"CpuAcc", "CpuRef"}, m_Runtime->GetDeviceSpec()));
        m_In.assign(size.m_Tensors, std::vector<float>(size.m_Elements, 1.0f));
        m_Out = m_In;
        info.SetConstant();
        for (unsigned int i = 0; i < size.m_Tensors; ++i)
        {
            m_Inputs.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(info, m_In[i].data()));
            m_Outputs.emplace_back(static_cast<LayerBindingId>(i), Tensor(info, m_Out[i].data()));
        }
    }
    void Run() { m_Runtime->EnqueueWorkload(m_Id, m_Inputs, m_Outputs); }

private:
    IRuntimePtr m_Runtime;
    NetworkId m_Id = 0;
    std::vector<std::vector<float>> m_In;
    std::vector<std::vector<float>> m_Out;
    InputTensors m_Inputs;
    OutputTensors m_Outputs;
};

class CNetwork
{
public:
    explicit CNetwork(const Size& size)
    {
        tenon_error* error = nullptr;
        tenon_runtime* runtime = nullptr;
        tenon_network* network = nullptr;
        Check(tenon_runtime_create(nullptr, &runtime, &error), error);
        Check(tenon_network_create(&network, &error), error);
        const int64_t elements = size.m_Elements;
        tenon_tensor_info info{};
        info.struct_size = sizeof(info);
        info.type = TENON_FLOAT32;
        info.rank = 1;
        info.dims = &elements;
        const auto operation = static_cast<int64_t>(UnaryOperation::Neg);
        const tenon_attribute attribute = {"Operation", TENON_INTS, 0, 1, &operation};
        m_In.assign(size.m_Tensors, std::vector<float>(size.m_Elements, 1.0f));
        m_Out = m_In;
        for (unsigned int i = 0; i < size.m_Tensors; ++i)
        {
            tenon_value input = 0;
            tenon_value output = 0;
            Check(tenon_network_add_input(network, nullptr, &info, &input, &error), error);
            Check(tenon_network_add_layer(network, "ElementwiseUnary", nullptr, 1, &attribute, 1, &input, 1, nullptr,
                                          &output, &error),
                  error);
            Check(tenon_network_add_output(network, nullptr, output, &error), error);
            const size_t bytes = size.m_Elements * sizeof(float);
            m_Inputs.push_back({m_In[i].data(), bytes, TENON_FLOAT32, 0, nullptr, 0, {}});
            m_Outputs.push_back({m_Out[i].data(), bytes, TENON_FLOAT32, 0, nullptr, 0, {}});
        }
        tenon_model_options options{};
        options.struct_size = sizeof(options);
        options.num_threads = 1;
        Check(tenon_model_load(runtime, network, &options, &m_Model, &error), error);
        tenon_network_destroy(network);
        tenon_runtime_destroy(runtime);
    }
    ~CNetwork() { tenon_model_destroy(m_Model); }
    CNetwork(const CNetwork&) = delete;
    CNetwork& operator=(const CNetwork&) = delete;
    void Run()
    {
        tenon_error* error = nullptr;
        Check(tenon_model_run(m_Model, nullptr, m_Inputs.size(), m_Inputs.data(), m_Outputs.size(), m_Outputs.data(),
                              &error),
              error);
    }

private:
    tenon_model* m_Model = nullptr;
    std::vector<std::vector<float>> m_In;
    std::vector<std::vector<float>> m_Out;
    std::vector<tenon_tensor> m_Inputs;
    std::vector<tenon_tensor> m_Outputs;
};

void Compare(const Size& size, unsigned int rounds)
{
    CppNetwork cpp(size);
    CNetwork c(size);
    InterleavedTimer cppRunner([&] { cpp.Run(); }, RoundSeconds);
    InterleavedTimer cRunner([&] { c.Run(); }, RoundSeconds);
    for (unsigned int turn = 0; turn < rounds; ++turn)
    {
        cppRunner.RunRound();
        cRunner.RunRound();
    }
    const double cppMicroseconds = 1e6 * cppRunner.GetMedian();
    const double cMicroseconds = 1e6 * cRunner.GetMedian();
    std::printf("%7u %9u %9.3f %9.3f %9.3f\n", size.m_Tensors, size.m_Elements, cppMicroseconds, cMicroseconds,
                cMicroseconds - cppMicroseconds);
}

} // namespace

} // namespace tenon::bench

int main(int argc, char** argv)
{
    try
    {
        const unsigned long rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300;
        std::printf("microseconds a run, one thread, medians of %lu rounds\n", rounds);
        std::printf("tensors  elements       C++         C      more\n");
        for (const tenon::bench::Size& size : {tenon::bench::Size{1, 1}, {1, 1000}, {4, 1}})
        {
            tenon::bench::Compare(size, static_cast<unsigned int>(rounds));
        }
        return 0;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "bench_c_interface: %s\n", error.what());
        return 1;
    }
}
