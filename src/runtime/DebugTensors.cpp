// SPDX-License-Identifier: Apache-2.0
// DebugTensors: see DebugTensors.hpp.
#include "runtime/DebugTensors.hpp"

#include "common/Log.hpp"
#include "runtime/DebugRun.hpp"

#include <cstring>

namespace tenon
{

namespace
{

/// The host's view of a value on a device while this object lives: mapped if possible, else copied.
class DeviceView
{
public:
    DeviceView(size_t bytes, const DeviceTensor& tensor, const MemorySpace& memory, IDeviceQueue& queue)
        : m_Tensor(tensor), m_CanMap(memory.m_Factory->SupportsMapUnmap()), m_Queue(queue)
    {
        if (bytes != 0 && m_CanMap)
        {
            m_Mapped = m_Queue.Map(*m_Tensor.m_Memory, m_Tensor.m_Offset, bytes, MapAccess::Read);
        }
        else if (bytes != 0)
        {
            m_Copy.Reserve(bytes);
            m_Queue.Read(m_Copy.Data(), *m_Tensor.m_Memory, m_Tensor.m_Offset, bytes);
            m_Mapped = m_Copy.Data();
        }
    }
    ~DeviceView()
    {
        if (m_Mapped != nullptr && m_CanMap)
        {
            try
            {
                m_Queue.Unmap(*m_Tensor.m_Memory, m_Mapped);
            }
            catch (const Exception& error) // debugging must not end the program; the next wait fails if the queue has
            {
                LogWarning("a tensor of a device is still mapped: {}", error.what());
            }
        }
    }
    DeviceView(const DeviceView&) = delete;
    DeviceView& operator=(const DeviceView&) = delete;
    const void* Get() const { return m_Mapped; }

private:
    const DeviceTensor& m_Tensor;
    const bool m_CanMap;
    IDeviceQueue& m_Queue;
    AlignedMemory m_Copy;
    void* m_Mapped = nullptr;
};

/// A copy of the tensor, whose pixels begin `pitch` elements apart.
AlignedMemory TakePixels(const TensorInfo& info, size_t pitch, const void* pixels)
{
    AlignedMemory whole(info.GetNumBytes());
    const size_t elementBytes = GetDataTypeSize(info.GetDataType());
    const size_t pixelBytes = info.GetShape()[info.GetNumDimensions() - 1] * elementBytes;
    for (size_t at = 0; at < info.GetNumBytes(); at += pixelBytes)
    {
        std::memcpy(whole.Data() + at, static_cast<const std::byte*>(pixels) + at / pixelBytes * pitch * elementBytes,
                    pixelBytes);
    }
    return whole;
}

} // namespace

void DebugTensors::ShowInputs(Span<void* const> inputs, DebugRun& debug) const
{
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        const Binding& input = m_Tensors.GetProgram().Inputs()[i];
        debug.Show(*input.m_Layer, 0, m_Tensors.GetInfo(input.m_Value), inputs[i]);
    }
}

void DebugTensors::ShowOutputs(const Step& step, DebugRun& debug) const
{
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        const ValueId value = step.m_FirstOutput + k;
        const TensorInfo& info = m_Tensors.GetInfo(value);
        const void* const memory = m_Tensors.GetPointer(value);
        if (const PitchedValue* const pitched = m_Tensors.GetPlan().FindPitch(value); pitched != nullptr)
        {
            const AlignedMemory whole = TakePixels(info, pitched->m_Pitch, memory);
            debug.Show(*step.m_Layer, k, info, whole.Data());
        }
        else if (step.m_Memory == HostMemory)
        {
            debug.Show(*step.m_Layer, k, info, memory);
        }
        else
        {
            const DeviceView view(info.GetNumBytes(), m_Tensors.GetDevices()->TensorOf(value),
                                  m_Tensors.GetProgram().Memories()[step.m_Memory], m_Queues->Use(step.m_Memory));
            debug.Show(*step.m_Layer, k, info, view.Get());
        }
    }
}

} // namespace tenon
