// SPDX-License-Identifier: Apache-2.0
// Messages: see Messages.hpp.
#include "parsers/onnx/Messages.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

namespace tenon::onnx
{

namespace
{

using protozero::pbf_reader;
using protozero::pbf_wire_type;

static_assert(std::endian::native == std::endian::little, "numbers of fixed width are used as they are in the file");

/// How deep messages may lie within one another for any reason: types of sequences of sequences, and so on.
constexpr unsigned int MaxTypeNesting = 16;

std::string_view ToView(protozero::data_view view)
{
    return {view.data(), view.size()};
}

class MessageReader
{
public:
    MessageReader(size_t fileBytes, const Limits& limits) : m_Limits(limits), m_MaxMemory(GetMaxMemory(fileBytes)) {}

    void Read(pbf_reader reader, ModelMessage& model)
    {
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: Scalar(reader, "ModelProto.ir_version", model.m_IrVersion); break;
            case 2: model.m_ProducerName = Bytes(reader, "ModelProto.producer_name"); break;
            case 3: model.m_ProducerVersion = Bytes(reader, "ModelProto.producer_version"); break;
            case 4: model.m_Domain = Bytes(reader, "ModelProto.domain"); break;
            case 5: Scalar(reader, "ModelProto.model_version", model.m_ModelVersion); break;
            case 6: model.m_DocString = Bytes(reader, "ModelProto.doc_string"); break;
            case 7:
                if (!model.m_Graph.has_value())
                {
                    model.m_Graph.emplace();
                }
                Read(Message(reader, "ModelProto.graph"), *model.m_Graph);
                break;
            case 8: ReadOpset(Message(reader, "ModelProto.opset_import"), model.m_Opsets); break;
            case 14:
            {
                const auto [key, value] = ReadPair(Message(reader, "ModelProto.metadata_props"));
                Append(model.m_Metadata, {key, value});
                break;
            }
            case 25: Read(Message(reader, "ModelProto.functions"), Append(model.m_Functions)); break;
            default: Skip(reader);
            }
        }
    }

private:
    // An empty message takes two bytes of the file, and a hundred times that of memory; a short name eight times that.

    /// An entry of a map, with its links.
    static constexpr size_t MapNode = 96;

    static uint64_t GetMaxMemory(uint64_t fileBytes)
    {
        return std::clamp(fileBytes * 64, uint64_t{1} << 20, uint64_t{1} << 31);
    }

    void Charge(size_t bytes)
    {
        m_Memory += bytes;
        if (m_Memory > m_MaxMemory)
        {
            throw ParseException(fmt::format("the model has so many messages with little in them, or lists of short "
                                             "names, that reading it would take more than {} bytes",
                                             m_MaxMemory));
        }
    }

    /// One more message in a list.
    template <typename T>
    T& Append(std::vector<T>& list)
    {
        Charge(sizeof(T));
        return list.emplace_back();
    }

    /// One more name, or the like, in a list.
    template <typename T>
    void Append(std::vector<T>& list, const T& value)
    {
        Charge(sizeof(T));
        list.push_back(value);
    }

    // Reading one field. A field of another wire type than its own is an error; protozero asks its caller to check.

    [[noreturn]] static void FailWireType(const char* field)
    {
        throw ParseException(fmt::format("{} has another wire type than its own", field));
    }

    static void Skip(pbf_reader& reader) { reader.skip(); }

    static pbf_reader Message(pbf_reader& reader, const char* field) { return pbf_reader(reader_view(reader, field)); }

    static protozero::data_view reader_view(pbf_reader& reader, const char* field)
    {
        if (reader.wire_type() != pbf_wire_type::length_delimited)
        {
            FailWireType(field);
        }
        return reader.get_view();
    }

    static std::string_view Bytes(pbf_reader& reader, const char* field) { return ToView(reader_view(reader, field)); }

    static void Scalar(pbf_reader& reader, const char* field, int64_t& value)
    {
        if (reader.wire_type() != pbf_wire_type::varint)
        {
            FailWireType(field);
        }
        value = reader.get_int64();
    }

