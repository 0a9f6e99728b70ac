// SPDX-License-Identifier: Apache-2.0
// tenon_model, tenon_session, tenon_cancellation: optimizing, loading, running, reports.
#include "c_api/Handles.hpp"
#include "reports/Reports.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/IOptimizedNetwork.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

namespace tenon::c_api
{

namespace
{

/// tenon_model_options, read.
struct ModelOptionValues
{
    std::vector<BackendId> m_Backends;
    OptimizerOptionsOpaque m_Optimizer;
    INetworkProperties m_Properties;
    bool m_HasOptimizing = false; ///< something that only optimizing takes
};

std::vector<std::string> SplitAtCommas(std::string_view text)
{
    std::vector<std::string> parts;
    while (!text.empty())
    {
        const size_t comma = std::min(text.find(','), text.size());
        if (comma != 0)
        {
            parts.emplace_back(text.substr(0, comma));
        }
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parts;
}

void Take(const tenon_option& option, ModelOptionValues& values)
{
    const std::string_view key = &Deref(option.key, "the key of an option");
    values.m_HasOptimizing = values.m_HasOptimizing || key == "fp16" || key == "bf16" || key == "expanded_dims";
    if (key == "fp16")
    {
        values.m_Optimizer.SetReduceFp32ToFp16(ToBool(option));
    }
    else if (key == "bf16")
    {
        values.m_Optimizer.SetReduceFp32ToBf16(ToBool(option));
    }
    else if (key == "expanded_dims")
    {
        values.m_Optimizer.SetAllowExpandedDims(ToBool(option));
    }
    else if (key == "profiling")
    {
        values.m_Properties.m_ProfilingEnabled = ToBool(option);
    }
    else if (key == "disabled_fusions")
    {
        values.m_Properties.m_DisabledFusions = SplitAtCommas(&Deref(option.value, "the value of an option"));
    }
    else if (key.find('.') != std::string_view::npos)
    {
        const BackendOptions taken = ToBackendOptions(option);
        values.m_Optimizer.AddModelOption(taken);
        values.m_Properties.m_ModelOptions.push_back(taken);
    }
    else
    {
        throw InvalidArgumentException(
            fmt::format("a model has no option '{}'; there are fp16, bf16, expanded_dims, profiling, disabled_fusions "
                        "and '<backend>.<option>'",
                        key));
    }
}

/// Throws InvalidArgumentException for options of backends that neither the runtime has nor the caller lists: one that
/// is listed may be absent, as another takes its place.
void RequireBackends(const ModelOptionValues& values, const tenon_runtime& runtime)
{
    const BackendIdSet& there = runtime.m_Runtime->GetDeviceSpec().GetSupportedBackends();
    for (const BackendOptions& options : values.m_Properties.m_ModelOptions)
    {
        const BackendId& backend = options.GetBackendId();
        if (there.count(backend) == 0 &&
            std::find(values.m_Backends.begin(), values.m_Backends.end(), backend) == values.m_Backends.end())
        {
            std::vector<std::string> names(there.begin(), there.end());
            std::sort(names.begin(), names.end());
            throw InvalidArgumentException(fmt::format("option '{0}.{1}': there is no backend '{0}'; there are {2}",
                                                       backend.Get(), options.GetOption(0).GetName(),
                                                       fmt::join(names, ", ")));
        }
    }
}

ModelOptionValues ReadOptions(const tenon_model_options* options, const tenon_runtime& runtime)
{
    const tenon_model_options given = Complete(options, "tenon_model_options");
    ModelOptionValues values;
    for (const char* backend : ListOf(given.backends, given.num_backends, "the list of backends"))
    {
        values.m_Backends.emplace_back(&Deref(backend, "the name of a backend"));
    }
    values.m_HasOptimizing = !values.m_Backends.empty();
    if (values.m_Backends.empty())
    {
        values.m_Backends = {BackendId("CpuAcc"), BackendId("CpuRef")};
    }
    values.m_Optimizer.SetLimits(runtime.m_Limits);
    // Converters write wrong shapes in some models, which TFLite runs: see tenon_network_optimize.
    values.m_Optimizer.SetShapeInferenceMethod(ShapeInferenceMethod::InferAndValidate);
    values.m_Properties.m_NumberOfThreads = given.num_threads;
    for (const tenon_option& option : ListOf(given.options, given.num_options, "the list of options"))
    {
        Take(option, values);
    }
    RequireBackends(values, runtime);
    return values;
}

IOptimizedNetworkPtr OptimizeFor(const tenon_runtime& runtime, const tenon_network& network,
                                 const ModelOptionValues& values)
{
    return Optimize(*network.m_Network, values.m_Backends, runtime.m_Runtime->GetDeviceSpec(), values.m_Optimizer);
}

Ports CopyPorts(const Ports& ports)
{
    Ports copy;
    for (const Port& port : ports)
    {
        copy.emplace_back(port.m_Name, port.m_Id, port.m_Info);
    }
    return copy;
}

tenon_model* Load(tenon_runtime& runtime, tenon_network& network, const tenon_model_options* options)
{
    const ModelOptionValues values = ReadOptions(options, runtime);
    if (network.m_IsOptimized && values.m_HasOptimizing)
    {
        throw InvalidArgumentException("the network is optimized already: backends, fp16, bf16 and expanded_dims are "
                                       "options of tenon_network_optimize");
    }
    if (network.m_IsOptimized && network.m_Optimized == nullptr)
    {
        throw InvalidArgumentException("the content of the optimized network was taken by a load before; read or "
                                       "optimize it again");
    }
    IOptimizedNetworkPtr optimized =
        network.m_IsOptimized ? std::move(network.m_Optimized) : OptimizeFor(runtime, network, values);
    // Nothing is loaded yet: if the memory for these runs out, nothing is to be unloaded.
    auto assignment = optimized->GetAssignment();
    auto model = std::make_unique<tenon_model>();
    NetworkId id = 0;
    runtime.m_Runtime->LoadNetwork(id, std::move(optimized), values.m_Properties);
    try
    {
        model->m_Loaded = std::make_shared<Loaded>();
    }
    catch (...)
    {
        runtime.m_Runtime->UnloadNetwork(id);
        throw;
    }
    Loaded& loaded = *model->m_Loaded;
    loaded.m_Runtime = runtime.m_Runtime;
    loaded.m_Id = id;
    loaded.m_Assignment = std::move(assignment);
    for (const Port& port : network.m_Inputs)
    {
        TensorInfo info = loaded.m_Runtime->GetInputTensorInfo(id, port.m_Id);
        info.SetConstant(); // as a ConstTensor of it must be
        loaded.m_Inputs.emplace_back(port.m_Name, port.m_Id, info);
    }
    for (const Port& port : network.m_Outputs)
    {
        loaded.m_Outputs.emplace_back(port.m_Name, port.m_Id, loaded.m_Runtime->GetOutputTensorInfo(id, port.m_Id));
    }
    return model.release();
}

[[noreturn]] void ThrowWrongBytes(const Port& port, const char* kind, const TensorInfo& info, size_t given)
{
    throw InvalidArgumentException(fmt::format("{} '{}', {}, has {} bytes; it was given {}", kind, port.m_Name,
                                               info.ToString(), info.GetNumBytes(), given));
}

[[noreturn]] void ThrowNotImported(const Port& port, const char* kind)
{
    throw MemoryImportException(
        fmt::format("the memory for {} '{}' cannot be imported; the log has the reason", kind, port.m_Name));
}

/// The info of a tensor of the caller for an input or output. Throws InvalidArgumentException, naming it.
TensorInfo InfoOf(const tenon_tensor& tensor, const Port& port, const char* kind)
{
    TensorInfo info = port.m_Info;
    if (tensor.type != TENON_ANY_TYPE && tensor.type != static_cast<tenon_data_type>(info.GetDataType()))
    {
        const bool isKnown = tensor.type >= 0 && tensor.type <= TENON_COMPLEX128;
        throw InvalidArgumentException(
            fmt::format("{} '{}' is {}; it was given a tensor of type {} ({})", kind, port.m_Name,
                        GetDataTypeName(info.GetDataType()),
                        isKnown ? GetDataTypeName(static_cast<DataType>(tensor.type)) : "unknown", tensor.type));
    }
    if (tensor.dims != nullptr)
    {
        info.SetShape(plugin::ToShape(tensor.rank, tensor.dims));
    }
    if (!info.GetShape().AreAllDimensionsSpecified())
    {
        throw InvalidArgumentException(fmt::format("{} '{}' was given the shape {}; all its sizes must be known", kind,
                                                   port.m_Name, info.GetShape().ToString()));
    }
    if (info.GetNumBytes() != tensor.num_bytes)
    {
        ThrowWrongBytes(port, kind, info, tensor.num_bytes);
    }
    if (tensor.data == nullptr && tensor.num_bytes != 0)
    {
        throw InvalidArgumentException(fmt::format("{} '{}' was given no memory", kind, port.m_Name));
    }
    return info;
}

/// Whether a tensor is as the model was loaded, which is most often so.
bool IsAsLoaded(const tenon_tensor& tensor, const Port& port)
{
    const tenon_tensor_info& info = *port.m_CInfo.Get();
    return tensor.dims == nullptr && tensor.import_id == 0 && tensor.data != nullptr &&
           tensor.num_bytes == info.num_bytes && tensor.num_bytes != 0 &&
           (tensor.type == info.type || tensor.type == TENON_ANY_TYPE);
}

/// Imports the memory of a tensor for one input or output. `import` gives the ids, none where it cannot.
template <typename Import>
tenon_import_id ImportOne(const Ports& ports, size_t index, const char* kind, const tenon_tensor* tensor, Import import)
{
    GetPort(ports, index, kind, nullptr, nullptr);
    const Port& port = ports[index];
    const tenon_tensor& given = Deref(tensor, "the tensor");
    const auto ids = import(port.m_Id, InfoOf(given, port, kind), given.data);
    if (ids.empty())
    {
        ThrowNotImported(port, kind);
    }
    return ids.front() + 1; // 0 is none
}

void CheckCount(size_t given, const Ports& ports, const char* kind)
{
    if (given != ports.size())
    {
        throw InvalidArgumentException(fmt::format("the model has {} {}s; {} were given", ports.size(), kind, given));
    }
}

RunOptions ToRunOptions(const tenon_run_options& given, const Loaded& loaded)
{
    RunOptions options;
    if (given.session != nullptr)
    {
        if (given.session->m_Loaded.get() != &loaded)
        {
            throw InvalidArgumentException("the session is one of another model");
        }
        options.m_Session = given.session->m_Id;
    }
    options.m_IsCancelled = given.cancellation == nullptr ? nullptr : &given.cancellation->m_IsCancelled;
    return options;
}

/// The memory of output `index`: the caller's tensor, or the allocator's.
void* OutputMemory(const tenon_tensor& output, const tenon_run_options& options, size_t index, const Port& port,
                   const TensorInfo& info)
{
    if (output.data == nullptr && options.allocate != nullptr)
    {
        const plugin::CInfo c(info);
        return options.allocate(options.allocate_self, index, c.Get());
    }
    if (output.num_bytes != info.GetNumBytes())
    {
        ThrowWrongBytes(port, "output", info, output.num_bytes);
    }
    return output.data;
}

void CheckReserved(const tenon_tensor& tensor, const Port& port, const char* kind)
{
    if (tensor.reserved[0] != 0 || tensor.reserved[1] != 0 || tensor.reserved[2] != 0)
    {
        throw InvalidArgumentException(
            fmt::format("{} '{}': the reserved members of tenon_tensor must be 0", kind, port.m_Name));
    }
}

/// All that can be said of outputs before the run.
void CheckOutput(const tenon_tensor& tensor, const tenon_run_options& options, const Port& port)
{
    CheckReserved(tensor, port, "output");
    if (tensor.type != TENON_ANY_TYPE && tensor.type != port.m_CInfo.Get()->type)
    {
        InfoOf(tensor, port, "output"); // which throws
    }
    if (tensor.data == nullptr && options.allocate == nullptr && tensor.num_bytes != 0)
    {
        throw InvalidArgumentException(
            fmt::format("output '{}' was given no memory, and there is no allocator", port.m_Name));
    }
}

void Run(Loaded& loaded, const tenon_run_options& given, Span<const tenon_tensor> inputs,
         Span<const tenon_tensor> outputs)
{
    CheckCount(inputs.size(), loaded.m_Inputs, "input");
    CheckCount(outputs.size(), loaded.m_Outputs, "output");
    RunOptions options = ToRunOptions(given, loaded);
    InputTensors inputTensors;
    inputTensors.reserve(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        const Port& port = loaded.m_Inputs[i];
        CheckReserved(inputs[i], port, "input");
        if (inputs[i].import_id != 0)
        {
            options.m_ImportedInputs.push_back(inputs[i].import_id - 1);
        }
        else
        {
            inputTensors.emplace_back(port.m_Id, IsAsLoaded(inputs[i], port)
                                                     ? ConstTensor(port.m_Info, inputs[i].data)
                                                     : ConstTensor(InfoOf(inputs[i], port, "input"), inputs[i].data));
        }
    }
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        if (outputs[i].import_id != 0)
        {
            options.m_ImportedOutputs.push_back(outputs[i].import_id - 1);
        }
        else
        {
            CheckOutput(outputs[i], given, loaded.m_Outputs[i]);
        }
    }
    if (!options.m_ImportedOutputs.empty()) // the others have memory of their own, then
    {
        OutputTensors outputTensors;
        for (size_t i = 0; i < outputs.size(); ++i)
        {
            const Port& port = loaded.m_Outputs[i];
            if (outputs[i].import_id == 0)
            {
                outputTensors.emplace_back(port.m_Id, Tensor(InfoOf(outputs[i], port, "output"), outputs[i].data));
            }
        }
        loaded.m_Runtime->Run(loaded.m_Id, inputTensors, outputTensors, options);
        return;
    }
    const auto findOutput = [&](LayerBindingId id, const TensorInfo& info)
    {
        size_t i = 0;
        while (loaded.m_Outputs[i].m_Id != id)
        {
            ++i;
        }
        return OutputMemory(outputs[i], given, i, loaded.m_Outputs[i], info);
    };
    // std::function allocates for a lambda that refers to so much, but not for a reference to it.
    loaded.m_Runtime->Run(loaded.m_Id, inputTensors, OutputAllocator(std::ref(findOutput)), options);
}

/// Throws InvalidArgumentException where runs were not recorded.
std::shared_ptr<IProfiler> ProfilerOf(const Loaded& loaded)
{
    std::shared_ptr<IProfiler> profiler = loaded.m_Runtime->GetProfiler(loaded.m_Id);
    if (!profiler->IsProfilingEnabled())
    {
        throw InvalidArgumentException("the model is not profiled: load it with the option 'profiling' as 'true'");
    }
    return profiler;
}

std::string Report(const Loaded& loaded, tenon_report report)
{
    JsonWriter json;
    std::ostringstream stream;
    switch (report)
    {
    case TENON_REPORT_ASSIGNMENT: WriteAssignment(json, loaded.m_Assignment); break;
    case TENON_REPORT_STATISTICS: WriteStatistics(json, loaded.m_Runtime->GetStatistics(loaded.m_Id)); break;
    case TENON_REPORT_PLAN: WritePlan(json, loaded.m_Runtime->GetPlan(loaded.m_Id)); break;
    case TENON_REPORT_PROFILE: ProfilerOf(loaded)->Print(stream); return stream.str();
    case TENON_REPORT_TRACE: ProfilerOf(loaded)->WriteChromeTrace(stream); return stream.str();
    default: throw InvalidArgumentException(fmt::format("there is no report {}", report));
    }
    return json.Text() + "\n";
}

} // namespace

} // namespace tenon::c_api

