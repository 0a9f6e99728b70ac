// SPDX-License-Identifier: Apache-2.0
// See SizeFacts.hpp.
#include "optimizer/rewriting/SizeFacts.hpp"

#include "graph/Ranks.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tenon
{

namespace
{

constexpr size_t MaxValues = 64;

bool IsInteger(DataType type)
{
    return type == DataType::Signed32 || type == DataType::Signed64;
}

/// An axis counted from the start; `rank` where there is none.
unsigned int Canonical(int64_t axis, size_t rank)
{
    const int64_t given = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    return given >= 0 && given < static_cast<int64_t>(rank) ? static_cast<unsigned int>(given)
                                                            : static_cast<unsigned int>(rank);
}

bool IsAllKnown(const SizeFacts::List& list)
{
    return std::all_of(list.begin(), list.end(), [](const SizeFacts::Entry& entry) { return entry.IsKnown(); });
}

/// The elements of a constant of integers or Booleans.
SizeFacts::List ReadValues(const ConstTensor& tensor)
{
    const size_t count = tensor.GetInfo().GetNumElements();
    const void* const data = tensor.GetMemoryArea();
    SizeFacts::List values;
    for (size_t i = 0; i < count; ++i)
    {
        switch (tensor.GetInfo().GetDataType())
        {
        case DataType::Signed32: values.push_back({static_cast<const int32_t*>(data)[i], 0}); break;
        case DataType::Signed64: values.push_back({static_cast<const int64_t*>(data)[i], 0}); break;
        default: values.push_back({static_cast<const uint8_t*>(data)[i] != 0 ? 1 : 0, 0}); break;
        }
    }
    return values;
}

} // namespace

SizeFacts::SizeFacts(const Graph& graph)
    : m_Graph(graph), m_Fixed(graph), m_Size(graph.Size()), m_Facts(graph.Size()), m_IsSize(1, false)
{
    // Before there are layers of which it knows nothing.
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetNumOutputSlots() != 0)
        {
            m_Fixed.IsFixed(layer->Output(0));
        }
    }
}

void SizeFacts::Complete()
{
    if (m_IsComplete)
    {
        return;
    }
    m_IsComplete = true;
    for (const Layer* layer : m_Graph.TopologicalOrder())
    {
        if (layer->m_Index < m_Size)
        {
            Add(*layer);
        }
    }
}

SizeFacts::Facts* SizeFacts::Find(const OutputSlot& slot)
{
    const size_t index = slot.GetOwningLayer().m_Index;
    if (index >= m_Size)
    {
        return nullptr;
    }
    return slot.CalculateIndexOnOwner() == 0 ? &m_Facts[index] : &m_Further[&slot];
}

const SizeFacts::List* SizeFacts::GetSizes(const OutputSlot& slot)
{
    Facts* const facts = Find(slot);
    if (facts == nullptr)
    {
        return nullptr;
    }
    if (!m_IsComplete && !facts->m_HasSizes && m_Fixed.IsFixed(slot))
    {
        AddFixed(slot, *facts);
    }
    if (!facts->m_HasSizes)
    {
        Complete();
    }
    return FindSizes(slot);
}

const SizeFacts::List* SizeFacts::GetValues(const OutputSlot& slot)
{
    Complete();
    return FindValues(slot);
}

const SizeFacts::List* SizeFacts::FindSizes(const OutputSlot& slot)
{
    const Facts* const facts = Find(slot);
    return facts != nullptr && facts->m_HasSizes ? &facts->m_Sizes : nullptr;
}

const SizeFacts::List* SizeFacts::FindValues(const OutputSlot& slot)
{
    const Facts* const facts = Find(slot);
    return facts != nullptr && facts->m_HasValues ? &facts->m_Values : nullptr;
}

const SizeFacts::List* SizeFacts::SizesOf(const Layer& layer, unsigned int input)
{
    return input < layer.NumInputs() && IsPlainInput(layer, input)
               ? FindSizes(*layer.Input(input).GetConnectedOutputSlot())
               : nullptr;
}

const SizeFacts::List* SizeFacts::ValuesOf(const Layer& layer, unsigned int input)
{
    return input < layer.NumInputs() && IsPlainInput(layer, input)
               ? FindValues(*layer.Input(input).GetConnectedOutputSlot())
               : nullptr;
}

SizeFacts::Entry SizeFacts::NewSizeSymbol()
{
    const Entry entry = NewSymbol();
    m_IsSize.resize(entry.m_Symbol + 1, false);
    m_IsSize[entry.m_Symbol] = true;
    return entry;
}

