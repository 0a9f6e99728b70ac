// SPDX-License-Identifier: Apache-2.0
// Messages: the protobuf messages of an ONNX file as plain structures that point into the file's bytes. Reading them
// checks the wire format alone: names, types, sizes and indices are checked where they are used. Numbers of fields and
// enumerators are those of onnx.proto.
#pragma once

#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::onnx
{

/// TensorProto.DataType.
enum class ElementType : int32_t
{
    Undefined = 0,
    Float = 1,
    UInt8 = 2,
    Int8 = 3,
    UInt16 = 4,
    Int16 = 5,
    Int32 = 6,
    Int64 = 7,
    String = 8,
    Bool = 9,
    Float16 = 10,
    Double = 11,
    UInt32 = 12,
    UInt64 = 13,
    Complex64 = 14,
    Complex128 = 15,
    BFloat16 = 16,
    Float8E4M3FN = 17,
    Float8E4M3FNUZ = 18,
    Float8E5M2 = 19,
    Float8E5M2FNUZ = 20,
    UInt4 = 21,
    Int4 = 22,
    Float4E2M1 = 23,
    Float8E8M0 = 24,
    UInt2 = 25,
    Int2 = 26,
    Float6E2M3 = 27,
    Float6E3M2 = 28
};

/// AttributeProto.AttributeType.
enum class AttributeType : int32_t
{
    Undefined = 0,
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    TypeProto = 13,
    TypeProtos = 14
};

/// Encoded numbers of a repeated field, in chunks: one for each occurrence of the field in the file.
using Chunks = std::vector<std::string_view>;

struct TensorMessage
{
    std::string_view m_Name;
    std::vector<int64_t> m_Dims;
    ElementType m_Type = ElementType::Undefined;
    std::optional<std::string_view> m_RawData;
    Chunks m_FloatData;  ///< four bytes per element
    Chunks m_DoubleData; ///< eight bytes per element
    Chunks m_Int32Data;  ///< varints
    Chunks m_Int64Data;  ///< varints
    Chunks m_UInt64Data; ///< varints
    bool m_HasStrings = false;
    bool m_IsExternal = false;
    bool m_HasSegment = false;
    std::map<std::string_view, std::string_view> m_ExternalData;
};

struct SparseTensorMessage
{
    TensorMessage m_Values;
    TensorMessage m_Indices;
    std::vector<int64_t> m_Dims;
};

struct DimensionMessage
{
    std::optional<int64_t> m_Value;
    std::string_view m_Name; ///< dim_param
};

/// TypeProto.
struct TypeMessage
{
    enum class Kind : uint8_t
    {
        None,
        Tensor,
        SparseTensor,
        Sequence,
        Optional,
        Map,
        Opaque
    };

    Kind m_Kind = Kind::None;
    ElementType m_ElementType = ElementType::Undefined; ///< element type of a tensor, or of the tensors of a sequence
                                                        ///< or optional
    std::optional<std::vector<DimensionMessage>> m_Shape;
};

struct ValueInfoMessage
{
    std::string_view m_Name;
    TypeMessage m_Type;
};

struct GraphMessage;

struct AttributeMessage
{
    std::string_view m_Name;
    AttributeType m_Type = AttributeType::Undefined;
    std::string_view m_Reference; ///< ref_attr_name
    float m_Float = 0.0f;
    int64_t m_Int = 0;
    std::string_view m_String;
    std::vector<float> m_Floats;
    std::vector<int64_t> m_Ints;
    std::vector<std::string_view> m_Strings;
    std::shared_ptr<const TensorMessage> m_Tensor;
    std::shared_ptr<const SparseTensorMessage> m_SparseTensor;
    std::shared_ptr<const GraphMessage> m_Graph;
    std::shared_ptr<const TypeMessage> m_TypeProto;
};

struct NodeMessage
{
    std::string_view m_Name;
    std::string_view m_OpType;
    std::string_view m_Domain;
    std::string_view m_Overload;
    std::vector<std::string_view> m_Inputs;
    std::vector<std::string_view> m_Outputs;
    std::vector<AttributeMessage> m_Attributes;
};

struct GraphMessage
{
    std::string_view m_Name;
    std::vector<NodeMessage> m_Nodes;
    std::vector<TensorMessage> m_Initializers;
    std::vector<SparseTensorMessage> m_SparseInitializers;
    std::vector<ValueInfoMessage> m_Inputs;
    std::vector<ValueInfoMessage> m_Outputs;
};

/// The version of each imported operator set, by domain; the key of "ai.onnx" is "".
using OpsetImports = std::map<std::string_view, int64_t>;

struct FunctionMessage
{
    std::string_view m_Name;
    std::string_view m_Domain;
    std::string_view m_Overload;
    std::vector<std::string_view> m_Inputs;
    std::vector<std::string_view> m_Outputs;
    std::vector<AttributeMessage> m_Defaults; ///< attribute_proto
    std::vector<NodeMessage> m_Nodes;
    OpsetImports m_Opsets;
};

struct ModelMessage
{
    int64_t m_IrVersion = 0;
    std::string_view m_ProducerName;
    std::string_view m_ProducerVersion;
    std::string_view m_Domain;
    int64_t m_ModelVersion = 0;
    std::string_view m_DocString;
    OpsetImports m_Opsets;
    std::optional<GraphMessage> m_Graph;
    std::vector<FunctionMessage> m_Functions;
    std::vector<std::pair<std::string_view, std::string_view>> m_Metadata;
};

/// "ai.onnx" and "" are one domain.
inline std::string_view CanonicalDomain(std::string_view domain)
{
    return domain == "ai.onnx" ? std::string_view() : domain;
}

/// Reads the bytes of a file. The result points into them. Throws ParseException for bytes that are no ModelProto, for
/// more nodes than Limits::m_MaxLayers, and for graphs nested deeper than Limits::m_MaxNesting.
ModelMessage ReadModelMessage(Span<const uint8_t> bytes, const Limits& limits);

/// The numbers of a repeated field of varints.
std::vector<int64_t> DecodeVarints(const Chunks& chunks);

/// "FLOAT", or "42" for a number that no element type has.
std::string NameOf(ElementType type);

} // namespace tenon::onnx