    static int32_t Enumerator(pbf_reader& reader, const char* field)
    {
        int64_t value = 0;
        Scalar(reader, field, value);
        return static_cast<int32_t>(value);
    }

    /// A repeated field of varints, packed or one at a time.
    void Varints(pbf_reader& reader, const char* field, std::vector<int64_t>& values)
    {
        if (reader.wire_type() == pbf_wire_type::varint)
        {
            Append(values, reader.get_int64());
            return;
        }
        const std::vector<int64_t> more = DecodeVarints({Bytes(reader, field)});
        Charge(more.size() * sizeof(int64_t));
        values.insert(values.end(), more.begin(), more.end());
    }

    /// The encoded bytes of a repeated field of numbers, packed or one at a time.
    void Encoded(pbf_reader& reader, const char* field, pbf_wire_type wireType, Chunks& chunks)
    {
        if (reader.wire_type() == pbf_wire_type::length_delimited)
        {
            Append(chunks, ToView(reader.get_view()));
            return;
        }
        if (reader.wire_type() != wireType)
        {
            FailWireType(field);
        }
        const char* const start = reader.data().data();
        reader.skip();
        const std::string_view piece(start, static_cast<size_t>(reader.data().data() - start));
        // Single numbers that follow each other, with a tag before each, are not contiguous.
        Append(chunks, piece);
    }

    void Floats(pbf_reader& reader, const char* field, std::vector<float>& values)
    {
        Chunks chunks;
        Encoded(reader, field, pbf_wire_type::fixed32, chunks);
        const std::string_view bytes = chunks.front();
        if (bytes.size() % sizeof(float) != 0)
        {
            throw ParseException(fmt::format("{} has {} bytes, which are no floats", field, bytes.size()));
        }
        const size_t count = bytes.size() / sizeof(float);
        const size_t old = values.size();
        values.resize(old + count);
        if (count != 0)
        {
            std::memcpy(values.data() + old, bytes.data(), bytes.size());
        }
    }