using namespace tenon::c_api;

tenon_status tenon_network_optimize(tenon_runtime* runtime, const tenon_network* network,
                                    const tenon_model_options* options, tenon_network** optimized, tenon_error** error)
{
    return GuardMaking(optimized, error,
                       [&]
                       {
                           const tenon_runtime& used = Deref(runtime, "the runtime");
                           const tenon_network& source = Deref(network, "the network");
                           if (source.m_IsOptimized)
                           {
                               throw tenon::InvalidArgumentException("the network is optimized already");
                           }
                           auto made = std::make_unique<tenon_network>();
                           made->m_Optimized = OptimizeFor(used, source, ReadOptions(options, used));
                           made->m_IsOptimized = true;
                           made->m_Inputs = CopyPorts(source.m_Inputs);
                           made->m_Outputs = CopyPorts(source.m_Outputs);
                           made->m_Signatures = source.m_Signatures;
                           made->m_Metadata = source.m_Metadata;
                           return made.release();
                       });
}

tenon_status tenon_model_load(tenon_runtime* runtime, tenon_network* network, const tenon_model_options* options,
                              tenon_model** model, tenon_error** error)
{
    return GuardMaking(model, error,
                       [&] { return Load(Deref(runtime, "the runtime"), Deref(network, "the network"), options); });
}

