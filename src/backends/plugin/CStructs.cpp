// SPDX-License-Identifier: Apache-2.0
// C forms of infos, layers and options: see CStructs.hpp.
#include "backends/plugin/CStructs.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <climits>

#include <cmath>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace tenon::plugin
{

namespace
{

uint32_t RankOf(const TensorShape& shape)
{
    switch (shape.GetDimensionality())
    {
    case Dimensionality::NotSpecified: return TENON_UNKNOWN_RANK;
    case Dimensionality::Scalar: return 0;
    default: return shape.GetNumDimensions();
    }
}

std::vector<int64_t> DimsOf(const TensorShape& shape)
{
    std::vector<int64_t> dims;
    const uint32_t rank = RankOf(shape);
    for (uint32_t i = 0; rank != TENON_UNKNOWN_RANK && i < rank; ++i)
    {
        dims.push_back(shape.GetDimensionSpecificity(i) ? int64_t{shape[i]} : int64_t{TENON_UNKNOWN_DIM});
    }
    return dims;
}

/// The C form of a value. A value that counts as several types becomes a truth value or number rather than a text, an
/// integer rather than a float.
AttributeValue ToValue(const BackendOptions::Var& value)
{
    if (value.IsBool())
    {
        return value.AsBool();
    }
    if (value.IsInt() || value.IsUnsignedInt())
    {
        return std::vector<int64_t>{value.IsInt() ? int64_t{value.AsInt()} : int64_t{value.AsUnsignedInt()}};
    }
    if (value.IsFloat())
    {
        return std::vector<double>{value.AsFloat()};
    }
    return value.AsString();
}

} // namespace

CInfo::CInfo(const TensorInfo& info)
    : m_Dims(DimsOf(info.GetShape())), m_Scales(info.GetQuantizationScales()),
      m_ZeroPoints(info.GetQuantizationOffsets())
{
    m_Info.struct_size = sizeof(m_Info);
    m_Info.type = static_cast<tenon_data_type>(info.GetDataType());
    m_Info.rank = RankOf(info.GetShape());
    m_Info.dims = m_Dims.data();
    m_Info.num_bytes = info.GetShape().AreAllDimensionsSpecified() ? info.GetNumBytes() : 0;
    m_Info.num_scales = static_cast<uint32_t>(m_Scales.size());
    m_Info.scales = m_Scales.data();
    m_Info.num_zero_points = static_cast<uint32_t>(m_ZeroPoints.size());
    m_Info.zero_points = m_ZeroPoints.data();
    m_Info.quantization_dim =
        info.GetQuantizationDim().has_value() ? static_cast<int32_t>(info.GetQuantizationDim().value()) : -1;
    m_Info.is_constant = info.IsConstant() ? 1 : 0;
    m_Info.quantization_block = info.GetQuantizationBlockSize();
}

CAttributes::CAttributes(std::vector<Attribute> attributes) : m_Attributes(std::move(attributes))
{
    for (const Attribute& attribute : m_Attributes)
    {
        tenon_attribute c{};
        c.name = attribute.m_Name.c_str();
        std::visit(
            [&](const auto& value)
            {
                using T = std::decay_t<decltype(value)>;
                if constexpr (std::is_same_v<T, TensorShape>)
                {
                    c.kind = TENON_SHAPE;
                    c.is_unknown_rank = RankOf(value) == TENON_UNKNOWN_RANK ? 1 : 0;
                    m_Shapes.push_back(DimsOf(value));
                    c.count = m_Shapes.back().size();
                    c.values = m_Shapes.back().data();
                }
                else if constexpr (std::is_same_v<T, bool>)
                {
                    c.kind = TENON_BOOL;
                    c.count = 1;
                    c.values = &m_Bools.emplace_back(value ? uint8_t{1} : uint8_t{0});
                }
                else
                {
                    c.kind = std::is_same_v<T, std::vector<int64_t>>  ? TENON_INTS
                             : std::is_same_v<T, std::vector<double>> ? TENON_FLOATS
                             : std::is_same_v<T, std::string>         ? TENON_STRING
                                                                      : TENON_BYTES;
                    c.count = value.size();
                    c.values = value.data();
                }
            },
            attribute.m_Value);
        m_Array.push_back(c);
    }
}

std::vector<Attribute> OptionAttributes(const std::vector<BackendOptions>& options, const BackendId& backend)
{
    std::vector<Attribute> attributes;
    ParseOptions(options, backend,
                 [&](const std::string& name, const BackendOptions::Var& value) {
                     attributes.push_back({name, ToValue(value)});
                 });
    return attributes;
}

CLayer::CLayer(const LayerView& layer)
{
    Fill(layer.m_Type, layer.m_Guid, layer.GetName(), *layer.m_Descriptor, layer.m_Inputs, layer.m_Outputs,
         layer.m_ConstantData, layer.m_FusedActivation);
    for (size_t i = 0; i < layer.GetNumInputs(); ++i)
    {
        m_IsConstant[i] = layer.IsConstant(i) ? 1 : 0; // also where the question comes without values
    }
    m_Layer.blob = static_cast<tenon_plugin_blob*>(const_cast<void*>(layer.m_Blob));
}

CLayer::CLayer(LayerType type, LayerGuid guid, const void* blob, const ReshapeArgs& args)
{
    m_Layer.blob = static_cast<tenon_plugin_blob*>(const_cast<void*>(blob));
    Fill(type, guid, *args.m_Name, *args.m_Descriptor, args.m_Inputs, args.m_Outputs, args.m_ConstantData,
         args.m_FusedActivation);
    m_Layer.max_threads = args.m_MaxThreads == UINT_MAX ? 0 : args.m_MaxThreads;
    m_Layer.output_pitch = args.m_OutputPitch;
}

const tenon_tensor_info* CLayer::Add(const TensorInfo* info)
{
    return info == nullptr ? nullptr : m_Infos.emplace_back(*info).Get();
}

void CLayer::Fill(LayerType type, LayerGuid guid, const std::string& name, const BaseDescriptor& descriptor,
                  Span<const TensorInfo* const> inputs, Span<const TensorInfo* const> outputs,
                  Span<const void* const> constants, const ActivationDescriptor* activation)
{
    m_Name = name;
    m_Attributes.emplace(tenon::ToAttributes(type, descriptor));
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        m_Inputs.push_back(Add(inputs[i]));
        const void* data = i < constants.size() ? constants[i] : nullptr;
        m_Constants.push_back(data);
        m_IsConstant.push_back(data != nullptr ? 1 : 0);
    }
    for (const TensorInfo* output : outputs)
    {
        m_Outputs.push_back(Add(output));
    }
    m_Layer.struct_size = sizeof(m_Layer);
    m_Layer.type = GetLayerTypeAsCString(type);
    m_Layer.name = m_Name.c_str();
    m_Layer.guid = static_cast<uint64_t>(guid);
    m_Layer.num_attributes = m_Attributes->Size();
    m_Layer.attributes = m_Attributes->Get();
    if (activation != nullptr)
    {
        m_Activation.emplace(tenon::ToAttributes(LayerType::Activation, *activation));
        m_Layer.num_activation_attributes = m_Activation->Size();
        m_Layer.activation = m_Activation->Get();
    }
    m_Layer.num_inputs = m_Inputs.size();
    m_Layer.inputs = m_Inputs.data();
    m_Layer.constant_data = m_Constants.data();
    m_Layer.input_is_constant = m_IsConstant.data();
    m_Layer.num_outputs = m_Outputs.size();
    m_Layer.outputs = m_Outputs.data();
}

