// SPDX-License-Identifier: Apache-2.0
// Value: a named value of an ONNX graph while it is read: its element type, the sizes that are fixed, and, for small
// tensors, the elements that follow from constants and fixed sizes. Rows take and return Values; GraphBuilder makes the
// layers between them.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/INetwork.hpp>
#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::onnx
{

class GraphBuilder;

/// One element. Integers and Booleans are held as int64_t, floats as the double that equals them.
struct Number
{
    bool m_IsKnown = false;
    int64_t m_Int = 0;
    double m_Real = 0.0;

    static Number Of(int64_t value) { return {true, value, static_cast<double>(value)}; }
    static Number Of(double value) { return {true, 0, value}; }
};
using Numbers = std::vector<Number>;

/// A size that is not known while the model is read.
constexpr int64_t OpenSize = -1;

/// A layer cannot be made because a size is open, which the application may fix. The text ends with advice.
class OpenSizeException : public UnimplementedException
{
public:
    using UnimplementedException::UnimplementedException;
};

class Value
{
public:
    enum class Kind : uint8_t
    {
        Tensor,
        Sequence, ///< a list of values whose length is known
        Optional, ///< a list of no value or one
        Refused   ///< computed by a node that no layer can compute
    };

    struct State
    {
        Kind m_Kind = Kind::Tensor;
        TensorInfo m_Info;              ///< sizes, or all of the shape, may be unknown
        GraphBuilder* m_Home = nullptr; ///< builder whose network has m_Slot; null for constants
        IOutputSlot* m_Slot = nullptr;  ///< null for constants
        bool m_IsConstant = false;      ///< m_Data, or else m_Numbers, are all of its elements
        Span<const uint8_t> m_Data;     ///< data of a constant from the file, aligned for its type
        std::shared_ptr<const void> m_Owner;
        std::optional<Numbers> m_Numbers; ///< numbers of small tensors of known shape; some may be unknown
        std::vector<Value> m_Elements;    ///< elements of a Sequence or Optional
        std::string m_Name;
        /// Numbers less the zero point as Float32, the scale and the zero point, which may be absent, if QuantizeLinear
        /// made the tensor by formulas. Else empty.
        std::vector<Value> m_Steps;
        uint8_t m_Bits = 0; ///< 4: an integer of 4 bits, of which each has a byte; 0: those of the type
    };

    /// No value: an input that is skipped.
    Value() = default;
    explicit Value(std::shared_ptr<State> state) : m_State(std::move(state)) {}

    explicit operator bool() const { return m_State != nullptr; }
    const State& operator*() const { return *m_State; }
    const State* operator->() const { return m_State.get(); }
    const std::shared_ptr<State>& GetState() const { return m_State; }

    bool IsTensor() const { return m_State->m_Kind == Kind::Tensor; }
    DataType Type() const { return m_State->m_Info.GetDataType(); }
    bool IsFloat() const;
    /// Integers, but not Boolean.
    bool IsInteger() const;
    const TensorShape& Shape() const { return m_State->m_Info.GetShape(); }

    bool HasRank() const { return Shape().GetDimensionality() != Dimensionality::NotSpecified; }
    /// The rank. Throws OpenSizeException if it is unknown, because the choice of a layer depends on it.
    unsigned int Rank() const;
    /// The size of a dimension; OpenSize if it is unknown.
    int64_t Size(unsigned int dimension) const;
    std::vector<int64_t> Sizes() const;
    bool HasSizes() const { return Shape().AreAllDimensionsSpecified(); }

    /// Whether all elements are known while the model is read.
    bool IsConstant() const { return m_State->m_IsConstant; }
    /// The elements of a small tensor; null if none is known.
    const Numbers* FindNumbers() const;
    /// The elements if all are known and are integers or Booleans, else nothing.
    std::optional<std::vector<int64_t>> FindInts() const;
    /// The same for floats or integers.
    std::optional<std::vector<double>> FindReals() const;

private:
    std::shared_ptr<State> m_State;
};

/// The maximum number of elements of a tensor that keeps numbers.
constexpr uint64_t MaxNumbers = 1024;

bool IsFloatType(DataType type);
bool IsIntegerType(DataType type);
TensorShape ToShape(const std::vector<int64_t>& sizes);
/// The sizes of a shape of known rank.
std::vector<int64_t> ToSizes(const TensorShape& shape);
/// The product of sizes, at most 2^62; OpenSize if one of them is open.
int64_t ProductOf(const std::vector<int64_t>& sizes, size_t first, size_t last);
/// A shape of `count` unknown sizes. Throws UnimplementedException if there are too many; OpenSize gives a shape of
/// unknown rank.
TensorShape OpenShape(int64_t count);

/// The elements of constant data.
Numbers ReadNumbers(DataType type, Span<const uint8_t> data);
/// The bytes of elements that are all known.
std::vector<uint8_t> WriteNumbers(DataType type, const Numbers& numbers);
/// The number as an element of type `to`: truncated, wrapped or rounded.
Number Convert(const Number& number, DataType from, DataType to);

} // namespace tenon::onnx
