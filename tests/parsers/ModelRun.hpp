// SPDX-License-Identifier: Apache-2.0
// ModelRun: a small model, loaded on CpuRef or another backend and run with tensors of any types and shapes. For tests
// of what comes out of a model, from file to result.
#pragma once

#include "parsers/ModelBuilder.hpp"

#include <tenon/Tenon.hpp>
#include <tenon/backend/IBackend.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test
{

/// What a run takes and gives.
struct Data
{
    TensorShape m_Shape;
    std::vector<uint8_t> m_Bytes;

    template <typename T>
    static Data Of(const TensorShape& shape, const std::vector<T>& values)
    {
        Data data{shape, std::vector<uint8_t>(values.size() * sizeof(T))};
        std::memcpy(data.m_Bytes.data(), values.data(), data.m_Bytes.size());
        return data;
    }

    template <typename T>
    std::vector<T> As() const
    {
        std::vector<T> values(m_Bytes.size() / sizeof(T));
        std::memcpy(values.data(), m_Bytes.data(), m_Bytes.size());
        return values;
    }
};

class ModelRun
{
public:
    explicit ModelRun(const ModelBuilder& model, const ITfLiteParser::TfLiteParserOptions& options = {},
                      const std::shared_ptr<const IBackend>& backend = nullptr)
        : ModelRun(Parsed(model, options), backend)
    {
    }

    explicit ModelRun(const Parsed& parsed, const std::shared_ptr<const IBackend>& backend = nullptr)
        : m_Runtime(IRuntime::Create(WithBackend(backend)))
    {
        const ITfLiteParser& parser = *parsed.m_Parser;
        for (const std::string& name : parser.GetSubgraphInputTensorNames(0))
        {
            m_Inputs.push_back(parser.GetNetworkInputBindingInfo(0, name));
        }
        for (const std::string& name : parser.GetSubgraphOutputTensorNames(0))
        {
            m_Outputs.push_back(parser.GetNetworkOutputBindingInfo(0, name));
        }
        const std::vector<BackendId> preferred = {backend != nullptr ? backend->GetId() : BackendId("CpuRef")};
        m_Runtime->LoadNetwork(m_Id, Optimize(*parsed.m_Network, preferred, m_Runtime->GetDeviceSpec()));
    }

    /// The outputs, in the model's order; `inputs` likewise.
    std::vector<Data> Run(const std::vector<Data>& inputs)
    {
        InputTensors tensors;
        for (size_t i = 0; i < inputs.size(); ++i)
        {
            TensorInfo info = m_Inputs.at(i).second;
            info.SetShape(inputs[i].m_Shape);
            info.SetConstant();
            tensors.emplace_back(m_Inputs[i].first, ConstTensor(info, inputs[i].m_Bytes.data()));
        }
        std::vector<Data> results(m_Outputs.size());
        m_Runtime->EnqueueWorkload(m_Id, tensors,
                                   [&](LayerBindingId id, const TensorInfo& info) -> void*
                                   {
                                       size_t i = 0;
                                       while (m_Outputs.at(i).first != id)
                                       {
                                           ++i;
                                       }
                                       results[i].m_Shape = info.GetShape();
                                       results[i].m_Bytes.resize(info.GetNumBytes());
                                       return results[i].m_Bytes.data();
                                   });
        return results;
    }

private:
    static IRuntime::CreationOptions WithBackend(const std::shared_ptr<const IBackend>& backend)
    {
        IRuntime::CreationOptions options;
        if (backend != nullptr)
        {
            options.m_Backends = {backend};
        }
        return options;
    }

    IRuntimePtr m_Runtime;
    NetworkId m_Id = 0;
    std::vector<BindingPointInfo> m_Inputs;
    std::vector<BindingPointInfo> m_Outputs;
};

} // namespace tenon::test
