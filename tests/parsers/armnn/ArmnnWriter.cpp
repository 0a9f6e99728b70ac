// SPDX-License-Identifier: Apache-2.0
// See ArmnnWriter.hpp.
#include "ArmnnWriter.hpp"

#include "ArmnnFile.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tenon::test
{

namespace armnn_writer
{

namespace
{

namespace schema = armnn_schema;

std::vector<uint32_t> Sizes(const TensorShape& shape)
{
    std::vector<uint32_t> sizes;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        sizes.push_back(shape[i]);
    }
    return sizes;
}

std::unique_ptr<schema::TensorInfoT> ToInfo(const TensorInfo& info)
{
    if (info.GetDataType() != DataType::Float32)
    {
        throw std::invalid_argument("only floats are written: " + info.ToString());
    }
    auto table = std::make_unique<schema::TensorInfoT>();
    table->dataType = schema::DataType::Float32;
    table->dimensions = Sizes(info.GetShape());
    table->quantizationScale = 0.0f;
    table->isConstant = info.IsConstant();
    return table;
}

std::unique_ptr<schema::ConstTensorT> ToConstant(const TensorInfo& info, const void* memory)
{
    auto table = std::make_unique<schema::ConstTensorT>();
    table->info = ToInfo(info);
    schema::IntDataT data;
    data.data.resize(info.GetNumElements());
    std::memcpy(data.data.data(), memory, info.GetNumBytes());
    table->data.Set(std::move(data));
    return table;
}

/// Weights [1, H, W, I], with one filter for each channel, as [1, I, H, W].
std::unique_ptr<schema::ConstTensorT> ToOldDepthwise(const ConstTensor& weights)
{
    const TensorShape& shape = weights.GetShape();
    const auto* const from = static_cast<const float*>(weights.GetMemoryArea());
    const unsigned int pixels = shape[1] * shape[2];
    const unsigned int channels = shape[3];
    std::vector<float> turned(weights.GetNumElements());
    for (unsigned int i = 0; i < channels; ++i)
    {
        for (unsigned int pixel = 0; pixel < pixels; ++pixel)
        {
            turned[i * pixels + pixel] = from[pixel * channels + i];
        }
    }
    return ToConstant(TensorInfo(TensorShape({1, channels, shape[1], shape[2]}), DataType::Float32), turned.data());
}

schema::DataLayout ToLayout(DataLayout layout)
{
    return layout == DataLayout::NHWC ? schema::DataLayout::NHWC : schema::DataLayout::NCHW;
}

/// Padding in front of and behind a dimension, such that windows of `window` elements give `output` results.
std::pair<uint32_t, uint32_t> SamePads(unsigned int input, unsigned int output, unsigned int stride,
                                       unsigned int window)
{
    const unsigned int covered = (output - 1) * stride + window;
    const unsigned int pads = covered > input ? covered - input : 0;
    return {pads / 2, pads - pads / 2};
}

struct Collector : IStrategy
{
    struct Visited
    {
        const IConnectableLayer* m_Layer;
        std::vector<ConstTensor> m_Constants;
        std::string m_Name;
        LayerBindingId m_Id;
    };

    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&,
                         const std::vector<ConstTensor>& constants, const char* name, LayerBindingId id) override
    {
        m_Layers.push_back({layer, constants, name, id});
    }

    std::vector<Visited> m_Layers;
};

class Writer
{
public:
    explicit Writer(ArmnnFeatures features) : m_IsOld(features == ArmnnFeatures::First) {}

    std::vector<uint8_t> Write(const INetwork& network)
    {
        Collector all;
        network.ExecuteStrategy(all);
        for (const Collector::Visited& visited : all.m_Layers)
        {
            if (visited.m_Layer->GetType() == LayerType::Constant)
            {
                m_Constants.emplace(visited.m_Layer, visited.m_Constants.at(0));
            }
        }
        for (const Collector::Visited& visited : all.m_Layers)
        {
            if (!IsMember(*visited.m_Layer))
            {
                Add(visited);
            }
        }
        if (!m_IsOld)
        {
            m_Tree.featureVersions = std::make_unique<schema::FeatureCompatibilityVersionsT>();
            m_Tree.featureVersions->bindingIdsScheme = 1;
            m_Tree.featureVersions->weightsLayoutScheme = 1;
            m_Tree.featureVersions->constantTensorsAsInputs = 1;
        }
        return Pack(m_Tree);
    }

private:
    /// Whether a layer keeps what arrives at the input, in place of a connection.
    bool IsMemberInput(const IConnectableLayer& layer, unsigned int input) const
    {
        switch (layer.GetType())
        {
        case LayerType::DetectionPostProcess: return input == 2;
        case LayerType::Convolution2d:
        case LayerType::DepthwiseConvolution2d: return m_IsOld && input != 0;
        default: return false;
        }
    }

    /// Whether a constant goes into the layers that it feeds.
    bool IsMember(const IConnectableLayer& layer) const
    {
        const IOutputSlot* const slot = layer.GetType() == LayerType::Constant ? &layer.GetOutputSlot(0) : nullptr;
        for (unsigned int i = 0; slot != nullptr && i < slot->GetNumConnections(); ++i)
        {
            const IInputSlot& input = *slot->GetConnection(i);
            if (IsMemberInput(input.GetOwningIConnectableLayer(), input.GetSlotIndex()))
            {
                return true;
            }
        }
        return false;
    }

    const ConstTensor& ConstantAt(const IConnectableLayer& layer, unsigned int input) const
    {
        return m_Constants.at(&layer.GetInputSlot(input).GetConnection()->GetOwningIConnectableLayer());
    }

    std::unique_ptr<schema::LayerBaseT> MakeBase(const Collector::Visited& visited)
    {
        const IConnectableLayer& layer = *visited.m_Layer;
        auto base = std::make_unique<schema::LayerBaseT>();
        base->index = static_cast<uint32_t>(m_Tree.layers.size());
        base->layerName = visited.m_Name;
        m_Indices.emplace(&layer, base->index);
        for (unsigned int i = 0; i < layer.GetNumInputSlots(); ++i)
        {
            if (!IsMemberInput(layer, i))
            {
                const IOutputSlot& source = *layer.GetInputSlot(i).GetConnection();
                auto slot = std::make_unique<schema::InputSlotT>();
                slot->index = i;
                slot->connection = std::make_unique<schema::Connection>(
                    m_Indices.at(&source.GetOwningIConnectableLayer()), source.CalculateIndexOnOwner());
                base->inputSlots.push_back(std::move(slot));
            }
        }
        for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
        {
            auto slot = std::make_unique<schema::OutputSlotT>();
            slot->index = i;
            slot->tensorInfo = ToInfo(layer.GetOutputSlot(i).GetTensorInfo());
            base->outputSlots.push_back(std::move(slot));
        }
        return base;
    }

    template <typename LayerT>
    void Push(LayerT layer)
    {
        m_Tree.layers.push_back(std::make_unique<schema::AnyLayerT>());
        m_Tree.layers.back()->layer.Set(std::move(layer));
    }

    template <typename LayerT>
    void AddBound(const Collector::Visited& visited, std::vector<int32_t>& ids)
    {
        LayerT layer;
        layer.base = std::make_unique<schema::BindableLayerBaseT>();
        layer.base->base = MakeBase(visited);
        layer.base->layerBindingId = visited.m_Id;
        ids.push_back(m_IsOld ? static_cast<int32_t>(layer.base->base->index) : visited.m_Id);
        Push(std::move(layer));
    }

    /// A convolution's layer of type LayerT with a descriptor of type DescriptorT.
    template <typename LayerT, typename DescriptorT, typename Descriptor>
    void AddConvolution(const Collector::Visited& visited)
    {
        const IConnectableLayer& source = *visited.m_Layer;
        const auto& descriptor = dynamic_cast<const Descriptor&>(source.GetParameters());
        constexpr bool isDepthwise = std::is_same_v<Descriptor, DepthwiseConvolution2dDescriptor>;
        LayerT layer;
        layer.base = MakeBase(visited);
        layer.descriptor = std::make_unique<DescriptorT>();
        DescriptorT& table = *layer.descriptor;
        table.padLeft = descriptor.m_PadLeft;
        table.padRight = descriptor.m_PadRight;
        table.padTop = descriptor.m_PadTop;
        table.padBottom = descriptor.m_PadBottom;
        table.strideX = descriptor.m_StrideX;
        table.strideY = descriptor.m_StrideY;
        table.dilationX = descriptor.m_DilationX;
        table.dilationY = descriptor.m_DilationY;
        table.biasEnabled = descriptor.m_BiasEnabled;
        table.dataLayout = ToLayout(descriptor.m_DataLayout);
        if (descriptor.m_PaddingScheme == PaddingScheme::Same)
        {
            const TensorShape& in = source.GetInputSlot(0).GetTensorInfo().GetShape();
            const TensorShape& out = source.GetOutputSlot(0).GetTensorInfo().GetShape();
            const TensorShape& weights = ConstantAt(source, 1).GetShape();
            std::tie(table.padTop, table.padBottom) =
                SamePads(in[1], out[1], table.strideY, (weights[1] - 1) * table.dilationY + 1);
            std::tie(table.padLeft, table.padRight) =
                SamePads(in[2], out[2], table.strideX, (weights[2] - 1) * table.dilationX + 1);
        }
        if (m_IsOld)
        {
            const ConstTensor& weights = ConstantAt(source, 1);
            layer.weights =
                isDepthwise ? ToOldDepthwise(weights) : ToConstant(weights.GetInfo(), weights.GetMemoryArea());
            const ConstTensor& biases = ConstantAt(source, 2);
            layer.biases = ToConstant(biases.GetInfo(), biases.GetMemoryArea());
        }
        Push(std::move(layer));
    }

    void AddDetection(const Collector::Visited& visited)
    {
        const auto& descriptor = dynamic_cast<const DetectionPostProcessDescriptor&>(visited.m_Layer->GetParameters());
        schema::DetectionPostProcessLayerT layer;
        layer.base = MakeBase(visited);
        layer.descriptor = std::make_unique<schema::DetectionPostProcessDescriptorT>();
        schema::DetectionPostProcessDescriptorT& table = *layer.descriptor;
        table.maxDetections = descriptor.m_MaxDetections;
        table.maxClassesPerDetection = descriptor.m_MaxClassesPerDetection;
        table.detectionsPerClass = descriptor.m_DetectionsPerClass;
        table.nmsScoreThreshold = descriptor.m_NmsScoreThreshold;
        table.nmsIouThreshold = descriptor.m_NmsIouThreshold;
        table.numClasses = descriptor.m_NumClasses;
        table.useRegularNms = descriptor.m_UseRegularNms;
        table.scaleX = descriptor.m_ScaleX;
        table.scaleY = descriptor.m_ScaleY;
        table.scaleW = descriptor.m_ScaleW;
        table.scaleH = descriptor.m_ScaleH;
        const ConstTensor& anchors = ConstantAt(*visited.m_Layer, 2);
        layer.anchors = ToConstant(anchors.GetInfo(), anchors.GetMemoryArea());
        Push(std::move(layer));
    }

    void AddConcat(const Collector::Visited& visited)
    {
        const auto& descriptor = dynamic_cast<const OriginsDescriptor&>(visited.m_Layer->GetParameters());
        const unsigned int rank = visited.m_Layer->GetOutputSlot(0).GetTensorInfo().GetNumDimensions();
        schema::ConcatLayerT layer;
        layer.base = MakeBase(visited);
        layer.descriptor = std::make_unique<schema::OriginsDescriptorT>();
        layer.descriptor->concatAxis = descriptor.GetConcatAxis();
        layer.descriptor->numViews = descriptor.GetNumViews();
        layer.descriptor->numDimensions = rank;
        uint32_t origin = 0;
        for (unsigned int i = 0; i < descriptor.GetNumViews(); ++i)
        {
            auto view = std::make_unique<schema::UintVectorT>();
            view->data.assign(rank, 0);
            view->data.at(descriptor.GetConcatAxis()) = origin;
            origin += visited.m_Layer->GetInputSlot(i).GetTensorInfo().GetShape()[descriptor.GetConcatAxis()];
            layer.descriptor->viewOrigins.push_back(std::move(view));
        }
        Push(std::move(layer));
    }

    void Add(const Collector::Visited& visited)
    {
        const IConnectableLayer& source = *visited.m_Layer;
        switch (source.GetType())
        {
        case LayerType::Input: AddBound<schema::InputLayerT>(visited, m_Tree.inputIds); break;
        case LayerType::Output: AddBound<schema::OutputLayerT>(visited, m_Tree.outputIds); break;
        case LayerType::Constant:
        {
            schema::ConstantLayerT layer;
            layer.base = MakeBase(visited);
            layer.input = ToConstant(visited.m_Constants.at(0).GetInfo(), visited.m_Constants.at(0).GetMemoryArea());
            Push(std::move(layer));
            break;
        }
        case LayerType::Activation:
        {
            const auto& descriptor = dynamic_cast<const ActivationDescriptor&>(source.GetParameters());
            schema::ActivationLayerT layer;
            layer.base = MakeBase(visited);
            layer.descriptor = std::make_unique<schema::ActivationDescriptorT>();
            layer.descriptor->activationFunction = static_cast<schema::ActivationFunction>(descriptor.m_Function);
            layer.descriptor->a = descriptor.m_A;
            layer.descriptor->b = descriptor.m_B;
            Push(std::move(layer));
            break;
        }
        case LayerType::Reshape:
        {
            schema::ReshapeLayerT layer;
            layer.base = MakeBase(visited);
            layer.descriptor = std::make_unique<schema::ReshapeDescriptorT>();
            layer.descriptor->targetShape = Sizes(source.GetOutputSlot(0).GetTensorInfo().GetShape());
            Push(std::move(layer));
            break;
        }
        case LayerType::ElementwiseBinary:
        {
            const auto& descriptor = dynamic_cast<const ElementwiseBinaryDescriptor&>(source.GetParameters());
            schema::ElementwiseBinaryLayerT layer;
            layer.base = MakeBase(visited);
            layer.descriptor = std::make_unique<schema::ElementwiseBinaryDescriptorT>();
            layer.descriptor->operation = static_cast<schema::BinaryOperation>(descriptor.m_Operation);
            Push(std::move(layer));
            break;
        }
        case LayerType::Concat: AddConcat(visited); break;
        case LayerType::Convolution2d:
            AddConvolution<schema::Convolution2dLayerT, schema::Convolution2dDescriptorT, Convolution2dDescriptor>(
                visited);
            break;
        case LayerType::DepthwiseConvolution2d:
            AddConvolution<schema::DepthwiseConvolution2dLayerT, schema::DepthwiseConvolution2dDescriptorT,
                           DepthwiseConvolution2dDescriptor>(visited);
            break;
        case LayerType::DetectionPostProcess: AddDetection(visited); break;
        default:
            throw std::invalid_argument(std::string("layers of type ") + GetLayerTypeAsCString(source.GetType()) +
                                        " are not written");
        }
    }

    bool m_IsOld;
    ArmnnTree m_Tree;
    std::map<const IConnectableLayer*, ConstTensor> m_Constants;
    std::map<const IConnectableLayer*, uint32_t> m_Indices;
};

} // namespace

} // namespace armnn_writer

std::vector<uint8_t> WriteArmnn(const INetwork& network, ArmnnFeatures features)
{
    return armnn_writer::Writer(features).Write(network);
}

} // namespace tenon::test
