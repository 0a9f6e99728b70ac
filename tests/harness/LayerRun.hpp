// SPDX-License-Identifier: Apache-2.0
// LayerRun: one layer as a network of its own, optimized and run by the runtime on CpuRef. Used for layers that
// OpTest.hpp does not support: layers with several outputs, and layers whose output shapes only the run knows.
#pragma once

#include "harness/Networks.hpp"
#include "harness/TestTensor.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace tenon::test
{

using LayerMaker = std::function<IConnectableLayer*(INetwork& network)>;

/// The outputs of the layer. Tensors marked constant become Constant layers, all others inputs of the network.
/// `declared` are infos of outputs, by slot; types and shapes of missing ones are inferred.
inline std::vector<TestTensor> RunLayer(const LayerMaker& make, const std::vector<TestTensor>& inputs,
                                        const std::vector<TensorInfo>& declared = {})
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = make(*network);
    InputTensors bound;
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        TensorInfo info = inputs[i].m_Info;
        info.SetConstant();
        const ConstTensor tensor(info, inputs[i].m_Bytes.data());
        if (inputs[i].m_Constant)
        {
            Connect(network->AddConstantLayer(tensor, "constant"), layer, i);
            continue;
        }
        Connect(AddInput(*network, static_cast<LayerBindingId>(i), inputs[i].m_Info), layer, i);
        bound.emplace_back(static_cast<LayerBindingId>(i), tensor);
    }
    for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
    {
        if (i < declared.size())
        {
            layer->GetOutputSlot(i).SetTensorInfo(declared[i]);
        }
        Connect(layer, network->AddOutputLayer(static_cast<LayerBindingId>(i), "output"), 0, i);
    }
    std::vector<TestTensor> outputs(layer->GetNumOutputSlots());
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    runtime->EnqueueWorkload(id, bound,
                             [&outputs](LayerBindingId output, const TensorInfo& info) -> void*
                             {
                                 TestTensor& tensor = outputs.at(static_cast<size_t>(output));
                                 tensor.m_Info = info;
                                 tensor.m_Bytes.resize(info.GetNumBytes());
                                 return tensor.m_Bytes.data();
                             });
    return outputs;
}

/// Runs the layer twice, with its constant inputs constant and with all fed at run time, and expects these tensors:
/// same shape, type and bytes.
inline void ExpectLayer(const LayerMaker& make, std::vector<TestTensor> inputs, const std::vector<TestTensor>& expected)
{
    for (int run = 0; run < 2; ++run)
    {
        std::vector<TestTensor> outputs;
        ASSERT_NO_THROW(outputs = RunLayer(make, inputs));
        ASSERT_EQ(outputs.size(), expected.size());
        for (size_t i = 0; i < outputs.size(); ++i)
        {
            EXPECT_EQ(outputs[i].m_Info.GetShape().ToString(), expected[i].m_Info.GetShape().ToString()) << i;
            ASSERT_EQ(outputs[i].m_Info.GetDataType(), expected[i].m_Info.GetDataType()) << "output " << i;
            EXPECT_EQ(GetStored(outputs[i].m_Info, outputs[i].m_Bytes.data()),
                      GetStored(expected[i].m_Info, expected[i].m_Bytes.data()))
                << "output " << i;
        }
        for (TestTensor& input : inputs)
        {
            input.m_Constant = false;
        }
    }
}

/// A tensor of plain numbers.
inline TestTensor Numbers(const TensorShape& shape, DataType type, const std::vector<double>& values)
{
    return Stored(TensorInfo(shape, type), values);
}

} // namespace tenon::test
