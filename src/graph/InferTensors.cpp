// SPDX-License-Identifier: Apache-2.0
// InferTensors: see InferTensors.hpp.
#include "graph/InferTensors.hpp"

#include "common/CountBytes.hpp"
#include "graph/FixedShapes.hpp"
#include "graph/Nested.hpp"
#include "graph/Ranks.hpp"

#include <fmt/format.h>

#include <vector>

namespace tenon
{

namespace
{

/// The type and quantization of an input, which must be connected.
TensorInfo InfoOfInput(const Layer& layer, unsigned int input)
{
    const TensorInfo& source = layer.Input(input).GetTensorInfo();
    TensorInfo info;
    info.SetDataType(source.GetDataType());
    info.CopyQuantization(source);
    return info;
}

/// Type and quantization of an output that nobody declared. Throws where they do not follow from the layer.
TensorInfo DefaultInfo(const Layer& layer, unsigned int output)
{
    TensorInfo info;
    switch (layer.GetType())
    {
    case LayerType::Comparison:
    case LayerType::LogicalBinary: info.SetDataType(DataType::Boolean); return info;
    case LayerType::Bucketize:
    case LayerType::Shape:
    case LayerType::Rank: info.SetDataType(DataType::Signed32); return info;
    case LayerType::ArgMinMax: info.SetDataType(layer.Descriptor<ArgMinMaxDescriptor>().m_Output_Type); return info;
    case LayerType::ComplexPart:
        info.SetDataType(layer.Input(0).GetTensorInfo().GetDataType() == DataType::Complex128 ? DataType::Float64
                                                                                              : DataType::Float32);
        return info;
    case LayerType::RealFft2d:
        info.SetDataType(layer.Descriptor<RealFft2dDescriptor>().m_Inverse ? DataType::Float32 : DataType::Complex64);
        return info;
    case LayerType::Multinomial: info.SetDataType(DataType::Signed64); return info;
    case LayerType::Dequantize:
    case LayerType::DetectionPostProcess:
    case LayerType::Random: info.SetDataType(DataType::Float32); return info;
    case LayerType::If: info = GetBodyOutputInfo(*layer.Bodies()[0], output); return info;
    case LayerType::While: info = GetBodyOutputInfo(*layer.Bodies()[1], output); return info;
    case LayerType::Where: info.SetDataType(DataType::Signed64); return info;
    case LayerType::Range: return InfoOfInput(layer, 0);
    case LayerType::EmbeddingLookup:
    case LayerType::Select: return InfoOfInput(layer, 1);
    case LayerType::OneHot:
    case LayerType::SparseToDense: return InfoOfInput(layer, 2);
    case LayerType::EmbeddingLookupSparse: return InfoOfInput(layer, 4);
    case LayerType::HashtableLookup:
        if (output == 0)
        {
            return InfoOfInput(layer, 2);
        }
        info.SetDataType(DataType::Unsigned8);
        return info;
    case LayerType::NonMaxSuppression:
        if (output == 1 && layer.GetNumOutputSlots() == 3)
        {
            return InfoOfInput(layer, 1);
        }
        info.SetDataType(DataType::Signed32);
        return info;
    case LayerType::Reduce:
        switch (layer.Descriptor<ReduceDescriptor>().m_ReduceOperation)
        {
        case ReduceOperation::Max:
        case ReduceOperation::Min: return InfoOfInput(layer, 0); // some of its values
        default: break;
        }
        break;
    case LayerType::TopK:
        if (output == 1)
        {
            info.SetDataType(DataType::Signed32);
            return info;
        }
        break;
    case LayerType::Unique:
        if (output == 1)
        {
            info.SetDataType(layer.Descriptor<UniqueDescriptor>().m_IndexType);
            return info;
        }
        break;
    case LayerType::Table:
        info.SetDataType(layer.Input(1).GetTensorInfo().GetDataType());
        info.CopyQuantization(layer.Input(1).GetTensorInfo());
        return info;
    case LayerType::RngBitGenerator:
        if (output == 0)
        {
            break;
        }
        throw GraphValidationException(
            fmt::format("{}: its output 1 must be declared, with type and shape; call GetOutputSlot(1).SetTensorInfo()",
                        layer.Describe()));
    case LayerType::Bitcast:
    case LayerType::Cast:
    case LayerType::Quantize:
    case LayerType::Fill:
        throw GraphValidationException(
            fmt::format("{}: the type of its output does not follow from its inputs; "
                        "call GetOutputSlot(0).SetTensorInfo() (the shape may be left unknown)",
                        layer.Describe()));
    case LayerType::PreCompiled:
        throw GraphValidationException(
            fmt::format("{}: only its maker knows its output {}; call GetOutputSlot({}).SetTensorInfo()",
                        layer.Describe(), output, output));
    case LayerType::ReadState:
        if (layer.Input(0).GetConnectedOutputSlot() == nullptr)
        {
            throw GraphValidationException(fmt::format("{}: its output must be declared; call "
                                                       "GetOutputSlot(0).SetTensorInfo()",
                                                       layer.Describe()));
        }
        break;
    default: break;
    }
    const bool isLikeUpdates =
        layer.GetType() == LayerType::ScatterNd && !layer.Descriptor<ScatterNdDescriptor>().m_InputEnabled;
    for (unsigned int i = isLikeUpdates ? 2 : 0; i < layer.Inputs().size(); ++i)
    {
        const InputSlot& input = layer.Input(i);
        if (input.GetConnectedOutputSlot() != nullptr)
        {
            info.SetDataType(input.GetTensorInfo().GetDataType());
            if (info.IsQuantized() && !layer.GetSchema().Has(OpFlags::Keep))
            {
                throw GraphValidationException(
                    fmt::format("{}: the quantization of output {} does not follow from its inputs; call "
                                "GetOutputSlot({}).SetTensorInfo() (the shape may be left unknown)",
                                layer.Describe(), output, output));
            }
            info.CopyQuantization(input.GetTensorInfo());
            break;
        }
    }
    return info;
}

std::vector<unsigned int> WithoutOnes(const TensorShape& shape)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        if (shape[i] != 1)
        {
            sizes.push_back(shape[i]);
        }
    }
    return sizes;
}