TensorShape ToShape(uint32_t rank, const int64_t* dims)
{
    if (rank == TENON_UNKNOWN_RANK)
    {
        return TensorShape(Dimensionality::NotSpecified);
    }
    if (rank == 0)
    {
        return TensorShape(Dimensionality::Scalar);
    }
    if (rank > MaxNumOfTensorDimensions || dims == nullptr)
    {
        throw InvalidArgumentException("a shape of rank " + std::to_string(rank) + ", which is above the limit or " +
                                       "without sizes");
    }
    unsigned int sizes[MaxNumOfTensorDimensions] = {};
    bool known[MaxNumOfTensorDimensions] = {};
    for (uint32_t i = 0; i < rank; ++i)
    {
        known[i] = dims[i] != TENON_UNKNOWN_DIM;
        if (known[i] && !std::in_range<unsigned int>(dims[i]))
        {
            throw InvalidArgumentException("a shape with a size of " + std::to_string(dims[i]));
        }
        sizes[i] = known[i] ? static_cast<unsigned int>(dims[i]) : 0;
    }
    return TensorShape(rank, sizes, known);
}

TensorInfo ToInfo(const tenon_tensor_info& info)
{
    if (info.type < 0 || info.type > TENON_COMPLEX128)
    {
        throw InvalidArgumentException("a tensor of type number " + std::to_string(info.type));
    }
    TensorInfo result(ToShape(info.rank, info.dims), static_cast<DataType>(info.type));
    if (info.num_scales != 0)
    {
        result.SetQuantizationScales(std::vector<float>(info.scales, info.scales + info.num_scales));
    }
    if (info.num_zero_points != 0)
    {
        result.SetQuantizationOffsets(std::vector<int32_t>(info.zero_points, info.zero_points + info.num_zero_points));
    }
    if (info.quantization_dim >= 0)
    {
        result.SetQuantizationDim(Optional<unsigned int>(static_cast<unsigned int>(info.quantization_dim)));
    }
    if (info.quantization_block != 0)
    {
        if (!std::in_range<unsigned int>(info.quantization_block))
        {
            throw InvalidArgumentException("blocks of " + std::to_string(info.quantization_block) +
                                           " elements that share a scale");
        }
        result.SetQuantizationBlockSize(static_cast<unsigned int>(info.quantization_block));
    }
    result.SetConstant(info.is_constant != 0);
    return result;
}