SizeFacts::Entry SizeFacts::AsSize(const Entry& entry)
{
    const bool isSize =
        entry.IsKnown() ? entry.m_Number >= 0 : entry.m_Symbol < m_IsSize.size() && m_IsSize[entry.m_Symbol];
    return isSize ? entry : NewSizeSymbol();
}

SizeFacts::List SizeFacts::NewSizeSymbols(unsigned int rank)
{
    List sizes(rank);
    std::generate(sizes.begin(), sizes.end(), [&] { return NewSizeSymbol(); });
    return sizes;
}

void SizeFacts::SetSizes(Facts& facts, List sizes)
{
    facts.m_HasSizes = true;
    facts.m_Sizes = std::move(sizes);
}

void SizeFacts::SetValues(Facts& facts, List values)
{
    if (values.size() <= MaxValues)
    {
        facts.m_HasValues = true;
        facts.m_Values = std::move(values);
    }
}

void SizeFacts::AddFixed(const OutputSlot& slot, Facts& facts)
{
    const TensorShape& shape = slot.GetTensorInfo().GetShape();
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return;
    }
    List sizes;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        sizes.push_back(shape.GetDimensionSpecificity(i) ? Number(shape[i]) : NewSizeSymbol());
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::Add(const Layer& layer)
{
    if (layer.GetType() == LayerType::Constant)
    {
        Facts& facts = m_Facts[layer.m_Index];
        AddFixed(layer.Output(0), facts);
        const TensorInfo& info = layer.Output(0).GetTensorInfo();
        if ((IsInteger(info.GetDataType()) || info.GetDataType() == DataType::Boolean) && facts.m_Sizes.size() <= 1 &&
            info.GetNumElements() <= MaxValues)
        {
            SetValues(facts, ReadValues(layer.GetConstant()->m_Tensor));
        }
        return;
    }
    for (const OutputSlot& slot : layer.Outputs())
    {
        const bool isFirst = slot.CalculateIndexOnOwner() == 0;
        Facts& facts = isFirst ? m_Facts[layer.m_Index] : m_Further[&slot];
        if (layer.GetType() == LayerType::Splitter)
        {
            InferSplitOutput(layer, slot.CalculateIndexOnOwner(), facts);
        }
        else if (isFirst && !layer.HasDataDependentShapes())
        {
            Infer(layer, facts);
        }
        if (m_Fixed.IsFixed(slot) || HasFixedSizes(layer))
        {
            AddFixed(slot, facts);
        }
    }
}

void SizeFacts::Infer(const Layer& layer, Facts& facts)
{
    switch (layer.GetType())
    {
    case LayerType::Shape: return InferShape(layer, facts);
    case LayerType::Reshape: return InferReshape(layer, facts);
    case LayerType::Squeeze: return InferSqueeze(layer, facts);
    case LayerType::ExpandDims: return InferExpandDims(layer, facts);
    case LayerType::Transpose: return InferTranspose(layer, facts);
    case LayerType::Concat: return InferConcat(layer, facts);
    case LayerType::Stack: return InferStack(layer, facts);
    case LayerType::Gather: return InferGather(layer, facts);
    case LayerType::Slice: return InferSlice(layer, facts);
    case LayerType::StridedSlice: return InferStridedSlice(layer, facts);
    case LayerType::ElementwiseBinary: return InferBinary(layer, facts);
    case LayerType::Comparison: return InferComparison(layer, facts);
    case LayerType::Select: return InferSelect(layer, facts);
    case LayerType::Mean:
    case LayerType::Reduce: return InferReduction(layer, facts);
    case LayerType::BatchMatMul: return InferProduct(layer, facts);
    case LayerType::FullyConnected: return InferConnected(layer, facts);
    case LayerType::Convolution2d:
    case LayerType::DepthwiseConvolution2d:
    case LayerType::DepthToSpace:
    case LayerType::Pooling2d:
    case LayerType::Resize:
    case LayerType::SpaceToDepth:
    case LayerType::TransposeConvolution2d: return InferImage(layer, facts);
    case LayerType::Fill:
    case LayerType::BroadcastTo: return InferFilled(layer, facts);
    case LayerType::Pad: return InferPad(layer, facts);
    default: return InferByFlags(layer, facts);
    }
}

