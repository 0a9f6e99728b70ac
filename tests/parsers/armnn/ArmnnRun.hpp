// SPDX-License-Identifier: Apache-2.0
// Networks out of .armnn files, compared with others: as text, and by their results on CpuRef.
#pragma once

#include "harness/MessageOf.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/serializer/IDeserializer.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tenon::test
{

using Bytes = std::vector<uint8_t>;

inline Bytes ReadGolden(const std::string& name)
{
    std::ifstream file("tests/golden/armnn/" + name + ".armnn", std::ios::binary);
    EXPECT_TRUE(file.is_open()) << name << ": run this test in the root of the source tree";
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline INetworkPtr ReadArmnn(const Bytes& bytes, const IDeserializer::DeserializerOptions& options = {})
{
    return IDeserializer::Create(options)->CreateNetworkFromBinary(bytes);
}

/// The network as JSON. Numbers of layers, which no two networks share, are counted anew.
inline std::string Describe(const INetwork& network)
{
    std::ostringstream stream;
    network.SerializeToJson(stream);
    const std::string text = stream.str();
    const std::string mark = "\"guid\": ";
    std::map<std::string, size_t> numbers;
    std::string described;
    size_t from = 0;
    for (size_t at = 0; (at = text.find(mark, from)) != std::string::npos;)
    {
        const size_t begin = at + mark.size();
        const size_t end = text.find_first_not_of("0123456789", begin);
        const size_t number = numbers.emplace(text.substr(begin, end - begin), numbers.size()).first->second;
        described += text.substr(from, begin - from) + std::to_string(number);
        from = end;
    }
    return described + text.substr(from);
}

/// Info and bytes of each output by its binding id.
using Results = std::map<LayerBindingId, std::pair<TensorInfo, Bytes>>;

/// Elements that differ from each other, as bytes of the type. Sizes that are unknown are 2.
inline Bytes SomeValues(const TensorInfo& info)
{
    Bytes bytes(info.GetNumBytes());
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        if (info.GetDataType() == DataType::Float32 && i % sizeof(float) == 0)
        {
            const float value = static_cast<float>(i / sizeof(float) * 5 % 13) / 4 - 1;
            std::memcpy(bytes.data() + i, &value, sizeof(value));
        }
        else if (info.GetDataType() != DataType::Float32)
        {
            bytes[i] = static_cast<uint8_t>(info.GetDataType() == DataType::Boolean ? i % 2 : i * 37 + 3);
        }
    }
    return bytes;
}

inline TensorInfo WithSizes(TensorInfo info)
{
    TensorShape shape = info.GetShape();
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        shape = TensorShape({2});
    }
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        shape.SetDimensionSize(i, shape.GetDimensionSpecificity(i) ? shape[i] : 2);
    }
    info.SetShape(shape);
    info.SetConstant();
    return info;
}

/// What the network gives for SomeValues() at its inputs. Shapes that are declared otherwise than they are inferred get
/// the inferred ones.
inline Results RunNetwork(const INetwork& network)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    OptimizerOptionsOpaque options;
    options.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
    NetworkId id = 0;
    runtime->LoadNetwork(id, Optimize(network, {"CpuRef"}, runtime->GetDeviceSpec(), options));
    struct Inputs : IStrategy
    {
        void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                             const char*, LayerBindingId binding) override
        {
            if (layer->GetType() == LayerType::Input)
            {
                const TensorInfo info = WithSizes(layer->GetOutputSlot(0).GetTensorInfo());
                m_Memory.push_back(SomeValues(info));
                m_Tensors.emplace_back(binding, ConstTensor(info, m_Memory.back().data()));
            }
        }
        std::vector<Bytes> m_Memory;
        InputTensors m_Tensors;
    } inputs;
    network.ExecuteStrategy(inputs);
    Results results;
    runtime->EnqueueWorkload(id, inputs.m_Tensors,
                             [&](LayerBindingId binding, const TensorInfo& info) -> void*
                             {
                                 auto& [declared, bytes] = results[binding];
                                 declared = info;
                                 bytes.resize(info.GetNumBytes());
                                 return bytes.data();
                             });
    return results;
}

} // namespace tenon::test
