// SPDX-License-Identifier: Apache-2.0
// Takes hostile files all the way, within bounds that keep each of thousands of runs short.
#pragma once

#include <tenon/Tenon.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test
{

using Bytes = std::vector<uint8_t>;

class FuzzTarget
{
public:
    virtual ~FuzzTarget() = default;

    const IDeviceSpec& DeviceSpec() const { return m_Runtime->GetDeviceSpec(); }

    /// Whether the network ran.
    bool Runs(const Bytes& bytes)
    {
        NetworkId id = -1;
        bool ran = false;
        try
        {
            m_Runtime->LoadNetwork(id, Read(bytes));
            Enqueue(id);
            ran = true;
        }
        catch (const Exception& error)
        {
            EXPECT_STRNE(error.what(), "");
        }
        if (id >= 0)
        {
            m_Runtime->UnloadNetwork(id);
        }
        return ran;
    }

protected:
    /// Inputs get bytes of this value.
    explicit FuzzTarget(uint8_t inputByte) : m_InputByte(inputByte)
    {
        m_Limits.m_MaxTensorBytes = 100000;
        m_Limits.m_MaxTotalBytes = 1000000;
        m_Limits.m_MaxLayers = 1000;
        m_Limits.m_MaxLoopIterations = 100;
        IRuntime::CreationOptions creation;
        creation.m_Limits = m_Limits;
        m_Runtime = IRuntime::Create(creation);
    }

    const Limits& GetLimits() const { return m_Limits; }
    virtual IOptimizedNetworkPtr Read(const Bytes& bytes) = 0;
    /// Of the network that was read last.
    virtual std::vector<LayerBindingId> InputIds() const = 0;

    IOptimizedNetworkPtr OptimizeIt(const INetwork& network) const
    {
        OptimizerOptionsOpaque options;
        options.SetLimits(m_Limits);
        options.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
        std::vector<std::string> messages;
        return Optimize(network, {"CpuRef"}, DeviceSpec(), options, Optional<std::vector<std::string>&>(messages));
    }

private:
    /// Sizes that the network leaves open are 2.
    static TensorShape WithSizes(TensorShape shape)
    {
        if (shape.GetDimensionality() == Dimensionality::NotSpecified)
        {
            return {2};
        }
        for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
        {
            if (!shape.GetDimensionSpecificity(i))
            {
                shape.SetDimensionSize(i, 2);
            }
        }
        return shape;
    }

    void Enqueue(NetworkId id)
    {
        std::vector<Bytes> memory;
        InputTensors inputs;
        for (const LayerBindingId binding : InputIds())
        {
            TensorInfo info = m_Runtime->GetInputTensorInfo(id, binding);
            info.SetShape(WithSizes(info.GetShape()));
            if (info.GetNumBytes() > m_Limits.m_MaxTensorBytes)
            {
                throw InvalidArgumentException("an input is too large to be tried");
            }
            info.SetConstant();
            memory.emplace_back(info.GetNumBytes(), m_InputByte);
            inputs.emplace_back(binding, ConstTensor(info, memory.back().data()));
        }
        m_Runtime->EnqueueWorkload(id, inputs,
                                   [&](LayerBindingId, const TensorInfo& info)
                                   {
                                       memory.emplace_back(info.GetNumBytes());
                                       return memory.back().data();
                                   });
    }

    uint8_t m_InputByte;
    Limits m_Limits;
    IRuntimePtr m_Runtime{nullptr, &IRuntime::Destroy};
};

} // namespace tenon::test
