// SPDX-License-Identifier: Apache-2.0
// A dynamic backend that links nothing of Tenon: "SampleNpu". It clamps and adds Float32 tensors itself, and compiles
// chains of Convolution2d and clamps into one PreCompiled layer each, as the driver of an NPU would.
// README.md beside this file says how to build and load it, docs/backends.md what each function is for.
#include "ConvolutionChain.hpp"
#include "Reader.hpp"

#include <exception>
#include <map>
#include <memory>

// The opaque objects of plugin.h, as this plugin has them.
struct tenon_plugin_backend
{
    const tenon_host* m_Host;
};

struct tenon_plugin_model
{
    tenon_plugin_backend* m_Backend;
};

struct tenon_plugin_blob
{
    sample::ConvolutionChain m_Chain;
};

struct tenon_plugin_workload
{
    enum class Kind
    {
        Clamp,
        Add,
        Chain
    };
    Kind m_Kind = Kind::Clamp;
    sample::Convolution m_Clamp;                       ///< only its bounds
    const sample::ConvolutionChain* m_Chain = nullptr; ///< of the blob, which lives as long as the network
    sample::ConvolutionChain m_OwnChain;               ///< of a convolution that was not compiled
};

struct tenon_plugin_shaped
{
    const tenon_plugin_workload* m_Workload = nullptr;
    size_t m_Count = 0;      ///< elements, of Clamp and Add
    tenon_fusion m_Fusion{}; ///< what the host may do with it
};

namespace
{

using sample::Is;
using Kind = tenon_plugin_workload::Kind;

constexpr int64_t AddOperation = 0; // of tenon::BinaryOperation

/// Exceptions must not cross the table.
template <typename F>
tenon_status Guarded(tenon_text* error, F f)
{
    try
    {
        return f();
    }
    catch (const std::bad_alloc&)
    {
        sample::Write(error, "there is not enough memory");
        return TENON_OUT_OF_MEMORY;
    }
    catch (const std::exception& exception)
    {
        sample::Write(error, exception.what());
        return TENON_ERROR;
    }
}

tenon_status Fail(tenon_text* error, tenon_status status, const char* text)
{
    sample::Write(error, text);
    return status;
}

tenon_status CreateBackend(const tenon_host* host, size_t numOptions, const tenon_attribute* options,
                           tenon_plugin_backend** backend, tenon_text* error)
{
    if (numOptions != 0)
    {
        return Fail(error, TENON_INVALID_ARGUMENT, (std::string("SampleNpu has no option ") + options[0].name).c_str());
    }
    return Guarded(error,
                   [&]
                   {
                       *backend = new tenon_plugin_backend{host};
                       host->log(host->self, TENON_DEBUG, "ready");
                       return TENON_OK;
                   });
}

tenon_support_code IsSupported(tenon_plugin_model*, const tenon_layer* layer, tenon_text* reason)
{
    if (layer->blob != nullptr)
    {
        return TENON_SUPPORTED; // this plugin made it
    }
    if (Is(*layer, "Convolution2d"))
    {
        std::string text;
        const tenon_support_code code = sample::CheckConvolution(*layer, text);
        sample::Write(reason, text);
        return code;
    }
    const bool isClamp = sample::IsClamp(*layer);
    const bool isAdd = Is(*layer, "ElementwiseBinary") && sample::Int(*layer, "Operation", -1) == AddOperation;
    if (!isClamp && !isAdd)
    {
        sample::Write(reason, "SampleNpu runs Convolution2d, additions, and the activations ReLu and BoundedReLu");
        return TENON_UNKNOWN_LAYER;
    }
    if (!sample::IsFloat(layer->inputs[0]) || (isAdd && !sample::IsFloat(layer->inputs[1])))
    {
        sample::Write(reason, "only Float32");
        return TENON_UNSUPPORTED_TYPE;
    }
    if (layer->num_activation_attributes != 0)
    {
        sample::Write(reason, "no activation fused by the host");
        return TENON_UNSUPPORTED_PARAMETERS;
    }
    if (isAdd && (!sample::IsShapeKnown(layer->inputs[0]) || !sample::IsShapeKnown(layer->inputs[1]) ||
                  sample::Dims(layer->inputs[0]) != sample::Dims(layer->inputs[1])))
    {
        sample::Write(reason, "no broadcasting");
        return TENON_UNSUPPORTED_PARAMETERS;
    }
    return TENON_SUPPORTED;
}

/// How often each tensor of a subgraph is read in it, and which are read outside.
class Readers
{
public:
    explicit Readers(const tenon_subgraph& subgraph)
    {
        for (size_t i = 0; i < subgraph.num_outputs; ++i)
        {
            ++m_Count[subgraph.outputs[i]];
        }
        for (size_t l = 0; l < subgraph.num_layers; ++l)
        {
            for (size_t i = 0; i < subgraph.layers[l].layer->num_inputs; ++i)
            {
                const uint32_t tensor = subgraph.layers[l].inputs[i];
                ++m_Count[tensor];
                m_Reader[tensor] = l;
            }
        }
    }
    /// The only layer that reads the tensor; false where there are others, or the outside does.
    bool FindOnlyReader(uint32_t tensor, size_t& layer) const
    {
        const auto reader = m_Reader.find(tensor);
        if (reader == m_Reader.end() || m_Count.at(tensor) != 1)
        {
            return false;
        }
        layer = reader->second;
        return true;
    }

private:
    std::map<uint32_t, size_t> m_Count;
    std::map<uint32_t, size_t> m_Reader;
};

tenon_status OptimizeSubgraph(tenon_plugin_model*, const tenon_subgraph* subgraph, const tenon_subgraph_answer* answer,
                              tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const Readers readers(*subgraph);
                       std::vector<bool> taken(subgraph->num_layers, false);
                       for (size_t first = 0; first < subgraph->num_layers; ++first)
                       {
                           if (taken[first] || !Is(*subgraph->layers[first].layer, "Convolution2d"))
                           {
                               continue;
                           }
                           auto blob = std::make_unique<tenon_plugin_blob>();
                           sample::ConvolutionChain& chain = blob->m_Chain;
                           chain.m_Batch = subgraph->layers[first].layer->inputs[0]->dims[0];
                           std::vector<size_t> layers;
                           size_t next = first;
                           uint32_t end = 0;
                           do
                           {
                               const tenon_subgraph_layer& layer = subgraph->layers[next];
                               if (Is(*layer.layer, "Convolution2d"))
                               {
                                   chain.m_Stages.push_back(sample::MakeConvolution(*layer.layer));
                               }
                               else if (sample::IsClamp(*layer.layer) &&
                                        Is(*subgraph->layers[layers.back()].layer, "Convolution2d"))
                               {
                                   sample::SetClamp(chain.m_Stages.back(), *layer.layer);
                               }
                               else
                               {
                                   break;
                               }
                               taken[next] = true;
                               layers.push_back(next);
                               end = layer.outputs[0];
                           } while (readers.FindOnlyReader(end, next));
                           const uint32_t begin = subgraph->layers[first].inputs[0];
                           const std::string name = std::string("chain from ") + subgraph->layers[first].layer->name;
                           const tenon_status status =
                               answer->compile(answer->self, layers.size(), layers.data(), 1, &begin, 1, &end,
                                               blob.release(), name.c_str(), error);
                           if (status != TENON_OK)
                           {
                               return status;
                           }
                       }
                       return tenon_status{TENON_OK};
                   });
}

