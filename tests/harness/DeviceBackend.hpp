// SPDX-License-Identifier: Apache-2.0
// DeviceBackend: a simulated device. Its memory is closed to the host (any access through a pointer crashes), and
// submitted work runs later, on a thread of the queue. It takes the given layer types and runs them with CpuRef's
// kernels. It checks the runtime's calls, and fails on demand.
#pragma once

#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/backend/IBackend.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <utility>
#include <vector>

namespace tenon::test
{

struct DeviceOptions
{
    std::string m_Id = "Device";
    std::string m_Memory = "DeviceMemory";
    std::set<LayerType> m_Takes = {};
    size_t m_Alignment = 64;
    bool m_SupportsMap = false;
    MemorySourceFlags m_ImportFlags = 0;
    size_t m_ImportAlignment = 64; ///< alignment of addresses that Import accepts; 0: it accepts none after all
    std::chrono::microseconds m_Delay{0};
    size_t m_ScratchBytes = 0; ///< scratch memory of each workload, if the kernel needs less
    /// Called with the name of each operation. Its exceptions are thrown there, or later if the queue runs the
    /// operation: Allocate, Import, CreateQueue, Submit (in Execute), Run (on the queue's thread), Write, Read.
    std::function<void(const char* operation)> m_OnOperation = {};
};

/// Counts of a device's operations.
struct DeviceCounts
{
    std::atomic<int> m_Allocations{0};
    std::atomic<int> m_Imports{0};
    std::atomic<int> m_Queues{0};
    std::atomic<int> m_Writes{0};
    std::atomic<int> m_Reads{0};
    std::atomic<int> m_Maps{0};
    std::atomic<int> m_Runs{0};
    std::atomic<int> m_LiveBlocks{0};
};

class DeviceBackend final : public IBackend, public std::enable_shared_from_this<DeviceBackend>
{
    struct Shared
    {
        DeviceOptions m_Options;
        DeviceCounts m_Counts;

        void Call(const char* operation) const
        {
            if (m_Options.m_OnOperation)
            {
                m_Options.m_OnOperation(operation);
            }
        }
    };

    /// Memory that is closed except while a task of a queue holds it open.
    class Memory final : public IDeviceMemory
    {
    public:
        Memory(std::shared_ptr<Shared> shared, size_t bytes, void* imported)
            : m_Shared(std::move(shared)), m_Bytes(bytes), m_IsImported(imported != nullptr), m_Data(imported)
        {
            if (!m_IsImported)
            {
                m_Data = mmap(nullptr, m_Bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                if (m_Data == MAP_FAILED)
                {
                    throw MemoryValidationException("the device has no memory left");
                }
            }
            ++m_Shared->m_Counts.m_LiveBlocks;
        }
        ~Memory() override
        {
            EXPECT_EQ(m_Pending, 0) << "memory is freed that a queue still works on";
            if (!m_IsImported)
            {
                munmap(m_Data, m_Bytes);
            }
            --m_Shared->m_Counts.m_LiveBlocks;
        }
        size_t GetBytes() const override { return m_Bytes; }

        void Submitted() { ++m_Pending; }
        void Done() { --m_Pending; }

        std::byte* Open(size_t offset)
        {
            const std::lock_guard lock(m_Mutex);
            if (m_OpenCount++ == 0 && !m_IsImported)
            {
                mprotect(m_Data, m_Bytes, PROT_READ | PROT_WRITE);
            }
            return static_cast<std::byte*>(m_Data) + offset;
        }
        void Close()
        {
            const std::lock_guard lock(m_Mutex);
            if (--m_OpenCount == 0 && !m_IsImported)
            {
                mprotect(m_Data, m_Bytes, PROT_NONE);
            }
        }

    private:
        std::shared_ptr<Shared> m_Shared;
        const size_t m_Bytes;
        const bool m_IsImported;
        void* m_Data;
        std::mutex m_Mutex;
        int m_OpenCount = 0;
        std::atomic<int> m_Pending{0};
    };

    class Queue final : public IDeviceQueue
    {
    public:
        using Task = std::function<void()>;