void tenon_model_destroy(tenon_model* model)
{
    delete model;
}

size_t tenon_model_num_inputs(const tenon_model* model)
{
    return model == nullptr ? 0 : model->m_Loaded->m_Inputs.size();
}

size_t tenon_model_num_outputs(const tenon_model* model)
{
    return model == nullptr ? 0 : model->m_Loaded->m_Outputs.size();
}

tenon_status tenon_model_input(const tenon_model* model, size_t index, const char** name,
                               const tenon_tensor_info** info, tenon_error** error)
{
    return Guard(error, [&] { GetPort(Deref(model, "the model").m_Loaded->m_Inputs, index, "input", name, info); });
}

tenon_status tenon_model_output(const tenon_model* model, size_t index, const char** name,
                                const tenon_tensor_info** info, tenon_error** error)
{
    return Guard(error, [&] { GetPort(Deref(model, "the model").m_Loaded->m_Outputs, index, "output", name, info); });
}

tenon_status tenon_model_set_num_threads(tenon_model* model, uint32_t num_threads, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const Loaded& loaded = *Deref(model, "the model").m_Loaded;
                     loaded.m_Runtime->SetNumberOfThreads(loaded.m_Id, num_threads);
                 });
}

tenon_status tenon_model_run(tenon_model* model, const tenon_run_options* options, size_t num_inputs,
                             const tenon_tensor* inputs, size_t num_outputs, const tenon_tensor* outputs,
                             tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     Run(*Deref(model, "the model").m_Loaded, Complete(options, "tenon_run_options"),
                         ListOf(inputs, num_inputs, "the list of inputs"),
                         ListOf(outputs, num_outputs, "the list of outputs"));
                 });
}

