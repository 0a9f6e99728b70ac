// SPDX-License-Identifier: Apache-2.0
// The objects behind the handles of the C interface, and the results of its functions: a status and a text.
#pragma once

#include "backends/plugin/CStructs.hpp"

#include <tenon/IRuntime.hpp>
#include <tenon/backend/ICustomOperator.hpp>
#include <tenon/c/tenon.h>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenon::c_api
{

/// An input or output.
struct Port
{
    Port(std::string name, LayerBindingId id, const TensorInfo& info)
        : m_Name(std::move(name)), m_Id(id), m_Info(info), m_CInfo(info)
    {
    }
    std::string m_Name;
    LayerBindingId m_Id;
    TensorInfo m_Info;
    plugin::CInfo m_CInfo;
};
using Ports = std::deque<Port>; // a deque, because ports must not move

/// The metadata of an input or output of a .tflite model.
class PortMetadata
{
public:
    explicit PortMetadata(const ITfLiteParser::TensorMetadata& metadata);
    PortMetadata(const PortMetadata&) = delete;
    PortMetadata& operator=(const PortMetadata&) = delete;

    const tenon_tensor_metadata* Get() const { return &m_CMetadata; }

private:
    ITfLiteParser::TensorMetadata m_Metadata;
    std::vector<const char*> m_Labels;
    std::vector<const char*> m_ValueLabels;
    tenon_tensor_metadata m_CMetadata{}; ///< points to the other members
};

struct NetworkMetadata
{
    NetworkMetadata() = default;
    explicit NetworkMetadata(const ITfLiteParser::ModelMetadata& metadata);
    /// The texts of an .onnx model, by key.
    explicit NetworkMetadata(const std::map<std::string, std::string>& texts) : m_Texts(texts.begin(), texts.end()) {}

    std::vector<std::pair<std::string, std::string>> m_Texts; ///< of the model about itself, by key
    std::deque<PortMetadata> m_Inputs;                        ///< of a .tflite model; else empty
    std::deque<PortMetadata> m_Outputs;
};

/// A network in a runtime. Sessions and the model's handle share it.
struct Loaded
{
    ~Loaded() { m_Runtime->UnloadNetwork(m_Id); }

    std::shared_ptr<IRuntime> m_Runtime;
    NetworkId m_Id = 0;
    Ports m_Inputs;
    Ports m_Outputs;
    std::vector<LayerAssignment> m_Assignment;
};

} // namespace tenon::c_api

struct tenon_error
{
    tenon_status m_Status;
    std::string m_Text;
};

struct tenon_runtime
{
    std::shared_ptr<tenon::IRuntime> m_Runtime;
    tenon::Limits m_Limits;
};

struct tenon_network
{
    tenon::INetworkPtr m_Network{nullptr, &tenon::INetwork::Destroy};
    tenon::IOptimizedNetworkPtr m_Optimized{nullptr, &tenon::IOptimizedNetwork::Destroy};
    bool m_IsOptimized = false; ///< stays true when the optimized network has been loaded and is null
    tenon::c_api::Ports m_Inputs;
    tenon::c_api::Ports m_Outputs;
    std::vector<std::string> m_Signatures;
    /// Never null; shared with the network that the optimizer makes of this one.
    std::shared_ptr<const tenon::c_api::NetworkMetadata> m_Metadata =
        std::make_shared<const tenon::c_api::NetworkMetadata>();
    std::vector<tenon::IOutputSlot*> m_Values;    ///< output slots by tenon_value
    std::unordered_set<std::string> m_InputNames; ///< names of inputs of a network that is built
    std::unordered_set<std::string> m_OutputNames;
    bool m_IsBuilt = false; ///< the network is built by calls and not read from a file
};

struct tenon_model
{
    std::shared_ptr<tenon::c_api::Loaded> m_Loaded;
};

struct tenon_session
{
    std::shared_ptr<tenon::c_api::Loaded> m_Loaded;
    tenon::SessionId m_Id;
};