        explicit Queue(std::shared_ptr<Shared> shared) : m_Shared(std::move(shared)), m_Thread([this] { Work(); })
        {
            ++m_Shared->m_Counts.m_Queues;
        }
        ~Queue() override
        {
            {
                const std::lock_guard lock(m_Mutex);
                EXPECT_EQ(m_Done, m_Submitted) << "a queue is destroyed while it works";
                m_IsStopping = true;
            }
            m_HasChanged.notify_all();
            m_Thread.join();
        }

        /// `used` is held open while the task runs; it may name a memory more than once.
        void Submit(std::vector<Memory*> used, Task task)
        {
            for (Memory* memory : used)
            {
                memory->Submitted();
            }
            {
                const std::lock_guard lock(m_Mutex);
                m_Tasks.push_back({std::move(used), std::move(task)});
                ++m_Submitted;
            }
            m_HasChanged.notify_all();
        }

        void Write(IDeviceMemory& target, size_t offset, const void* source, size_t bytes) override
        {
            ++m_Shared->m_Counts.m_Writes;
            Check(target, offset, bytes);
            auto& memory = static_cast<Memory&>(target);
            const auto* begin = static_cast<const std::byte*>(source);
            Submit({&memory},
                   [this, &memory, offset, copy = std::vector<std::byte>(begin, begin + bytes)]
                   {
                       m_Shared->Call("Write");
                       std::memcpy(memory.Open(offset), copy.data(), copy.size());
                       memory.Close();
                   });
        }
        void Read(void* target, IDeviceMemory& source, size_t offset, size_t bytes) override
        {
            ++m_Shared->m_Counts.m_Reads;
            Check(source, offset, bytes);
            auto& memory = static_cast<Memory&>(source);
            Submit({&memory},
                   [this, &memory, target, offset, bytes]
                   {
                       m_Shared->Call("Read");
                       std::memcpy(target, memory.Open(offset), bytes);
                       memory.Close();
                   });
            Wait(Signal());
        }
        void Copy(IDeviceMemory& target, size_t targetOffset, IDeviceMemory& source, size_t sourceOffset,
                  size_t bytes) override
        {
            Check(target, targetOffset, bytes);
            Check(source, sourceOffset, bytes);
            auto& to = static_cast<Memory&>(target);
            auto& from = static_cast<Memory&>(source);
            Submit({&to, &from},
                   [&to, &from, targetOffset, sourceOffset, bytes]
                   {
                       std::memmove(to.Open(targetOffset), from.Open(sourceOffset), bytes);
                       to.Close();
                       from.Close();
                   });
        }
        void* Map(IDeviceMemory& memory, size_t offset, size_t bytes, MapAccess) override
        {
            EXPECT_TRUE(m_Shared->m_Options.m_SupportsMap);
            ++m_Shared->m_Counts.m_Maps;
            Check(memory, offset, bytes);
            Wait(Signal());
            return static_cast<Memory&>(memory).Open(offset);
        }
        void Unmap(IDeviceMemory& memory, void*) override { static_cast<Memory&>(memory).Close(); }

        Fence Signal() override
        {
            const std::lock_guard lock(m_Mutex);
            return m_Submitted;
        }
        void Wait(Fence fence) override
        {
            std::unique_lock lock(m_Mutex);
            m_HasChanged.wait(lock, [&] { return m_Done >= fence; });
            if (const auto error = std::exchange(m_Error, nullptr))
            {
                std::rethrow_exception(error);
            }
        }

    private:
        struct Entry
        {
            std::vector<Memory*> m_Used;
            Task m_Task;
        };

        static void Check(const IDeviceMemory& memory, size_t offset, size_t bytes)
        {
            EXPECT_LE(offset + bytes, memory.GetBytes());
        }

        void Work()
        {
            std::unique_lock lock(m_Mutex);
            for (;;)
            {
                m_HasChanged.wait(lock, [&] { return m_IsStopping || !m_Tasks.empty(); });
                if (m_Tasks.empty())
                {
                    return;
                }
                Entry entry = std::move(m_Tasks.front());
                m_Tasks.pop_front();
                const bool hasFailed = m_Error != nullptr; // tasks after a failure do not run
                lock.unlock();
                std::exception_ptr error;
                if (!hasFailed)
                {
                    std::this_thread::sleep_for(m_Shared->m_Options.m_Delay);
                    try
                    {
                        entry.m_Task();
                    }
                    catch (...)
                    {
                        error = std::current_exception();
                    }
                }
                for (Memory* memory : entry.m_Used)
                {
                    memory->Done();
                }
                lock.lock();
                m_Error = m_Error == nullptr ? error : m_Error;
                ++m_Done;
                m_HasChanged.notify_all();
            }
        }

