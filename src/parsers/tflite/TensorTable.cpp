// SPDX-License-Identifier: Apache-2.0
// TensorTable: see TensorTable.hpp.
#include "parsers/tflite/TensorTable.hpp"

#include "parsers/common/ConstantData.hpp"
#include "parsers/tflite/DeclaredTensor.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <tflite_generated.h>

namespace tenon::tflite
{

namespace
{

template <typename T>
IntegerList ToIntegers(const flatbuffers::Vector<T>* list)
{
    return list != nullptr ? IntegerList::Of<T>(list->Data(), list->size()) : IntegerList();
}

template <typename T>
Span<const T> ToSpan(const flatbuffers::Vector<T>* list)
{
    return list != nullptr ? Span<const T>(list->data(), list->size()) : Span<const T>();
}

DeclaredQuantization DeclareQuantization(const schema::QuantizationParameters* parameters)
{
    DeclaredQuantization declared;
    if (parameters == nullptr)
    {
        return declared;
    }
    declared.m_Scales = ToSpan(parameters->scale());
    declared.m_ZeroPoints = ToIntegers(parameters->zero_point());
    declared.m_Dimension = parameters->quantized_dimension();
    if (parameters->details_type() == schema::QuantizationDetails::BlockwiseQuantization ||
        parameters->details_type() == schema::QuantizationDetails::MultiAxisQuantization)
    {
        declared.m_OtherKind = EnumNameQuantizationDetails(parameters->details_type());
    }
    return declared;
}

IntegerList ReadSparseIndices(schema::SparseIndexVector type, const void* list)
{
    switch (type)
    {
    case schema::SparseIndexVector::Int32Vector:
        return ToIntegers(static_cast<const schema::Int32Vector*>(list)->values());
    case schema::SparseIndexVector::Uint16Vector:
        return ToIntegers(static_cast<const schema::Uint16Vector*>(list)->values());
    case schema::SparseIndexVector::Uint8Vector:
        return ToIntegers(static_cast<const schema::Uint8Vector*>(list)->values());
    case schema::SparseIndexVector::NONE: break;
    }
    throw ParseException(fmt::format("sparsity has an index list of kind {}", static_cast<int>(type)));
}

/// The blocks of a tensor that may have them; null: none.
const schema::BlockwiseQuantization* FindBlocks(const schema::Tensor& tensor)
{
    return tensor.quantization() != nullptr && HasBlocks(tensor.type())
               ? tensor.quantization()->details_as_BlockwiseQuantization()
               : nullptr;
}

DeclaredSparsity DeclareSparsity(Model& model, const schema::SparsityParameters& sparsity)
{
    DeclaredSparsity declared;
    declared.m_TraversalOrder = ToIntegers(sparsity.traversal_order());
    declared.m_BlockMap = ToIntegers(sparsity.block_map());
    const auto* levels = sparsity.dim_metadata();
    for (unsigned int i = 0; levels != nullptr && i < levels->size(); ++i)
    {
        const schema::DimensionMetadata& entry = *levels->Get(i);
        model.Charge(sizeof(DeclaredSparsity::Level));
        DeclaredSparsity::Level& level = declared.m_Levels.emplace_back();
        level.m_Format = static_cast<int32_t>(entry.format());
        level.m_DenseSize = entry.dense_size();
        if (entry.format() == schema::DimensionType::SPARSE_CSR)
        {
            level.m_Segments = ReadSparseIndices(entry.array_segments_type(), entry.array_segments());
            level.m_Indices = ReadSparseIndices(entry.array_indices_type(), entry.array_indices());
        }
    }
    return declared;
}

DeclaredTensor Declare(Model& model, const schema::Tensor& tensor, bool isInput)
{
    DeclaredTensor declared;
    declared.m_Type = tensor.type();
    if (tensor.type() == schema::TensorType::RESOURCE)
    {
        return declared;
    }
    declared.m_Sizes = ToSpan(tensor.shape());
    declared.m_Signature = ToSpan(tensor.shape_signature());
    declared.m_HasRank = tensor.has_rank();
    declared.m_IsInput = isInput;
    declared.m_IsVariable = tensor.is_variable();
    declared.m_Quantization = DeclareQuantization(tensor.quantization());
    declared.m_Data = model.TensorData(tensor);
    if (tensor.external_buffer() == 0)
    {
        declared.m_Buffer = tensor.buffer();
    }
    if (tensor.sparsity() != nullptr && !declared.m_Data.empty())
    {
        declared.m_Sparsity = DeclareSparsity(model, *tensor.sparsity());
    }
    return declared;
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
    DeclaredTensor declared = Declare(m_Model, tensor, isInput);
    if (const schema::BlockwiseQuantization* const blocks = FindBlocks(tensor))
    {
        declared.m_Quantization.m_Blocks = DeclareBlocks(*blocks, view.m_Index);
    }
    FillView(view, declared, m_InferShapes, m_Model.GetLimits(), m_Model.Budget());
}

DeclaredBlocks TensorTable::DeclareBlocks(const schema::BlockwiseQuantization& blocks, size_t ofTensor) const
{
    DeclaredBlocks declared;
    declared.m_Size = blocks.block_size();
    declared.m_Shape = ToSpan(blocks.block_shape());
    declared.m_Scales = Refer(blocks.scales(), "scales", ofTensor);
    if (blocks.zero_points() > 0) // 0 where the file has none, too
    {
        declared.m_ZeroPoints = Refer(blocks.zero_points(), "zero points", ofTensor);
    }
    return declared;
}

DeclaredValues TensorTable::Refer(int32_t index, const char* what, size_t ofTensor) const
{
    if (index < 0 || static_cast<size_t>(index) >= m_Views.size() || static_cast<size_t>(index) == ofTensor)
    {
        throw ParseException(
            fmt::format("its {} are tensor {}; that must be another one of the {} tensors of the subgraph", what, index,
                        m_Views.size()));
    }
    const schema::Tensor& tensor = Raw(index);
    TensorView named;
    named.m_Index = static_cast<size_t>(index);
    if (tensor.name() != nullptr)
    {
        m_Model.Charge(tensor.name()->size());
        named.m_Name = tensor.name()->str();
    }
    if (tensor.sparsity() != nullptr)
    {
        throw UnimplementedException(
            fmt::format("its {}, tensor {}, are sparse, which is not supported", what, named.Label()));
    }
    return {named.Label(), tensor.type(), m_Model.TensorData(tensor)};
}

} // namespace tenon::tflite
