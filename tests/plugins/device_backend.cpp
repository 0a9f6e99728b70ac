// SPDX-License-Identifier: Apache-2.0
// A dynamic backend that plays a device, "TestDevice": its memory is out of the host's reach (handles are no addresses,
// and bytes lie scrambled), and what is submitted runs later on a thread of the queue's own. Float32: ReLu, and
// additions of equal shapes. Creation option FailingLayer (a text): the execution of the layer of this name fails,
// late. Links nothing of Tenon.
#include <tenon/backend/plugin.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace
{

constexpr uint8_t Scramble = 0x5a;
using Bytes = std::vector<uint8_t>;

void Write(tenon_text* target, const std::string& text)
{
    const size_t count = std::min(text.size(), target->capacity - 1);
    std::memcpy(target->data, text.data(), count);
    target->data[count] = '\0';
}

} // namespace

struct tenon_plugin_backend
{
    std::string m_FailingLayer;
    std::mutex m_Mutex;
    std::map<uintptr_t, std::shared_ptr<Bytes>> m_Memory; ///< by handle
    uintptr_t m_NextHandle = 1;

    std::shared_ptr<Bytes> Find(tenon_plugin_memory* handle)
    {
        const std::lock_guard lock(m_Mutex);
        return m_Memory.at(reinterpret_cast<uintptr_t>(handle));
    }
};

struct tenon_plugin_model
{
    tenon_plugin_backend* m_Backend;
};

struct tenon_plugin_workload
{
    tenon_plugin_backend* m_Backend;
    bool m_IsAdd;
    bool m_Fails;
};

struct tenon_plugin_shaped
{
    const tenon_plugin_workload* m_Workload;
    size_t m_Count;
};

/// Runs tasks in order on a thread of its own. After a task that fails no other runs, and who waits is told.
struct tenon_plugin_queue
{
    explicit tenon_plugin_queue(tenon_plugin_backend* backend) : m_Backend(backend), m_Thread([this] { Run(); }) {}
    ~tenon_plugin_queue()
    {
        {
            const std::lock_guard lock(m_Mutex);
            m_IsStopping = true;
        }
        m_Wake.notify_all();
        m_Thread.join();
    }

    /// A task returns the text of its failure, or nothing.
    void Submit(std::function<std::string()> task)
    {
        const std::lock_guard lock(m_Mutex);
        m_Tasks.push_back(std::move(task));
        ++m_Submitted;
        m_Wake.notify_all();
    }
    uint64_t Signal()
    {
        const std::lock_guard lock(m_Mutex);
        return m_Submitted;
    }
    tenon_status Wait(uint64_t fence, tenon_text* error)
    {
        std::unique_lock lock(m_Mutex);
        m_Wake.wait(lock, [&] { return m_Done >= fence; });
        if (m_Failure.empty())
        {
            return TENON_OK;
        }
        Write(error, m_Failure);
        m_Failure.clear(); // told once; the next run starts afresh
        return TENON_ERROR;
    }

    tenon_plugin_backend* m_Backend;

private:
    void Run()
    {
        std::unique_lock lock(m_Mutex);
        while (true)
        {
            m_Wake.wait(lock, [this] { return m_IsStopping || !m_Tasks.empty(); });
            if (m_Tasks.empty())
            {
                return;
            }
            const std::function<std::string()> task = std::move(m_Tasks.front());
            m_Tasks.pop_front();
            const bool runs = m_Failure.empty();
            lock.unlock();
            std::this_thread::sleep_for(std::chrono::microseconds(50)); // so that who does not wait reads too early
            std::string failure = runs ? task() : "";
            lock.lock();
            ++m_Done;
            m_Failure = failure.empty() ? m_Failure : failure;
            m_Wake.notify_all();
        }
    }

    std::mutex m_Mutex;
    std::condition_variable m_Wake;
    std::deque<std::function<std::string()>> m_Tasks;
    uint64_t m_Submitted = 0;
    uint64_t m_Done = 0;
    std::string m_Failure;
    bool m_IsStopping = false;
    std::thread m_Thread; ///< last: it uses the others
};