        std::shared_ptr<Shared> m_Shared;
        std::mutex m_Mutex;
        std::condition_variable m_HasChanged;
        std::deque<Entry> m_Tasks;
        Fence m_Submitted = 0;
        Fence m_Done = 0;
        bool m_IsStopping = false;
        std::exception_ptr m_Error;
        std::thread m_Thread;
    };

    class Factory final : public ITensorHandleFactory
    {
    public:
        explicit Factory(std::shared_ptr<Shared> shared) : m_Shared(std::move(shared)) {}
        const char* GetId() const override { return m_Shared->m_Options.m_Memory.c_str(); }
        size_t GetAlignment() const override { return m_Shared->m_Options.m_Alignment; }
        bool SupportsMapUnmap() const override { return m_Shared->m_Options.m_SupportsMap; }
        MemorySourceFlags GetImportFlags() const override { return m_Shared->m_Options.m_ImportFlags; }
        std::unique_ptr<IDeviceMemory> Allocate(size_t bytes) const override
        {
            m_Shared->Call("Allocate");
            EXPECT_NE(bytes, 0u);
            ++m_Shared->m_Counts.m_Allocations;
            return std::make_unique<Memory>(m_Shared, bytes, nullptr);
        }
        std::unique_ptr<IDeviceMemory> Import(void* memory, size_t bytes, MemorySource source) const override
        {
            m_Shared->Call("Import");
            EXPECT_NE(m_Shared->m_Options.m_ImportFlags & static_cast<MemorySourceFlags>(source), 0u);
            const size_t alignment = m_Shared->m_Options.m_ImportAlignment;
            if (alignment == 0 || reinterpret_cast<uintptr_t>(memory) % alignment != 0)
            {
                return nullptr;
            }
            ++m_Shared->m_Counts.m_Imports;
            return std::make_unique<Memory>(m_Shared, bytes, memory);
        }
        std::unique_ptr<IDeviceQueue> CreateQueue() const override
        {
            m_Shared->Call("CreateQueue");
            return std::make_unique<Queue>(m_Shared);
        }

    private:
        std::shared_ptr<Shared> m_Shared;
    };

    /// The queue's one thread.
    class Inline final : public IParallelFor
    {
    public:
        void Run(size_t count, size_t, const std::function<void(size_t, size_t)>& body) override { body(0, count); }
        unsigned int GetNumThreads() const override { return 1; }
    };

    /// Gives a kernel that runs on the queue memory of the device.
    class LateOutputs final : public ILateOutputs
    {
    public:
        explicit LateOutputs(ILateOutputs* late) : m_Late(late) {}
        ~LateOutputs() override
        {
            for (Memory* memory : m_Open)
            {
                memory->Close();
            }
        }
        void* Allocate(size_t output, const TensorShape& shape) override
        {
            const DeviceTensor tensor = m_Late->AllocateOnDevice(output, shape);
            if (tensor.m_Memory == nullptr)
            {
                return nullptr;
            }
            m_Open.push_back(static_cast<Memory*>(tensor.m_Memory));
            return m_Open.back()->Open(tensor.m_Offset);
        }
        DeviceTensor AllocateOnDevice(size_t, const TensorShape&) override { return {}; }

    private:
        ILateOutputs* m_Late;
        std::vector<Memory*> m_Open;
    };

