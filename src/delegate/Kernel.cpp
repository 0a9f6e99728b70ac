// SPDX-License-Identifier: Apache-2.0
// Kernel: see Kernel.hpp. Nothing is thrown across the functions of its registration.
#include "delegate/Kernel.hpp"

#include "common/Log.hpp"
#include "delegate/Delegate.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tenon::delegate
{

namespace
{

/// What an input or output without elements points to: Tenon wants an address.
uint8_t Nothing[64]; // NOLINT: never written

TensorShape ToShape(const TfLiteTensor& tensor)
{
    const Span<const int32_t> dims = Elements(tensor.dims);
    if (dims.empty())
    {
        return TensorShape(Dimensionality::Scalar);
    }
    std::vector<unsigned int> sizes;
    for (const int32_t size : dims)
    {
        sizes.push_back(static_cast<unsigned int>(std::max(size, 0)));
    }
    return {static_cast<unsigned int>(sizes.size()), sizes.data()};
}

bool HasSizes(const TfLiteTensor& tensor, const TensorShape& shape)
{
    const Span<const int32_t> dims = Elements(tensor.dims);
    const bool isScalar = shape.GetDimensionality() == Dimensionality::Scalar;
    if (dims.size() != (isScalar ? 0 : shape.GetNumDimensions()))
    {
        return false;
    }
    for (unsigned int i = 0; i < dims.size(); ++i)
    {
        if (static_cast<unsigned int>(dims[i]) != shape[i])
        {
            return false;
        }
    }
    return true;
}

/// Throws RuntimeException where the interpreter refuses.
void Resize(TfLiteContext& context, int32_t tensor, const TensorShape& shape)
{
    const unsigned int rank = shape.GetDimensionality() == Dimensionality::Scalar ? 0 : shape.GetNumDimensions();
    // The interpreter frees it, by free().
    auto* sizes = static_cast<TfLiteIntArray*>(std::malloc(sizeof(int32_t) * (size_t{1} + rank)));
    if (sizes == nullptr)
    {
        throw MemoryValidationException("there is no memory for the sizes of a tensor");
    }
    sizes->size = static_cast<int32_t>(rank);
    for (unsigned int i = 0; i < rank; ++i)
    {
        sizes->data[i] = static_cast<int32_t>(shape[i]);
    }
    if (context.ResizeTensor(&context, &context.tensors[tensor], sizes) != kTfLiteOk)
    {
        throw RuntimeException(
            fmt::format("the interpreter does not resize tensor {} to {}", tensor, shape.ToString()));
    }
}

TfLiteStatus CallKernel(TfLiteContext* context, TfLiteNode* node, void (Kernel::*function)(TfLiteContext&))
{
    return Guard(context, kTfLiteError,
                 [&]
                 {
                     auto* kernel = static_cast<Kernel*>(node->user_data);
                     if (kernel == nullptr)
                     {
                         throw RuntimeException("the kernel of a partition could not be made");
                     }
                     (kernel->*function)(*context);
                 });
}

void* Init(TfLiteContext* context, const char* buffer, size_t)
{
    try
    {
        const auto& params = *reinterpret_cast<const TfLiteDelegateParams*>(buffer);
        return Delegate::From(*params.delegate).MakeKernel(*context, Partition(params)).release();
    }
    catch (...)
    {
        return nullptr; // Prepare reports it. A runtime may take no other value for an error.
    }
}

void Free(TfLiteContext*, void* kernel)
{
    delete static_cast<Kernel*>(kernel);
}

TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node)
{
    return CallKernel(context, node, &Kernel::Prepare);
}

TfLiteStatus Invoke(TfLiteContext* context, TfLiteNode* node)
{
    return CallKernel(context, node, &Kernel::Invoke);
}

/// In texts of at most 1,000 characters, as TensorFlow Lite for Python cuts longer ones off. Each ends with a newline,
/// as they are joined without a separator.
void Report(TfLiteContext* context, std::string_view text)
{
    constexpr size_t longest = 980;
    if (context == nullptr || context->ReportError == nullptr)
    {
        return;
    }
    for (const char* prefix = "TenonDelegate: "; *prefix != '\0' || !text.empty(); prefix = "")
    {
        size_t length = text.size();
        if (length > longest)
        {
            const size_t space = text.find_last_of("\n ", longest);
            length = space == std::string_view::npos || space == 0 ? longest : space;
        }
        context->ReportError(context, "%s%.*s\n", prefix, static_cast<int>(length), text.data());
        text.remove_prefix(length);
        text.remove_prefix(text.empty() || (text[0] != '\n' && text[0] != ' ') ? 0 : 1);
    }
}

} // namespace

