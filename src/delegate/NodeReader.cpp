// SPDX-License-Identifier: Apache-2.0
// NodeReader: see NodeReader.hpp.
#include "delegate/NodeReader.hpp"

#include "delegate/BuiltinData.hpp"
#include "delegate/GraphView.hpp"
#include "parsers/tflite/DeclaredTensor.hpp"
#include "parsers/tflite/FlexOptions.hpp"
#include "parsers/tflite/OperatorReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tflite_generated.h>
#include <utility>

namespace tenon::delegate
{

namespace
{

using parsers::OperatorView;
using parsers::TensorView;
using tflite::IntegerList;
using tflite::schema::BuiltinOperator;

bool IsCustom(const TfLiteRegistration& registration)
{
    return registration.builtin_code == CustomCode;
}

IntegerList ToIntegers(const TfLiteIntArray* array)
{
    const Span<const int32_t> elements = Elements(array);
    return IntegerList::Of<int32_t>(elements.data(), elements.size());
}

/// The name of a kind that scales and zero points do not describe; null for others.
const char* OtherKind(const TfLiteQuantization& quantization)
{
    switch (quantization.type)
    {
    case kTfLiteNoQuantization:
    case kTfLiteAffineQuantization: return nullptr;
    case kTfLiteBlockwiseQuantization: return "BlockwiseQuantization";
    case kTfLiteMultiAxisQuantization: return "MultiAxisQuantization";
    }
    return "quantization of a kind that is newer than this delegate";
}

/// Whether the tensor can have so many scales.
bool IsPlausible(int32_t count, const TfLiteAffineQuantization& affine, const TfLiteTensor& tensor)
{
    const Span<const int32_t> sizes = Elements(tensor.dims);
    const auto axis = static_cast<size_t>(affine.quantized_dimension);
    return count == 1 || static_cast<size_t>(count) == Elements(affine.zero_point).size() ||
           (affine.quantized_dimension >= 0 && axis < sizes.size() && count == sizes[axis]);
}

/// The array begins with its size or, where the runtime has the layout of 2026, with a pointer to what is aligned to 4
/// bytes. The number of scales tells which one it is: the lower half of a pointer is none that the tensor can have.
Span<const float> ReadScales(const TfLiteAffineQuantization& affine, const TfLiteTensor& tensor)
{
    constexpr uint32_t alignment = alignof(float);
    if (affine.scale == nullptr || affine.scale->size == 0)
    {
        return {};
    }
    const int32_t size = affine.scale->size;
    if (!IsPlausible(size, affine, tensor) && static_cast<uint32_t>(size) % alignment == 0)
    {
        TfLiteFloatArrayOf2026 array;
        std::memcpy(&array, affine.scale, sizeof(array));
        if (array.size > 0 && IsPlausible(array.size, affine, tensor))
        {
            return {array.data, static_cast<size_t>(array.size)};
        }
    }
    return {affine.scale->data, static_cast<size_t>(std::max(size, 0))};
}

/// The values of a tensor that the quantization of tensor `ofTensor` names.
tflite::DeclaredValues Refer(const TfLiteContext& context, int32_t number, const char* what, size_t ofTensor)
{
    if (number < 0 || static_cast<size_t>(number) >= context.tensors_size || static_cast<size_t>(number) == ofTensor)
    {
        throw ParseException(
            fmt::format("its {} are tensor {}; that must be another one of the {} tensors of the graph", what, number,
                        context.tensors_size));
    }
    const TfLiteTensor& tensor = context.tensors[number];
    TensorView named;
    named.m_Index = static_cast<size_t>(number);
    named.m_Name = tensor.name != nullptr ? tensor.name : "";
    const bool hasValues =
        tensor.allocation_type == kTfLiteMmapRo && tensor.data != nullptr && tensor.sparsity == nullptr;
    return {named.Label(), static_cast<tflite::schema::TensorType>(ToFileType(tensor.type)),
            hasValues ? Span<const uint8_t>(static_cast<const uint8_t*>(tensor.data), tensor.bytes)
                      : Span<const uint8_t>()};
}

tflite::DeclaredBlocks DeclareBlocks(const TfLiteContext& context, const TfLiteTensor& tensor, size_t ofTensor)
{
    const auto& blocks = *static_cast<const TfLiteBlockwiseQuantization*>(tensor.quantization.params);
    tflite::DeclaredBlocks declared;
    declared.m_Size = blocks.blocksize;
    declared.m_Scales = Refer(context, blocks.scale, "scales", ofTensor);
    if (blocks.zero_point > 0) // 0 if the file has none, too
    {
        declared.m_ZeroPoints = Refer(context, blocks.zero_point, "zero points", ofTensor);
    }
    return declared;
}

tflite::DeclaredQuantization DeclareQuantization(const TfLiteContext& context, const TfLiteTensor& tensor,
                                                 size_t ofTensor)
{
    tflite::DeclaredQuantization declared;
    const auto type = static_cast<tflite::schema::TensorType>(ToFileType(tensor.type));
    if (tensor.quantization.type == kTfLiteBlockwiseQuantization && tensor.quantization.params != nullptr &&
        tflite::HasBlocks(type))
    {
        declared.m_Blocks = DeclareBlocks(context, tensor, ofTensor);
        return declared;
    }
    declared.m_OtherKind = OtherKind(tensor.quantization);
    if (declared.m_OtherKind != nullptr)
    {
        return declared;
    }
    if (tensor.quantization.type == kTfLiteAffineQuantization && tensor.quantization.params != nullptr)
    {
        const auto& affine = *static_cast<const TfLiteAffineQuantization*>(tensor.quantization.params);
        declared.m_Scales = ReadScales(affine, tensor);
        declared.m_ZeroPoints = ToIntegers(affine.zero_point);
        declared.m_Dimension = affine.quantized_dimension;
    }
    else if (tensor.params.scale != 0.0f) // what a kernel or an application may have set alone
    {
        declared.m_Scales = {&tensor.params.scale, 1};
        declared.m_ZeroPoints = IntegerList::Of<int32_t>(&tensor.params.zero_point, 1);
    }
    return declared;
}

tflite::DeclaredSparsity DeclareSparsity(const TfLiteSparsity& sparsity)
{
    tflite::DeclaredSparsity declared;
    declared.m_TraversalOrder = ToIntegers(sparsity.traversal_order);
    declared.m_BlockMap = ToIntegers(sparsity.block_map);
    for (int32_t i = 0; sparsity.dim_metadata != nullptr && i < sparsity.dim_metadata_size; ++i)
    {
        const TfLiteDimensionMetadata& level = sparsity.dim_metadata[i];
        declared.m_Levels.push_back(
            {level.format, level.dense_size, ToIntegers(level.array_segments), ToIntegers(level.array_indices)});
    }
    return declared;
}

void FillView(TensorView& view, const TfLiteContext& context, bool isComputed, bool inferShapes, const Limits& limits)
{
    const TfLiteTensor& tensor = context.tensors[view.m_Index];
    tflite::DeclaredTensor declared;
    declared.m_Type = static_cast<tflite::schema::TensorType>(ToFileType(tensor.type));
    declared.m_Sizes = Elements(tensor.dims);
    declared.m_Signature = Elements(tensor.dims_signature);
    declared.m_IsInput = !isComputed;
    declared.m_IsVariable = tensor.is_variable;
    declared.m_Quantization = DeclareQuantization(context, tensor, view.m_Index);
    const bool isReadOnly = tensor.allocation_type == kTfLiteMmapRo;
    if (isReadOnly && tensor.data == nullptr && tensor.bytes != 0)
    {
        throw ParseException(fmt::format("is a constant of {} bytes, but has no memory", tensor.bytes));
    }
    if (isReadOnly && tensor.bytes != 0)
    {
        declared.m_Data = {static_cast<const uint8_t*>(tensor.data), tensor.bytes};
        if (tensor.sparsity != nullptr)
        {
            declared.m_Sparsity = DeclareSparsity(*tensor.sparsity);
        }
    }
    const Span<const int32_t> sizes = declared.m_Sizes;
    const auto* negative = std::find_if(sizes.begin(), sizes.end(), [](int32_t size) { return size < 0; });
    if (negative != sizes.end())
    {
        throw ParseException(fmt::format("has size {} in dimension {}", *negative, negative - sizes.begin()));
    }
    const size_t scaleBytes =
        declared.m_Quantization.m_Blocks.has_value() ? declared.m_Quantization.m_Blocks->m_Scales.m_Data.size() : 0;
    ReadBudget budget(tensor.bytes + scaleBytes);
    tflite::FillView(view, declared, inferShapes, limits, budget);
    const bool hasElements = std::find(sizes.begin(), sizes.end(), 0) == sizes.end();
    if (isReadOnly && !view.m_IsResource && !view.m_IsConstant && hasElements)
    {
        throw ParseException(fmt::format("is {} and constant, but has no data", view.m_Info.ToString()));
    }
}

bool HasFlexOptions(const TfLiteRegistration& registration)
{
    const tflite::OperatorRow* row = FindRow(registration);
    return row != nullptr && !row->m_HasRawOptions;
}

Span<const uint8_t> CustomOptions(const TfLiteNode& node)
{
    const int32_t size = node.custom_initial_data_size;
    if (size < 0 || (size > 0 && node.custom_initial_data == nullptr))
    {
        throw ParseException(fmt::format("its custom options have {} bytes{}", size,
                                         node.custom_initial_data == nullptr ? " and no memory" : ""));
    }
    return {static_cast<const uint8_t*>(node.custom_initial_data), static_cast<size_t>(size)};
}

} // namespace

std::string NameOfOperator(const TfLiteRegistration& registration)
{
    if (IsCustom(registration) && registration.custom_name != nullptr && *registration.custom_name != '\0')
    {
        return registration.custom_name;
    }
    return tflite::NameOfBuiltin(registration.builtin_code);
}

const tflite::OperatorRow* FindRow(const TfLiteRegistration& registration)
{
    return tflite::FindRow(NameOfOperator(registration), IsCustom(registration));
}

const char* ReasonToLeave(const TfLiteRegistration& registration)
{
    switch (static_cast<BuiltinOperator>(registration.builtin_code))
    {
    case BuiltinOperator::CALL:
    case BuiltinOperator::CALL_ONCE:
    case BuiltinOperator::IF:
    case BuiltinOperator::STABLEHLO_CASE:
    case BuiltinOperator::STABLEHLO_COMPOSITE:
    case BuiltinOperator::STABLEHLO_WHILE:
    case BuiltinOperator::WHILE: return "runs other subgraphs, which are delegated by themselves";
    case BuiltinOperator::ASSIGN_VARIABLE:
    case BuiltinOperator::READ_VARIABLE:
    case BuiltinOperator::VAR_HANDLE: return "is an operator of resource variables, which the interpreter keeps";
    case BuiltinOperator::HASHTABLE:
    case BuiltinOperator::HASHTABLE_FIND:
    case BuiltinOperator::HASHTABLE_IMPORT:
    case BuiltinOperator::HASHTABLE_SIZE: return "is an operator of hash tables, which the interpreter keeps";
    case BuiltinOperator::MULTINOMIAL:
    case BuiltinOperator::RANDOM_STANDARD_NORMAL:
    case BuiltinOperator::RANDOM_UNIFORM:
        return "goes on with a sequence of random numbers from run to run, which the interpreter keeps";
    case BuiltinOperator::DELEGATE: return "is a part of the graph that a delegate has taken before";
    default: return nullptr;
    }
}

TensorScope::TensorScope(const TfLiteContext& context, const std::vector<bool>& isComputed, bool inferShapes,
                         const Limits& limits)
    : m_Context(context), m_IsComputed(isComputed), m_InferShapes(inferShapes), m_Limits(limits)
{
}

const TensorView& TensorScope::Get(int32_t tensor)
{
    const auto found = m_Places.find(tensor);
    if (found != m_Places.end())
    {
        return m_Views[found->second];
    }
    TensorView view = Convert(tensor);
    view.m_Index = m_Views.size();
    m_Places.emplace(tensor, view.m_Index);
    return m_Views.emplace_back(std::move(view));
}

TensorView TensorScope::Convert(int32_t tensor) const
{
    if (tensor < 0 || static_cast<size_t>(tensor) >= m_Context.tensors_size)
    {
        throw ParseException(fmt::format("tensor {} does not exist: the graph has {}", tensor, m_Context.tensors_size));
    }
    const auto number = static_cast<size_t>(tensor);
    const TfLiteTensor& raw = m_Context.tensors[number];
    TensorView view;
    view.m_Index = number; // names it in messages
    view.m_Name = raw.name != nullptr ? raw.name : "";
    const bool isComputed = number < m_IsComputed.size() && m_IsComputed[number];
    WithModelContext([&] { return fmt::format("tensor {}", view.Label()); },
                     [&] { FillView(view, m_Context, isComputed, m_InferShapes, m_Limits); });
    return view;
}

OperatorView ReadNode(TensorScope& tensors, const TfLiteNode& node, const TfLiteRegistration& registration,
                      int32_t index)
{
    const auto read = [&](const TfLiteIntArray* list, const char* kind)
    {
        return tflite::ReadOperands(Elements(list), kind,
                                    [&](int32_t tensor) -> const TensorView& { return tensors.Get(tensor); });
    };
    OperatorView::Operands inputs = read(node.inputs, "input");
    OperatorView::Operands outputs = read(node.outputs, "output");
    OperatorView::Operands intermediates = read(node.intermediates, "intermediate");
    for (const OperatorView::Operands* operands : {&inputs, &outputs})
    {
        for (const TensorView* operand : *operands)
        {
            if (operand != nullptr && operand->m_IsResource)
            {
                throw UnimplementedException(
                    fmt::format("tensor {} is a resource, which the interpreter keeps", operand->Label()));
            }
        }
    }
    parsers::AttributeList attributes;
    std::vector<uint8_t> raw;
    if (!IsCustom(registration))
    {
        std::optional<uint32_t> rank;
        if (!inputs.empty() && inputs.front() != nullptr &&
            inputs.front()->m_DeclaredShape.GetDimensionality() != Dimensionality::NotSpecified)
        {
            rank = inputs.front()->m_DeclaredShape.GetNumDimensions();
        }
        attributes = ReadBuiltinData(registration.builtin_code, registration.version, node.builtin_data, rank);
    }
    else if (const Span<const uint8_t> options = CustomOptions(node); HasFlexOptions(registration))
    {
        ReadBudget budget(options.size());
        attributes = tflite::ReadFlexOptions(budget, options);
    }
    else
    {
        raw.assign(options.begin(), options.end());
    }
    return {NameOfOperator(registration), static_cast<size_t>(index), std::move(inputs),
            std::move(outputs),           std::move(attributes),      std::move(raw),
            std::move(intermediates),     registration.version};
}

/// A subgraph by the names of its operators.
class ContextSubgraphs::Names final : public tflite::ISubgraph
{
public:
    Names(TfLiteContext& context, size_t index) : m_Index(index), m_NumTensors(context.tensors_size)
    {
        const GraphView graph(context);
        for (const Node& node : graph.Nodes())
        {
            m_Operators.emplace_back(NameOfOperator(*node.m_Registration), static_cast<size_t>(node.m_Index),
                                     OperatorView::Operands(), OperatorView::Operands(), parsers::AttributeList(),
                                     std::vector<uint8_t>());
        }
    }