    class Shaped final : public IShapedWorkload
    {
    public:
        Shaped(std::shared_ptr<Shared> shared, std::unique_ptr<IShapedWorkload> inner, const ReshapeArgs& args)
            : m_Shared(std::move(shared)), m_Inner(std::move(inner))
        {
            for (size_t i = 0; i < args.m_Inputs.size(); ++i)
            {
                const bool isConstant = i < args.m_ConstantData.size() && args.m_ConstantData[i] != nullptr;
                m_Inputs.push_back({args.HasInput(i) ? args.GetInput(i).GetNumBytes() : 0, isConstant});
            }
            for (const TensorInfo* output : args.m_Outputs)
            {
                m_OutputBytes.push_back(output->GetShape().AreAllDimensionsSpecified() ? output->GetNumBytes()
                                                                                       : size_t{0});
            }
        }
        size_t GetScratchBytes() const override
        {
            return std::max(m_Shared->m_Options.m_ScratchBytes, m_Inner->GetScratchBytes());
        }
        void Execute(const ExecuteArgs& args) const override
        {
            m_Shared->Call("Submit");
            Call call;
            for (size_t i = 0; i < args.m_Inputs.size(); ++i)
            {
                call.m_Inputs.push_back(TakeInput(args, i));
            }
            for (size_t i = 0; i < args.m_Outputs.size(); ++i)
            {
                EXPECT_EQ(args.m_Outputs[i], nullptr) << "the host cannot address outputs of a device";
                call.m_Outputs.push_back({CheckTensor(args.m_DeviceOutputs[i], m_OutputBytes[i]), {}, nullptr});
            }
            EXPECT_EQ(args.m_Scratch, nullptr);
            call.m_Scratch = {CheckTensor(args.m_DeviceScratch, GetScratchBytes()), {}, nullptr};
            auto& queue = static_cast<Queue&>(*args.m_Queue);
            std::vector<Memory*> used;
            for (const auto* list : {&call.m_Inputs, &call.m_Outputs})
            {
                for (const Operand& operand : *list)
                {
                    if (operand.m_Tensor.m_Memory != nullptr)
                    {
                        used.push_back(static_cast<Memory*>(operand.m_Tensor.m_Memory));
                    }
                }
            }
            if (call.m_Scratch.m_Tensor.m_Memory != nullptr)
            {
                used.push_back(static_cast<Memory*>(call.m_Scratch.m_Tensor.m_Memory));
            }
            queue.Submit(std::move(used), [this, late = args.m_LateOutputs, moved = std::move(call)]() mutable
                         { RunKernel(moved, late); });
            if (args.m_LateOutputs != nullptr)
            {
                queue.Wait(queue.Signal());
            }
        }

    private:
        struct Operand
        {
            DeviceTensor m_Tensor;
            std::vector<std::byte> m_Copy; ///< copy of host memory that may change when Execute has returned
            const void* m_Constant = nullptr;
        };
        struct Call
        {
            std::vector<Operand> m_Inputs;
            std::vector<Operand> m_Outputs;
            Operand m_Scratch;
        };
        struct Input
        {
            size_t m_Bytes;
            bool m_IsConstant;
        };

        DeviceTensor CheckTensor(const DeviceTensor& tensor, size_t bytes) const
        {
            EXPECT_EQ(tensor.m_Memory == nullptr, bytes == 0);
            if (tensor.m_Memory != nullptr)
            {
                EXPECT_EQ(tensor.m_Offset % m_Shared->m_Options.m_Alignment, 0u);
                EXPECT_LE(tensor.m_Offset + bytes, tensor.m_Memory->GetBytes());
            }
            return tensor;
        }

        Operand TakeInput(const ExecuteArgs& args, size_t i) const
        {
            const Input& input = i < m_Inputs.size() ? m_Inputs[i] : Input{0, false};
            if (input.m_IsConstant)
            {
                return {{}, {}, args.m_Inputs[i]};
            }
            if (args.m_Inputs[i] != nullptr)
            {
                const auto* begin = static_cast<const std::byte*>(args.m_Inputs[i]);
                return {{}, {begin, begin + input.m_Bytes}, nullptr};
            }
            return {CheckTensor(args.m_DeviceInputs[i], input.m_Bytes), {}, nullptr};
        }

        /// Holds memory open as long as it lives.
        class OpenMemory
        {
        public:
            OpenMemory() = default;
            OpenMemory(const OpenMemory&) = delete;
            OpenMemory& operator=(const OpenMemory&) = delete;
            ~OpenMemory()
            {
                for (Memory* memory : m_Open)
                {
                    memory->Close();
                }
            }
            void* Open(Operand& operand)
            {
                if (operand.m_Tensor.m_Memory != nullptr)
                {
                    m_Open.push_back(static_cast<Memory*>(operand.m_Tensor.m_Memory));
                    return m_Open.back()->Open(operand.m_Tensor.m_Offset);
                }
                return operand.m_Copy.empty() ? const_cast<void*>(operand.m_Constant) : operand.m_Copy.data();
            }