void SizeFacts::InferByFlags(const Layer& layer, Facts& facts)
{
    const OpSchema& schema = layer.GetSchema();
    const List* const sizes = layer.NumInputs() != 0 ? SizesOf(layer, 0) : nullptr;
    if (sizes != nullptr && schema.Has(OpFlags::SameShape))
    {
        SetSizes(facts, *sizes);
        const List* const values = ValuesOf(layer, 0);
        if (layer.GetType() == LayerType::Cast && values != nullptr &&
            IsInteger(layer.Input(0).GetTensorInfo().GetDataType()) &&
            layer.Output(0).GetTensorInfo().GetDataType() == DataType::Signed64)
        {
            SetValues(facts, *values);
        }
        return;
    }
    const List* const other = schema.Has(OpFlags::Broadcast) ? SizesOf(layer, 1) : nullptr;
    if (sizes != nullptr && other != nullptr)
    {
        SetSizes(facts, Broadcast(*sizes, *other));
        return;
    }
    const unsigned int fixed = GetFixedRank(layer);
    if (fixed != 0 || (sizes != nullptr && KeepsRank(layer)))
    {
        SetSizes(facts, NewSizeSymbols(fixed != 0 ? fixed : static_cast<unsigned int>(sizes->size())));
    }
}

void SizeFacts::InferShape(const Layer& layer, Facts& facts)
{
    const List* const sizes = SizesOf(layer, 0);
    if (sizes != nullptr)
    {
        SetSizes(facts, {Number(static_cast<int64_t>(sizes->size()))});
        SetValues(facts, *sizes);
    }
    else
    {
        SetSizes(facts, NewSizeSymbols(1));
    }
}

SizeFacts::List SizeFacts::Reshaped(const List& from, const List& target)
{
    // What is left of the elements when known and named sizes of the target are taken out.
    int64_t rest = 1;
    bool isSound = true;
    std::vector<Entry> names;
    for (const Entry& size : from)
    {
        if (!size.IsKnown())
        {
            names.push_back(size);
        }
        else
        {
            isSound = isSound && !__builtin_mul_overflow(rest, size.m_Number, &rest);
        }
    }
    size_t open = target.size();
    int64_t taken = 1;
    List sizes;
    for (size_t i = 0; i < target.size(); ++i)
    {
        if (target[i].Is(-1))
        {
            isSound = isSound && open == target.size();
            open = i;
            sizes.push_back(NewSizeSymbol());
            continue;
        }
        sizes.push_back(AsSize(target[i]));
        if (target[i].IsKnown())
        {
            isSound = isSound && target[i].m_Number > 0 && !__builtin_mul_overflow(taken, target[i].m_Number, &taken);
            continue;
        }
        const auto found = std::find(names.begin(), names.end(), target[i]);
        isSound = isSound && found != names.end();
        if (found != names.end())
        {
            names.erase(found);
        }
    }
    if (isSound && open != target.size() && rest > 0 && rest % taken == 0)
    {
        // A name that was taken out may stand for 0: then any size would do, and a run fails or is empty.
        if (names.empty())
        {
            sizes[open] = Number(rest / taken);
        }
        else if (names.size() == 1 && rest == taken)
        {
            sizes[open] = names[0];
        }
    }
    return sizes;
}

void SizeFacts::InferReshape(const Layer& layer, Facts& facts)
{
    const auto& descriptor = layer.Descriptor<ReshapeDescriptor>();
    List target;
    if (descriptor.m_ParametersAsInputs)
    {
        const List* const values = ValuesOf(layer, 1);
        if (values == nullptr)
        {
            return;
        }
        target = *values;
    }
    else
    {
        const TensorShape& shape = descriptor.m_TargetShape;
        if (shape.GetDimensionality() == Dimensionality::NotSpecified)
        {
            return;
        }
        for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
        {
            target.push_back(Number(shape.GetDimensionSpecificity(i) ? int64_t{shape[i]} : -1));
        }
    }
    const List* const from = SizesOf(layer, 0);
    // With unknown elements the size that is computed is unknown as well.
    SetSizes(facts, Reshaped(from != nullptr ? *from : List{NewSizeSymbol(), NewSizeSymbol()}, target));
    const List* const values = ValuesOf(layer, 0);
    if (values != nullptr && target.size() <= 1)
    {
        SetValues(facts, *values);
    }
}

