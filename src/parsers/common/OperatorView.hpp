// SPDX-License-Identifier: Apache-2.0
// OperatorView: a row's view of an operator: name, attributes, tensor infos, constant data. It is independent of its
// source; a front end makes it from a model file.
#pragma once

#include "parsers/common/AttributeView.hpp"

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

namespace tenon::parsers
{

/// A tensor with the declaration of its source.
struct TensorView
{
    size_t m_Index = 0;                  ///< index within its subgraph
    std::string m_Name;                  ///< as declared; may be empty
    TensorInfo m_Info;                   ///< sizes, or all of the shape, may be unknown
    Span<const uint8_t> m_Data;          ///< data of a constant, aligned as kernels need for its type
    std::shared_ptr<const void> m_Owner; ///< owner of m_Data, if that is not the source's own memory
    bool m_IsConstant = false;
    bool m_IsSparse = false;     ///< its source stores it so; m_Data is dense
    bool m_IsVariable = false;   ///< state that persists between runs
    bool m_IsResource = false;   ///< a handle, which no layer can have: m_Info says nothing
    TensorShape m_DeclaredShape; ///< set even if m_Info leaves the shape to be inferred; unknown if overridden
    /// The same, but with the written size (1, as a rule) for a size that the source also declares as varying.
    TensorShape m_WrittenShape;

    /// "'weights'", or "3" for the fourth tensor if it has no name.
    std::string Label() const;
};

class OperatorView : public AttributeView
{
public:
    /// The operands of an operator; null for an absent one.
    using Operands = std::vector<const TensorView*>;

    OperatorView(std::string name, size_t index, Operands inputs, Operands outputs, AttributeList attributes,
                 std::vector<uint8_t> options, Operands intermediates = {}, int32_t version = 1)
        : AttributeView(std::move(name), std::move(attributes)), m_Index(index), m_Inputs(std::move(inputs)),
          m_Outputs(std::move(outputs)), m_Options(std::move(options)), m_Intermediates(std::move(intermediates)),
          m_Version(version)
    {
    }

    /// "CONV_2D:12": the name that its layer gets.
    std::string LayerName() const { return fmt::format("{}:{}", Name(), m_Index); }
    std::string LayerName(std::string_view suffix) const { return fmt::format("{}:{}:{}", Name(), m_Index, suffix); }

    /// The version of the operator that the source asks for.
    int32_t Version() const { return m_Version; }

    size_t NumInputs() const { return m_Inputs.size(); }
    size_t NumOutputs() const { return m_Outputs.size(); }
    bool HasInput(size_t i) const { return i < m_Inputs.size() && m_Inputs[i] != nullptr; }
    bool HasOutput(size_t i) const { return i < m_Outputs.size() && m_Outputs[i] != nullptr; }
    /// Throw ParseException for an operand that is absent.
    const TensorView& Input(size_t i) const;
    const TensorView& Output(size_t i) const;

    /// The number of intermediates: tensors without values that describe results inside the operator, such as their
    /// quantization.
    size_t NumIntermediates() const { return m_Intermediates.size(); }
    /// An intermediate tensor. Throws ParseException if it is absent.
    const TensorView& Intermediate(size_t i) const;

    /// Throw ParseException if the number of operands differs from the option's.
    void CheckNumInputs(std::string_view option, int64_t wanted) const;
    void CheckNumOutputs(std::string_view option, int64_t wanted) const;

    /// The rank of an input if it is known.
    std::optional<uint32_t> InputRank(size_t i) const;

    /// Options in the encoding of their source, for an operator that no row knows and for rows with m_HasRawOptions.
    const std::vector<uint8_t>& RawOptions() const { return m_Options; }

private:
    void CheckCount(const char* kind, size_t count, std::string_view option, int64_t wanted) const;

    size_t m_Index;
    Operands m_Inputs;
    Operands m_Outputs;
    std::vector<uint8_t> m_Options;
    Operands m_Intermediates;
    int32_t m_Version;
};

} // namespace tenon::parsers