        private:
            std::vector<Memory*> m_Open;
        };

        void RunKernel(Call& call, ILateOutputs* late) const
        {
            m_Shared->Call("Run");
            ++m_Shared->m_Counts.m_Runs;
            OpenMemory open;
            std::vector<const void*> inputs;
            std::vector<void*> outputs;
            for (Operand& operand : call.m_Inputs)
            {
                inputs.push_back(open.Open(operand));
            }
            for (Operand& operand : call.m_Outputs)
            {
                outputs.push_back(open.Open(operand));
            }
            Inline parallel;
            LateOutputs lateOutputs(late);
            ExecuteArgs args;
            args.m_Inputs = inputs;
            args.m_Outputs = outputs;
            args.m_Scratch = open.Open(call.m_Scratch);
            args.m_Parallel = &parallel;
            args.m_LateOutputs = late == nullptr ? nullptr : &lateOutputs;
            m_Inner->Execute(args);
        }

        std::shared_ptr<Shared> m_Shared;
        std::unique_ptr<IShapedWorkload> m_Inner;
        std::vector<Input> m_Inputs;
        std::vector<size_t> m_OutputBytes;
    };

    class Workload final : public IWorkload
    {
    public:
        Workload(std::shared_ptr<Shared> shared, std::unique_ptr<IWorkload> inner)
            : m_Shared(std::move(shared)), m_Inner(std::move(inner))
        {
        }
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
        {
            return std::make_unique<Shaped>(m_Shared, m_Inner->Reshape(args), args);
        }
        const char* GetName() const override { return "Device"; }

    private:
        std::shared_ptr<Shared> m_Shared;
        std::unique_ptr<IWorkload> m_Inner;
    };

    class WorkloadFactory final : public IWorkloadFactory
    {
    public:
        WorkloadFactory(BackendId id, std::shared_ptr<Shared> shared, std::unique_ptr<IWorkloadFactory> inner)
            : m_Id(std::move(id)), m_Shared(std::move(shared)), m_Inner(std::move(inner))
        {
        }
        const BackendId& GetBackendId() const override { return m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            return std::make_unique<Workload>(m_Shared, m_Inner->CreateWorkload(layer));
        }

    private:
        BackendId m_Id;
        std::shared_ptr<Shared> m_Shared;
        std::unique_ptr<IWorkloadFactory> m_Inner;
    };

    class Support final : public ILayerSupport
    {
    public:
        Support(std::shared_ptr<Shared> shared, std::shared_ptr<const ILayerSupport> inner)
            : m_Shared(std::move(shared)), m_Inner(std::move(inner))
        {
        }
        SupportResult IsLayerSupported(const LayerView& layer) const override
        {
            return m_Shared->m_Options.m_Takes.count(layer.m_Type) != 0
                       ? m_Inner->IsLayerSupported(layer)
                       : SupportResult::No(SupportCode::UnknownLayer, "not in the device's list");
        }

    private:
        std::shared_ptr<Shared> m_Shared;
        std::shared_ptr<const ILayerSupport> m_Inner;
    };

public:
    explicit DeviceBackend(DeviceOptions options) : m_Shared(std::make_shared<Shared>()), m_Factory(m_Shared)
    {
        m_Id = BackendId(options.m_Id);
        m_Shared->m_Options = std::move(options);
    }
    ~DeviceBackend() override { EXPECT_EQ(m_Shared->m_Counts.m_LiveBlocks, 0) << "device memory has leaked"; }

    const DeviceCounts& Counts() const { return m_Shared->m_Counts; }

    const BackendId& GetId() const override { return m_Id; }
    const ITensorHandleFactory* GetTensorHandleFactory() const override { return &m_Factory; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return std::make_shared<Support>(m_Shared, m_Reference->GetLayerSupport(options));
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return std::make_unique<WorkloadFactory>(m_Id, m_Shared, m_Reference->CreateWorkloadFactory(options));
    }

private:
    BackendId m_Id;
    std::shared_ptr<Shared> m_Shared;
    Factory m_Factory;
    std::shared_ptr<const IBackend> m_Reference = ref::MakeCpuRefBackend();
};

} // namespace tenon::test
