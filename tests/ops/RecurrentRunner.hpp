// SPDX-License-Identifier: Apache-2.0
// Runs layers with several outputs on CpuRef, and makes the inputs of LSTM cells. Used by the tests of recurrent
// layers, which feed the states that one run gives to the next one.
#pragma once

#include "common/KernelName.hpp"
#include "common/OneThread.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/OpTest.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/LstmSlots.hpp>
#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::test
{

struct RecurrentLayer
{
    LayerType m_Type = LayerType::Rnn;
    std::shared_ptr<const BaseDescriptor> m_Descriptor;
    std::vector<TestTensor> m_Inputs;
    std::vector<TensorInfo> m_Outputs;
};

/// The stored values of each output, as tensors that can be inputs. Throws what preparing the kernel throws.
inline std::vector<TestTensor> RunRecurrent(const RecurrentLayer& layer,
                                            const IBackend& backend = *GetTestBackends().front())
{
    const std::string name = "recurrent";
    std::vector<const TensorInfo*> inputInfos;
    std::vector<const TensorInfo*> outputInfos;
    std::vector<const void*> inputs;
    std::vector<std::unique_ptr<GuardedBuffer>> buffers;
    for (const TestTensor& input : layer.m_Inputs)
    {
        inputInfos.push_back(input.m_Connected ? &input.m_Info : nullptr);
        inputs.push_back(nullptr);
        if (input.m_Connected)
        {
            buffers.push_back(std::make_unique<GuardedBuffer>(input.m_Bytes.size(), 4));
            std::copy(input.m_Bytes.begin(), input.m_Bytes.end(), buffers.back()->GetData());
            buffers.back()->MakeReadOnly();
            inputs.back() = buffers.back()->GetData();
        }
    }
    std::vector<void*> outputs;
    std::vector<GuardedBuffer*> outputBuffers;
    for (const TensorInfo& output : layer.m_Outputs)
    {
        outputInfos.push_back(&output);
        buffers.push_back(std::make_unique<GuardedBuffer>(output.GetNumBytes(), 4));
        outputBuffers.push_back(buffers.back().get());
        outputs.push_back(buffers.back()->GetData());
    }
    std::vector<const void*> constants(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        constants[i] = layer.m_Inputs[i].m_Constant ? inputs[i] : nullptr;
    }
    LayerView view;
    view.m_Type = layer.m_Type;
    view.m_Name = &name;
    view.m_Descriptor = layer.m_Descriptor.get();
    view.m_Inputs = inputInfos;
    view.m_Outputs = outputInfos;
    view.m_ConstantData = constants;
    const SupportResult support = backend.GetLayerSupport({})->IsLayerSupported(view);
    if (!support)
    {
        throw UnimplementedException(support.m_Reason);
    }
    ReshapeArgs reshape;
    reshape.m_Descriptor = layer.m_Descriptor.get();
    reshape.m_Inputs = inputInfos;
    reshape.m_Outputs = outputInfos;
    reshape.m_ConstantData = constants;
    reshape.m_Name = &name;
    const auto workload = backend.CreateWorkloadFactory({})->CreateWorkload(view);
    const auto shaped = workload->Reshape(reshape);
    NoteKernel(GetKernelName(*workload, *shaped));
    GuardedBuffer scratch(shaped->GetScratchBytes(), 64);
    OneThread loops;
    ExecuteArgs args;
    args.m_Inputs = inputs;
    args.m_Outputs = outputs;
    args.m_Scratch = scratch.GetData();
    args.m_Parallel = &loops;
    std::vector<TestTensor> results;
    // Twice over the same memory: what a run leaves behind must not show in the next one.
    for (int repeat = 0; repeat < 2; ++repeat)
    {
        shaped->Execute(args);
        for (size_t i = 0; i < outputs.size(); ++i)
        {
            TestTensor result;
            result.m_Info = layer.m_Outputs[i];
            result.m_Bytes.assign(outputBuffers[i]->GetData(),
                                  outputBuffers[i]->GetData() + layer.m_Outputs[i].GetNumBytes());
            if (repeat != 0)
            {
                EXPECT_TRUE(result.m_Bytes == results[i].m_Bytes) << "a second run gives another output " << i;
                continue;
            }
            results.push_back(std::move(result));
        }
    }
    for (const auto& buffer : buffers)
    {
        EXPECT_TRUE(buffer->IsIntactAround()) << "wrote in front of or behind a tensor";
    }
    EXPECT_TRUE(scratch.IsIntactAround()) << "wrote in front of or behind the scratch memory";
    return results;
}

inline std::vector<double> RealValues(const TestTensor& tensor)
{
    return tensor.m_Connected ? GetReal(tensor.m_Info, tensor.m_Bytes.data()).m_Values : std::vector<double>();
}

inline void ExpectNear(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                       const std::string& what)
{
    ASSERT_EQ(got.size(), want.size()) << what;
    for (size_t i = 0; i < got.size(); ++i)
    {
        ASSERT_NEAR(got[i], want[i], tolerance) << what << ", element " << i;
    }
}

/// The refusal of a layer by its support check, or of its shapes when it is prepared; empty if it runs.
inline std::string GetRefusal(const RecurrentLayer& layer)
{
    try
    {
        RunRecurrent(layer);
    }
    catch (const UnimplementedException& error)
    {
        return error.what();
    }
    catch (const LayerValidationException& error)
    {
        return error.what();
    }
    return {};
}

} // namespace tenon::test
