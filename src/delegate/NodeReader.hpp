// SPDX-License-Identifier: Apache-2.0
// NodeReader: nodes of a TfLiteContext as the OperatorViews that the rows of the .tflite parser take: the second filler
// of those views, next to the one that reads model files (parsers/tflite/OperatorReader.hpp). Used by PartitionNetwork
// and Delegate.
#pragma once

#include "delegate/TfLiteInterface.hpp"
#include "parsers/common/OperatorView.hpp"
#include "parsers/tflite/Operators.hpp"

#include <tenon/Limits.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::delegate
{

/// "CONV_2D", or the custom operator's own name.
std::string NameOfOperator(const TfLiteRegistration& registration);
/// The parser's row for it; null if there is none.
const tflite::OperatorRow* FindRow(const TfLiteRegistration& registration);

/// Why its nodes are left to TensorFlow Lite, whatever rows there are: "is an operator of resource variables, which
/// belong to the interpreter"; null where a row may take them.
const char* ReasonToLeave(const TfLiteRegistration& registration);

/// The tensors that some nodes use, as TensorViews. TensorView::m_Index counts them in the order in which they were
/// asked for, so that a network of few nodes of a large graph stays small.
class TensorScope
{
public:
    /// With `inferShapes` computed tensors are left without a shape. `isComputed`: of each tensor of the context,
    /// whether a node of the graph computes it: an input of the graph has its sizes in dims, also where its signature
    /// says that they vary.
    TensorScope(const TfLiteContext& context, const std::vector<bool>& isComputed, bool inferShapes,
                const Limits& limits);

    /// Constants are used in place, where alignment allows. Throws ParseException for a number that does not exist and
    /// for a tensor that contradicts itself, UnimplementedException for a type or storage that no layer can have.
    const parsers::TensorView& Get(int32_t tensor);
    /// How many were asked for.
    size_t Size() const { return m_Views.size(); }

private:
    parsers::TensorView Convert(int32_t tensor) const;

    const TfLiteContext& m_Context;
    const std::vector<bool>& m_IsComputed;
    bool m_InferShapes;
    Limits m_Limits;
    std::deque<parsers::TensorView> m_Views;
    std::unordered_map<int32_t, size_t> m_Places; ///< in m_Views, by number in the context
};

/// The node with its operands and options. Throws as TensorScope::Get; operands are named in what it throws, the node
/// is not. `index`: the node's in its graph.
parsers::OperatorView ReadNode(TensorScope& tensors, const TfLiteNode& node, const TfLiteRegistration& registration,
                               int32_t index);

/// Subgraphs that operators of StableHLO name as functions: of each the names of its operators are read, by which rows
/// know it. The runtimes that have such operators, of release 2.15 and later, lend the other subgraphs' contexts, to a
/// delegate's Prepare and its kernels' init.
class ContextSubgraphs final : public tflite::ISubgraphs
{
public:
    explicit ContextSubgraphs(TfLiteContext& context);
    ~ContextSubgraphs() override;

    /// Throws ParseException where there is none, UnimplementedException where the runtime does not lend it.
    tflite::ISubgraph& Open(int64_t index) override;
    /// Those that were opened, with their operators.
    std::string Describe() const;

private:
    class Names;

    TfLiteContext& m_Context;
    std::map<int64_t, std::unique_ptr<Names>> m_Opened;
};

} // namespace tenon::delegate
