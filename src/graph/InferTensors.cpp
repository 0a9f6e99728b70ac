// SPDX-License-Identifier: Apache-2.0
// InferTensors: see InferTensors.hpp.
#include "graph/InferTensors.hpp"

#include "common/CountBytes.hpp"
#include "graph/FixedShapes.hpp"
#include "graph/Nested.hpp"
#include "graph/Ranks.hpp"

#include <tenon/Descriptors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

TensorInfo InfoOfType(DataType type)
{
    TensorInfo info;
    info.SetDataType(type);
    return info;
}

/// The type of the first input, from input `begin` on, that is connected. Throws where it is a quantized one and the
/// layer does not keep quantizations.
TensorInfo InfoOfFirst(const Layer& layer, unsigned int output, unsigned int begin = 0)
{
    for (unsigned int i = begin; i < layer.Inputs().size(); ++i)
    {
        if (layer.Input(i).GetConnectedOutputSlot() == nullptr)
        {
            continue;
        }
        const TensorInfo info = InfoOfInput(layer, i);
        if (info.IsQuantized() && !layer.GetSchema().Has(OpFlags::Keep))
        {
            throw LayerValidationException(
                fmt::format("{}: the quantization of output {} does not follow from its inputs; call "
                            "GetOutputSlot({}).SetTensorInfo() (the shape may be left unknown)",
                            layer.Describe(), output, output));
        }
        return info;
    }
    return {TensorShape(Dimensionality::NotSpecified), DataType::Float32};
}

/// The rules of column `types`, each for an output of a layer whose descriptor is a D. Throw where the output must be
/// declared.
template <typename D, OutputType Rule>
TensorInfo MakeInfo(const Layer& layer, [[maybe_unused]] unsigned int output)
{
    if constexpr (Rule == OutputType::First)
    {
        return InfoOfFirst(layer, output);
    }
    else if constexpr (Rule == OutputType::Input0)
    {
        return InfoOfInput(layer, 0);
    }
    else if constexpr (Rule == OutputType::Input1)
    {
        return InfoOfInput(layer, 1);
    }
    else if constexpr (Rule == OutputType::Input2)
    {
        return InfoOfInput(layer, 2);
    }
    else if constexpr (Rule == OutputType::Input4)
    {
        return InfoOfInput(layer, 4);
    }
    else if constexpr (Rule == OutputType::Boolean)
    {
        return InfoOfType(DataType::Boolean);
    }
    else if constexpr (Rule == OutputType::Signed32)
    {
        return InfoOfType(DataType::Signed32);
    }
    else if constexpr (Rule == OutputType::Signed64)
    {
        return InfoOfType(DataType::Signed64);
    }
    else if constexpr (Rule == OutputType::Float32)
    {
        return InfoOfType(DataType::Float32);
    }
    else if constexpr (Rule == OutputType::Unsigned8)
    {
        return InfoOfType(DataType::Unsigned8);
    }
    else if constexpr (Rule == OutputType::Named)
    {
        const D& descriptor = layer.Descriptor<D>();
        if constexpr (requires { descriptor.m_IndexType; })
        {
            return InfoOfType(descriptor.m_IndexType);
        }
        else
        {
            return InfoOfType(descriptor.m_Output_Type);
        }
    }
    else if constexpr (Rule == OutputType::Part)
    {
        const DataType whole = layer.Input(0).GetTensorInfo().GetDataType();
        return InfoOfType(whole == DataType::Complex128 ? DataType::Float64 : DataType::Float32);
    }
    else if constexpr (Rule == OutputType::Spectrum)
    {
        return InfoOfType(layer.Descriptor<D>().m_Inverse ? DataType::Float32 : DataType::Complex64);
    }
    else if constexpr (Rule == OutputType::Body0)
    {
        return GetBodyOutputInfo(*layer.Bodies()[0], output);
    }
    else if constexpr (Rule == OutputType::Body1)
    {
        return GetBodyOutputInfo(*layer.Bodies()[1], output);
    }
    else if constexpr (Rule == OutputType::Extremes)
    {
        const ReduceOperation operation = layer.Descriptor<D>().m_ReduceOperation;
        const bool isOneOfInputs = operation == ReduceOperation::Max || operation == ReduceOperation::Min;
        return isOneOfInputs ? InfoOfInput(layer, 0) : InfoOfFirst(layer, output);
    }
    else if constexpr (Rule == OutputType::Updates)
    {
        return InfoOfFirst(layer, output, layer.Descriptor<D>().m_InputEnabled ? 0 : 2);
    }
    else if constexpr (Rule == OutputType::Scores)
    {
        return layer.GetNumOutputSlots() == 3 ? InfoOfInput(layer, 1) : InfoOfType(DataType::Signed32);
    }
    else if constexpr (Rule == OutputType::Initial)
    {
        if (layer.Input(0).GetConnectedOutputSlot() == nullptr)
        {
            throw LayerValidationException(fmt::format(
                "{}: its output must be declared; call GetOutputSlot(0).SetTensorInfo()", layer.Describe()));
        }
        return InfoOfFirst(layer, output);
    }
    else if constexpr (Rule == OutputType::Declared)
    {
        throw LayerValidationException(
            fmt::format("{}: the type of its output does not follow from its inputs; "
                        "call GetOutputSlot(0).SetTensorInfo() (the shape may be left unknown)",
                        layer.Describe()));
    }
    else if constexpr (Rule == OutputType::Bare)
    {
        throw LayerValidationException(fmt::format(
            "{}: its output {} must be declared, with type and shape; call GetOutputSlot({}).SetTensorInfo()",
            layer.Describe(), output, output));
    }
    else
    {
        static_assert(Rule == OutputType::MakersOwn);
        throw LayerValidationException(
            fmt::format("{}: only its maker knows its output {}; call GetOutputSlot({}).SetTensorInfo()",
                        layer.Describe(), output, output));
    }
}