    static std::pair<std::string_view, std::string_view> ReadPair(pbf_reader reader)
    {
        std::pair<std::string_view, std::string_view> pair;
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: pair.first = Bytes(reader, "StringStringEntryProto.key"); break;
            case 2: pair.second = Bytes(reader, "StringStringEntryProto.value"); break;
            default: Skip(reader);
            }
        }
        return pair;
    }

    void ReadOpset(pbf_reader reader, OpsetImports& opsets)
    {
        std::string_view domain;
        int64_t version = 0;
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: domain = CanonicalDomain(Bytes(reader, "OperatorSetIdProto.domain")); break;
            case 2: Scalar(reader, "OperatorSetIdProto.version", version); break;
            default: Skip(reader);
            }
        }
        Charge(MapNode);
        opsets[domain] = version;
    }

    void Read(pbf_reader reader, FunctionMessage& function)
    {
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: function.m_Name = Bytes(reader, "FunctionProto.name"); break;
            case 4: Append(function.m_Inputs, Bytes(reader, "FunctionProto.input")); break;
            case 5: Append(function.m_Outputs, Bytes(reader, "FunctionProto.output")); break;
            case 7: ReadNode(Message(reader, "FunctionProto.node"), function.m_Nodes); break;
            case 9: ReadOpset(Message(reader, "FunctionProto.opset_import"), function.m_Opsets); break;
            case 10: function.m_Domain = CanonicalDomain(Bytes(reader, "FunctionProto.domain")); break;
            case 11: Read(Message(reader, "FunctionProto.attribute_proto"), Append(function.m_Defaults)); break;
            case 13: function.m_Overload = Bytes(reader, "FunctionProto.overload"); break;
            default: Skip(reader);
            }
        }
    }

    void Read(pbf_reader reader, GraphMessage& graph)
    {
        if (++m_GraphDepth > m_Limits.m_MaxNesting + 1)
        {
            throw ParseException(
                fmt::format("graphs are nested more than {} deep (Limits::m_MaxNesting)", m_Limits.m_MaxNesting));
        }
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: ReadNode(Message(reader, "GraphProto.node"), graph.m_Nodes); break;
            case 2: graph.m_Name = Bytes(reader, "GraphProto.name"); break;
            case 5:
                CountTensor();
                Read(Message(reader, "GraphProto.initializer"), Append(graph.m_Initializers));
                break;
            case 11: Read(Message(reader, "GraphProto.input"), Append(graph.m_Inputs)); break;
            case 12: Read(Message(reader, "GraphProto.output"), Append(graph.m_Outputs)); break;
            case 15:
                CountTensor();
                Read(Message(reader, "GraphProto.sparse_initializer"), Append(graph.m_SparseInitializers));
                break;
            default: Skip(reader);
            }
        }
        --m_GraphDepth;
    }

    void ReadNode(pbf_reader reader, std::vector<NodeMessage>& nodes)
    {
        if (++m_NumNodes > m_Limits.m_MaxLayers)
        {
            throw ParseException(
                fmt::format("the model has more than {} nodes (Limits::m_MaxLayers)", m_Limits.m_MaxLayers));
        }
        NodeMessage& node = Append(nodes);
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: Append(node.m_Inputs, Bytes(reader, "NodeProto.input")); break;
            case 2: Append(node.m_Outputs, Bytes(reader, "NodeProto.output")); break;
            case 3: node.m_Name = Bytes(reader, "NodeProto.name"); break;
            case 4: node.m_OpType = Bytes(reader, "NodeProto.op_type"); break;
            case 5: Read(Message(reader, "NodeProto.attribute"), Append(node.m_Attributes)); break;
            case 7: node.m_Domain = CanonicalDomain(Bytes(reader, "NodeProto.domain")); break;
            case 8: node.m_Overload = Bytes(reader, "NodeProto.overload"); break;
            default: Skip(reader);
            }
        }
    }

    void Read(pbf_reader reader, AttributeMessage& attribute)
    {
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: attribute.m_Name = Bytes(reader, "AttributeProto.name"); break;
            case 2:
            {
                std::vector<float> value;
                Floats(reader, "AttributeProto.f", value);
                attribute.m_Float = value.empty() ? 0.0f : value.back();
                Guess(attribute, AttributeType::Float);
                break;
            }
            case 3:
                Scalar(reader, "AttributeProto.i", attribute.m_Int);
                Guess(attribute, AttributeType::Int);
                break;
            case 4:
                attribute.m_String = Bytes(reader, "AttributeProto.s");
                Guess(attribute, AttributeType::String);
                break;
            case 5:
                ReadShared(Message(reader, "AttributeProto.t"), attribute.m_Tensor);
                Guess(attribute, AttributeType::Tensor);
                break;
            case 6:
                ReadShared(Message(reader, "AttributeProto.g"), attribute.m_Graph);
                Guess(attribute, AttributeType::Graph);
                break;
            case 7:
                Floats(reader, "AttributeProto.floats", attribute.m_Floats);
                Guess(attribute, AttributeType::Floats);
                break;
            case 8:
                Varints(reader, "AttributeProto.ints", attribute.m_Ints);
                Guess(attribute, AttributeType::Ints);
                break;
            case 9:
                Append(attribute.m_Strings, Bytes(reader, "AttributeProto.strings"));
                Guess(attribute, AttributeType::Strings);
                break;
            case 10: Guess(attribute, AttributeType::Tensors), Skip(reader); break;
            case 11: Guess(attribute, AttributeType::Graphs), Skip(reader); break;
            case 14:
                ReadShared(Message(reader, "AttributeProto.tp"), attribute.m_TypeProto);
                Guess(attribute, AttributeType::TypeProto);
                break;
            case 20: attribute.m_Type = static_cast<AttributeType>(Enumerator(reader, "AttributeProto.type")); break;
            case 21: attribute.m_Reference = Bytes(reader, "AttributeProto.ref_attr_name"); break;
            case 22:
                ReadShared(Message(reader, "AttributeProto.sparse_tensor"), attribute.m_SparseTensor);
                Guess(attribute, AttributeType::SparseTensor);
                break;
            default: Skip(reader);
            }
        }
    }

    /// Files of before 2017 do not state the type: the field that is set tells. One that is stated comes after the
    /// value, as its number is larger, and counts.
    static void Guess(AttributeMessage& attribute, AttributeType type)
    {
        if (attribute.m_Type == AttributeType::Undefined)
        {
            attribute.m_Type = type;
        }
    }

    /// A field that stands there again adds to the message, which nobody else has yet.
    template <typename Message>
    void ReadShared(pbf_reader reader, std::shared_ptr<const Message>& message)
    {
        auto own = std::const_pointer_cast<Message>(std::move(message));
        if (own == nullptr)
        {
            Charge(sizeof(Message));
            own = std::make_shared<Message>();
        }
        Read(reader, *own);
        message = std::move(own);
    }

    void Read(pbf_reader reader, TensorMessage& tensor)
    {
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: Varints(reader, "TensorProto.dims", tensor.m_Dims); break;
            case 2: tensor.m_Type = static_cast<ElementType>(Enumerator(reader, "TensorProto.data_type")); break;
            case 3: tensor.m_HasSegment = true, Skip(reader); break;
            case 4: Encoded(reader, "TensorProto.float_data", pbf_wire_type::fixed32, tensor.m_FloatData); break;
            case 5: Encoded(reader, "TensorProto.int32_data", pbf_wire_type::varint, tensor.m_Int32Data); break;
            case 6: tensor.m_HasStrings = true, Skip(reader); break;
            case 7: Encoded(reader, "TensorProto.int64_data", pbf_wire_type::varint, tensor.m_Int64Data); break;
            case 8: tensor.m_Name = Bytes(reader, "TensorProto.name"); break;
            case 9: tensor.m_RawData = Bytes(reader, "TensorProto.raw_data"); break;
            case 10: Encoded(reader, "TensorProto.double_data", pbf_wire_type::fixed64, tensor.m_DoubleData); break;
            case 11: Encoded(reader, "TensorProto.uint64_data", pbf_wire_type::varint, tensor.m_UInt64Data); break;
            case 13:
            {
                const auto [key, value] = ReadPair(Message(reader, "TensorProto.external_data"));
                Charge(MapNode);
                tensor.m_ExternalData[key] = value;
                break;
            }
            case 14: tensor.m_IsExternal = Enumerator(reader, "TensorProto.data_location") == 1; break;
            default: Skip(reader);
            }
        }
    }

    void Read(pbf_reader reader, SparseTensorMessage& tensor)
    {
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: Read(Message(reader, "SparseTensorProto.values"), tensor.m_Values); break;
            case 2: Read(Message(reader, "SparseTensorProto.indices"), tensor.m_Indices); break;
            case 3: Varints(reader, "SparseTensorProto.dims", tensor.m_Dims); break;
            default: Skip(reader);
            }
        }
    }

    void Read(pbf_reader reader, ValueInfoMessage& info)
    {
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: info.m_Name = Bytes(reader, "ValueInfoProto.name"); break;
            case 2: Read(Message(reader, "ValueInfoProto.type"), info.m_Type); break;
            default: Skip(reader);
            }
        }
    }

    void Read(pbf_reader reader, TypeMessage& type)
    {
        using enum TypeMessage::Kind;
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1: ReadTensorType(Message(reader, "TypeProto.tensor_type"), Tensor, type); break;
            case 4: ReadElementType(Message(reader, "TypeProto.sequence_type"), Sequence, type); break;
            case 5: type.m_Kind = Map, Skip(reader); break;
            case 7: type.m_Kind = Opaque, Skip(reader); break;
            case 8: ReadTensorType(Message(reader, "TypeProto.sparse_tensor_type"), SparseTensor, type); break;
            case 9: ReadElementType(Message(reader, "TypeProto.optional_type"), Optional, type); break;
            default: Skip(reader);
            }
        }
    }

    /// Of a sequence or optional: `type` gets the element type of the tensors in it, at any depth.
    void ReadElementType(pbf_reader reader, TypeMessage::Kind kind, TypeMessage& type)
    {
        if (++m_TypeDepth > MaxTypeNesting)
        {
            throw ParseException(fmt::format("types are nested more than {} deep", MaxTypeNesting));
        }
        while (reader.next())
        {
            reader.tag() == 1 ? Read(Message(reader, "TypeProto.elem_type"), type) : Skip(reader);
        }
        type.m_Kind = kind;
        --m_TypeDepth;
    }

    void ReadTensorType(pbf_reader reader, TypeMessage::Kind kind, TypeMessage& type)
    {
        type.m_Kind = kind;
        while (reader.next())
        {
            switch (reader.tag())
            {
            case 1:
                type.m_ElementType = static_cast<ElementType>(Enumerator(reader, "TypeProto.Tensor.elem_type"));
                break;
            case 2:
                if (!type.m_Shape.has_value())
                {
                    type.m_Shape.emplace();
                }
                ReadShape(Message(reader, "TypeProto.Tensor.shape"), *type.m_Shape);
                break;
            default: Skip(reader);
            }
        }
    }

    void ReadShape(pbf_reader reader, std::vector<DimensionMessage>& shape)
    {
        while (reader.next())
        {
            if (reader.tag() != 1)
            {
                Skip(reader);
                continue;
            }
            pbf_reader dimension = Message(reader, "TensorShapeProto.dim");
            DimensionMessage& message = Append(shape);
            while (dimension.next())
            {
                switch (dimension.tag())
                {
                case 1: Scalar(dimension, "TensorShapeProto.Dimension.dim_value", message.m_Value.emplace()); break;
                case 2: message.m_Name = Bytes(dimension, "TensorShapeProto.Dimension.dim_param"); break;
                default: Skip(dimension);
                }
            }
        }
    }

    void CountTensor()
    {
        if (++m_NumTensors > m_Limits.m_MaxLayers)
        {
            throw ParseException(
                fmt::format("the model has more than {} initializers (Limits::m_MaxLayers)", m_Limits.m_MaxLayers));
        }
    }

    Limits m_Limits;
    uint64_t m_MaxMemory;
    uint64_t m_Memory = 0;
    uint64_t m_NumNodes = 0;
    uint64_t m_NumTensors = 0;
    unsigned int m_GraphDepth = 0;
    unsigned int m_TypeDepth = 0;
};

} // namespace

