// SPDX-License-Identifier: Apache-2.0
// NodeModel: see NodeModel.hpp.
#include "delegate/NodeModel.hpp"

#include "delegate/BuiltinData.hpp"
#include "parsers/tflite/OptionsReader.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace tenon::test
{

namespace
{

using delegate::BuiltinField;
using delegate::BuiltinKind;
using parsers::Attribute;

/// A runtime that knows all members of all structs.
constexpr int32_t NewestVersion = 99;

TfLiteType ToRuntimeType(int64_t type)
{
    for (int32_t number = kTfLiteFloat32; number <= kTfLiteFloat8E5M2; ++number)
    {
        if (delegate::ToFileType(static_cast<TfLiteType>(number)) == type)
        {
            return static_cast<TfLiteType>(number);
        }
    }
    return kTfLiteNoType;
}

size_t BytesOf(BuiltinKind kind)
{
    constexpr size_t room = 8;
    switch (kind)
    {
    case BuiltinKind::Flag: return sizeof(bool);
    case BuiltinKind::Int64: return sizeof(int64_t);
    case BuiltinKind::Ints: return room * sizeof(int32_t);
    case BuiltinKind::Int64s:
    case BuiltinKind::RankInt64s: return room * sizeof(int64_t);
    case BuiltinKind::PairsInt64s: return 2 * room * sizeof(int64_t);
    case BuiltinKind::Reals: return sizeof(const float*);
    default: return sizeof(int32_t);
    }
}

/// The defaults in tflite.fbs that are not 0.
int64_t DefaultOf(const std::string& option, int32_t code)
{
    const bool isOne =
        option.starts_with("dilation_") || option == "pot_scale_int16" ||
        (option == "time_major" && code == static_cast<int32_t>(ModelBuilder::Operator::BIDIRECTIONAL_SEQUENCE_LSTM));
    return isOne ? 1 : option == "idx_out_type" ? static_cast<int64_t>(ModelBuilder::Type::INT32) : 0;
}

template <typename T>
void Store(std::vector<uint8_t>& bytes, size_t offset, T value)
{
    std::memcpy(&bytes.at(offset + sizeof(T) - 1) - (sizeof(T) - 1), &value, sizeof(T));
}

template <typename T>
void StoreList(std::vector<uint8_t>& bytes, size_t offset, const std::vector<int64_t>& values)
{
    for (size_t i = 0; i < values.size(); ++i)
    {
        Store(bytes, offset + i * sizeof(T), static_cast<T>(values[i]));
    }
}

std::vector<int32_t> ToInts(const schema::SparseIndexVectorUnion& list)
{
    if (const auto* values = list.AsInt32Vector())
    {
        return values->values;
    }
    if (const auto* values = list.AsUint16Vector())
    {
        return {values->values.begin(), values->values.end()};
    }
    const auto* values = list.AsUint8Vector();
    return values != nullptr ? std::vector<int32_t>(values->values.begin(), values->values.end())
                             : std::vector<int32_t>();
}

} // namespace

NodeModel::NodeModel(const ModelBuilder& model)
    : m_Model(model), m_File(tflite::Model::FromCopy(model.Build(), Limits()))
{
    for (size_t subgraph = 0; subgraph < m_Model.Model().subgraphs.size(); ++subgraph)
    {
        const schema::SubGraphT& source = *m_Model.Model().subgraphs[subgraph];
        Graph& graph = m_Graphs.emplace_back();
        graph.m_IsComputed.resize(source.tensors.size());
        for (const auto& tensor : source.tensors)
        {
            AddTensor(graph, *tensor);
        }
        std::vector<int32_t> plan;
        for (size_t i = 0; i < source.operators.size(); ++i)
        {
            AddNode(graph, subgraph, i);
            plan.push_back(static_cast<int32_t>(i));
        }
        graph.m_Plan = MakeIntArray(plan);
        graph.m_Context.impl_ = this;
        graph.m_Context.tensors_size = graph.m_Tensors.size();
        graph.m_Context.tensors = graph.m_Tensors.data();
        graph.m_Context.GetExecutionPlan = [](TfLiteContext* context, TfLiteIntArray** got)
        {
            for (Graph& each : static_cast<NodeModel*>(context->impl_)->m_Graphs)
            {
                *got = &each.m_Context == context ? each.m_Plan.get() : *got;
            }
            return kTfLiteOk;
        };
        graph.m_Context.GetNodeAndRegistration =
            [](TfLiteContext* context, int32_t node, TfLiteNode** nodeOut, TfLiteRegistration** registration)
        {
            for (Graph& each : static_cast<NodeModel*>(context->impl_)->m_Graphs)
            {
                if (&each.m_Context == context)
                {
                    *nodeOut = &each.m_Nodes.at(static_cast<size_t>(node));
                    *registration = &each.m_Registrations.at(static_cast<size_t>(node));
                }
            }
            return kTfLiteOk;
        };
        graph.m_Context.AcquireSubgraphContext = [](TfLiteContext* context, int32_t wanted, TfLiteContext** acquired)
        {
            auto& graphs = static_cast<NodeModel*>(context->impl_)->m_Graphs;
            if (wanted < 0 || static_cast<size_t>(wanted) >= graphs.size())
            {
                return kTfLiteError;
            }
            *acquired = &graphs[static_cast<size_t>(wanted)].m_Context;
            return kTfLiteOk;
        };
        graph.m_Context.ReleaseSubgraphContext = [](TfLiteContext*, int32_t) { return kTfLiteOk; };
    }
}

TfLiteIntArray* NodeModel::Keep(const std::vector<int32_t>& values)
{
    return m_Arrays.emplace_back(MakeIntArray(values)).get();
}

TfLiteSparsity* NodeModel::Keep(const schema::SparsityParametersT& sparsity)
{
    std::vector<TfLiteDimensionMetadata>& levels = m_Levels.emplace_back();
    for (const auto& level : sparsity.dim_metadata)
    {
        levels.push_back({static_cast<TfLiteDimensionType>(level->format), level->dense_size,
                          Keep(ToInts(level->array_segments)), Keep(ToInts(level->array_indices))});
    }
    return &m_Sparsities.emplace_back(TfLiteSparsity{Keep(sparsity.traversal_order), Keep(sparsity.block_map),
                                                     levels.data(), static_cast<int32_t>(levels.size())});
}

void NodeModel::AddTensor(Graph& graph, const schema::TensorT& source)
{
    TfLiteTensor tensor{};
    tensor.type = ToRuntimeType(static_cast<int64_t>(source.type));
    tensor.name = source.name.c_str();
    tensor.dims = Keep(source.shape);
    tensor.dims_signature = source.shape_signature.empty() ? nullptr : Keep(source.shape_signature);
    tensor.is_variable = source.is_variable;
    tensor.allocation_type = source.is_variable ? kTfLiteArenaRwPersistent : kTfLiteArenaRw;
    const auto& buffer = m_Model.Model().buffers.at(source.buffer);
    if (source.buffer != 0 && !buffer->data.empty())
    {
        tensor.allocation_type = kTfLiteMmapRo;
        tensor.data = buffer->data.data();
        tensor.bytes = buffer->data.size();
        tensor.sparsity = source.sparsity != nullptr ? Keep(*source.sparsity) : nullptr;
    }
    if (source.quantization != nullptr && !source.quantization->scale.empty())
    {
        const auto& from = *source.quantization;
        m_FloatArrays.push_back(MakeArray<TfLiteFloatArray>(from.scale));
        const std::vector<int32_t> zeroPoints(from.zero_point.begin(), from.zero_point.end());
        m_Quantizations.push_back({m_FloatArrays.back().get(), Keep(zeroPoints), from.quantized_dimension});
        tensor.quantization = {kTfLiteAffineQuantization, &m_Quantizations.back()};
        if (from.scale.size() == 1)
        {
            tensor.params = {from.scale.front(), zeroPoints.empty() ? 0 : zeroPoints.front()};
        }
    }
    graph.m_Tensors.push_back(tensor);
}

void NodeModel::AddNode(Graph& graph, size_t subgraph, size_t index)
{
    const schema::OperatorT& source = *m_Model.Model().subgraphs[subgraph]->operators[index];
    const schema::OperatorCodeT& code = *m_Model.Model().operator_codes.at(source.opcode_index);
    TfLiteRegistration registration{};
    registration.builtin_code =
        std::max(static_cast<int32_t>(code.builtin_code), int32_t{code.deprecated_builtin_code});
    registration.custom_name = code.custom_code.empty() ? nullptr : code.custom_code.c_str();
    registration.version = registration.builtin_code == delegate::CustomCode ? code.version : NewestVersion;
    TfLiteNode node{};
    node.inputs = Keep(source.inputs);
    node.outputs = Keep(source.outputs);
    node.intermediates = Keep(source.intermediates);
    if (registration.builtin_code == delegate::CustomCode)
    {
        node.custom_initial_data = source.custom_options.data();
        node.custom_initial_data_size = static_cast<int32_t>(source.custom_options.size());
    }
    else
    {
        const schema::Operator& stored =
            *m_File.Subgraph(subgraph).operators()->Get(static_cast<flatbuffers::uoffset_t>(index));
        node.builtin_data = Pack(ReadOptions(m_File, stored, registration.builtin_code), registration.builtin_code);
    }
    for (const int32_t output : source.outputs)
    {
        if (output >= 0 && static_cast<size_t>(output) < graph.m_IsComputed.size())
        {
            graph.m_IsComputed[static_cast<size_t>(output)] = true;
        }
    }
    graph.m_Nodes.push_back(node);
    graph.m_Registrations.push_back(registration);
}

void* NodeModel::Pack(const parsers::AttributeList& options, int32_t code)
{
    const Span<const BuiltinField> fields = delegate::FieldsOf(code);
    if (!options.m_IsPresent || fields.empty())
    {
        return nullptr;
    }
    size_t size = 0;
    for (const BuiltinField& field : fields)
    {
        size = std::max(size, field.m_Offset + BytesOf(field.m_Kind));
        size = std::max(size, field.m_CounterOffset + sizeof(int32_t));
    }
    std::vector<uint8_t>& bytes = m_Structs.emplace_back(size);
    for (const BuiltinField& field : fields)
    {
        const auto found = std::find_if(options.m_Attributes.begin(), options.m_Attributes.end(),
                                        [&](const Attribute& option) { return option.m_Name == field.m_Name; });
        const Attribute option = found != options.m_Attributes.end() ? *found : Attribute();
        int64_t number = DefaultOf(field.m_Name, code);
        if (option.m_IsSet && std::holds_alternative<bool>(option.m_Value))
        {
            number = std::get<bool>(option.m_Value) ? 1 : 0;
        }
        else if (option.m_IsSet && std::holds_alternative<int64_t>(option.m_Value))
        {
            number = std::get<int64_t>(option.m_Value);
        }
        const auto* real = std::get_if<double>(&option.m_Value);
        const auto* ints = std::get_if<std::vector<int64_t>>(&option.m_Value);
        const auto* reals = std::get_if<std::vector<double>>(&option.m_Value);
        switch (field.m_Kind)
        {
        case BuiltinKind::Flag: Store(bytes, field.m_Offset, static_cast<uint8_t>(number)); break;
        case BuiltinKind::Int: Store(bytes, field.m_Offset, static_cast<int32_t>(number)); break;
        case BuiltinKind::Int64: Store(bytes, field.m_Offset, number); break;
        case BuiltinKind::Real: Store(bytes, field.m_Offset, static_cast<float>(real != nullptr ? *real : 0)); break;
        case BuiltinKind::Type: Store(bytes, field.m_Offset, static_cast<int32_t>(ToRuntimeType(number))); break;
        case BuiltinKind::Padding:
        case BuiltinKind::MirrorMode:
        case BuiltinKind::RngAlgorithm: Store(bytes, field.m_Offset, static_cast<int32_t>(number + 1)); break;
        case BuiltinKind::Ints:
            StoreList<int32_t>(bytes, field.m_Offset, *ints);
            Store(bytes, field.m_CounterOffset, static_cast<int32_t>(ints->size()));
            break;
        case BuiltinKind::Int64s:
            StoreList<int64_t>(bytes, field.m_Offset, *ints);
            Store(bytes, field.m_CounterOffset, static_cast<int32_t>(ints->size()));
            break;
        case BuiltinKind::RankInt64s:
        case BuiltinKind::PairsInt64s: StoreList<int64_t>(bytes, field.m_Offset, *ints); break;
        case BuiltinKind::Reals:
            m_Floats.emplace_back(reals->begin(), reals->end());
            Store(bytes, field.m_Offset, static_cast<const float*>(m_Floats.back().data()));
            Store(bytes, field.m_CounterOffset, static_cast<int32_t>(reals->size()));
            break;
        }
    }
    return bytes.data();
}

INetworkPtr NodeModel::MakeNetwork(bool inferShapes)
{
    delegate::TensorScope tensors(Context(), IsComputed(), inferShapes, Limits());
    for (size_t i = 0; i < m_Graphs.front().m_Tensors.size(); ++i)
    {
        tensors.Get(static_cast<int32_t>(i)); // gets the number that it has in the file
    }
    delegate::ContextSubgraphs subgraphs(Context());
    tflite::Construction construction{Limits()};
    construction.m_Subgraphs = &subgraphs;
    tflite::NetworkState state;
    tflite::NetworkBuilder builder(construction, state, 0, tensors.Size());
    const schema::SubGraphT& source = *m_Model.Model().subgraphs.front();
    LayerBindingId id = 0;
    for (const int32_t input : source.inputs)
    {
        const parsers::TensorView& view = tensors.Get(input);
        if (!view.m_IsConstant)
        {
            builder.AddInput(view, id++, view.m_Name);
        }
    }
    std::deque<parsers::OperatorView> operators;
    for (size_t i = 0; i < NumNodes(); ++i)
    {
        const tflite::OperatorRow* row = delegate::FindRow(Registration(i));
        operators.push_back(ReadNode(tensors, Node(i), Registration(i), static_cast<int32_t>(i)));
        parsers::AddOperator(*row, operators.back(), builder);
    }
    id = 0;
    for (const int32_t output : source.outputs)
    {
        const parsers::TensorView& view = tensors.Get(output);
        builder.AddOutput(view, id++, view.m_Name);
    }
    builder.WriteStates();
    return std::move(state.m_Network);
}

std::string ToJson(const INetwork& network)
{
    std::ostringstream stream;
    network.SerializeToJson(stream);
    const std::string text = stream.str();
    const std::string mark = "\"guid\": ";
    std::map<std::string, size_t> places;
    std::string result;
    size_t from = 0;
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, from))
    {
        const size_t end = text.find_first_not_of("0123456789", at + mark.size());
        const size_t place =
            places.emplace(text.substr(at + mark.size(), end - at - mark.size()), places.size()).first->second;
        result += text.substr(from, at + mark.size() - from) + std::to_string(place);
        from = end;
    }
    return result + text.substr(from);
}

} // namespace tenon::test