using InfoMaker = TensorInfo (*)(const Layer& layer, unsigned int output);

/// For outputs 0, 1 and all further ones.
template <typename D, OutputTypes Types>
constexpr std::array<InfoMaker, 3> MakersOf = {&MakeInfo<D, Types.m_First>, &MakeInfo<D, Types.m_Second>,
                                               &MakeInfo<D, Types.m_Others>};

/// Type and quantization of an output that nobody declared. Throws where they do not follow from the layer.
TensorInfo DefaultInfo(const Layer& layer, unsigned int output)
{
    using enum OutputType;
    static constexpr std::array<InfoMaker, 3> makers[] = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, ...)           \
    MakersOf<descriptor, OutputTypes(types)>,
#include <tenon/ops.def>
    };
    return makers[static_cast<size_t>(layer.GetType())][std::min(output, 2U)](layer, output);
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

/// Rank of output 0 where it is fixed by the operator, that of input 0 or the higher one of two that are broadcast; 0
/// where it is none of these or not known.
unsigned int KnownRank(const Layer& layer)
{
    const unsigned int fixed = GetFixedRank(layer);
    const bool isBroadcast = layer.GetSchema().Has(OpFlags::Broadcast);
    if (fixed != 0 || (!KeepsRank(layer) && !isBroadcast))
    {
        return fixed;
    }
    unsigned int rank = 0;
    for (unsigned int i = 0; i < (isBroadcast ? 2U : 1U); ++i)
    {
        const TensorShape& input = layer.Input(i).GetTensorInfo().GetShape();
        if (input.GetDimensionality() == Dimensionality::NotSpecified)
        {
            return 0;
        }
        rank = std::max(rank, input.GetNumDimensions());
    }
    return rank;
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

/// The inferred shape, whose unknown sizes become the declared ones. Where the ranks differ, the inferred
/// one stays.
TensorShape FillUnknown(TensorShape inferred, const TensorShape& declared)
{
    if (inferred.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return declared;
    }
    const bool hasSameRank = declared.GetDimensionality() == Dimensionality::Specified &&
                             declared.GetNumDimensions() == inferred.GetNumDimensions();
    for (unsigned int i = 0; hasSameRank && i < inferred.GetNumDimensions(); ++i)
    {
        if (!inferred.GetDimensionSpecificity(i) && declared.GetDimensionSpecificity(i))
        {
            inferred.SetDimensionSize(i, declared[i]);
        }
    }
    return inferred;
}

/// Calls `function` with each Output layer.
template <typename G, typename Function>
void ForEachOutput(G& graph, Function function)
{
    for (size_t i = 0; i < graph.Size(); ++i)
    {
        if (graph.Types()[i] == LayerType::Output)
        {
            function(*graph.Layers()[i]);
        }
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
            shapes.assign(layer->GetNumOutputSlots(), TensorShape(Dimensionality::NotSpecified));
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
                    // A declared shape might be stale: the shape is known in the run only, but for its rank. Outputs of
                    // the network get the declared shape back in the end: see DeclaredOutputs.
                    const unsigned int rank = i == 0 ? KnownRank(*layer) : 0;
                    layer->Output(i).EditTensorInfo().SetShape(rank == 0 ? TensorShape(Dimensionality::NotSpecified)
                                                                         : TensorShape(rank, false));
                }
            }
        }
        for (const OutputSlot& output : layer->Outputs())
        {
            CheckTensorLimits(*layer, output.GetTensorInfo(), options.GetLimits());
        }
    }
}

DeclaredOutputs::DeclaredOutputs(const Graph& graph)
{
    ForEachOutput(graph,
                  [this](const Layer& layer)
                  {
                      const OutputSlot* const source = layer.Input(0).GetConnectedOutputSlot();
                      if (source != nullptr && source->IsTensorInfoSet())
                      {
                          m_Shapes.emplace(layer.GetBindingId(), source->GetTensorInfo().GetShape());
                      }
                  });
}

void DeclaredOutputs::Fill(Graph& graph, const Limits& limits) const
{
    ForEachOutput(graph,
                  [&](Layer& layer)
                  {
                      const auto declared = m_Shapes.find(layer.GetBindingId());
                      OutputSlot& source = *layer.Input(0).GetConnectedOutputSlot();
                      const TensorShape& inferred = source.GetTensorInfo().GetShape();
                      // A workload that gives its own shapes is not asked again where all of them seem known.
                      if (declared != m_Shapes.end() && !inferred.AreAllDimensionsSpecified() &&
                          !source.GetOwningLayer().HasDataDependentShapes())
                      {
                          source.EditTensorInfo().SetShape(FillUnknown(inferred, declared->second));
                          CheckTensorLimits(source.GetOwningLayer(), source.GetTensorInfo(), limits);
                      }
                  });
}

} // namespace tenon
