// SPDX-License-Identifier: Apache-2.0
// BuiltinBackend: see BuiltinBackend.hpp.
#include "armnn/BuiltinBackend.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/WorkloadFactory.hpp>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tenon
{

namespace
{

using Infos = std::vector<const TensorInfo*>;

/// The infos of a question as the slots of a layer.
struct Slots
{
    Infos m_Inputs; ///< null where not connected
    Infos m_Outputs;
};

template <typename D>
bool HasBias(const BaseDescriptor& descriptor)
{
    const auto* const typed = dynamic_cast<const D*>(&descriptor);
    return typed != nullptr && typed->m_BiasEnabled;
}

/// The first `numInputs` infos are inputs, the others outputs.
Slots SplitAt(const std::vector<TensorInfo>& infos, size_t numInputs)
{
    Slots slots;
    for (size_t i = 0; i < infos.size(); ++i)
    {
        (i < numInputs ? slots.m_Inputs : slots.m_Outputs).push_back(&infos[i]);
    }
    return slots;
}

/// An input, an output, and then further inputs.
Slots SplitWeights(const std::vector<TensorInfo>& infos, size_t numWeights)
{
    Slots slots;
    slots.m_Inputs.push_back(&infos[0]);
    slots.m_Outputs.push_back(&infos[1]);
    for (size_t i = 0; i < numWeights; ++i)
    {
        slots.m_Inputs.push_back(&infos[2 + i]);
    }
    return slots;
}

template <typename Params>
Slots SplitCell(const std::vector<TensorInfo>& infos, const Optional<Params>& params)
{
    Slots slots = SplitAt(infos, 3);
    if (params)
    {
        const Infos weights = params.value().GetInputs();
        slots.m_Inputs.insert(slots.m_Inputs.end(), weights.begin(), weights.end());
    }
    return slots;
}

/// How many infos a question about a layer of this type has at least.
size_t CountInfos(LayerType type, size_t numWeights)
{
    switch (type)
    {
    case LayerType::Input:
    case LayerType::Output:
    case LayerType::Constant:
    case LayerType::FakeQuantization:
    case LayerType::Map:
    case LayerType::PreCompiled:
    case LayerType::Unmap: return 1;
    case LayerType::Lstm: return 7;
    case LayerType::QLstm:
    case LayerType::UnidirectionalSequenceLstm:
    case LayerType::BatchNormalization: return 6;
    case LayerType::QuantizedLstm: return 5;
    case LayerType::DetectionPostProcess: return 7;
    default: return 2 + numWeights;
    }
}

size_t CountWeights(LayerType type, const BaseDescriptor& descriptor)
{
    switch (type)
    {
    case LayerType::Convolution2d: return HasBias<Convolution2dDescriptor>(descriptor) ? 2 : 1;
    case LayerType::Convolution3d: return HasBias<Convolution3dDescriptor>(descriptor) ? 2 : 1;
    case LayerType::DepthwiseConvolution2d: return HasBias<DepthwiseConvolution2dDescriptor>(descriptor) ? 2 : 1;
    case LayerType::FullyConnected: return HasBias<FullyConnectedDescriptor>(descriptor) ? 2 : 1;
    case LayerType::TransposeConvolution2d: return HasBias<TransposeConvolution2dDescriptor>(descriptor) ? 2 : 1;
    case LayerType::BatchNormalization: return 4;
    default: return 0;
    }
}

class BuiltinLayerSupport final : public ILayerSupport
{
public:
    explicit BuiltinLayerSupport(std::shared_ptr<const backend::ILayerSupport> adapted) : m_Adapted(std::move(adapted))
    {
    }
    ~BuiltinLayerSupport() override = default;

    bool IsLayerSupported(const LayerType& type, const std::vector<TensorInfo>& infos, const BaseDescriptor& descriptor,
                          const Optional<LstmInputParamsInfo>& lstmParamsInfo,
                          const Optional<QuantizedLstmInputParamsInfo>& quantizedLstmParamsInfo,
                          Optional<std::string&> reasonIfUnsupported) const override
    {
        const size_t numWeights = CountWeights(type, descriptor);
        const size_t numInfos = CountInfos(type, numWeights);
        if (infos.size() < numInfos)
        {
            throw InvalidArgumentException(std::string("a question about a layer ") + GetLayerTypeAsCString(type) +
                                           " has " + std::to_string(infos.size()) + " infos, but it needs " +
                                           std::to_string(numInfos));
        }
        Slots slots;
        switch (type)
        {
        case LayerType::Input:
        case LayerType::Constant: slots = SplitAt(infos, 0); break;
        case LayerType::Output:
        case LayerType::Map:
        case LayerType::Unmap:
        case LayerType::PreCompiled: slots = SplitAt(infos, infos.size()); break;
        case LayerType::FakeQuantization:
            slots.m_Inputs.push_back(&infos[0]);
            slots.m_Outputs.push_back(&infos[0]);
            break;
        case LayerType::Splitter: slots = SplitAt(infos, 1); break;
        case LayerType::Switch: slots = SplitAt(infos, 2); break;
        case LayerType::DetectionPostProcess: slots = SplitAt(infos, 3); break;
        case LayerType::StandIn:
            slots = SplitAt(infos, dynamic_cast<const StandInDescriptor&>(descriptor).m_NumInputs);
            break;
        case LayerType::Lstm:
        case LayerType::QLstm:
        case LayerType::UnidirectionalSequenceLstm: slots = SplitCell(infos, lstmParamsInfo); break;
        case LayerType::QuantizedLstm: slots = SplitCell(infos, quantizedLstmParamsInfo); break;
        default: slots = numWeights != 0 ? SplitWeights(infos, numWeights) : SplitAt(infos, infos.size() - 1); break;
        }
        const SupportResult result = Ask(type, slots, descriptor);
        if (!result && reasonIfUnsupported)
        {
            reasonIfUnsupported.value() = result.m_Reason;
        }
        return result.IsSupported();
    }

private:
    SupportResult Ask(LayerType type, const Slots& slots, const BaseDescriptor& descriptor) const
    {
        const std::string name;
        const NullDescriptor none;
        const GatherNdDescriptor tuples; // Arm NN's layers of these types have no parameters
        const QuantizeDescriptor quantization;
        const ElementwiseBinaryDescriptor operation(GetOperation(type));
        LayerView view;
        view.m_Type = type;
        view.m_Name = &name;
        // A BaseDescriptor itself, as Arm NN passes it for layers without parameters, is no NullDescriptor.
        const bool isBare = typeid(descriptor) == typeid(BaseDescriptor) || descriptor.IsNull();
        view.m_Descriptor = !isBare                       ? &descriptor
                            : type == LayerType::GatherNd ? static_cast<const BaseDescriptor*>(&tuples)
                            : type == LayerType::Quantize ? static_cast<const BaseDescriptor*>(&quantization)
                                                          : &none;
        view.m_Inputs = slots.m_Inputs;
        view.m_Outputs = slots.m_Outputs;
        view.m_HasValues = false;
        if (IsDeprecated(type))
        {
            view.m_Type = LayerType::ElementwiseBinary;
            view.m_Descriptor = &operation;
        }
        const bool isBound = type == LayerType::Input || type == LayerType::Output || type == LayerType::Constant;
        return isBound ? SupportResult::Yes() : m_Adapted->IsLayerSupported(view);
    }

    static bool IsDeprecated(LayerType type)
    {
        return type == LayerType::Addition || GetOperation(type) != BinaryOperation::Add;
    }

    /// The operation of a deprecated type; else Add.
    static BinaryOperation GetOperation(LayerType type)
    {
        switch (type)
        {
        case LayerType::Division: return BinaryOperation::Div;
        case LayerType::Maximum: return BinaryOperation::Maximum;
        case LayerType::Minimum: return BinaryOperation::Minimum;
        case LayerType::Multiplication: return BinaryOperation::Mul;
        case LayerType::Subtraction: return BinaryOperation::Sub;
        default: return BinaryOperation::Add;
        }
    }

    std::shared_ptr<const backend::ILayerSupport> m_Adapted;
};

class BuiltinBackend final : public IBackendInternal
{
public:
    explicit BuiltinBackend(std::shared_ptr<const backend::IBackend> adapted) : m_Adapted(std::move(adapted)) {}

    const BackendId& GetId() const override { return m_Adapted->GetId(); }
    IWorkloadFactoryPtr CreateWorkloadFactory(const IMemoryManagerSharedPtr&) const override
    {
        throw UnimplementedException("the workloads of built-in backend " + GetId().Get() +
                                     " are not made by Arm NN's IWorkloadFactory; load networks with IRuntime");
    }
    ILayerSupportSharedPtr GetLayerSupport() const override { return GetLayerSupport({}); }
    ILayerSupportSharedPtr GetLayerSupport(const ModelOptions& modelOptions) const override
    {
        return std::make_shared<BuiltinLayerSupport>(m_Adapted->GetLayerSupport(modelOptions));
    }
    BackendCapabilities GetCapabilities() const override { return m_Adapted->GetCapabilities(); }

private:
    std::shared_ptr<const backend::IBackend> m_Adapted;
};

} // namespace

const backend::BackendRegistry& GetBuiltinBackends()
{
    static const backend::BackendRegistry& registry = *[]
    {
        auto made = std::make_unique<backend::BackendRegistry>();
        RegisterBuiltinBackends(*made);
        return made.release();
    }();
    return registry;
}

std::unique_ptr<IBackendInternal> MakeBuiltinBackend(std::shared_ptr<const backend::IBackend> adapted)
{
    return std::make_unique<BuiltinBackend>(std::move(adapted));
}

} // namespace tenon
