// SPDX-License-Identifier: Apache-2.0
// SubgraphReader: reads one subgraph of a model file into a network, operator by operator. The parser reads the
// network's main subgraph with it; NetworkBuilder opens the subgraphs that are called from there.
#pragma once

#include "parsers/tflite/Model.hpp"
#include "parsers/tflite/NetworkBuilder.hpp"
#include "parsers/tflite/Operators.hpp"
#include "parsers/tflite/TensorTable.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tflite
{

class SubgraphReader final : public ISubgraph
{
public:
    /// The number of visits of a subgraph's operators.
    enum class Use : uint8_t
    {
        Once,
        Often ///< operators are read out of the model once and then kept
    };

    /// Throws ParseException when there is no such subgraph. With `inferShapes` computed tensors are left without a
    /// shape.
    SubgraphReader(Model& model, size_t index, bool inferShapes, Use use);

    TensorTable& Tensors() { return m_Tensors; }
    /// "subgraph 1 'body'"
    std::string Describe() const;

    size_t Index() const override { return m_Index; }
    size_t NumTensors() const override { return m_Tensors.Size(); }
    std::vector<const TensorView*> Inputs() override;
    std::vector<const TensorView*> Outputs() override;
    uint64_t Cost() const override;
    void ForEachOperator(const std::function<void(const OperatorView& op)>& visit) override;
    void AddOperators(NetworkBuilder& builder) override;

private:
    struct Entry
    {
        OperatorView m_Operator;
        const OperatorRow* m_Row; ///< null: there is no row for it
    };

    size_t NumOperators() const;
    template <typename Visit>
    void VisitOperators(Visit visit);
    Entry Read(unsigned int index, std::string& name);
    /// Calls `read` and adds up the bytes that it charges the model.
    template <typename Function>
    auto Measured(Function read);

    Model& m_Model;
    size_t m_Index;
    const schema::SubGraph& m_Subgraph;
    TensorTable m_Tensors;
    Use m_Use;
    std::optional<std::vector<uint32_t>> m_Order; ///< order of visits, see OrderOperators; found at the first visit
    std::deque<Entry> m_Kept; ///< the first operators; visits that go on refer to them while further ones are added
    uint64_t m_BytesRead = 0;
};

/// The subgraphs of a model file.
class ModelSubgraphs final : public ISubgraphs
{
public:
    ModelSubgraphs(Model& model, bool inferShapes) : m_Model(model), m_InferShapes(inferShapes) {}
    ISubgraph& Open(int64_t index) override;

private:
    Model& m_Model;
    bool m_InferShapes;
    std::map<size_t, SubgraphReader> m_Opened; ///< each subgraph once, even if it is called several times
};

} // namespace tenon::tflite
