// SPDX-License-Identifier: Apache-2.0
// NodeReader: makes OperatorViews, the input of the rows of the .tflite parser, from nodes of a TfLiteContext. The
// other source of these views is the reader of model files (parsers/tflite/OperatorReader.hpp). Used by
// PartitionNetwork and Delegate.
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

/// The reason why the operator's nodes are left to TensorFlow Lite, even if there is a row: "is an operator of resource
/// variables, which belong to the interpreter"; null if a row may take them.
const char* ReasonToLeave(const TfLiteRegistration& registration);

/// The tensors that some nodes use, as TensorViews. TensorView::m_Index counts them in the order in which they were
/// asked for, so that a network of few nodes of a large graph stays small.
class TensorScope
{
public:
    /// With `inferShapes` computed tensors are left without a shape. `isComputed`: whether a node of the graph computes
    /// the tensor, for each tensor of the context. An input of the graph has its sizes in dims, even if its signature
    /// says that they vary.
    TensorScope(const TfLiteContext& context, const std::vector<bool>& isComputed, bool inferShapes,
                const Limits& limits);

    /// Constants are used in place, where alignment allows. Throws ParseException for a number that does not exist and
    /// for a tensor that contradicts itself, UnimplementedException for a type or storage that no layer can have.
    const parsers::TensorView& Get(int32_t tensor);
    /// The number of tensors that were asked for.
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

/// The node with its operands and options. Throws as TensorScope::Get does; the text names operands, but not the node.
/// `index`: the node's index in its graph.
parsers::OperatorView ReadNode(TensorScope& tensors, const TfLiteNode& node, const TfLiteRegistration& registration,
                               int32_t index);

/// Subgraphs that operators of StableHLO name as functions. Rows identify a function by the names of its operators,
/// which are all that is read. The runtimes that have such operators, release 2.15 and later, lend the other subgraphs'
/// contexts to a delegate's Prepare and its kernels' init.
class ContextSubgraphs final : public tflite::ISubgraphs
{
public:
    explicit ContextSubgraphs(TfLiteContext& context);
    ~ContextSubgraphs() override;

    /// Throws ParseException if there is none, and UnimplementedException if the runtime does not lend it.
    tflite::ISubgraph& Open(int64_t index) override;
    /// The subgraphs that were opened, with their operators.
    std::string Describe() const;

private:
    class Names;

    TfLiteContext& m_Context;
    std::map<int64_t, std::unique_ptr<Names>> m_Opened;
};

} // namespace tenon::delegate