tenon_status CreateWorkload(tenon_plugin_model*, const tenon_layer* layer, tenon_plugin_workload** workload,
                            tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       auto made = std::make_unique<tenon_plugin_workload>();
                       if (layer->blob != nullptr)
                       {
                           made->m_Kind = Kind::Chain;
                           made->m_Chain = &layer->blob->m_Chain;
                       }
                       else if (Is(*layer, "Convolution2d"))
                       {
                           made->m_Kind = Kind::Chain;
                           made->m_OwnChain.m_Batch = layer->inputs[0]->dims[0];
                           made->m_OwnChain.m_Stages.push_back(sample::MakeConvolution(*layer));
                           made->m_Chain = &made->m_OwnChain;
                       }
                       else if (sample::IsClamp(*layer))
                       {
                           sample::SetClamp(made->m_Clamp, *layer);
                       }
                       else
                       {
                           made->m_Kind = Kind::Add;
                       }
                       *workload = made.release();
                       return TENON_OK;
                   });
}

/// Elements of one execution as a loop body of the host.
struct Elements
{
    const tenon_plugin_workload* m_Workload;
    const float* m_Input0;
    const float* m_Input1;
    float* m_Output;
};

void RunElements(void* data, size_t begin, size_t end)
{
    const Elements& e = *static_cast<const Elements*>(data);
    for (size_t i = begin; i < end; ++i)
    {
        e.m_Output[i] =
            e.m_Workload->m_Kind == Kind::Add
                ? e.m_Input0[i] + e.m_Input1[i]
                : std::min(e.m_Workload->m_Clamp.m_Highest, std::max(e.m_Workload->m_Clamp.m_Lowest, e.m_Input0[i]));
    }
}

/// The host calls it for some elements at a time, in the middle of a chain of elementwise layers of any backend.
void RunElementLoop(tenon_plugin_shaped* shaped, const void* const* inputs, void* output, size_t count)
{
    const bool isAdd = shaped->m_Workload->m_Kind == Kind::Add;
    Elements elements{shaped->m_Workload, static_cast<const float*>(inputs[0]),
                      isAdd ? static_cast<const float*>(inputs[1]) : nullptr, static_cast<float*>(output)};
    RunElements(&elements, 0, count);
}