TfLiteStatus Guard(TfLiteContext* context, TfLiteStatus failure, FunctionRef<void()> function)
{
    try
    {
        function();
        return kTfLiteOk;
    }
    catch (const std::exception& error)
    {
        Report(context, error.what());
    }
    catch (...)
    {
        Report(context, "an error of unknown kind");
    }
    return failure;
}

TfLiteKernelRegistration Kernel::Registration()
{
    TfLiteKernelRegistration kernel{};
    kernel.registration.init = Init;
    kernel.registration.free = Free;
    kernel.registration.prepare = tenon::delegate::Prepare;
    kernel.registration.invoke = tenon::delegate::Invoke;
    kernel.registration.builtin_code = DelegateCode;
    kernel.registration.custom_name = "TenonDelegate";
    kernel.registration.version = 1;
    return kernel;
}

Kernel::Kernel(std::shared_ptr<const PartitionLoader> loader, GraphView graph, Partition partition,
               LoadedPartitionPtr loaded, std::string error)
    : m_Loader(std::move(loader)), m_Graph(std::move(graph)), m_Partition(std::move(partition)),
      m_Error(std::move(error))
{
    if (loaded != nullptr)
    {
        SetLoaded(std::move(loaded));
    }
}

Kernel::~Kernel()
{
    if (m_Loaded != nullptr)
    {
        m_Loaded->Runtime().DestroySession(m_Loaded->Network(), m_Session);
    }
}

void Kernel::SetLoaded(LoadedPartitionPtr loaded)
{
    const SessionId session = loaded->Runtime().CreateSession(loaded->Network());
    if (m_Loaded != nullptr)
    {
        m_Loaded->Runtime().DestroySession(m_Loaded->Network(), m_Session);
    }
    m_Loaded = std::move(loaded);
    m_Session = session;
    m_IsPlanned = false;
    m_InputInfos.clear();
    m_Ranks.clear();
    m_InputTensors.clear();
    for (const auto& [tensor, id] : m_Loaded->Inputs())
    {
        TensorInfo info = m_Loaded->Runtime().GetInputTensorInfo(m_Loaded->Network(), id);
        info.SetConstant(); // as ConstTensor wants it
        info.SetShape(TensorShape());
        m_InputInfos.emplace_back(id, info);
        m_Ranks.push_back(Elements(m_Graph.Context().tensors[tensor].dims).size());
        m_InputTensors.emplace_back(id, ConstTensor());
    }
}

void Kernel::LoadAnew(const std::string& reason)
{
    LogDebug("TenonDelegate: a network is made anew, since: {}", reason);
    SetLoaded(m_Loader->LoadAnew(m_Graph, m_Partition));
}

bool Kernel::HasOtherRanks() const
{
    for (size_t i = 0; i < m_Ranks.size(); ++i)
    {
        if (Elements(m_Graph.Context().tensors[m_Loaded->Inputs()[i].first].dims).size() != m_Ranks[i])
        {
            return true;
        }
    }
    return false;
}

void Kernel::TakeSizes(const TfLiteContext& context)
{
    for (size_t i = 0; i < m_InputInfos.size(); ++i)
    {
        const TfLiteTensor& tensor = context.tensors[m_Loaded->Inputs()[i].first];
        TensorInfo& info = m_InputInfos[i].second;
        if (info.GetShape().GetDimensionality() == Dimensionality::NotSpecified || !HasSizes(tensor, info.GetShape()))
        {
            info.SetShape(ToShape(tensor));
            m_InputTensors[i].second = ConstTensor(info, Nothing);
            m_IsPlanned = false;
        }
    }
}

void Kernel::Plan()
{
    m_IsPlanned = false;
    const auto infos = m_Loaded->Runtime().PlanRun(m_Loaded->Network(), m_InputInfos);
    m_Outputs.clear();
    m_OutputTensors.clear();
    m_HasDynamicOutputs = false;
    for (const auto& [tensor, id] : m_Loaded->Outputs())
    {
        const auto found =
            std::find_if(infos.begin(), infos.end(), [id = id](const auto& info) { return info.first == id; });
        const TensorInfo& info = found->second;
        const bool isOpen = !info.GetShape().AreAllDimensionsSpecified();
        m_Outputs.push_back({tensor, id, info, isOpen});
        m_OutputTensors.emplace_back(id, Tensor(info, Nothing));
        m_HasDynamicOutputs = m_HasDynamicOutputs || isOpen;
    }
    m_IsPlanned = true;
}

