// SPDX-License-Identifier: Apache-2.0
// OnnxRun: a small model, loaded on CpuRef and run with tensors of any types and shapes.
#pragma once

#include "harness/MessageOf.hpp"
#include "harness/OnnxModel.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/parsers/IOnnxParser.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tenon::test::model
{

/// What a run takes and gives.
struct Data
{
    TensorInfo m_Info;
    std::vector<uint8_t> m_Bytes;

    template <typename T>
    static Data Of(const TensorShape& shape, const std::vector<T>& values);

    template <typename T>
    std::vector<T> As() const
    {
        std::vector<T> values(m_Bytes.size() / sizeof(T));
        if (!values.empty())
        {
            std::memcpy(values.data(), m_Bytes.data(), m_Bytes.size());
        }
        return values;
    }
    std::vector<float> Floats() const { return As<float>(); }
    std::vector<int64_t> Ints() const { return As<int64_t>(); }
};

template <typename T>
constexpr DataType LayerTypeOf()
{
    switch (TypeOf<T>())
    {
    case ElementType::Float: return DataType::Float32;
    case ElementType::Double: return DataType::Float64;
    case ElementType::UInt8: return DataType::Unsigned8;
    case ElementType::Int8: return DataType::Signed8;
    case ElementType::UInt16: return DataType::Unsigned16;
    case ElementType::Int16: return DataType::Signed16;
    case ElementType::UInt32: return DataType::Unsigned32;
    case ElementType::Int32: return DataType::Signed32;
    case ElementType::UInt64: return DataType::Unsigned64;
    case ElementType::Int64: return DataType::Signed64;
    default: return DataType::Boolean;
    }
}

template <typename T>
Data Data::Of(const TensorShape& shape, const std::vector<T>& values)
{
    const Wire bytes = Raw(values);
    return {TensorInfo(shape, LayerTypeOf<T>()), {bytes.begin(), bytes.end()}};
}

/// Floats [n], and in other shapes.
inline Data List(const std::vector<float>& values)
{
    return Data::Of(TensorShape({static_cast<unsigned int>(values.size())}), values);
}

inline Data Fed(const TensorShape& shape, const std::vector<float>& values)
{
    return Data::Of(shape, values);
}

inline std::vector<uint8_t> BytesOf(const Wire& model)
{
    return {model.begin(), model.end()};
}

using Options = IOnnxParser::OnnxParserOptions;

/// A parser that has read a model.
struct Parsed
{
    explicit Parsed(const Wire& model, const Options& options = {})
        : m_Parser(IOnnxParser::Create(options)), m_Network(m_Parser->CreateNetworkFromBinary(BytesOf(model)))
    {
    }

    IOnnxParserPtr m_Parser;
    INetworkPtr m_Network;
};

class OnnxRun
{
public:
    explicit OnnxRun(const Wire& model, const Options& options = {}) : OnnxRun(Parsed(model, options)) {}

    explicit OnnxRun(const Parsed& parsed) : m_Runtime(IRuntime::Create({}))
    {
        for (const std::string& name : parsed.m_Parser->GetInputNames())
        {
            m_Inputs.push_back(parsed.m_Parser->GetNetworkInputBindingInfo(name).first);
        }
        for (const std::string& name : parsed.m_Parser->GetOutputNames())
        {
            m_Outputs.push_back(parsed.m_Parser->GetNetworkOutputBindingInfo(name).first);
        }
        OptimizerOptionsOpaque options;
        options.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
        m_Runtime->LoadNetwork(m_Id, Optimize(*parsed.m_Network, {"CpuRef"}, m_Runtime->GetDeviceSpec(), options));
    }

    /// The outputs, in the model's order; `inputs` likewise.
    std::vector<Data> Run(const std::vector<Data>& inputs)
    {
        InputTensors tensors;
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            TensorInfo info = inputs[i].m_Info;
            info.SetConstant();
            tensors.emplace_back(m_Inputs.at(i), ConstTensor(info, inputs[i].m_Bytes.data()));
        }
        std::vector<Data> results(m_Outputs.size());
        m_Runtime->EnqueueWorkload(m_Id, tensors,
                                   [&](LayerBindingId id, const TensorInfo& info) -> void*
                                   {
                                       size_t i = 0;
                                       while (m_Outputs.at(i) != id)
                                       {
                                           ++i;
                                       }
                                       results[i].m_Info = info;
                                       results[i].m_Bytes.reserve(1); // not null, where there are no elements
                                       results[i].m_Bytes.resize(info.GetNumBytes());
                                       return results[i].m_Bytes.data();
                                   });
        return results;
    }

private:
    IRuntimePtr m_Runtime;
    NetworkId m_Id = 0;
    std::vector<LayerBindingId> m_Inputs;
    std::vector<LayerBindingId> m_Outputs;
};

/// The outputs of one run.
inline std::vector<Data> RunModel(const Wire& model, const std::vector<Data>& inputs = {}, const Options& options = {})
{
    return OnnxRun(model, options).Run(inputs);
}

/// The text of what the parser throws.
template <typename ExceptionType = ParseException>
std::string ErrorOf(const Wire& model, const Options& options = {})
{
    return MessageOf<ExceptionType>([&] { Parsed parsed(model, options); });
}

} // namespace tenon::test::model