tenon_status tenon_session_create(tenon_model* model, tenon_session** session, tenon_error** error)
{
    return GuardMaking(session, error,
                       [&]
                       {
                           auto made = std::make_unique<tenon_session>();
                           made->m_Loaded = Deref(model, "the model").m_Loaded;
                           made->m_Id = made->m_Loaded->m_Runtime->CreateSession(made->m_Loaded->m_Id);
                           return made.release();
                       });
}

void tenon_session_destroy(tenon_session* session)
{
    if (session != nullptr)
    {
        Guard(nullptr, [&] { session->m_Loaded->m_Runtime->DestroySession(session->m_Loaded->m_Id, session->m_Id); });
        delete session;
    }
}

tenon_status tenon_session_reset(tenon_session* session, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const Loaded& loaded = *Deref(session, "the session").m_Loaded;
                     loaded.m_Runtime->ResetStates(loaded.m_Id, session->m_Id);
                 });
}

tenon_status tenon_model_reset(tenon_model* model, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const Loaded& loaded = *Deref(model, "the model").m_Loaded;
                     loaded.m_Runtime->ResetStates(loaded.m_Id);
                 });
}

tenon_status tenon_cancellation_create(tenon_cancellation** cancellation, tenon_error** error)
{
    return GuardMaking(cancellation, error, [] { return new tenon_cancellation; });
}