namespace
{

bool IsNamed(const char* a, const char* b)
{
    return std::strcmp(a, b) == 0;
}

int64_t Int(const tenon_layer& layer, const char* name)
{
    for (size_t i = 0; i < layer.num_attributes; ++i)
    {
        if (IsNamed(layer.attributes[i].name, name) && layer.attributes[i].kind == TENON_INTS)
        {
            return *static_cast<const int64_t*>(layer.attributes[i].values);
        }
    }
    return -1;
}

void Store(Bytes& memory, size_t offset, const void* source, size_t count)
{
    const auto* bytes = static_cast<const uint8_t*>(source);
    std::transform(bytes, bytes + count, memory.data() + offset,
                   [](uint8_t b) { return static_cast<uint8_t>(b ^ Scramble); });
}

void Fetch(void* target, const Bytes& memory, size_t offset, size_t count)
{
    auto* bytes = static_cast<uint8_t*>(target);
    for (size_t i = 0; i < count; ++i)
    {
        bytes[i] = static_cast<uint8_t>(memory[offset + i] ^ Scramble);
    }
}

float Load(const Bytes& memory, size_t offset)
{
    float value = 0;
    Fetch(&value, memory, offset, sizeof(value));
    return value;
}

tenon_support_code IsSupported(tenon_plugin_model*, const tenon_layer* layer, tenon_text* reason)
{
    const bool isRelu = IsNamed(layer->type, "Activation") && Int(*layer, "Function") == 3;
    const bool isAdd = IsNamed(layer->type, "ElementwiseBinary") && Int(*layer, "Operation") == 0;
    if (!isRelu && !isAdd)
    {
        Write(reason, "TestDevice runs ReLu and additions");
        return TENON_UNKNOWN_LAYER;
    }
    if (layer->inputs[0]->type != TENON_FLOAT32 || layer->num_activation_attributes != 0)
    {
        Write(reason, "only Float32");
        return TENON_UNSUPPORTED_TYPE;
    }
    for (size_t i = 0; i < layer->num_inputs; ++i)
    {
        if (layer->input_is_constant[i] != 0)
        {
            Write(reason, "no constant inputs");
            return TENON_UNSUPPORTED_PARAMETERS;
        }
    }
    if (isAdd &&
        (layer->inputs[0]->rank != layer->inputs[1]->rank ||
         !std::equal(layer->inputs[0]->dims, layer->inputs[0]->dims + layer->inputs[0]->rank, layer->inputs[1]->dims)))
    {
        Write(reason, "no broadcasting");
        return TENON_UNSUPPORTED_PARAMETERS;
    }
    return TENON_SUPPORTED;
}

tenon_status Execute(tenon_plugin_shaped* shaped, const tenon_execute_args* args, tenon_text*)
{
    const tenon_plugin_workload& workload = *shaped->m_Workload;
    // Handles are looked up when the work runs: memory that was freed too early shows.
    const std::vector<tenon_device_tensor> inputs(args->device_inputs, args->device_inputs + args->num_inputs);
    const tenon_device_tensor output = args->device_outputs[0];
    args->queue->Submit(
        [&workload, inputs, output, count = shaped->m_Count]() -> std::string
        {
            if (workload.m_Fails)
            {
                return "the device has lost its way";
            }
            const auto first = workload.m_Backend->Find(inputs[0].memory);
            const auto second = workload.m_IsAdd ? workload.m_Backend->Find(inputs[1].memory) : first;
            const auto target = workload.m_Backend->Find(output.memory);
            for (size_t i = 0; i < count; ++i)
            {
                const float a = Load(*first, inputs[0].offset + i * sizeof(float));
                const float value =
                    workload.m_IsAdd ? a + Load(*second, inputs[1].offset + i * sizeof(float)) : std::max(0.0f, a);
                Store(*target, output.offset + i * sizeof(float), &value, sizeof(value));
            }
            return "";
        });
    return TENON_OK;
}

tenon_device MakeDevice()
{
    tenon_device device{};
    device.struct_size = sizeof(device);
    device.memory_id = "scrambled";
    device.alignment = 256;
    device.memory_allocate = [](tenon_plugin_backend* backend, size_t bytes, tenon_plugin_memory** memory, tenon_text*)
    {
        const std::lock_guard lock(backend->m_Mutex);
        const uintptr_t handle = backend->m_NextHandle++;
        backend->m_Memory[handle] = std::make_shared<Bytes>(bytes);
        *memory = reinterpret_cast<tenon_plugin_memory*>(handle);
        return tenon_status{TENON_OK};
    };
    device.memory_free = [](tenon_plugin_backend* backend, tenon_plugin_memory* memory)
    {
        const std::lock_guard lock(backend->m_Mutex);
        backend->m_Memory.erase(reinterpret_cast<uintptr_t>(memory));
    };
    device.queue_create = [](tenon_plugin_backend* backend, tenon_plugin_queue** queue, tenon_text*)
    {
        *queue = new tenon_plugin_queue(backend);
        return tenon_status{TENON_OK};
    };
    device.queue_destroy = [](tenon_plugin_backend*, tenon_plugin_queue* queue) { delete queue; };
    device.queue_write = [](tenon_plugin_queue* queue, tenon_plugin_memory* target, size_t offset, const void* source,
                            size_t bytes, tenon_text*)
    {
        const auto* first = static_cast<const uint8_t*>(source);
        queue->Submit(
            [queue, target, offset, copy = Bytes(first, first + bytes)]
            {
                Store(*queue->m_Backend->Find(target), offset, copy.data(), copy.size());
                return std::string();
            });
        return tenon_status{TENON_OK};
    };
    device.queue_read = [](tenon_plugin_queue* queue, void* target, tenon_plugin_memory* source, size_t offset,
                           size_t bytes, tenon_text* error)
    {
        const tenon_status status = queue->Wait(queue->Signal(), error);
        if (status == TENON_OK)
        {
            Fetch(target, *queue->m_Backend->Find(source), offset, bytes);
        }
        return status;
    };
    device.queue_copy = [](tenon_plugin_queue* queue, tenon_plugin_memory* target, size_t targetOffset,
                           tenon_plugin_memory* source, size_t sourceOffset, size_t bytes, tenon_text*)
    {
        queue->Submit(
            [=]
            {
                const auto from = queue->m_Backend->Find(source);
                const auto to = queue->m_Backend->Find(target);
                std::memmove(to->data() + targetOffset, from->data() + sourceOffset, bytes);
                return std::string();
            });
        return tenon_status{TENON_OK};
    };
    device.queue_signal = [](tenon_plugin_queue* queue, uint64_t* fence, tenon_text*)
    {
        *fence = queue->Signal();
        return tenon_status{TENON_OK};
    };
    device.queue_wait = [](tenon_plugin_queue* queue, uint64_t fence, tenon_text* error)
    { return queue->Wait(fence, error); };
    return device;
}

const tenon_device Device = MakeDevice();

tenon_plugin_table MakeTable()
{
    tenon_plugin_table table{};
    table.struct_size = sizeof(table);
    table.major = TENON_PLUGIN_MAJOR;
    table.minor = TENON_PLUGIN_MINOR;
    table.id = "TestDevice";
    table.vendor_version = "test";
    table.device = &Device;
    table.backend_create = [](const tenon_host*, size_t numOptions, const tenon_attribute* options,
                              tenon_plugin_backend** backend, tenon_text* error)
    {
        auto made = std::make_unique<tenon_plugin_backend>();
        for (size_t i = 0; i < numOptions; ++i)
        {
            if (!IsNamed(options[i].name, "FailingLayer") || options[i].kind != TENON_STRING)
            {
                Write(error, std::string("no option ") + options[i].name);
                return tenon_status{TENON_INVALID_ARGUMENT};
            }
            made->m_FailingLayer = static_cast<const char*>(options[i].values);
        }
        *backend = made.release();
        return tenon_status{TENON_OK};
    };
    table.backend_destroy = [](tenon_plugin_backend* backend) { delete backend; };
    table.model_create =
        [](tenon_plugin_backend* backend, size_t, const tenon_attribute*, tenon_plugin_model** model, tenon_text*)
    {
        *model = new tenon_plugin_model{backend};
        return tenon_status{TENON_OK};
    };
    table.model_destroy = [](tenon_plugin_model* model) { delete model; };
    table.is_supported = &IsSupported;
    table.workload_create =
        [](tenon_plugin_model* model, const tenon_layer* layer, tenon_plugin_workload** workload, tenon_text*)
    {
        tenon_plugin_backend* backend = model->m_Backend;
        *workload =
            new tenon_plugin_workload{backend, IsNamed(layer->type, "ElementwiseBinary"),
                                      !backend->m_FailingLayer.empty() && backend->m_FailingLayer == layer->name};
        return tenon_status{TENON_OK};
    };
    table.workload_destroy = [](tenon_plugin_workload* workload) { delete workload; };
    table.workload_name = [](tenon_plugin_workload* workload)
    { return workload->m_IsAdd ? "DeviceAdd" : "DeviceReLu"; };
    table.workload_reshape = [](tenon_plugin_workload* workload, const tenon_layer* layer, tenon_plugin_shaped** shaped,
                                size_t* scratchBytes, tenon_text*)
    {
        *scratchBytes = 0;
        *shaped = new tenon_plugin_shaped{workload, layer->outputs[0]->num_bytes / sizeof(float)};
        return tenon_status{TENON_OK};
    };
    table.shaped_destroy = [](tenon_plugin_shaped* shaped) { delete shaped; };
    table.shaped_execute = &Execute;
    return table;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const tenon_plugin_table* tenon_plugin_get_table()
{
    static const tenon_plugin_table table = MakeTable();
    return &table;
}
