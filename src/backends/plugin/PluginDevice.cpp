// SPDX-License-Identifier: Apache-2.0
// The device of a plugin: see PluginDevice.hpp.
#include "backends/plugin/PluginDevice.hpp"

#include <utility>

namespace tenon::plugin
{

namespace
{

class Memory final : public IDeviceMemory
{
public:
    Memory(std::shared_ptr<const Plugin> plugin, tenon_plugin_memory* memory, size_t bytes)
        : m_Plugin(std::move(plugin)), m_Memory(memory), m_Bytes(bytes)
    {
    }
    ~Memory() override { m_Plugin->Device().memory_free(m_Plugin->Backend(), m_Memory); }
    size_t GetBytes() const override { return m_Bytes; }
    tenon_plugin_memory* Get() const { return m_Memory; }

private:
    std::shared_ptr<const Plugin> m_Plugin;
    tenon_plugin_memory* m_Memory;
    size_t m_Bytes;
};

class Queue final : public IDeviceQueue
{
public:
    explicit Queue(std::shared_ptr<const Plugin> plugin) : m_Plugin(std::move(plugin)), m_Device(m_Plugin->Device())
    {
        m_Plugin->Call("device.queue_create", m_Device.queue_create, m_Plugin->Backend(), &m_Queue);
        m_Plugin->NotNull(m_Queue, "device.queue_create");
    }
    ~Queue() override { m_Device.queue_destroy(m_Plugin->Backend(), m_Queue); }

    void Write(IDeviceMemory& target, size_t offset, const void* source, size_t bytes) override
    {
        m_Plugin->Call("device.queue_write", m_Device.queue_write, m_Queue, MemoryOf(&target), offset, source, bytes);
    }
    void Read(void* target, IDeviceMemory& source, size_t offset, size_t bytes) override
    {
        m_Plugin->Call("device.queue_read", m_Device.queue_read, m_Queue, target, MemoryOf(&source), offset, bytes);
    }
    void Copy(IDeviceMemory& target, size_t targetOffset, IDeviceMemory& source, size_t sourceOffset,
              size_t bytes) override
    {
        m_Plugin->Call("device.queue_copy", m_Device.queue_copy, m_Queue, MemoryOf(&target), targetOffset,
                       MemoryOf(&source), sourceOffset, bytes);
    }
    void* Map(IDeviceMemory& memory, size_t offset, size_t bytes, MapAccess access) override
    {
        void* mapped = nullptr;
        m_Plugin->Call("device.queue_map", m_Device.queue_map, m_Queue, MemoryOf(&memory), offset, bytes,
                       int32_t{access == MapAccess::Read ? 0 : 1}, &mapped);
        return m_Plugin->NotNull(mapped, "device.queue_map");
    }
    void Unmap(IDeviceMemory& memory, void* mapped) override
    {
        m_Plugin->Call("device.queue_unmap", m_Device.queue_unmap, m_Queue, MemoryOf(&memory), mapped);
    }
    Fence Signal() override
    {
        uint64_t fence = 0;
        m_Plugin->Call("device.queue_signal", m_Device.queue_signal, m_Queue, &fence);
        return fence;
    }
    void Wait(Fence fence) override { m_Plugin->Call("device.queue_wait", m_Device.queue_wait, m_Queue, fence); }

    tenon_plugin_queue* Get() const { return m_Queue; }

private:
    std::shared_ptr<const Plugin> m_Plugin;
    const tenon_device& m_Device;
    tenon_plugin_queue* m_Queue = nullptr;
};

class Factory final : public ITensorHandleFactory
{
public:
    // The id is the plugin's own, whatever ids other plugins have: blocks of one plugin mean nothing to another.
    explicit Factory(std::shared_ptr<const Plugin> plugin)
        : m_Plugin(std::move(plugin)), m_Id(m_Plugin->Id() + "/" + m_Plugin->Device().memory_id)
    {
    }

    const char* GetId() const override { return m_Id.c_str(); }
    size_t GetAlignment() const override { return m_Plugin->Device().alignment; }
    bool SupportsMapUnmap() const override { return m_Plugin->Device().queue_map != nullptr; }
    MemorySourceFlags GetImportFlags() const override { return m_Plugin->Device().import_flags; }

    std::unique_ptr<IDeviceMemory> Allocate(size_t bytes) const override
    {
        tenon_plugin_memory* memory = nullptr;
        m_Plugin->Call("device.memory_allocate", m_Plugin->Device().memory_allocate, m_Plugin->Backend(), bytes,
                       &memory);
        return std::make_unique<Memory>(m_Plugin, m_Plugin->NotNull(memory, "device.memory_allocate"), bytes);
    }

    std::unique_ptr<IDeviceMemory> Import(void* host, size_t bytes, MemorySource source) const override
    {
        if (m_Plugin->Device().memory_import == nullptr)
        {
            return nullptr;
        }
        tenon_plugin_memory* memory = nullptr;
        m_Plugin->Call("device.memory_import", m_Plugin->Device().memory_import, m_Plugin->Backend(), host, bytes,
                       static_cast<uint32_t>(source), &memory);
        return memory == nullptr ? nullptr : std::make_unique<Memory>(m_Plugin, memory, bytes);
    }

    std::unique_ptr<IDeviceQueue> CreateQueue() const override { return std::make_unique<Queue>(m_Plugin); }

private:
    std::shared_ptr<const Plugin> m_Plugin;
    std::string m_Id;
};

} // namespace

std::unique_ptr<ITensorHandleFactory> MakePluginDevice(std::shared_ptr<const Plugin> plugin)
{
    return std::make_unique<Factory>(std::move(plugin));
}

tenon_plugin_memory* MemoryOf(const IDeviceMemory* memory)
{
    return memory == nullptr ? nullptr : static_cast<const Memory*>(memory)->Get();
}

tenon_plugin_queue* QueueOf(const IDeviceQueue* queue)
{
    return queue == nullptr ? nullptr : static_cast<const Queue*>(queue)->Get();
}

} // namespace tenon::plugin