void Kernel::FitOutputs(TfLiteContext& context)
{
    for (const Output& output : m_Outputs)
    {
        TfLiteTensor& tensor = context.tensors[output.m_Tensor];
        if (!output.m_IsDynamic)
        {
            if (!HasSizes(tensor, output.m_Info.GetShape()))
            {
                Resize(context, output.m_Tensor, output.m_Info.GetShape());
            }
        }
        else if (tensor.allocation_type != kTfLiteDynamic)
        {
            tensor.allocation_type = kTfLiteDynamic;
            tensor.data = nullptr;
        }
    }
}

void Kernel::Prepare(TfLiteContext& context)
{
    if (m_Loaded == nullptr)
    {
        throw RuntimeException(m_Error);
    }
    const unsigned int threads = m_Loader->CountThreads(context.recommended_num_threads);
    if (threads != m_NumThreads)
    {
        m_Loaded->Runtime().SetNumberOfThreads(m_Loaded->Network(), threads);
        m_NumThreads = threads;
        m_IsPlanned = false;
    }
    if (HasOtherRanks()) // layers have axes of the rank that was there
    {
        LoadAnew("an input has another rank");
    }
    TakeSizes(context);
    if (!m_IsPlanned)
    {
        try
        {
            Plan();
        }
        catch (const Exception& error)
        {
            LoadAnew(error.what()); // sizes that the network was not made for
            TakeSizes(context);
            Plan();
        }
    }
    FitOutputs(context);
}

void Kernel::BindInputs(const TfLiteContext& context)
{
    for (size_t i = 0; i < m_InputTensors.size(); ++i)
    {
        const TfLiteTensor& tensor = context.tensors[m_Loaded->Inputs()[i].first];
        ConstTensor& bound = m_InputTensors[i].second;
        const void* memory = tensor.data != nullptr || tensor.bytes != 0 ? tensor.data : Nothing;
        if (memory != bound.GetMemoryArea())
        {
            bound = ConstTensor(m_InputInfos[i].second, memory);
        }
    }
}

void* Kernel::FindMemory(TfLiteContext& context, const Output& output, const TensorInfo& info) const
{
    const auto& tensor = context.tensors[output.m_Tensor];
    if (tensor.allocation_type == kTfLiteDynamic && (tensor.data == nullptr || !HasSizes(tensor, info.GetShape())))
    {
        Resize(context, output.m_Tensor, info.GetShape());
    }
    if (tensor.bytes < info.GetNumBytes())
    {
        throw RuntimeException(
            fmt::format("tensor {} has {} bytes in the interpreter, but would be computed as {} of {}", output.m_Tensor,
                        tensor.bytes, info.ToString(), info.GetNumBytes()));
    }
    return tensor.data != nullptr || info.GetNumBytes() != 0 ? tensor.data : Nothing;
}

void Kernel::Invoke(TfLiteContext& context)
{
    TakeSizes(context);
    if (!m_IsPlanned)
    {
        Prepare(context); // an input of varying size was computed meanwhile
    }
    BindInputs(context);
    RunOptions options;
    options.m_Session = m_Session;
    if (m_HasDynamicOutputs)
    {
        const auto allocate = [&](LayerBindingId id, const TensorInfo& info)
        {
            const auto output =
                std::find_if(m_Outputs.begin(), m_Outputs.end(), [id](const Output& each) { return each.m_Id == id; });
            return FindMemory(context, *output, info);
        };
        m_Loaded->Runtime().Run(m_Loaded->Network(), m_InputTensors, allocate, options);
        return;
    }
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        void* memory = FindMemory(context, m_Outputs[i], m_Outputs[i].m_Info);
        if (memory != m_OutputTensors[i].second.GetMemoryArea())
        {
            m_OutputTensors[i].second = Tensor(m_Outputs[i].m_Info, memory);
        }
    }
    m_Loaded->Runtime().Run(m_Loaded->Network(), m_InputTensors, m_OutputTensors, options);
}

} // namespace tenon::delegate