std::vector<Attribute> ToAttributes(const tenon_attribute* attributes, size_t count)
{
    std::vector<Attribute> result;
    for (size_t i = 0; i < count; ++i)
    {
        const tenon_attribute& c = attributes[i];
        const auto copy = [&c](auto element)
        {
            using T = decltype(element);
            const auto* values = static_cast<const T*>(c.values);
            return std::vector<T>(values, values + c.count);
        };
        switch (c.kind)
        {
        case TENON_INTS: result.push_back({c.name, copy(int64_t{})}); break;
        case TENON_FLOATS: result.push_back({c.name, copy(double{})}); break;
        case TENON_STRING: result.push_back({c.name, std::string(static_cast<const char*>(c.values), c.count)}); break;
        case TENON_BOOL: result.push_back({c.name, *static_cast<const uint8_t*>(c.values) != 0}); break;
        case TENON_SHAPE:
            result.push_back(
                {c.name, ToShape(c.is_unknown_rank != 0 ? TENON_UNKNOWN_RANK : static_cast<uint32_t>(c.count),
                                 static_cast<const int64_t*>(c.values))});
            break;
        case TENON_BYTES: result.push_back({c.name, copy(uint8_t{})}); break;
        default:
            throw InvalidArgumentException("attribute '" + std::string(c.name) + "' is of kind " +
                                           std::to_string(c.kind));
        }
    }
    return result;
}

std::vector<BackendOptions::BackendOption> ToOptions(const tenon_attribute* attributes, size_t count)
{
    std::vector<BackendOptions::BackendOption> options;
    for (Attribute& attribute : ToAttributes(attributes, count))
    {
        const auto add = [&](BackendOptions::Var value) { options.emplace_back(attribute.m_Name, std::move(value)); };
        // The caller may have given a text that reads as this value.
        const auto addWithText = [&](const BackendOptions::Var& value) { add({value, value.ToString()}); };
        const auto* ints = std::get_if<std::vector<int64_t>>(&attribute.m_Value);
        const auto* floats = std::get_if<std::vector<double>>(&attribute.m_Value);
        if (const auto* truth = std::get_if<bool>(&attribute.m_Value))
        {
            addWithText(*truth);
        }
        else if (const auto* text = std::get_if<std::string>(&attribute.m_Value))
        {
            add(*text);
        }
        else if (floats != nullptr && floats->size() == 1)
        {
            add(floats->front());
        }
        else if (ints != nullptr && ints->size() == 1 && std::in_range<int>(ints->front()))
        {
            addWithText(static_cast<int>(ints->front()));
        }
        else if (ints != nullptr && ints->size() == 1 && std::in_range<unsigned int>(ints->front()))
        {
            addWithText(static_cast<unsigned int>(ints->front()));
        }
        else
        {
            throw InvalidArgumentException("option '" + attribute.m_Name + "' must be one number, truth value or text");
        }
    }
    return options;
}

LayerType LayerTypeOf(const char* name)
{
    static const std::unordered_map<std::string, LayerType> types = {
#define TENON_OP(name, ...) {#name, LayerType::name},
#include <tenon/ops.def>
    };
    const auto found = types.find(name == nullptr ? "" : name);
    if (found == types.end())
    {
        throw InvalidArgumentException("there is no layer type '" + std::string(name == nullptr ? "" : name) + "'");
    }
    return found->second;
}

} // namespace tenon::plugin