struct tenon_cancellation
{
    std::atomic<bool> m_IsCancelled{false};
};

namespace tenon::c_api
{

/// Throws a NullPointerException that names the pointer.
[[noreturn]] void ThrowNull(const char* what);

/// The object that a pointer of the caller points to. Throws for a null pointer.
template <typename T>
T& Deref(T* pointer, const char* what)
{
    if (pointer == nullptr)
    {
        ThrowNull(what);
    }
    return *pointer;
}

/// The status of the exception that is being handled. *error gets its text, unless `error` is null. If there is no
/// memory for the text, *error becomes null.
tenon_status Fail(tenon_error** error) noexcept;

/// Runs f, whose exceptions become a status.
template <typename F>
tenon_status Guard(tenon_error** error, F f) noexcept
{
    if (error != nullptr)
    {
        *error = nullptr;
    }
    try
    {
        f();
        return TENON_OK;
    }
    catch (...)
    {
        return Fail(error);
    }
}

/// The same for a function that makes a handle or text, which is null if it fails.
template <typename T, typename F>
tenon_status GuardMaking(T** made, tenon_error** error, F f) noexcept
{
    if (made != nullptr)
    {
        *made = nullptr;
    }
    return Guard(error,
                 [&]
                 {
                     Deref(made, "the pointer to the result");
                     *made = f();
                 });
}

/// Copies the bytes of a caller's struct, and sets the bytes after them to 0. Throws InvalidArgumentException for a
/// struct that is smaller than `firstSize`, and for a struct that is larger than this library knows, unless its further
/// bytes are 0.
void CopyKnown(void* target, size_t targetSize, const void* source, size_t structSize, size_t firstSize,
               const char* what);

/// The size of the struct in the first version of the header. A struct that has grown since then gets a specialization.
template <typename T>
constexpr size_t FirstSize = sizeof(T);
template <>
inline constexpr size_t FirstSize<tenon_read_options> = offsetof(tenon_read_options, num_dimensions);
template <>
inline constexpr size_t FirstSize<tenon_tensor_info> = offsetof(tenon_tensor_info, quantization_block);

/// The members of an options struct that its caller knows; 0 for the others, and for all of a null pointer.
template <typename T>
T Complete(const T* options, const char* what)
{
    T complete;
    CopyKnown(&complete, sizeof(complete), options, options == nullptr ? 0 : options->struct_size, FirstSize<T>, what);
    return complete;
}

/// A list of the caller. Throws NullPointerException if it has elements but no memory.
template <typename T>
Span<const T> ListOf(const T* elements, size_t count, const char* what)
{
    if (count != 0)
    {
        Deref(elements, what);
    }
    return Span<const T>(elements, count);
}

/// Name and info of an input or output; both pointers may be null. Throws InvalidArgumentException past the end.
void GetPort(const Ports& ports, size_t index, const char* kind, const char** name, const tenon_tensor_info** info);

/// A copy, of at least one byte, that tenon_memory_destroy takes back.
void* MakeMemory(const void* bytes, size_t count);
/// A text that tenon_text_destroy takes back.
char* MakeText(const std::string& text);

Limits ToLimits(const tenon_limits* limits);
/// `key` is "<backend>.<option>". Throws InvalidArgumentException for another form.
BackendOptions ToBackendOptions(const tenon_option& option);
bool ToBool(const tenon_option& option);

/// Converts a caller's info.
TensorInfo ToInfo(const tenon_tensor_info* info, const char* what);

/// Copies an operator of the application. Throws InvalidArgumentException for an operator without name or functions.
/// Its `release` is only called once the call that takes it has succeeded: see OwnOperator.
std::shared_ptr<const ICustomOperator> MakeCustomOperator(const tenon_operator* custom);
/// Transfers ownership: from here on the operator is released when nothing needs it any more.
void OwnOperator(const ICustomOperator& custom);

} // namespace tenon::c_api
