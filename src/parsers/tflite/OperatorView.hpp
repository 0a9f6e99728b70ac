// SPDX-License-Identifier: Apache-2.0
// OperatorView: all that a row in operators/ may know of an operator: name, attributes, tensor infos, constant data.
// Nothing here says where it came from; OperatorReader makes it from a model file.
#pragma once

#include "parsers/tflite/Attribute.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Span.hpp>
#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::tflite
{

/// A row asks for an option that its operator does not have: a mistake in the row, whatever the model.
class UnknownOptionException : public Exception
{
public:
    using Exception::Exception;
};

/// A tensor as its source declares it.
struct TensorView
{
    size_t m_Index = 0;                  ///< within its subgraph
    std::string m_Name;                  ///< as declared; may be empty
    TensorInfo m_Info;                   ///< sizes, or all of the shape, may be unknown
    Span<const uint8_t> m_Data;          ///< of a constant; aligned as kernels read its type
    std::shared_ptr<const void> m_Owner; ///< of m_Data, where that is not the source's own memory
    bool m_IsConstant = false;
    bool m_IsSparse = false;     ///< its source stores it so; m_Data is dense
    bool m_IsVariable = false;   ///< state that lives on between runs
    bool m_IsResource = false;   ///< a handle, which no layer can have: m_Info says nothing
    TensorShape m_DeclaredShape; ///< also where m_Info leaves the shape to be inferred; unknown when overridden
    /// The same, but with the size that the source writes where it also says that the size varies: 1, as a rule.
    TensorShape m_WrittenShape;

    /// "'weights'", or "3" for the fourth tensor if that has no name.
    std::string Label() const;
};

class OperatorView
{
public:
    /// Null for an operand that is absent.
    using Operands = std::vector<const TensorView*>;

    OperatorView(std::string name, size_t index, Operands inputs, Operands outputs, AttributeList attributes,
                 std::vector<uint8_t> options, Operands intermediates = {})
        : m_Name(std::move(name)), m_Index(index), m_Inputs(std::move(inputs)), m_Outputs(std::move(outputs)),
          m_Attributes(std::move(attributes)), m_Options(std::move(options)), m_Intermediates(std::move(intermediates))
    {
    }

    /// "CONV_2D", or the name of a custom operator.
    const std::string& Name() const { return m_Name; }
    /// "CONV_2D:12": the name that its layer gets.
    std::string LayerName() const { return fmt::format("{}:{}", m_Name, m_Index); }
    std::string LayerName(std::string_view suffix) const { return fmt::format("{}:{}:{}", m_Name, m_Index, suffix); }

    size_t NumInputs() const { return m_Inputs.size(); }
    size_t NumOutputs() const { return m_Outputs.size(); }
    bool HasInput(size_t i) const { return i < m_Inputs.size() && m_Inputs[i] != nullptr; }
    bool HasOutput(size_t i) const { return i < m_Outputs.size() && m_Outputs[i] != nullptr; }
    /// Throw ParseException for an operand that is absent.
    const TensorView& Input(size_t i) const;
    const TensorView& Output(size_t i) const;

    /// Tensors without values: what is known of results inside the operator, such as their quantization.
    size_t NumIntermediates() const { return m_Intermediates.size(); }
    /// Throws ParseException for one that is absent.
    const TensorView& Intermediate(size_t i) const;

    /// Throw ParseException where the operator has another number of operands than the option asks for.
    void CheckNumInputs(std::string_view option, int64_t wanted) const;
    void CheckNumOutputs(std::string_view option, int64_t wanted) const;

    /// The rank of an input if it is known.
    std::optional<uint32_t> InputRank(size_t i) const;

    // The options. Those that the source leaves out have the value `fallback`, or are empty. All throw ParseException
    // for a value that is too large for the result, and UnknownOptionException for a name or kind that the operator's
    // options do not have. Options of custom operators are not known beforehand: any name may be asked for, integers
    // are also flags and real numbers, and what else has the wrong kind is the model's fault: ParseException.
    bool Has(std::string_view option) const;
    /// Whether the source has options at all, be they left at their defaults. False for custom operators.
    bool HasOptions() const { return m_Attributes.m_IsPresent; }
    bool Bool(std::string_view option, bool fallback) const;
    int32_t Int(std::string_view option, int32_t fallback) const;
    int64_t Int64(std::string_view option, int64_t fallback) const;
    /// As a descriptor's field; throws ParseException if it is below `least`.
    uint32_t Unsigned(std::string_view option, int32_t fallback, int32_t least) const;
    float Float(std::string_view option, float fallback) const;
    std::string Text(std::string_view option) const;
    std::vector<int32_t> Ints(std::string_view option) const;
    std::vector<int64_t> Int64s(std::string_view option) const;
    std::vector<float> Floats(std::string_view option) const;

    /// Options as their source has them, for an operator that no row knows.
    const std::vector<uint8_t>& RawOptions() const { return m_Options; }

    /// Throws ParseException. The operator's name and index are added by the caller.
    [[noreturn]] void Fail(const std::string& message) const;

private:
    void CheckCount(const char* kind, size_t count, std::string_view option, int64_t wanted) const;
    const Attribute* Find(std::string_view option) const;
    template <typename T>
    const T* Get(std::string_view option) const;
    bool IsInteger(std::string_view option) const;
    int32_t ToInt(std::string_view option, int64_t value) const;
    float ToFloat(std::string_view option, double value) const;
    [[noreturn]] void FailKind(std::string_view option) const;

    std::string m_Name;
    size_t m_Index;
    Operands m_Inputs;
    Operands m_Outputs;
    AttributeList m_Attributes;
    std::vector<uint8_t> m_Options;
    Operands m_Intermediates;
};

} // namespace tenon::tflite