void SizeFacts::InferSqueeze(const Layer& layer, Facts& facts)
{
    const List* const from = SizesOf(layer, 0);
    const auto& axes = layer.Descriptor<SqueezeDescriptor>().m_Axis;
    if (from == nullptr || (axes.empty() && !IsAllKnown(*from)))
    {
        return;
    }
    List sizes;
    for (unsigned int i = 0; i < from->size(); ++i)
    {
        const bool isListed =
            std::any_of(axes.begin(), axes.end(), [&](int32_t axis) { return Canonical(axis, from->size()) == i; });
        if (!isListed && !(axes.empty() && (*from)[i].Is(1)))
        {
            sizes.push_back((*from)[i]);
        }
    }
    if (const List* const values = ValuesOf(layer, 0))
    {
        SetValues(facts, *values);
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferExpandDims(const Layer& layer, Facts& facts)
{
    const List* const from = SizesOf(layer, 0);
    const auto& descriptor = layer.Descriptor<ExpandDimsDescriptor>();
    const List* const given = descriptor.m_ParametersAsInputs ? ValuesOf(layer, 1) : nullptr;
    if (from == nullptr ||
        (descriptor.m_ParametersAsInputs && (given == nullptr || given->size() != 1 || !given->front().IsKnown())))
    {
        return;
    }
    const int64_t axis = given != nullptr ? given->front().m_Number : descriptor.m_Axis;
    const unsigned int place = Canonical(axis, from->size() + 1);
    if (place > from->size())
    {
        return;
    }
    List sizes = *from;
    sizes.insert(sizes.begin() + place, Number(1));
    const List* const values = ValuesOf(layer, 0);
    if (values != nullptr && sizes.size() <= 1)
    {
        SetValues(facts, *values);
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferTranspose(const Layer& layer, Facts& facts)
{
    const auto& descriptor = layer.Descriptor<TransposeDescriptor>();
    const List* const from = SizesOf(layer, 0);
    if (descriptor.m_ParametersAsInputs)
    {
        return InferByFlags(layer, facts);
    }
    const unsigned int rank = descriptor.m_DimMappings.GetSize();
    List sizes = NewSizeSymbols(rank);
    for (unsigned int i = 0; from != nullptr && from->size() == rank && i < rank; ++i)
    {
        sizes[i] = (*from)[descriptor.m_DimMappings[i]];
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferConcat(const Layer& layer, Facts& facts)
{
    const List* const first = SizesOf(layer, 0);
    if (first == nullptr)
    {
        return;
    }
    List sizes = *first;
    const unsigned int axis =
        Canonical(static_cast<int32_t>(layer.Descriptor<ConcatDescriptor>().GetConcatAxis()), sizes.size());
    if (axis >= sizes.size())
    {
        return;
    }
    List values;
    bool hasValues = sizes.size() == 1;
    for (unsigned int input = 0; input < layer.NumInputs(); ++input)
    {
        const List* const given = SizesOf(layer, input);
        const List* const elements = ValuesOf(layer, input);
        hasValues = hasValues && elements != nullptr;
        if (hasValues)
        {
            values.insert(values.end(), elements->begin(), elements->end());
        }
        for (unsigned int i = 0; input != 0 && i < sizes.size(); ++i)
        {
            const Entry other = given != nullptr && given->size() == sizes.size() ? (*given)[i] : NewSizeSymbol();
            if (i == axis)
            {
                sizes[i] = sizes[i].IsKnown() && other.IsKnown() ? Number(sizes[i].m_Number + other.m_Number)
                                                                 : NewSizeSymbol();
            }
            else if (!sizes[i].IsKnown() && other.IsKnown())
            {
                sizes[i] = other; // they are equal
            }
        }
    }
    if (hasValues)
    {
        SetValues(facts, std::move(values));
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferStack(const Layer& layer, Facts& facts)
{
    List values;
    for (unsigned int input = 0; input < layer.NumInputs(); ++input)
    {
        const List* const sizes = SizesOf(layer, input);
        const List* const given = ValuesOf(layer, input);
        if (sizes == nullptr || !sizes->empty() || given == nullptr)
        {
            return;
        }
        values.insert(values.end(), given->begin(), given->end());
    }
    SetSizes(facts, {Number(static_cast<int64_t>(values.size()))});
    SetValues(facts, std::move(values));
}

void SizeFacts::InferGather(const Layer& layer, Facts& facts)
{
    const auto& descriptor = layer.Descriptor<GatherDescriptor>();
    const List* const data = SizesOf(layer, 0);
    const List* const indices = SizesOf(layer, 1);
    if (data == nullptr || indices == nullptr || descriptor.m_BatchDims != 0)
    {
        return;
    }
    const unsigned int axis = Canonical(descriptor.m_Axis, data->size());
    if (axis >= data->size())
    {
        return;
    }
    List sizes = *data;
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, indices->begin(), indices->end());
    SetSizes(facts, std::move(sizes));
    const List* const values = ValuesOf(layer, 0);
    const List* const places = ValuesOf(layer, 1);
    if (values == nullptr || places == nullptr || !IsAllKnown(*places) || data->size() != 1)
    {
        return;
    }
    List taken;
    for (const Entry& place : *places)
    {
        const unsigned int at = Canonical(place.m_Number, values->size());
        if (at >= values->size())
        {
            return;
        }
        taken.push_back((*values)[at]);
    }
    SetValues(facts, std::move(taken));
}

void SizeFacts::InferSlice(const Layer& layer, Facts& facts)
{
    const auto& descriptor = layer.Descriptor<SliceDescriptor>();
    const List* const from = SizesOf(layer, 0);
    if (from == nullptr || descriptor.m_ParametersAsInputs || descriptor.m_Begin.size() != from->size() ||
        descriptor.m_Size.size() != from->size())
    {
        return InferByFlags(layer, facts);
    }
    List sizes;
    for (const unsigned int size : descriptor.m_Size)
    {
        sizes.push_back(Number(size));
    }
    const List* const values = ValuesOf(layer, 0);
    if (values != nullptr && sizes.size() == 1 && descriptor.m_Begin[0] <= values->size() &&
        descriptor.m_Size[0] <= values->size() - descriptor.m_Begin[0])
    {
        const auto first = values->begin() + descriptor.m_Begin[0];
        SetValues(facts, List(first, first + descriptor.m_Size[0]));
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferStridedSlice(const Layer& layer, Facts& facts)
{
    const auto& d = layer.Descriptor<StridedSliceDescriptor>();
    const List* const from = SizesOf(layer, 0);
    if (from == nullptr || d.m_ParametersAsInputs || d.m_EllipsisMask != 0 || d.m_NewAxisMask != 0 ||
        d.m_Begin.size() > from->size() || d.m_End.size() != d.m_Begin.size() ||
        d.m_Stride.size() != d.m_Begin.size() || std::find(d.m_Stride.begin(), d.m_Stride.end(), 0) != d.m_Stride.end())
    {
        return;
    }
    const List* const values = ValuesOf(layer, 0);
    List sizes;
    for (unsigned int i = 0; i < from->size(); ++i)
    {
        const Entry& size = (*from)[i];
        const auto isSet = [&](int32_t mask) { return i < 32 && ((mask >> i) & 1) != 0; };
        if (i >= d.m_Begin.size() || (isSet(d.m_BeginMask) && isSet(d.m_EndMask) && d.m_Stride[i] == 1))
        {
            sizes.push_back(size);
        }
        else if (!isSet(d.m_ShrinkAxisMask))
        {
            sizes.push_back(NewSizeSymbol());
        }
        if (!size.IsKnown() || i >= d.m_Begin.size())
        {
            continue;
        }
        TensorShape shape(static_cast<unsigned int>(from->size()), true);
        shape.SetDimensionSize(i, static_cast<unsigned int>(size.m_Number));
        const int begin = d.GetStartForAxis(shape, i);
        const int end = d.GetStopForAxis(shape, i, begin);
        const int64_t stride = d.m_Stride[i];
        const int64_t length = stride > 0 ? int64_t{end} - begin : int64_t{begin} - end;
        const int64_t count = length <= 0 ? 0 : (length - 1) / std::abs(stride) + 1;
        if (!isSet(d.m_ShrinkAxisMask))
        {
            sizes.back() = Number(count);
        }
        if (values != nullptr && from->size() == 1 && count <= static_cast<int64_t>(MaxValues))
        {
            List taken;
            for (int64_t k = 0; k < count; ++k)
            {
                const auto at = static_cast<size_t>(begin + k * stride);
                taken.push_back(at < values->size() ? (*values)[at] : NewSymbol());
            }
            SetValues(facts, std::move(taken));
        }
    }
    SetSizes(facts, std::move(sizes));
}

SizeFacts::List SizeFacts::Broadcast(const List& a, const List& b)
{
    const List& longer = a.size() >= b.size() ? a : b;
    const List& shorter = a.size() >= b.size() ? b : a;
    List sizes = longer;
    for (size_t i = 0; i < shorter.size(); ++i)
    {
        Entry& size = sizes[longer.size() - shorter.size() + i];
        const Entry& other = shorter[i];
        if (size == other || other.Is(1))
        {
            continue;
        }
        if (size.Is(1) || (other.IsKnown() && !size.IsKnown()))
        {
            size = other; // what is not 1 here is that size
        }
        else if (!size.IsKnown())
        {
            size = NewSizeSymbol();
        }
    }
    return sizes;
}

void SizeFacts::InferBinary(const Layer& layer, Facts& facts)
{
    const List* const a = SizesOf(layer, 0);
    const List* const b = SizesOf(layer, 1);
    if (a == nullptr || b == nullptr)
    {
        return;
    }
    SetSizes(facts, Broadcast(*a, *b));
    const List* const x = ValuesOf(layer, 0);
    const List* const y = ValuesOf(layer, 1);
    if (x == nullptr || y == nullptr || !IsInteger(layer.Output(0).GetTensorInfo().GetDataType()) ||
        (x->size() != y->size() && x->size() != 1 && y->size() != 1))
    {
        return;
    }
    const BinaryOperation operation = layer.Descriptor<ElementwiseBinaryDescriptor>().m_Operation;
    List values;
    for (size_t i = 0; i < std::max(x->size(), y->size()) && !x->empty() && !y->empty(); ++i)
    {
        const Entry& p = (*x)[x->size() == 1 ? 0 : i];
        const Entry& q = (*y)[y->size() == 1 ? 0 : i];
        const bool isKnown = p.IsKnown() && q.IsKnown();
        constexpr int64_t MaxNumber = int64_t{1} << 31; // no overflow, of Signed32 neither
        const auto isSmall = [](int64_t value) { return value > -MaxNumber && value < MaxNumber; };
        Entry result = NewSymbol();
        if (isKnown && isSmall(p.m_Number) && isSmall(q.m_Number))
        {
            switch (operation)
            {
            case BinaryOperation::Add: result = Number(p.m_Number + q.m_Number); break;
            case BinaryOperation::Sub: result = Number(p.m_Number - q.m_Number); break;
            case BinaryOperation::Mul: result = Number(p.m_Number * q.m_Number); break;
            case BinaryOperation::Maximum: result = Number(std::max(p.m_Number, q.m_Number)); break;
            case BinaryOperation::Minimum: result = Number(std::min(p.m_Number, q.m_Number)); break;
            case BinaryOperation::Div:
                result = p.m_Number >= 0 && q.m_Number > 0 ? Number(p.m_Number / q.m_Number) : result;
                break;
            default: break;
            }
            result = result.IsKnown() && !isSmall(result.m_Number) ? NewSymbol() : result;
        }
        else if (operation == BinaryOperation::Mul || operation == BinaryOperation::Div)
        {
            result = q.Is(1) ? p : operation == BinaryOperation::Mul && p.Is(1) ? q : result;
        }
        else if (operation == BinaryOperation::Add || operation == BinaryOperation::Sub)
        {
            result = q.Is(0) ? p : operation == BinaryOperation::Add && p.Is(0) ? q : result;
        }
        values.push_back(result);
    }
    SetValues(facts, std::move(values));
}

void SizeFacts::InferComparison(const Layer& layer, Facts& facts)
{
    const List* const a = SizesOf(layer, 0);
    const List* const b = SizesOf(layer, 1);
    if (a == nullptr || b == nullptr)
    {
        return;
    }
    SetSizes(facts, Broadcast(*a, *b));
    const ComparisonOperation operation = layer.Descriptor<ComparisonDescriptor>().m_Operation;
    const List* const x = ValuesOf(layer, 0);
    const List* const y = ValuesOf(layer, 1);
    if (x == nullptr || y == nullptr || x->empty() || y->empty() ||
        (operation != ComparisonOperation::Equal && operation != ComparisonOperation::NotEqual) ||
        (x->size() != y->size() && x->size() != 1 && y->size() != 1))
    {
        return;
    }
    List values;
    for (size_t i = 0; i < std::max(x->size(), y->size()); ++i)
    {
        const Entry& p = (*x)[x->size() == 1 ? 0 : i];
        const Entry& q = (*y)[y->size() == 1 ? 0 : i];
        const bool isSizeBesideNegative =
            (p.IsKnown() && p.m_Number < 0 && AsSize(q) == q) || (q.IsKnown() && q.m_Number < 0 && AsSize(p) == p);
        const bool isSure = p == q || (p.IsKnown() && q.IsKnown()) || isSizeBesideNegative;
        values.push_back(isSure ? Number((p == q) == (operation == ComparisonOperation::Equal) ? 1 : 0) : NewSymbol());
    }
    SetValues(facts, std::move(values));
}

void SizeFacts::InferSelect(const Layer& layer, Facts& facts)
{
    const List* const sizes[] = {SizesOf(layer, 0), SizesOf(layer, 1), SizesOf(layer, 2)};
    if (sizes[0] == nullptr || sizes[1] == nullptr || sizes[2] == nullptr)
    {
        return;
    }
    SetSizes(facts, Broadcast(Broadcast(*sizes[0], *sizes[1]), *sizes[2]));
    const List* const lists[] = {ValuesOf(layer, 0), ValuesOf(layer, 1), ValuesOf(layer, 2)};
    size_t count = 0;
    for (const List* list : lists)
    {
        if (list == nullptr || list->empty())
        {
            return;
        }
        count = std::max(count, list->size());
    }
    List values;
    for (size_t i = 0; i < count; ++i)
    {
        Entry entries[3];
        for (size_t k = 0; k < 3; ++k)
        {
            if (lists[k]->size() != 1 && lists[k]->size() != count)
            {
                return;
            }
            entries[k] = (*lists[k])[lists[k]->size() == 1 ? 0 : i];
        }
        const bool isSure = entries[0].IsKnown() || entries[1] == entries[2];
        values.push_back(!isSure ? NewSymbol() : entries[0].Is(0) ? entries[2] : entries[1]);
    }
    SetValues(facts, std::move(values));
}

void SizeFacts::InferReduction(const Layer& layer, Facts& facts)
{
    const bool isMean = layer.GetType() == LayerType::Mean;
    const bool keepsDims =
        isMean ? layer.Descriptor<MeanDescriptor>().m_KeepDims : layer.Descriptor<ReduceDescriptor>().m_KeepDims;
    const bool asInputs = isMean ? layer.Descriptor<MeanDescriptor>().m_ParametersAsInputs
                                 : layer.Descriptor<ReduceDescriptor>().m_ParametersAsInputs;
    const std::vector<unsigned int>& axes =
        isMean ? layer.Descriptor<MeanDescriptor>().m_Axis : layer.Descriptor<ReduceDescriptor>().m_vAxis;
    const List* const from = SizesOf(layer, 0);
    std::vector<int64_t> listed(axes.begin(), axes.end());
    if (asInputs)
    {
        listed = GetIntegers(layer, 1, MaxNumOfTensorDimensions).value_or(std::vector<int64_t>());
    }
    if (from == nullptr || listed.empty())
    {
        return InferByFlags(layer, facts);
    }
    List sizes;
    for (unsigned int i = 0; i < from->size(); ++i)
    {
        const bool isListed =
            std::any_of(listed.begin(), listed.end(), [&](int64_t axis) { return Canonical(axis, from->size()) == i; });
        if (!isListed || keepsDims)
        {
            sizes.push_back(isListed ? Number(1) : (*from)[i]);
        }
    }
    const List* const values = ValuesOf(layer, 0);
    if (values != nullptr && from->size() == 1 && sizes.size() <= 1 && !isMean && IsAllKnown(*values) &&
        layer.Descriptor<ReduceDescriptor>().m_ReduceOperation == ReduceOperation::Prod)
    {
        int64_t product = 1;
        bool isSmall = true;
        for (const Entry& value : *values)
        {
            isSmall = isSmall && !__builtin_mul_overflow(product, value.m_Number, &product) &&
                      product < (int64_t{1} << 31) && product > -(int64_t{1} << 31);
        }
        SetValues(facts, {isSmall ? Number(product) : NewSymbol()});
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferProduct(const Layer& layer, Facts& facts)
{
    const auto& d = layer.Descriptor<BatchMatMulDescriptor>();
    const List* x = SizesOf(layer, 0);
    const List* y = SizesOf(layer, 1);
    if (x == nullptr || y == nullptr || x->size() < 2 || y->size() < 2 || d.m_DataLayoutX != DataLayout::NCHW ||
        d.m_DataLayoutY != DataLayout::NCHW)
    {
        return;
    }
    List a = *x;
    List b = *y;
    const Entry rows = a[a.size() - (d.m_TransposeX || d.m_AdjointX ? 1 : 2)];
    const Entry columns = b[b.size() - (d.m_TransposeY || d.m_AdjointY ? 2 : 1)];
    for (List* list : {&a, &b})
    {
        (*list)[list->size() - 2] = rows;
        (*list)[list->size() - 1] = columns;
    }
    SetSizes(facts, Broadcast(a, b));
}

void SizeFacts::InferConnected(const Layer& layer, Facts& facts)
{
    const auto& d = layer.Descriptor<FullyConnectedDescriptor>();
    const List* const weights = SizesOf(layer, 1);
    const List* const from = SizesOf(layer, 0);
    const Entry units =
        weights != nullptr && weights->size() == 2 ? (*weights)[d.m_TransposeWeightMatrix ? 0 : 1] : NewSizeSymbol();
    if (!d.m_KeepDims)
    {
        const Entry inputs = weights != nullptr && weights->size() == 2 ? (*weights)[d.m_TransposeWeightMatrix ? 1 : 0]
                                                                        : NewSizeSymbol();
        const bool isMatrix = from != nullptr && from->size() == 2 && from->back() == inputs;
        SetSizes(facts, {isMatrix ? from->front() : NewSizeSymbol(), units});
    }
    else if (from != nullptr && !from->empty())
    {
        List sizes = *from;
        sizes.back() = units;
        SetSizes(facts, std::move(sizes));
    }
}

/// Images that are worked on one by one: all sizes but their number follow from all sizes but that.
void SizeFacts::InferImage(const Layer& layer, Facts& facts)
{
    const List* const from = SizesOf(layer, 0);
    if (from == nullptr || from->size() != 4)
    {
        return InferByFlags(layer, facts);
    }
    List sizes = NewSizeSymbols(4);
    sizes[0] = (*from)[0];
    const bool isKnown = IsAllKnown(List(from->begin() + 1, from->end()));
    std::vector<const TensorInfo*> infos;
    layer.CollectInputInfos(infos);
    TensorInfo image = layer.Input(0).GetTensorInfo();
    if (isKnown)
    {
        TensorShape shape(4, true);
        shape.SetDimensionSize(0, 1);
        for (unsigned int i = 1; i < 4; ++i)
        {
            shape.SetDimensionSize(i, static_cast<unsigned int>((*from)[i].m_Number));
        }
        image.SetShape(shape);
        infos[0] = &image;
        std::vector<const void*> values(infos.size(), nullptr);
        std::vector<TensorShape> shapes(layer.GetNumOutputSlots(), TensorShape(Dimensionality::NotSpecified));
        try
        {
            if (CanInferShapes(layer, infos, values))
            {
                InferShapes(layer, infos, values, shapes);
            }
        }
        catch (const Exception&)
        {
            shapes[0] = TensorShape(Dimensionality::NotSpecified); // the run tells
        }
        for (unsigned int i = 1; i < 4 && shapes[0].AreAllDimensionsSpecified() && shapes[0].GetNumDimensions() == 4;
             ++i)
        {
            sizes[i] = Number(shapes[0][i]);
        }
    }
    SetSizes(facts, std::move(sizes));
}

/// One output of a Splitter along an axis.
void SizeFacts::InferSplitOutput(const Layer& layer, unsigned int part, Facts& facts)
{
    const auto& descriptor = layer.Descriptor<SplitterDescriptor>();
    const List* const from = SizesOf(layer, 0);
    if (from == nullptr || !descriptor.HasAxis() || descriptor.m_ParametersAsInputs)
    {
        return InferByFlags(layer, facts);
    }
    List sizes = *from;
    const unsigned int axis = Canonical(descriptor.GetAxis(), sizes.size());
    if (axis >= sizes.size())
    {
        return;
    }
    const bool isSized = descriptor.GetNumDimensions() == sizes.size() && descriptor.GetViewSizes(part)[axis] != 0;
    const int64_t parts = descriptor.GetNumViews();
    if (isSized)
    {
        sizes[axis] = Number(descriptor.GetViewSizes(part)[axis]);
    }
    else
    {
        sizes[axis] = sizes[axis].IsKnown() && sizes[axis].m_Number % parts == 0 ? Number(sizes[axis].m_Number / parts)
                                                                                 : NewSizeSymbol();
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferPad(const Layer& layer, Facts& facts)
{
    const auto& descriptor = layer.Descriptor<PadDescriptor>();
    const List* const from = SizesOf(layer, 0);
    if (from == nullptr || descriptor.m_ParametersAsInputs || descriptor.m_PadList.size() != from->size())
    {
        return InferByFlags(layer, facts);
    }
    List sizes = *from;
    for (size_t i = 0; i < sizes.size(); ++i)
    {
        const auto [before, after] = descriptor.m_PadList[i];
        if (before != 0 || after != 0)
        {
            sizes[i] = sizes[i].IsKnown() ? Number(sizes[i].m_Number + before + after) : NewSizeSymbol();
        }
    }
    SetSizes(facts, std::move(sizes));
}

void SizeFacts::InferFilled(const Layer& layer, Facts& facts)
{
    const bool isFill = layer.GetType() == LayerType::Fill;
    const List* target = isFill ? ValuesOf(layer, 0) : nullptr;
    List sizes;
    if (!isFill && !layer.Descriptor<BroadcastToDescriptor>().m_ParametersAsInputs)
    {
        const TensorShape& shape = layer.Descriptor<BroadcastToDescriptor>().m_BroadcastToShape;
        for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
        {
            sizes.push_back(Number(shape[i]));
        }
        SetSizes(facts, std::move(sizes));
        return;
    }
    target = isFill ? target : ValuesOf(layer, 1);
    if (target != nullptr)
    {
        for (const Entry& size : *target)
        {
            sizes.push_back(AsSize(size));
        }
        SetSizes(facts, std::move(sizes));
    }
}

} // namespace tenon