/// Rank of output 0 where it is fixed by the operator or that of input 0; 0 where it is neither or not known.
unsigned int KnownRank(const Layer& layer)
{
    const unsigned int fixed = GetFixedRank(layer);
    if (fixed != 0 || !KeepsRank(layer))
    {
        return fixed;
    }
    const TensorShape& input = layer.Input(0).GetTensorInfo().GetShape();
    return input.GetDimensionality() == Dimensionality::Specified ? input.GetNumDimensions() : 0;
}

/// Throws where an override of an input speaks of other bytes than those that the input gets.
void CheckOverrides(const Layer& layer)
{
    for (const InputSlot& input : layer.Inputs())
    {
        const OutputSlot* source = input.GetConnectedOutputSlot();
        if (source == nullptr || !input.IsTensorInfoOverridden())
        {
            continue;
        }
        const TensorInfo& given = source->GetTensorInfo();
        const TensorInfo& wanted = input.GetTensorInfo();
        const bool known =
            given.GetShape().AreAllDimensionsSpecified() && wanted.GetShape().AreAllDimensionsSpecified();
        if (GetDataTypeBits(given.GetDataType()) != GetDataTypeBits(wanted.GetDataType()) ||
            (known && given.GetNumElements() != wanted.GetNumElements()))
        {
            throw LayerValidationException(fmt::format(
                "{}: the info that overrides its input {}, {}, speaks of other bytes than {}, which it gets",
                layer.Describe(), input.GetSlotIndex(), wanted.ToString(), given.ToString()));
        }
    }
}