ModelMessage ReadModelMessage(Span<const uint8_t> bytes, const Limits& limits)
{
    ModelMessage model;
    try
    {
        MessageReader(bytes.size(), limits)
            .Read(pbf_reader(reinterpret_cast<const char*>(bytes.data()), bytes.size()), model);
    }
    catch (const protozero::end_of_buffer_exception&)
    {
        throw ParseException(
            "not an ONNX model, or a damaged one: it ends within a field, as a file that is cut short");
    }
    catch (const protozero::exception& error)
    {
        throw ParseException(fmt::format("not an ONNX model, or a damaged one: protobuf: {}", error.what()));
    }
    return model;
}

std::vector<int64_t> DecodeVarints(const Chunks& chunks)
{
    std::vector<int64_t> values;
    try
    {
        for (const std::string_view piece : chunks)
        {
            const char* next = piece.data();
            const char* const end = next + piece.size();
            while (next != end)
            {
                values.push_back(static_cast<int64_t>(protozero::decode_varint(&next, end)));
            }
        }
    }
    catch (const protozero::exception& error)
    {
        throw ParseException(fmt::format("a list of numbers is damaged: protobuf: {}", error.what()));
    }
    return values;
}

std::string NameOf(ElementType type)
{
    static constexpr const char* names[] = {
        "UNDEFINED",      "FLOAT",      "UINT8",          "INT8",       "UINT16",    "INT16",
        "INT32",          "INT64",      "STRING",         "BOOL",       "FLOAT16",   "DOUBLE",
        "UINT32",         "UINT64",     "COMPLEX64",      "COMPLEX128", "BFLOAT16",  "FLOAT8E4M3FN",
        "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",      "INT4",      "FLOAT4E2M1",
        "FLOAT8E8M0",     "UINT2",      "INT2",           "FLOAT6E2M3", "FLOAT6E3M2"};
    const auto index = static_cast<size_t>(static_cast<uint32_t>(type));
    return index < std::size(names) ? names[index] : fmt::format("{}", static_cast<int32_t>(type));
}

} // namespace tenon::onnx
