// SPDX-License-Identifier: Apache-2.0
// The part of LoadedNetwork that imports memory of the caller: it is checked once, and imported by the devices that can
// use it.
#include "common/ErrorContext.hpp"
#include "common/Log.hpp"
#include "runtime/CheckBound.hpp"
#include "runtime/LoadedNetwork.hpp"
#include "runtime/StepShapes.hpp"

#include <fmt/format.h>

namespace tenon
{

void CheckBound(const Binding& binding, const char* kind, const TensorInfo& wanted, const TensorInfo& given,
                const void* memory)
{
    if (given.GetDataType() != wanted.GetDataType())
    {
        throw InvalidArgumentException(fmt::format("{} {} '{}' holds {} but the tensor given is {}", kind, binding.m_Id,
                                                   binding.m_Layer->GetNameStr(), GetDataTypeName(wanted.GetDataType()),
                                                   GetDataTypeName(given.GetDataType())));
    }
    if (!given.GetShape().AreAllDimensionsSpecified())
    {
        throw InvalidArgumentException(fmt::format("{} {} '{}': the shape of the tensor given is not fully known ({})",
                                                   kind, binding.m_Id, binding.m_Layer->GetNameStr(),
                                                   given.GetShape().ToString()));
    }
    if (memory == nullptr && given.GetNumBytes() != 0)
    {
        throw InvalidArgumentException(fmt::format("{} {} '{}': the tensor given has no memory", kind, binding.m_Id,
                                                   binding.m_Layer->GetNameStr()));
    }
}

namespace
{

/// The devices that may use the memory of an input or output, and the obstacles to forcing them.
struct Users
{
    std::vector<MemoryId> m_Devices;
    MemoryId m_Copies = HostMemory; ///< a device that always copies, if there is one
};

void AddUser(Users& users, const MemorySpaces& memories, MemoryId memory)
{
    if (memory == HostMemory)
    {
        return;
    }
    if (Imports(*memories[memory].m_Factory, MemorySource::Malloc))
    {
        users.m_Devices.push_back(memory);
    }
    else
    {
        users.m_Copies = memory;
    }
}

Users UsersOfInput(const Program& program, ValueId value)
{
    Users users;
    for (const Step& step : program.Steps())
    {
        if (step.IsCopy() && step.m_Inputs[0] == value)
        {
            AddUser(users, program.Memories(), step.m_Memory);
        }
    }
    return users;
}

Users UsersOfOutput(const Program& program, ValueId value)
{
    Users users;
    for (const Step& step : program.Steps())
    {
        if (step.IsCopy() && step.m_FirstOutput == value)
        {
            AddUser(users, program.Memories(), program.Values()[step.m_Inputs[0]].m_Memory);
        }
    }
    return users;
}

/// Throws if memory that must be used in place cannot be.
void CheckForced(const Program& program, const Users& users, MemorySource forced, const void* memory, size_t bytes,
                 size_t alignment, const std::string& what)
{
    if (forced == MemorySource::Undefined || bytes == 0)
    {
        return;
    }
    if (users.m_Copies != HostMemory)
    {
        throw MemoryImportException(fmt::format("{}: memory {} imports no memory of source {}", what,
                                                program.Memories()[users.m_Copies].m_Name,
                                                GetMemorySourceName(forced)));
    }
    if (reinterpret_cast<uintptr_t>(memory) % alignment != 0)
    {
        throw MemoryImportException(
            fmt::format("{}: the memory given does not start at a multiple of {} bytes", what, alignment));
    }
}

void CheckSource(MemorySource source, const std::string& what)
{
    if (source != MemorySource::Undefined && source != MemorySource::Malloc)
    {
        throw MemoryImportException(
            fmt::format("{}: memory of source {} cannot be imported, only that of source Malloc", what,
                        GetMemorySourceName(source)));
    }
}

/// Adds to an InvalidArgumentException that it comes from an import.
template <typename Check>
void AsImport(Check check)
{
    try
    {
        check();
    }
    catch (const InvalidArgumentException& error)
    {
        throw MemoryImportException(error.what());
    }
}

} // namespace

ImportedMemory LoadedNetwork::ImportForDevices(const void* memory, size_t bytes, const std::vector<MemoryId>& devices,
                                               MemorySource forced, const std::string& what) const
{
    const MemorySpaces& memories = m_Program->Memories();
    ImportedMemory imported{memory, bytes, {}};
    imported.m_Devices.resize(memories.Size());
    for (const MemoryId device : devices)
    {
        if (bytes == 0 || imported.m_Devices[device] != nullptr)
        {
            continue;
        }
        // Inputs are only read, but the interface has no const pointers.
        try
        {
            imported.m_Devices[device] =
                memories[device].m_Factory->Import(const_cast<void*>(memory), bytes, MemorySource::Malloc);
        }
        catch (...)
        {
            RethrowWithContext(fmt::format("{}: importing into memory {}", what, memories[device].m_Name));
        }
        if (imported.m_Devices[device] == nullptr && forced != MemorySource::Undefined)
        {
            throw MemoryImportException(
                fmt::format("{}: memory {} cannot use the {} bytes at {}; it asks for multiples of {}", what,
                            memories[device].m_Name, bytes, memory, memories[device].m_Alignment));
        }
    }
    return imported;
}

LoadedNetwork::InputImports::Entry LoadedNetwork::Import(LayerBindingId id, const ConstTensor& tensor,
                                                         MemorySource forced) const
{
    const std::string what = fmt::format("input {}", id);
    CheckSource(forced, what);
    ValueId value = NoValue;
    AsImport(
        [&]
        {
            const Binding& binding = m_Program->Inputs()[m_Program->FindInput(id)];
            value = binding.m_Value;
            CheckBound(binding, "input", GetInputInfo(id), tensor.GetInfo(), tensor.GetMemoryArea());
        });
    const size_t bytes = tensor.GetNumBytes();
    const Users users = UsersOfInput(*m_Program, value);
    CheckForced(*m_Program, users, forced, tensor.GetMemoryArea(), bytes, GetAlignment(tensor.GetDataType()), what);
    return std::make_shared<const ImportedTensor<ConstTensor>>(ImportedTensor<ConstTensor>{
        id, tensor, ImportForDevices(tensor.GetMemoryArea(), bytes, users.m_Devices, forced, what)});
}

LoadedNetwork::OutputImports::Entry LoadedNetwork::Import(LayerBindingId id, const Tensor& tensor,
                                                          MemorySource forced) const
{
    const std::string what = fmt::format("output {}", id);
    CheckSource(forced, what);
    ValueId value = NoValue;
    AsImport(
        [&]
        {
            const Binding& binding = m_Program->Outputs()[m_Program->FindOutput(id)];
            value = binding.m_Value;
            CheckBound(binding, "output", GetOutputInfo(id), tensor.GetInfo(), tensor.GetMemoryArea());
        });
    const size_t bytes = tensor.GetNumBytes();
    const Users users = UsersOfOutput(*m_Program, value);
    CheckForced(*m_Program, users, forced, tensor.GetMemoryArea(), bytes, alignof(std::max_align_t), what);
    return std::make_shared<const ImportedTensor<Tensor>>(ImportedTensor<Tensor>{
        id, tensor, ImportForDevices(tensor.GetMemoryArea(), bytes, users.m_Devices, forced, what)});
}

template <typename Entry, typename Tensors>
std::vector<Entry> LoadedNetwork::ImportEach(const Tensors& tensors, MemorySource forced) const
{
    std::vector<Entry> entries;
    for (const auto& [id, tensor] : tensors)
    {
        try
        {
            entries.push_back(Import(id, tensor, forced));
        }
        catch (const MemoryImportException& error)
        {
            LogWarning("a tensor is not imported: {}", error.what());
        }
    }
    return entries;
}

std::vector<ImportedInputId> LoadedNetwork::ImportInputs(const InputTensors& tensors, MemorySource forced)
{
    const auto entries = ImportEach<InputImports::Entry>(tensors, forced);
    const std::lock_guard lock(m_Mutex);
    return m_ImportedInputs.Add(entries);
}

std::vector<ImportedOutputId> LoadedNetwork::ImportOutputs(const OutputTensors& tensors, MemorySource forced)
{
    const auto entries = ImportEach<OutputImports::Entry>(tensors, forced);
    const std::lock_guard lock(m_Mutex);
    return m_ImportedOutputs.Add(entries);
}

void LoadedNetwork::ClearImportedInputs(const std::vector<ImportedInputId>& ids)
{
    std::vector<InputImports::Entry> removed; // destroyed outside of the lock, which lets devices release its memory
    const std::lock_guard lock(m_Mutex);
    removed = m_ImportedInputs.Remove(ids, "input");
}

void LoadedNetwork::ClearImportedOutputs(const std::vector<ImportedOutputId>& ids)
{
    std::vector<OutputImports::Entry> removed;
    const std::lock_guard lock(m_Mutex);
    removed = m_ImportedOutputs.Remove(ids, "output");
}

} // namespace tenon