void SetShape(const Layer& layer, OutputSlot& output, const TensorShape& inferred,
              const OptimizerOptionsOpaque& options, std::vector<std::string>& messages)
{
    TensorInfo& info = output.EditTensorInfo();
    if (Agrees(info.GetShape(), inferred))
    {
        info.SetShape(inferred);
        return;
    }
    const std::string text =
        fmt::format("{}: output {} is declared {} but its inputs give {}", layer.Describe(),
                    output.CalculateIndexOnOwner(), info.GetShape().ToString(), inferred.ToString());
    const bool tolerated = options.GetAllowExpandedDims() && info.GetShape().AreAllDimensionsSpecified() &&
                           WithoutOnes(info.GetShape()) == WithoutOnes(inferred);
    if (options.GetShapeInferenceMethod() == ShapeInferenceMethod::ValidateOnly && !tolerated)
    {
        throw LayerValidationException(
            text + "; correct the declaration, leave the shape unknown, or use ShapeInferenceMethod::InferAndValidate");
    }
    messages.push_back("WARNING: " + text + "; the inferred shape is used");
    info.SetShape(inferred);
}

void CheckTensorLimits(const Layer& layer, const TensorInfo& info, const Limits& limits)
{
    if (!info.GetShape().AreAllDimensionsSpecified())
    {
        return;
    }
    if (info.GetNumDimensions() > limits.m_MaxRank)
    {
        throw LimitExceededException(fmt::format("{}: rank {} is above the limit of {}; raise Limits::m_MaxRank",
                                                 layer.Describe(), info.GetNumDimensions(), limits.m_MaxRank));
    }
    const size_t bytes = CountBytes(info, [&] { return layer.Describe(); });
    if (bytes > limits.m_MaxTensorBytes)
    {
        throw LimitExceededException(
            fmt::format("{}: an output of {} bytes ({}) is above the limit of {}; raise Limits::m_MaxTensorBytes",
                        layer.Describe(), bytes, info.ToString(), limits.m_MaxTensorBytes));
    }
}

} // namespace

void InferTensors(Graph& graph, const OptimizerOptionsOpaque& options, std::vector<std::string>& messages)
{
    std::vector<const TensorInfo*> infos;
    std::vector<const void*> values;
    std::vector<TensorShape> shapes;
    for (Layer* layer : graph.TopologicalOrder())
    {
        for (OutputSlot& output : layer->Outputs())
        {
            if (!output.IsTensorInfoSet())
            {
                output.SetTensorInfo(DefaultInfo(*layer, output.CalculateIndexOnOwner()));
            }
        }
        CheckOverrides(*layer);
        if (layer->GetType() != LayerType::Input && layer->GetType() != LayerType::Constant)
        {
            layer->CollectInputInfos(infos);
            values.assign(infos.size(), nullptr);
            for (unsigned int i = 0; i < infos.size(); ++i)
            {
                values[i] = layer->GetConstantInput(i);
            }
            shapes.assign(layer->GetNumOutputSlots(), TensorShape());
            if (CanInferShapes(*layer, infos, values))
            {
                InferShapes(*layer, infos, values, shapes);
            }
            for (unsigned int i = 0; i < shapes.size(); ++i)
            {
                const TensorShape* target = FindTargetShape(*layer);
                if (shapes[i].AreAllDimensionsSpecified())
                {
                    SetShape(*layer, layer->Output(i), shapes[i], options, messages);
                }
                else if (target != nullptr)
                {
                    SetShape(*layer, layer->Output(i), *target, options, messages);
                }
                else
                {
                    // A declared shape might be stale: what the run will give is known only then, but for its rank.
                    const unsigned int rank = i == 0 ? KnownRank(*layer) : 0;
                    layer->Output(i).EditTensorInfo().SetShape(rank == 0 ? TensorShape() : TensorShape(rank, false));
                }
            }
        }
        for (const OutputSlot& output : layer->Outputs())
        {
            CheckTensorLimits(*layer, output.GetTensorInfo(), options.GetLimits());
        }
    }
}

} // namespace tenon
