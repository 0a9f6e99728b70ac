// SPDX-License-Identifier: Apache-2.0
// Handles of the C interface that destroy themselves, and its errors as text.
#pragma once

#include <tenon/c/tenon.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tenon::testing::c_api
{

/// The error of the call that is made last, for its last parameter.
inline tenon_error*& LastError()
{
    static thread_local tenon_error* error = nullptr;
    return error;
}

inline tenon_error** Error()
{
    tenon_error_destroy(LastError());
    LastError() = nullptr;
    return &LastError();
}

inline std::string Text()
{
    return tenon_error_text(LastError());
}

/// "TENON_INVALID_ARGUMENT there is no ..."
inline std::string StatusAndText(tenon_status status)
{
    EXPECT_EQ(status, tenon_error_status(LastError()));
    return std::string(tenon_status_name(status)) + " " + Text();
}

inline void Ok(tenon_status status)
{
    ASSERT_EQ(status, TENON_OK) << Text();
    ASSERT_EQ(LastError(), nullptr);
}

inline tenon_tensor_info Info(tenon_data_type type, const int64_t* dims, uint32_t rank)
{
    tenon_tensor_info info{};
    info.struct_size = sizeof(info);
    info.type = type;
    info.rank = rank;
    info.dims = dims;
    return info;
}

/// A tensor of the model's type and shape in an object or array.
template <typename T>
tenon_tensor Tensor(T& memory)
{
    return {const_cast<void*>(static_cast<const void*>(&memory)), sizeof(memory), TENON_ANY_TYPE, 0, nullptr, 0, {}};
}

class Runtime
{
public:
    Runtime() { Ok(tenon_runtime_create(nullptr, &m_Runtime, Error())); }
    ~Runtime() { tenon_runtime_destroy(m_Runtime); }
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    tenon_runtime* Get() const { return m_Runtime; }

private:
    tenon_runtime* m_Runtime = nullptr;
};

class Network
{
public:
    Network() { Ok(tenon_network_create(&m_Network, Error())); }
    ~Network() { tenon_network_destroy(m_Network); }
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;
    tenon_network* Get() const { return m_Network; }

    /// Of Float32.
    tenon_value AddInput(const char* name, const std::vector<int64_t>& dims) const
    {
        const tenon_tensor_info info = Info(TENON_FLOAT32, dims.data(), static_cast<uint32_t>(dims.size()));
        tenon_value value = TENON_NO_VALUE;
        Ok(tenon_network_add_input(m_Network, name, &info, &value, Error()));
        return value;
    }
    tenon_value AddLayer(const char* type, const std::vector<tenon_value>& inputs, const char* name = nullptr,
                         const std::vector<tenon_attribute>& attributes = {}, const tenon_tensor_info* info = nullptr,
                         size_t numOutputs = 1) const
    {
        tenon_value value = TENON_NO_VALUE;
        Ok(tenon_network_add_layer(m_Network, type, name, attributes.size(), attributes.data(), inputs.size(),
                                   inputs.data(), numOutputs, info == nullptr ? nullptr : &info, &value, Error()));
        return value;
    }
    void AddOutput(tenon_value value) const { Ok(tenon_network_add_output(m_Network, nullptr, value, Error())); }

private:
    tenon_network* m_Network = nullptr;
};

class Model
{
public:
    Model(const Runtime& runtime, const Network& network, const tenon_model_options* options = nullptr)
    {
        Ok(tenon_model_load(runtime.Get(), network.Get(), options, &m_Model, Error()));
    }
    ~Model() { tenon_model_destroy(m_Model); }
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    tenon_model* Get() const { return m_Model; }

private:
    tenon_model* m_Model = nullptr;
};

} // namespace tenon::testing::c_api
