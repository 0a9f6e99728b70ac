// SPDX-License-Identifier: Apache-2.0
// TensorTable: see TensorTable.hpp.
#include "parsers/tflite/TensorTable.hpp"

#include "parsers/common/ConstantData.hpp"
#include "parsers/tflite/Quantization.hpp"
#include "parsers/tflite/Sparsity.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

/// The shape as the file has it; a size of -1 is unknown. Whether an empty one is a scalar is the caller's question.
TensorShape ReadSizes(const flatbuffers::Vector<int32_t>& sizes, unsigned int maxRank)
{
    const unsigned int limit = std::min(maxRank, MaxNumOfTensorDimensions);
    if (sizes.size() > limit)
    {
        throw ParseException(
            fmt::format("has rank {}, at most {} is possible (Limits::m_MaxRank)", sizes.size(), limit));
    }
    TensorShape shape(sizes.size(), false);
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        if (sizes.Get(i) < -1)
        {
            throw ParseException(fmt::format("has size {} in dimension {}", sizes.Get(i), i));
        }
        if (sizes.Get(i) >= 0)
        {
            shape.SetDimensionSize(i, static_cast<unsigned int>(sizes.Get(i)));
        }
    }
    return shape;
}

/// The field `shape`; an empty one may stand for a scalar or for an unknown rank.
TensorShape ReadShape(const schema::Tensor& tensor, bool isConstant, unsigned int maxRank)
{
    const auto* sizes = tensor.shape();
    if (sizes == nullptr || sizes->size() == 0)
    {
        return TensorShape(isConstant || tensor.has_rank() ? Dimensionality::Scalar : Dimensionality::NotSpecified);
    }
    return ReadSizes(*sizes, maxRank);
}

/// The shape without the sizes that vary from run to run, which are -1 in the signature.
TensorShape LeaveOpen(TensorShape shape, const schema::Tensor& tensor)
{
    const auto* signature = tensor.shape_signature();
    const bool isRanked = shape.GetDimensionality() == Dimensionality::Specified;
    if (isRanked && signature != nullptr && signature->size() == shape.GetNumDimensions())
    {
        for (unsigned int i = 0; i < signature->size(); ++i)
        {
            if (signature->Get(i) < 0)
            {
                shape.SetDimensionUnknown(i);
            }
        }
    }
    return shape;
}

} // namespace

TensorTable::TensorTable(Model& model, const schema::SubGraph& subgraph, bool inferShapes)
    : m_Model(model), m_Subgraph(subgraph), m_InferShapes(inferShapes),
      m_Views(subgraph.tensors() != nullptr ? subgraph.tensors()->size() : 0), m_IsInput(m_Views.size())
{
    const auto* inputs = subgraph.inputs();
    for (unsigned int i = 0; inputs != nullptr && i < inputs->size(); ++i)
    {
        if (inputs->Get(i) >= 0 && static_cast<size_t>(inputs->Get(i)) < m_IsInput.size())
        {
            m_IsInput[static_cast<size_t>(inputs->Get(i))] = true;
        }
    }
    for (unsigned int i = 0; i < m_Views.size() && !m_TellsRanks; ++i)
    {
        m_TellsRanks = subgraph.tensors()->Get(i)->has_rank();
    }
}

TensorTable::~TensorTable() = default;

const schema::Tensor& TensorTable::Raw(int32_t index) const
{
    if (index < 0 || static_cast<size_t>(index) >= m_Views.size())
    {
        throw ParseException(fmt::format("tensor {} does not exist: the subgraph has {}", index, m_Views.size()));
    }
    return *m_Subgraph.tensors()->Get(static_cast<flatbuffers::uoffset_t>(index));
}

bool TensorTable::HasData(int32_t index) const
{
    const schema::Tensor& tensor = Raw(index);
    return tensor.external_buffer() != 0 || !m_Model.BufferData(tensor.buffer()).empty();
}

const TensorView& TensorTable::Reshape(int32_t index, const TensorShape& shape)
{
    TensorView& view = *m_Views.at(static_cast<size_t>(index));
    view.m_Info.SetShape(shape);
    view.m_DeclaredShape = TensorShape();
    view.m_WrittenShape = TensorShape();
    parsers::CheckTensorBytes(view.m_Info, m_Model.GetLimits());
    return view;
}

const TensorView& TensorTable::Get(int32_t index)
{
    Raw(index);
    std::unique_ptr<TensorView>& view = m_Views[static_cast<size_t>(index)];
    if (view == nullptr)
    {
        view = Convert(index);
    }
    return *view;
}

std::unique_ptr<TensorView> TensorTable::Convert(int32_t index)
{
    const schema::Tensor& tensor = Raw(index);
    auto view = std::make_unique<TensorView>();
    view->m_Index = static_cast<size_t>(index);
    if (tensor.name() != nullptr)
    {
        m_Model.Charge(tensor.name()->size());
        view->m_Name = tensor.name()->str();
    }
    WithModelContext([&] { return fmt::format("tensor {}", view->Label()); },
                     [&] { ConvertChecked(tensor, *view, m_IsInput[view->m_Index]); });
    return view;
}

void TensorTable::ConvertChecked(const schema::Tensor& tensor, TensorView& view, bool isInput)
{
    if (tensor.external_buffer() != 0)
    {
        throw UnimplementedException("its data is in another file, which is not supported");
    }
    if (tensor.type() == schema::TensorType::RESOURCE)
    {
        view.m_IsResource = true;
        return;
    }
    view.m_Data = m_Model.BufferData(tensor.buffer());
    view.m_IsConstant = !view.m_Data.empty();
    view.m_IsVariable = tensor.is_variable();
    if (view.m_IsConstant && view.m_IsVariable)
    {
        throw ParseException("is both variable and constant");
    }

    view.m_WrittenShape = ReadShape(tensor, view.m_IsConstant, m_Model.GetLimits().m_MaxRank);
    // An input that nobody resizes has the sizes in `shape`, as in TFLite; what is computed from it has sizes to be
    // inferred.
    view.m_DeclaredShape = view.m_IsConstant || isInput ? view.m_WrittenShape : LeaveOpen(view.m_WrittenShape, tensor);
    view.m_Info = ReadInfo(m_Model, tensor, view.m_DeclaredShape);
    parsers::CheckTensorBytes(view.m_Info, m_Model.GetLimits());
    if (view.m_IsConstant)
    {
        view.m_Info.SetConstant();
        if (tensor.sparsity() != nullptr)
        {
            auto dense = std::make_shared<const std::vector<uint8_t>>(
                Densify(m_Model, *tensor.sparsity(), view.m_Info, view.m_Data));
            view.m_Data = *dense;
            view.m_Owner = std::move(dense);
            view.m_IsSparse = true;
        }
        if (view.m_Info.GetNumBytes() != view.m_Data.size())
        {
            throw ParseException(fmt::format("is {} of {} bytes, but its buffer {} has {}", view.m_Info.ToString(),
                                             view.m_Info.GetNumBytes(), tensor.buffer(), view.m_Data.size()));
        }
        parsers::Align(view, m_Model.Budget());
    }
    else if (m_InferShapes && !isInput && !view.m_IsVariable)
    {
        view.m_Info.SetShape(TensorShape());
    }
}

} // namespace tenon::tflite