void tenon_cancellation_destroy(tenon_cancellation* cancellation)
{
    delete cancellation;
}

void tenon_cancellation_cancel(tenon_cancellation* cancellation)
{
    if (cancellation != nullptr)
    {
        cancellation->m_IsCancelled.store(true, std::memory_order_relaxed);
    }
}

void tenon_cancellation_reset(tenon_cancellation* cancellation)
{
    if (cancellation != nullptr)
    {
        cancellation->m_IsCancelled.store(false, std::memory_order_relaxed);
    }
}

tenon_status tenon_model_import_input(tenon_model* model, size_t index, const tenon_tensor* tensor, tenon_import_id* id,
                                      tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const Loaded& loaded = *Deref(model, "the model").m_Loaded;
                     const auto import =
                         [&](tenon::LayerBindingId binding, const tenon::TensorInfo& info, const void* memory)
                     {
                         return loaded.m_Runtime->ImportInputs(
                             loaded.m_Id, {{binding, tenon::ConstTensor(info, memory)}}, tenon::MemorySource::Malloc);
                     };
                     Deref(id, "the pointer to the id") = ImportOne(loaded.m_Inputs, index, "input", tensor, import);
                 });
}

tenon_status tenon_model_import_output(tenon_model* model, size_t index, const tenon_tensor* tensor,
                                       tenon_import_id* id, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const Loaded& loaded = *Deref(model, "the model").m_Loaded;
                     const auto import = [&](tenon::LayerBindingId binding, const tenon::TensorInfo& info, void* memory)
                     {
                         return loaded.m_Runtime->ImportOutputs(loaded.m_Id, {{binding, tenon::Tensor(info, memory)}},
                                                                tenon::MemorySource::Malloc);
                     };
                     Deref(id, "the pointer to the id") = ImportOne(loaded.m_Outputs, index, "output", tensor, import);
                 });
}

tenon_status tenon_model_clear_input_import(tenon_model* model, tenon_import_id id, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const Loaded& loaded = *Deref(model, "the model").m_Loaded;
                     loaded.m_Runtime->ClearImportedInputs(loaded.m_Id, {id - 1}); // of 0 there is none
                 });
}

tenon_status tenon_model_clear_output_import(tenon_model* model, tenon_import_id id, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const Loaded& loaded = *Deref(model, "the model").m_Loaded;
                     loaded.m_Runtime->ClearImportedOutputs(loaded.m_Id, {id - 1});
                 });
}

tenon_status tenon_model_report(const tenon_model* model, tenon_report report, char** json, tenon_error** error)
{
    return GuardMaking(json, error, [&] { return MakeText(Report(*Deref(model, "the model").m_Loaded, report)); });
}
