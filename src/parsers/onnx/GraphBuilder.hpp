// SPDX-License-Identifier: Apache-2.0
// GraphBuilder: adds the layers of one graph for rows. The graph is the model's, or a branch or loop body, which is a
// network of its own. Each method takes Values, adds a layer through INetwork and returns its output as a Value. A
// method whose result follows from known numbers adds no layer: shape arithmetic is computed while the model is read.
#pragma once

#include "parsers/common/NetworkSize.hpp"
#include "parsers/onnx/Value.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/INetwork.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::onnx
{

/// The values of outer graphs that a branch or body reads: each becomes a further input of its network. Both branches
/// of an If share one list.
class Captures
{
public:
    /// `firstId`: the binding id that the first captured value gets.
    explicit Captures(LayerBindingId firstId) : m_FirstId(firstId) {}

    LayerBindingId FirstId() const { return m_FirstId; }
    /// The id of the value's input.
    LayerBindingId Add(const Value& value);
    /// The captured values in the order of their ids.
    const std::vector<Value>& Get() const { return m_Values; }

private:
    LayerBindingId m_FirstId;
    std::vector<Value> m_Values;
    std::map<const Value::State*, LayerBindingId> m_Ids;
};

class GraphBuilder
{
public:
    /// The declared type and shape of an output before its layer infers them.
    struct Output
    {
        DataType m_Type;
        TensorShape m_Shape; ///< sizes, or all of it, may be unknown
    };

    GraphBuilder(INetwork& network, parsers::NetworkSize& size, const Limits& limits, Captures* captures = nullptr);

    INetwork& Network() { return m_Network; }
    const Limits& GetLimits() const { return m_Limits; }
    /// Names the layers that are added from now on.
    void SetName(std::string name)
    {
        constexpr size_t max = 1000; // one node may become many layers, each of which keeps the name
        name.resize(std::min(name.size(), max));
        m_Name = std::move(name);
    }
    const std::string& GetName() const { return m_Name; }
    /// A seed for a layer that draws random numbers; each call returns another one.
    int64_t NextSeed() { return ++m_Seed; }

    // Values without layers.

    Value AddInput(LayerBindingId id, const std::string& name, const TensorInfo& info, bool hasFixedSizes);
    void AddOutput(LayerBindingId id, const std::string& name, const Value& value);
    /// The value of an output slot, whose info it sets.
    Value FromSlot(IOutputSlot& slot, const TensorInfo& info);
    /// Elements that are all known.
    static Value Known(DataType type, const std::vector<int64_t>& sizes, Numbers numbers);
    /// A list of int64 numbers [n].
    static Value Ints(const std::vector<int64_t>& numbers);
    /// One element without dimensions.
    static Value Scalar(DataType type, double value);
    static Value ScalarInt(DataType type, int64_t value);
    /// A constant; the value keeps the bytes.
    Value Constant(const TensorInfo& info, std::vector<uint8_t> bytes);
    /// The output slot of a value in this network: a Constant layer, or an input for a captured value, is added if
    /// needed.
    IOutputSlot& SlotOf(const Value& value);

    // Layers in general.

    /// Adds a layer and connects its inputs; an absent Value leaves its slot open. The layer infers shapes if the sizes
    /// of all inputs are known, else `outputs` give them.
    std::vector<Value> AddLayers(LayerType type, const BaseDescriptor& descriptor, const std::vector<Value>& inputs,
                                 const std::vector<Output>& outputs);
    /// The same for a layer of one output.
    Value AddLayer(LayerType type, const BaseDescriptor& descriptor, const std::vector<Value>& inputs, DataType type0,
                   const TensorShape& shape = TensorShape());
    /// The same for an output with the type and quantization of `info`.
    Value AddQuantizedLayer(LayerType type, const BaseDescriptor& descriptor, const std::vector<Value>& inputs,
                            const TensorInfo& info);
    /// The same, with the type and quantization of input 0, for a layer that processes each index of dimension 0
    /// independently; its size may be open.
    Value AddImageLayer(LayerType type, const BaseDescriptor& descriptor, const std::vector<Value>& inputs);

    // Elementwise.

    Value Unary(UnaryOperation operation, const Value& x);
    Value Binary(BinaryOperation operation, const Value& a, const Value& b);
    Value Add(const Value& a, const Value& b) { return Binary(BinaryOperation::Add, a, b); }
    Value Subtract(const Value& a, const Value& b) { return Binary(BinaryOperation::Sub, a, b); }
    Value Multiply(const Value& a, const Value& b) { return Binary(BinaryOperation::Mul, a, b); }
    Value Divide(const Value& a, const Value& b) { return Binary(BinaryOperation::Div, a, b); }
    Value Compare(ComparisonOperation operation, const Value& a, const Value& b);
    /// Logical operations on Booleans.
    Value Logical(LogicalBinaryOperation operation, const Value& a, const Value& b);
    Value Not(const Value& x);
    Value Select(const Value& condition, const Value& a, const Value& b);
    Value Activation(const ActivationDescriptor& descriptor, const Value& x);
    Value Floor(const Value& x);
    Value Cast(const Value& x, DataType type);
    /// A binary operation on x and a number of its type.
    Value WithNumber(BinaryOperation operation, const Value& x, double number);
    Value NumberWith(BinaryOperation operation, double number, const Value& x);

    // Shapes and order. Axes are within [0, rank).

    /// Signed64 [rank]; its numbers are known where the sizes are.
    Value ShapeOf(const Value& x);
    /// At most one size may be open; it is computed.
    Value Reshape(const Value& x, const std::vector<int64_t>& sizes);
    /// Reshapes to the sizes in `shape` [n], integers, which may be computed at the run; one may be -1.
    Value ReshapeTo(const Value& x, const Value& shape);
    /// A tensor of one element without dimensions.
    Value AsScalar(const Value& x) { return x.Rank() != 0 ? Reshape(x, {}) : x; }
    Value Squeeze(const Value& x, const std::vector<unsigned int>& axes);
    /// `axes` are axes of the result.
    Value Unsqueeze(const Value& x, const std::vector<unsigned int>& axes);
    Value Transpose(const Value& x, const std::vector<unsigned int>& permutation);
    Value Concat(const std::vector<Value>& values, unsigned int axis);
    /// Rules of NumPy for each number; `axes` have no repetition.
    Value Slice(const Value& x, const std::vector<int64_t>& starts, const std::vector<int64_t>& ends,
                const std::vector<unsigned int>& axes, const std::vector<int64_t>& steps);
    /// [start, end) along one axis.
    Value Slice(const Value& x, unsigned int axis, int64_t start, int64_t end);
    /// Indices may be negative.
    Value Gather(const Value& x, const Value& indices, unsigned int axis);
    /// The list `numbers` with the elements of `updates` at the indices `places`, integers, which may be negative.
    Value Put(const Value& numbers, const Value& places, const Value& updates);
    /// Broadcasts to the sizes in `shape` [n], integers; sizes of x other than 1 must be equal.
    Value BroadcastTo(const Value& x, const Value& shape);
    Value BroadcastTo(const Value& x, const std::vector<int64_t>& sizes);
    /// A tensor of the sizes in `shape` [n], all elements of which are `value` (one element).
    Value Fill(const Value& shape, const Value& value);

    // Sums and products.

    Value Reduce(ReduceOperation operation, const Value& x, const std::vector<unsigned int>& axes, bool keepDims);
    /// The same with axes that are computed at the run, [n] of integers; negative ones count from the end.
    Value ReduceAtRun(ReduceOperation operation, const Value& x, const Value& axes, bool keepDims);
    /// The product as in numpy.matmul, for operands of at least two dimensions. `type`: of the result, which Signed8
    /// operands may have as Signed32; nothing: that of the operands.
    Value MatMul(const Value& a, const Value& b, bool transposeA = false, bool transposeB = false,
                 std::optional<DataType> type = std::nullopt);

    /// The shape to which both broadcast; open if unknown.
    static TensorShape BroadcastShape(const Value& a, const Value& b);

private:
    IOutputSlot& AddConstant(const Value& value);
    void CheckSameType(const Value& a, const Value& b) const;
    static Value KnownOfShape(DataType type, const TensorShape& shape, Numbers numbers);
    /// A known value if all numbers are known, else the result of `add`, some of whose numbers may be known.
    static Value KnownOr(DataType type, const TensorShape& shape, std::optional<Numbers> numbers,
                         const std::function<Value()>& add);

    INetwork& m_Network;
    parsers::NetworkSize& m_Size;
    Limits m_Limits;
    Captures* m_Captures;
    std::string m_Name;
    int64_t m_Seed = 0;
    /// Slots of constants and captured values in this network; the values are kept alive.
    std::map<const Value::State*, std::pair<Value, IOutputSlot*>> m_Slots;
};

} // namespace tenon::onnx