tenon_status Reshape(tenon_plugin_workload* workload, const tenon_layer* layer, tenon_plugin_shaped** shaped,
                     size_t* scratchBytes, tenon_text* error)
{
    if (workload->m_Kind == Kind::Chain)
    {
        // The sizes that it was compiled for; the host brings others where the network's inputs have other shapes.
        // A file may also say anything about the tensors around a blob.
        const sample::ConvolutionChain& chain = *workload->m_Chain;
        const auto fits = [&](const tenon_tensor_info* info, const int64_t* image)
        {
            return sample::IsFloat(info) && info->rank == 4 && info->dims[0] == chain.m_Batch &&
                   std::equal(info->dims + 1, info->dims + 4, image);
        };
        if (layer->num_inputs < 1 || layer->num_outputs != 1 || !fits(layer->inputs[0], chain.m_Stages.front().m_In) ||
            !fits(layer->outputs[0], chain.m_Stages.back().m_Out))
        {
            return Fail(error, TENON_INVALID_LAYER, "compiled for other shapes; optimize the network anew");
        }
        *scratchBytes = chain.ScratchBytes();
    }
    else if (workload->m_Kind == Kind::Add && sample::Dims(layer->inputs[0]) != sample::Dims(layer->inputs[1]))
    {
        return Fail(error, TENON_INVALID_LAYER, "inputs of different shapes cannot be added");
    }
    return Guarded(error,
                   [&]
                   {
                       auto made = std::make_unique<tenon_plugin_shaped>();
                       made->m_Workload = workload;
                       made->m_Count = layer->outputs[0]->num_bytes / sizeof(float);
                       made->m_Fusion.struct_size = sizeof(made->m_Fusion);
                       if (workload->m_Kind != Kind::Chain)
                       {
                           made->m_Fusion.element_loop = &RunElementLoop;
                       }
                       *shaped = made.release();
                       return TENON_OK;
                   });
}

tenon_status Execute(tenon_plugin_shaped* shaped, const tenon_execute_args* args, tenon_text*)
{
    const tenon_plugin_workload& workload = *shaped->m_Workload;
    const auto* input = static_cast<const float*>(args->inputs[0]);
    auto* output = static_cast<float*>(args->outputs[0]);
    if (workload.m_Kind == Kind::Chain)
    {
        workload.m_Chain->Run(input, output, static_cast<float*>(args->scratch), *args->parallel);
        return TENON_OK;
    }
    Elements elements{&workload, input, args->num_inputs > 1 ? static_cast<const float*>(args->inputs[1]) : nullptr,
                      output};
    constexpr size_t grain = 4096; // elements that are worth a thread of their own
    args->parallel->run(args->parallel->self, shaped->m_Count, grain, &RunElements, &elements);
    return TENON_OK;
}

tenon_status SaveBlob(tenon_plugin_backend*, const tenon_plugin_blob* blob, const tenon_sink* sink, tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       const std::vector<uint8_t> bytes = blob->m_Chain.Save();
                       return sink->write(sink->self, bytes.data(), bytes.size(), error);
                   });
}

tenon_status LoadBlob(tenon_plugin_backend*, const void* bytes, size_t count, tenon_plugin_blob** blob,
                      tenon_text* error)
{
    return Guarded(error,
                   [&]
                   {
                       auto made = std::make_unique<tenon_plugin_blob>();
                       if (!made->m_Chain.Load(static_cast<const uint8_t*>(bytes), count))
                       {
                           return Fail(error, TENON_INVALID_DATA, "these bytes are no compiled chain of SampleNpu");
                       }
                       *blob = made.release();
                       return tenon_status{TENON_OK};
                   });
}

const char* NameOf(tenon_plugin_workload* workload)
{
    return workload->m_Kind == Kind::Chain ? "NpuChain" : (workload->m_Kind == Kind::Add ? "NpuAdd" : "NpuClamp");
}

tenon_plugin_table MakeTable()
{
    tenon_plugin_table table{};
    table.struct_size = sizeof(table);
    table.major = TENON_PLUGIN_MAJOR;
    table.minor = TENON_PLUGIN_MINOR;
    table.id = "SampleNpu";
    table.vendor_version = "1.0";
    table.backend_create = &CreateBackend;
    table.backend_destroy = [](tenon_plugin_backend* backend) { delete backend; };
    table.model_create =
        [](tenon_plugin_backend* backend, size_t, const tenon_attribute*, tenon_plugin_model** model, tenon_text* error)
    {
        return Guarded(error,
                       [&]
                       {
                           *model = new tenon_plugin_model{backend};
                           return TENON_OK;
                       });
    };
    table.model_destroy = [](tenon_plugin_model* model) { delete model; };
    table.is_supported = &IsSupported;
    table.optimize_subgraph = &OptimizeSubgraph;
    table.workload_create = &CreateWorkload;
    table.workload_destroy = [](tenon_plugin_workload* workload) { delete workload; };
    table.workload_name = &NameOf;
    table.workload_reshape = &Reshape;
    table.shaped_destroy = [](tenon_plugin_shaped* shaped) { delete shaped; };
    table.shaped_execute = &Execute;
    table.shaped_fusion = [](tenon_plugin_shaped* shaped) -> const tenon_fusion* { return &shaped->m_Fusion; };
    table.blob_destroy = [](tenon_plugin_blob* blob) { delete blob; };
    table.blob_save = &SaveBlob;
    table.blob_load = &LoadBlob;
    return table;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const tenon_plugin_table* tenon_plugin_get_table()
{
    static const tenon_plugin_table table = MakeTable();
    return &table;
}
