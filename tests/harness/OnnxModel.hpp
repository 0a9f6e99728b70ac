// SPDX-License-Identifier: Apache-2.0
// .onnx files of any content, for tests of the parser: encoded messages, put together field by field, so that a test
// can also write files that no exporter writes.
#pragma once

#include "harness/TinyOnnx.hpp"
#include "parsers/onnx/Messages.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon::test::model
{

using onnx::AttributeType;
using onnx::ElementType;

/// An encoded message, or some of its fields.
using Wire = std::string;
using Names = std::vector<std::string>;
using Sizes = std::vector<int64_t>;

inline Wire Join(const std::vector<Wire>& parts)
{
    Wire all;
    for (const Wire& part : parts)
    {
        all += part;
    }
    return all;
}

/// Fields. Negative numbers are varints of ten bytes.
inline Wire Number(unsigned int field, int64_t value)
{
    return OnnxNumber(field, static_cast<uint64_t>(value));
}

inline Wire Message(unsigned int field, const Wire& bytes)
{
    return OnnxBytes(field, bytes);
}

/// The bytes of elements, one after the other.
template <typename T>
Wire Raw(const std::vector<T>& values)
{
    Wire bytes(values.size() * sizeof(T), '\0');
    for (size_t i = 0; i < values.size(); ++i)
    {
        const T value = values[i];
        std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
    return bytes;
}

inline Wire Fixed32(unsigned int field, float value)
{
    return OnnxVarint(uint64_t{field} << 3 | 5) + Raw(std::vector<float>{value});
}

inline Wire Fixed64(unsigned int field, double value)
{
    return OnnxVarint(uint64_t{field} << 3 | 1) + Raw(std::vector<double>{value});
}

inline Wire Varints(const Sizes& numbers)
{
    Wire bytes;
    for (const int64_t number : numbers)
    {
        bytes += OnnxVarint(static_cast<uint64_t>(number));
    }
    return bytes;
}

template <typename T>
constexpr ElementType TypeOf()
{
    if constexpr (std::is_same_v<T, bool>)
    {
        return ElementType::Bool;
    }
    else if constexpr (std::is_floating_point_v<T>)
    {
        return sizeof(T) == 4 ? ElementType::Float : ElementType::Double;
    }
    else
    {
        constexpr ElementType types[2][4] = {
            {ElementType::UInt8, ElementType::UInt16, ElementType::UInt32, ElementType::UInt64},
            {ElementType::Int8, ElementType::Int16, ElementType::Int32, ElementType::Int64}};
        return types[std::is_signed_v<T> ? 1 : 0][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
    }
}

/// A TensorProto, whose data is in `fields`.
inline Wire TensorOf(const std::string& name, ElementType type, const Sizes& dims, const Wire& fields)
{
    Wire tensor;
    for (const int64_t dim : dims)
    {
        tensor += Number(1, dim);
    }
    return tensor + Number(2, static_cast<int64_t>(type)) + (name.empty() ? Wire() : Message(8, name)) + fields;
}

/// The same with raw_data.
template <typename T>
Wire Tensor(const std::string& name, const Sizes& dims, const std::vector<T>& values)
{
    return TensorOf(name, TypeOf<T>(), dims, Message(9, Raw(values)));
}

inline Wire Floats(const std::string& name, const Sizes& dims, const std::vector<float>& values)
{
    return Tensor(name, dims, values);
}

inline Wire Ints(const std::string& name, const Sizes& dims, const Sizes& values)
{
    return Tensor(name, dims, values);
}

/// The same with data in a file: entries of external_data by key.
inline Wire ExternalTensor(const std::string& name, ElementType type, const Sizes& dims,
                           const std::vector<std::pair<std::string, std::string>>& entries)
{
    Wire fields;
    for (const auto& [key, value] : entries)
    {
        fields += Message(13, Message(1, key) + Message(2, value));
    }
    return TensorOf(name, type, dims, fields + Number(14, 1));
}

/// A SparseTensorProto.
inline Wire Sparse(const Wire& values, const Wire& indices, const Sizes& dims)
{
    Wire tensor = Message(1, values) + Message(2, indices);
    for (const int64_t dim : dims)
    {
        tensor += Number(3, dim);
    }
    return tensor;
}

// Attributes.

inline Wire AttributeOf(const std::string& name, AttributeType type, const Wire& fields)
{
    return Message(1, name) + fields + Number(20, static_cast<int64_t>(type));
}

inline Wire Attribute(const std::string& name, int64_t value)
{
    return AttributeOf(name, AttributeType::Int, Number(3, value));
}

inline Wire Attribute(const std::string& name, int value)
{
    return Attribute(name, int64_t{value});
}

inline Wire Attribute(const std::string& name, float value)
{
    return AttributeOf(name, AttributeType::Float, Fixed32(2, value));
}

inline Wire Attribute(const std::string& name, const char* value)
{
    return AttributeOf(name, AttributeType::String, Message(4, value));
}

inline Wire Attribute(const std::string& name, const Sizes& values)
{
    Wire fields;
    for (const int64_t value : values)
    {
        fields += Number(8, value);
    }
    return AttributeOf(name, AttributeType::Ints, fields);
}

inline Wire Attribute(const std::string& name, const std::vector<float>& values)
{
    Wire fields;
    for (const float value : values)
    {
        fields += Fixed32(7, value);
    }
    return AttributeOf(name, AttributeType::Floats, fields);
}

inline Wire Attribute(const std::string& name, const Names& values)
{
    Wire fields;
    for (const std::string& value : values)
    {
        fields += Message(9, value);
    }
    return AttributeOf(name, AttributeType::Strings, fields);
}

inline Wire TensorAttribute(const std::string& name, const Wire& tensor)
{
    return AttributeOf(name, AttributeType::Tensor, Message(5, tensor));
}

inline Wire GraphAttribute(const std::string& name, const Wire& graph)
{
    return AttributeOf(name, AttributeType::Graph, Message(6, graph));
}

/// An attribute within a function: the value of the caller's attribute `reference`.
inline Wire ReferenceAttribute(const std::string& name, const std::string& reference, AttributeType type)
{
    return AttributeOf(name, type, Message(21, reference));
}

// Graphs.

inline Wire Node(const std::string& op, const Names& inputs, const Names& outputs,
                 const std::vector<Wire>& attributes = {}, const std::string& domain = {}, const std::string& name = {})
{
    Wire node;
    for (const std::string& input : inputs)
    {
        node += Message(1, input);
    }
    for (const std::string& output : outputs)
    {
        node += Message(2, output);
    }
    node += (name.empty() ? Wire() : Message(3, name)) + Message(4, op);
    for (const Wire& attribute : attributes)
    {
        node += Message(5, attribute);
    }
    return node + (domain.empty() ? Wire() : Message(7, domain));
}

/// A size, the name of a size, or neither.
struct Dim
{
    Dim(int64_t size) : m_Wire(Number(1, size)) {}
    Dim(int size) : m_Wire(Number(1, size)) {}
    Dim(const char* name) : m_Wire(*name == '\0' ? Wire() : Message(2, name)) {}

    Wire m_Wire;
};
using Dims = std::vector<Dim>;

/// A TypeProto of a tensor; without dims its rank is unknown.
inline Wire TensorType(ElementType type, const std::optional<Dims>& dims)
{
    Wire fields = Number(1, static_cast<int64_t>(type));
    if (dims.has_value())
    {
        Wire shape;
        for (const Dim& dim : *dims)
        {
            shape += Message(1, dim.m_Wire);
        }
        fields += Message(2, shape);
    }
    return Message(1, fields);
}

inline Wire ValueInfo(const std::string& name, ElementType type, const std::optional<Dims>& dims)
{
    return Message(1, name) + Message(2, TensorType(type, dims));
}

/// A GraphProto. Fields are written in the order of the calls.
class Graph
{
public:
    explicit Graph(const std::string& name = "graph") : m_Bytes(Message(2, name)) {}

    Graph& Add(const Wire& node) { return Put(Message(1, node)); }
    Graph& Add(const std::string& op, const Names& inputs, const Names& outputs,
               const std::vector<Wire>& attributes = {}, const std::string& domain = {}, const std::string& name = {})
    {
        return Add(Node(op, inputs, outputs, attributes, domain, name));
    }
    Graph& Store(const Wire& tensor) { return Put(Message(5, tensor)); }
    Graph& StoreSparse(const Wire& tensor) { return Put(Message(15, tensor)); }
    Graph& Input(const std::string& name, ElementType type, const std::optional<Dims>& dims)
    {
        return Put(Message(11, ValueInfo(name, type, dims)));
    }
    Graph& Input(const std::string& name, const Dims& dims) { return Input(name, ElementType::Float, dims); }
    /// An output without a type: types of outputs are hints.
    Graph& Output(const std::string& name) { return Put(Message(12, Message(1, name))); }
    Graph& Put(const Wire& fields)
    {
        m_Bytes += fields;
        return *this;
    }

    const Wire& Bytes() const { return m_Bytes; }
    operator Wire() const { return m_Bytes; }

private:
    Wire m_Bytes;
};

inline Wire Opset(int64_t version, const std::string& domain = {})
{
    return (domain.empty() ? Wire() : Message(1, domain)) + Number(2, version);
}

/// A FunctionProto.
inline Wire Function(const std::string& domain, const std::string& name, const Names& inputs, const Names& outputs,
                     const std::vector<Wire>& nodes, const std::vector<Wire>& defaults = {},
                     const std::vector<Wire>& opsets = {Opset(17), Opset(1, "own")})
{
    Wire function = Message(1, name);
    for (const std::string& input : inputs)
    {
        function += Message(4, input);
    }
    for (const std::string& output : outputs)
    {
        function += Message(5, output);
    }
    for (const Wire& node : nodes)
    {
        function += Message(7, node);
    }
    for (const Wire& opset : opsets)
    {
        function += Message(9, opset);
    }
    for (const Wire& attribute : defaults)
    {
        function += Message(11, attribute);
    }
    return function + Message(10, domain);
}

/// A ModelProto. `more`: further fields.
inline Wire Model(const Wire& graph, int64_t opset = 17, const std::vector<Wire>& functions = {}, const Wire& more = {})
{
    Wire model = Number(1, 10) + Message(7, graph) + Message(8, Opset(opset));
    if (!functions.empty())
    {
        model += Message(8, Opset(1, "own"));
    }
    for (const Wire& function : functions)
    {
        model += Message(25, function);
    }
    return model + more;
}

} // namespace tenon::test::model
