// SPDX-License-Identifier: Apache-2.0
// Operator: the view of a node for a row in operators/: its name and version, attributes and inputs, and the receivers
// of its outputs. The version is the imported version of the operator set, for rows that cover several versions.
#pragma once

#include "parsers/common/AttributeView.hpp"
#include "parsers/onnx/GraphBuilder.hpp"
#include "parsers/onnx/Messages.hpp"
#include "parsers/onnx/Value.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::onnx
{

class GraphReader;

class Operator : public parsers::AttributeView
{
public:
    using Attributes = std::map<std::string_view, const AttributeMessage*>;

    Operator(GraphReader& reader, std::string name, int64_t version, parsers::AttributeList list, Attributes attributes,
             std::vector<Value> inputs, size_t numOutputs, std::vector<bool> wanted)
        : AttributeView(std::move(name), std::move(list), "attribute"), m_Reader(reader), m_Version(version),
          m_Attributes(std::move(attributes)), m_Inputs(std::move(inputs)), m_Outputs(numOutputs),
          m_Wanted(std::move(wanted))
    {
    }

    /// An operator with the attributes of this one, other inputs and one output, for the row of another operator.
    Operator WithInputs(std::vector<Value> inputs, int64_t version) const
    {
        return {m_Reader, Name(), version, AttributeView::Attributes(), m_Attributes, std::move(inputs), 1, {true}};
    }

    /// The reader, for rows of operators that have graphs as attributes.
    GraphReader& Reader() const { return m_Reader; }
    int64_t Version() const { return m_Version; }

    size_t NumInputs() const { return m_Inputs.size(); }
    size_t NumOutputs() const { return m_Outputs.size(); }
    bool HasInput(size_t i) const { return i < m_Inputs.size() && m_Inputs[i]; }
    /// Whether the output may be read: nodes leave names of unused outputs empty.
    bool HasOutput(size_t i) const { return i < m_Wanted.size() && m_Wanted[i]; }
    /// A tensor. Throws ParseException for an absent input, and UnimplementedException for a sequence.
    const Value& Input(size_t i) const;
    /// The same, or no value if the input is absent.
    Value FindInput(size_t i) const;
    /// A tensor, sequence or optional value, or no value.
    const Value& AnyInput(size_t i) const { return m_Inputs.at(i); }
    const std::vector<Value>& Inputs() const { return m_Inputs; }

    /// The elements of an input that must be known while the model is read; `what` names them in the error.
    std::vector<int64_t> ConstantInts(size_t i, const char* what) const;
    std::vector<double> ConstantReals(size_t i, const char* what) const;
    /// The same for an input of one element.
    int64_t ConstantInt(size_t i, const char* what) const;
    double ConstantReal(size_t i, const char* what) const;

    /// An axis counted from the start. Throws ParseException unless it is in [-rank, rank).
    unsigned int Axis(int64_t axis, unsigned int rank) const;
    /// The same for several axes, which must be different.
    std::vector<unsigned int> Axes(const std::vector<int64_t>& axes, unsigned int rank) const;
    /// The attribute `axis`.
    unsigned int AxisAttribute(int64_t fallback, unsigned int rank) const;

    /// The entry of a table for the value of a text attribute. Throws ParseException, which lists the allowed values.
    template <typename T, size_t Count>
    T Choose(const char* attribute, const char* fallback, const std::pair<const char*, T> (&table)[Count]) const
    {
        const std::string text = Has(attribute) ? Text(attribute) : fallback;
        std::vector<std::string> names;
        for (const auto& [name, choice] : table)
        {
            if (text == name)
            {
                return choice;
            }
            names.emplace_back(name);
        }
        FailChoice(attribute, text, names);
    }

    /// The value of a tensor attribute; no value if there is none.
    Value Tensor(std::string_view name) const;
    /// A graph attribute; null if there is none.
    const GraphMessage* Graph(std::string_view name) const;
    const AttributeMessage* FindMessage(std::string_view name) const;

    void SetOutput(size_t i, Value value) { m_Outputs.at(i) = std::move(value); }
    /// Sets the outputs from the first one on, as far as there are outputs.
    void SetOutputs(const std::vector<Value>& values)
    {
        for (size_t i = 0; i < m_Outputs.size(); ++i)
        {
            m_Outputs[i] = values.at(i);
        }
    }
    const std::vector<Value>& Outputs() const { return m_Outputs; }

    /// Marks the outputs as dependent on a refused node in a graph attribute.
    void PassRefusal() { m_IsRefused = true; }
    bool IsRefused() const { return m_IsRefused; }

    /// Throws UnimplementedException: the model is valid, but there is no layer for it.
    [[noreturn]] void Refuse(const std::string& reason) const;
    /// Throws OpenSizeException: there is a layer, but only if the sizes of the model's inputs are given.
    [[noreturn]] void RefuseOpen(const std::string& reason) const;

private:
    [[noreturn]] void FailChoice(const char* attribute, const std::string& text,
                                 const std::vector<std::string>& names) const;

    GraphReader& m_Reader;
    int64_t m_Version;
    Attributes m_Attributes;
    std::vector<Value> m_Inputs;
    std::vector<Value> m_Outputs;
    std::vector<bool> m_Wanted;
    bool m_IsRefused = false;
};

} // namespace tenon::onnx