    size_t Index() const override { return m_Index; }
    size_t NumTensors() const override { return m_NumTensors; }
    std::vector<const TensorView*> Inputs() override { Refuse(); }
    std::vector<const TensorView*> Outputs() override { Refuse(); }
    std::string Describe() const
    {
        std::string text = fmt::format("{}:", m_Index);
        for (const OperatorView& op : m_Operators)
        {
            text += fmt::format(" {}", op.Name());
        }
        return text + ';';
    }
    uint64_t Cost() const override { return m_Operators.size() + m_NumTensors + 1; }
    void ForEachOperator(const std::function<void(const OperatorView& op)>& visit) override
    {
        std::for_each(m_Operators.begin(), m_Operators.end(), visit);
    }
    void AddOperators(tflite::NetworkBuilder&) override { Refuse(); }

private:
    [[noreturn]] void Refuse() const
    {
        throw UnimplementedException(fmt::format("subgraph {} is delegated by itself", m_Index));
    }

    size_t m_Index;
    size_t m_NumTensors;
    std::vector<OperatorView> m_Operators;
};

ContextSubgraphs::ContextSubgraphs(TfLiteContext& context) : m_Context(context) {}

ContextSubgraphs::~ContextSubgraphs() = default;

tflite::ISubgraph& ContextSubgraphs::Open(int64_t index)
{
    std::unique_ptr<Names>& opened = m_Opened[index];
    if (opened == nullptr)
    {
        const auto number = static_cast<int32_t>(index);
        TfLiteContext* context = nullptr;
        if (index < 0 || index > INT32_MAX)
        {
            throw ParseException(fmt::format("subgraph {} does not exist", index));
        }
        if (m_Context.AcquireSubgraphContext == nullptr ||
            m_Context.AcquireSubgraphContext(&m_Context, number, &context) != kTfLiteOk || context == nullptr)
        {
            throw UnimplementedException(fmt::format("the runtime does not show subgraph {}", index));
        }
        try
        {
            opened = std::make_unique<Names>(*context, static_cast<size_t>(index));
        }
        catch (...)
        {
            m_Context.ReleaseSubgraphContext(&m_Context, number);
            throw;
        }
        m_Context.ReleaseSubgraphContext(&m_Context, number);
    }
    return *opened;
}

std::string ContextSubgraphs::Describe() const
{
    std::string text;
    for (const auto& [index, opened] : m_Opened)
    {
        text += opened != nullptr ? opened->Describe() : "";
    }
    return text;
}

} // namespace tenon::delegate
