// SPDX-License-Identifier: Apache-2.0
// TensorTable: the tensors of one subgraph as TensorViews, each checked and converted when it is first asked for. The
// parser and the OperatorReader take tensors from here.
#pragma once

#include "parsers/common/OperatorView.hpp"
#include "parsers/tflite/Model.hpp"
#include "parsers/tflite/Quantization.hpp"

#include <memory>
#include <vector>

namespace tenon::tflite
{

using parsers::TensorView;

namespace schema
{
struct BlockwiseQuantization;
struct Tensor;
} // namespace schema

class TensorTable
{
public:
    /// With `inferShapes` computed tensors are left without a shape.
    TensorTable(Model& model, const schema::SubGraph& subgraph, bool inferShapes);
    ~TensorTable();

    size_t Size() const { return m_Views.size(); }

    /// Whether the file marks tensors whose rank is known, as converters do since 2021. If it does not, a missing shape
    /// may mean a scalar or an unknown rank.
    bool TellsRanks() const { return m_TellsRanks; }
    /// Whether the file holds values for the tensor. Throws ParseException for an index that does not exist.
    bool HasData(int32_t index) const;
    /// Replaces the shape of a graph input.
    const TensorView& Reshape(int32_t index, const TensorShape& shape);

    /// An input of the subgraph keeps the declared shape. Throws ParseException for an index that does not exist and
    /// for a tensor that contradicts itself, UnimplementedException for a type or storage that no layer can have.
    const TensorView& Get(int32_t index);

private:
    const schema::Tensor& Raw(int32_t index) const;
    std::unique_ptr<TensorView> Convert(int32_t index);
    DeclaredBlocks DeclareBlocks(const schema::BlockwiseQuantization& blocks, size_t ofTensor) const;
    /// The values of a tensor that the quantization of another one names. `what`: those of them that it is.
    DeclaredValues Refer(int32_t index, const char* what, size_t ofTensor) const;
    void ConvertChecked(const schema::Tensor& tensor, TensorView& view, bool isInput);

    Model& m_Model;
    const schema::SubGraph& m_Subgraph;
    bool m_InferShapes;
    std::vector<std::unique_ptr<TensorView>> m_Views;
    std::vector<bool> m_IsInput; ///< tensors that are inputs of the subgraph
    bool m_TellsRanks = false;
};

} // namespace tenon::tflite
